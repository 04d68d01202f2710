#include "core/http/push/spool/spool.h"
#include "core/base/clock.h"
#include "core/http/push/protocol/message.h"
#include "core/http/push/spool/spool_dir.h"
#include "core/http/push/spool/spool_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct entry {
    struct spool_name name;
    uint32_t file;          /* bytes on disk; 0: in no file */
    struct push_message *m; /* NULL: on disk only */
};

struct spool {
    int dir, lock; /* -1: none */
    uint64_t bytes_max;
    const char *protocol;
    struct entry *entry; /* those from `first` to before `end` wait */
    uint32_t first, end, cap;
    bool held; /* the caller uses the oldest one's message */
    struct spool_name last;
    uint64_t aside_bytes;
    struct spool_counts counts;
};

static uint64_t entry_bytes(const struct entry *t) {
    return t->m ? message_bytes(t->m) : t->file;
}

/* Adds an entry to the sums, or subtracts it. */
static void account(struct spool *s, const struct entry *t, bool in) {
    uint64_t bytes = t->file ? t->file : entry_bytes(t);
    uint64_t memory = t->m ? message_bytes(t->m) : 0;
    s->counts.messages += in ? 1 : UINT64_MAX;
    s->counts.bytes += in ? bytes : -bytes;
    s->counts.memory += in ? memory : -memory;
    s->counts.unsaved += t->file ? 0 : in ? 1 : UINT64_MAX;
}

static void remove_file(const struct spool *s, const struct entry *t) {
    char name[SPOOL_NAME_SIZE];
    if (!t->file)
        return;
    spool_name_format(t->name, name);
    unlinkat(s->dir, name, 0);
}

/* Takes the entry out of the array and frees its memory; the file stays. */
static void take_out(struct spool *s, uint32_t i) {
    account(s, &s->entry[i], false);
    message_free(s->entry[i].m);
    memmove(&s->entry[s->first + 1], &s->entry[s->first], (i - s->first) * sizeof *s->entry);
    s->first++;
}

static void give_up(struct spool *s, uint32_t i) {
    remove_file(s, &s->entry[i]);
    take_out(s, i);
    s->counts.lost++;
}

static int append(struct spool *s, struct entry t) {
    if (s->end == s->cap && s->first > s->cap / 2) {
        s->end -= s->first;
        memmove(s->entry, s->entry + s->first, s->end * sizeof *s->entry);
        s->first = 0;
    }
    if (s->end == s->cap) {
        uint32_t cap = s->cap ? s->cap * 2 : 64;
        struct entry *more = realloc(s->entry, cap * sizeof *more);
        if (!more)
            return -ENOMEM;
        s->entry = more;
        s->cap = cap;
    }
    s->entry[s->end++] = t;
    account(s, &t, true);
    return 0;
}

/* Drops the oldest until there is room for `more` bytes; false: there cannot be enough. */
static bool make_room(struct spool *s, uint64_t more) {
    uint32_t files = s->counts.aside < SPOOL_FILES / 2 ? SPOOL_FILES - (uint32_t)s->counts.aside
                                                       : SPOOL_FILES / 2;
    uint64_t most = s->bytes_max > s->aside_bytes ? s->bytes_max - s->aside_bytes : 0;
    while (s->counts.bytes + more > most || s->end - s->first >= files) {
        uint32_t oldest = s->first + (s->held ? 1 : 0);
        if (oldest >= s->end)
            return false;
        give_up(s, oldest);
    }
    return true;
}

/* If the directory takes no files, the memory has its own limit. */
static void bound_memory(struct spool *s) {
    uint32_t i = s->first + (s->held ? 1 : 0);
    while (s->dir >= 0 && s->counts.memory > SPOOL_MEMORY && i < s->end) {
        if (s->entry[i].file == 0)
            give_up(s, i);
        i++;
    }
}

int spool_put(struct spool *s, struct push_message *m) {
    uint64_t bytes = message_bytes(m);
    int r = bytes <= s->bytes_max && make_room(s, bytes) ? 0 : -ENOSPC;
    if (r == 0) {
        s->last = spool_name_after(s->last, clock_ns(CLOCK_REALTIME));
        r = append(s, (struct entry){.name = s->last, .m = m});
    }
    if (r != 0) {
        s->counts.lost++;
        message_free(m);
        return r;
    }
    if (s->dir >= 0 && s->counts.memory > SPOOL_SAVE_AT)
        spool_save(s);
    bound_memory(s);
    return 0;
}

/* The oldest one's file cannot be used: decides whether the file is kept or removed. */
static void leave_out(struct spool *s, int why) {
    struct entry t = s->entry[s->first];
    if (why == -ESTALE && s->aside_bytes + t.file <= s->bytes_max / 2) {
        s->counts.aside++;
        s->aside_bytes += t.file;
    } else if (why != -ENOENT) {
        remove_file(s, &t);
        s->counts.broken++;
    }
    take_out(s, s->first);
}

const struct push_message *spool_head(struct spool *s) {
    while (s->first < s->end) {
        struct entry *t = &s->entry[s->first];
        char name[SPOOL_NAME_SIZE];
        spool_name_format(t->name, name);
        int r = t->m ? 0 : spool_file_read(s->dir, name, s->protocol, &t->m);
        if (r == -ENOMEM || r == -EMFILE || r == -ENFILE)
            return NULL; /* perhaps later */
        if (r != 0) {
            leave_out(s, r);
            continue;
        }
        s->held = true; /* a message read for this is not in the sums: it is only one */
        return t->m;
    }
    return NULL;
}

static void drop_copy(struct spool *s) {
    struct entry *t = &s->entry[s->first];
    if (t->file) {
        message_free(t->m);
        t->m = NULL;
    }
}

void spool_release(struct spool *s) {
    if (s->held)
        drop_copy(s);
    s->held = false;
}

void spool_pop(struct spool *s) {
    if (!s->held)
        return;
    remove_file(s, &s->entry[s->first]);
    drop_copy(s);
    take_out(s, s->first);
    s->held = false;
}

static int save(struct spool *s, uint32_t i) {
    struct entry *t = &s->entry[i];
    char name[SPOOL_NAME_SIZE];
    uint64_t bytes = spool_file_bytes(s->protocol, t->m);
    spool_name_format(t->name, name);
    int r = spool_file_write(s->dir, name, s->protocol, t->m);
    if (r != 0)
        return r;
    account(s, t, false);
    struct push_message *m = t->m;
    t->m = NULL;
    t->file = (uint32_t)bytes;
    account(s, t, true);
    if (s->held && i == s->first)
        t->m = m; /* the caller still uses it */
    else
        message_free(m);
    return 0;
}

int spool_save(struct spool *s) {
    int r = 0;
    bool any = false;
    for (uint32_t i = s->first; s->dir >= 0 && s->counts.unsaved && i < s->end && r == 0; i++) {
        if (s->entry[i].file)
            continue;
        r = save(s, i);
        any |= r == 0;
    }
    if (any)
        fsync(s->dir); /* for the names */
    return r;
}

void spool_counts(const struct spool *s, struct spool_counts *out) {
    *out = s->counts;
}

/* Adds the files that an earlier process left. */
static int take_up(struct spool *s) {
    struct spool_dir_file *list;
    uint32_t count;
    int r = spool_dir_list(s->dir, &list, &count);
    for (uint32_t i = 0; i < count && r == 0; i++) {
        struct entry t = {.name = list[i].name,
                          .file =
                              list[i].bytes < UINT32_MAX ? (uint32_t)list[i].bytes : UINT32_MAX};
        t.file += t.file == 0; /* an empty file counts, too */
        s->last = t.name;
        r = append(s, t);
    }
    free(list);
    if (r == 0)
        make_room(s, 0);
    return r;
}

int spool_open(const struct spool_options *o, struct spool **out, struct err *e) {
    *out = NULL;
    struct spool *s = calloc(1, sizeof *s);
    if (!s)
        return err_set(e, ENOMEM, "no memory");
    s->dir = s->lock = -1;
    s->bytes_max = o->bytes ? o->bytes : SPOOL_BYTES;
    s->protocol = o->protocol;
    int r = 0;
    if (o->dir && (s->dir = spool_dir_open(o->dir, &s->lock, e)) < 0)
        r = s->dir;
    else if (o->dir && (r = take_up(s)) != 0)
        err_set(e, -r, "spool %.200s: cannot be read: %s", o->dir, strerror(-r));
    if (r == 0)
        *out = s;
    else
        spool_free(s);
    return r;
}

void spool_free(struct spool *s) {
    if (!s)
        return;
    for (uint32_t i = s->first; i < s->end; i++)
        message_free(s->entry[i].m);
    free(s->entry);
    if (s->dir >= 0)
        close(s->dir);
    if (s->lock >= 0)
        close(s->lock);
    free(s);
}
