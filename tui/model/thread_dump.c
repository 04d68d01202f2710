#include "tui/model/thread_dump.h"

#include "core/base/grow.h"
#include "core/base/id_map.h"
#include "core/base/utf8.h"
#include "core/profile/table/thread_kind.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* More than a JVM can have, but less than the smallest entries of a hostile text. */
#define THREADS_MAX (1u << 17)
#define LINES_MAX (1u << 21)
#define TOLD_MAX 256u /* owners taken from the VM's own report of deadlocks */

/* ---- the text ---- */

/* Copies the text without characters that may not be shown. Tabs and ends of lines stay. */
static void clean(char *out, const char *text, size_t bytes) {
    for (size_t i = 0; i < bytes;) {
        uint32_t code;
        if (text[i] >= ' ' && text[i] <= '~') { /* nearly all of them */
            out[i] = text[i];
            i++;
            continue;
        }
        size_t n = utf8_decode(text + i, bytes - i, &code);
        bool shown = n && (utf8_is_shown(code) || code == '\n' || code == '\t');
        n = n ? n : 1;
        if (shown)
            memcpy(out + i, text + i, n);
        else
            memset(out + i, '?', n);
        i += n;
    }
    out[bytes] = '\0';
}

/* Returns the address in "<0x…>", or 0. */
static uint64_t address_in(const char *s) {
    const char *open = strchr(s, '<');
    return open && open[1] == '0' && open[2] == 'x' ? strtoull(open + 1, NULL, 16) : 0;
}

/* Returns the class in "(a java.lang.Object)", cut out of the line; "" if there is none. */
static char *class_in(char *s) {
    char *open = strstr(s, "(a "), *close = open ? strrchr(open, ')') : NULL;
    if (!close)
        return s + strlen(s);
    *close = '\0';
    return open + 3;
}

/* Removes the module of a frame: "java.lang.Thread.run(java.base@17.0.15/Thread.java:840)". */
static void drop_module(char *frame) {
    char *open = strrchr(frame, '('), *slash = open ? strrchr(open, '/') : NULL;
    if (slash)
        memmove(open + 1, slash + 1, strlen(slash + 1) + 1);
}

/* ---- one thread ---- */

struct parser {
    struct thread_dump *d;
    char *next;          /* the next line in d->words */
    bool in_thread;      /* lines belong to the last thread */
    bool synchronizers;  /* below "Locked ownable synchronizers" */
    uint32_t told;       /* owners taken from the VM's report */
    const char *waiting; /* thread that the report is about; NULL: none */
};

static int add_line(struct parser *p, enum thread_dump_kind kind, uint64_t address,
                    const char *text) {
    struct thread_dump *d = p->d;
    struct thread_dump_thread *t = &d->thread[d->threads - 1];
    if (d->lines == LINES_MAX) {
        d->cut = true;
        return 0;
    }
    if (!GROW(d->line_of, d->lines, d->line_cap))
        return -ENOMEM;
    bool waits =
        kind == THREAD_DUMP_ENTERS || kind == THREAD_DUMP_NOTIFY || kind == THREAD_DUMP_PARKED;
    if (waits && t->wait == THREAD_DUMP_NONE)
        t->wait = d->lines;
    d->line_of[d->lines++] =
        (struct thread_dump_line){.kind = kind, .address = address, .text = text};
    t->lines++;
    return 0;
}

/* Adds a line that begins with "- ". */
static int add_note(struct parser *p, char *note) {
    static const struct {
        const char *begin;
        enum thread_dump_kind kind;
    } kinds[] = {
        {"locked <0x", THREAD_DUMP_LOCKED},
        {"waiting to lock <", THREAD_DUMP_ENTERS},
        {"waiting to re-lock in wait() <", THREAD_DUMP_ENTERS},
        {"waiting on <", THREAD_DUMP_NOTIFY},
        {"parking to wait for  <", THREAD_DUMP_PARKED},
    };
    const struct thread_dump_thread *t = &p->d->thread[p->d->threads - 1];
    if (p->synchronizers)
        return *note == '<' ? add_line(p, THREAD_DUMP_HELD, address_in(note), class_in(note)) : 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        enum thread_dump_kind kind = kinds[i].kind;
        if (strncmp(note, kinds[i].begin, strlen(kinds[i].begin)) != 0)
            continue;
        /* Notified, and now it waits for the monitor again (JDK 8 uses the same words). */
        if (kind == THREAD_DUMP_NOTIFY && !strncmp(t->state, "BLOCKED", 7))
            kind = THREAD_DUMP_ENTERS;
        return add_line(p, kind, address_in(note), class_in(note));
    }
    return add_line(p, THREAD_DUMP_OTHER, 0, note);
}

static int take_line(struct parser *p, char *line) {
    static const char state[] = "java.lang.Thread.State: ";
    struct thread_dump_thread *t = &p->d->thread[p->d->threads - 1];
    line += strspn(line, " \t");
    if (!*line)
        return 0;
    if (!strncmp(line, state, sizeof state - 1)) {
        t->state = line + sizeof state - 1;
    } else if (!strncmp(line, "Locked ownable synchronizers", 28)) {
        p->synchronizers = true;
    } else if (!strncmp(line, "at ", 3)) {
        drop_module(line + 3);
        return add_line(p, THREAD_DUMP_FRAME, 0, line + 3);
    } else if (!strncmp(line, "- ", 2)) {
        return add_note(p, line + 2);
    } else {
        return add_line(p, THREAD_DUMP_OTHER, 0, line);
    }
    return 0;
}

/* Cuts the VM's words for what the thread does out of the header: behind the nid, before the
 * address of the stack. */
static char *activity_in(char *rest) {
    rest += strspn(rest, " ");
    char *end = strstr(rest, "[0x");
    if (!end)
        end = rest + strlen(rest);
    while (end > rest && isspace((unsigned char)end[-1]))
        end--;
    *end = '\0';
    return rest;
}

/* A thread's first line: "NAME" #12 daemon prio=5 … nid=0x2b59 runnable [0x…]. A name may contain
 * quotes, but nothing behind it does. False: the line is none. */
static bool is_header(char *line, char **rest) {
    char *end = line[0] == '"' ? strrchr(line + 1, '"') : NULL;
    *rest = end ? strstr(end, " nid=") : NULL;
    return *rest != NULL;
}

static int start_thread(struct parser *p, char *line, char *rest) {
    struct thread_dump *d = p->d;
    p->in_thread = p->synchronizers = false;
    if (d->threads == THREADS_MAX) {
        d->cut = true;
        return 0;
    }
    if (!GROW(d->thread, d->threads, d->thread_cap))
        return -ENOMEM;
    char *end = strrchr(line + 1, '"');
    struct thread_dump_thread *t = &d->thread[d->threads++];
    *t = (struct thread_dump_thread){.name = line + 1,
                                     .state = "",
                                     .at = (size_t)(line - d->words),
                                     .line = d->lines,
                                     .wait = THREAD_DUMP_NONE,
                                     .owner = THREAD_DUMP_NONE};
    if (!strncmp(end, "\" #", 3))
        t->number = strtoull(end + 3, NULL, 10);
    t->nid = strtoull(rest + 5, &rest, 0); /* in hex before JDK 19 */
    t->activity = activity_in(rest);
    *end = '\0';
    p->in_thread = true;
    return 0;
}

/* ---- who holds what ---- */

/* A monitor and a lock object have different owners, so the lowest bit of a key tells them apart:
 * the address of an object is even. */
static uint64_t key_of(const struct thread_dump_line *l) {
    bool object = l->kind == THREAD_DUMP_HELD || l->kind == THREAD_DUMP_PARKED;
    return l->address ? (l->address & ~UINT64_C(1)) | object : 0;
}

/* A thread in Object.wait has given the monitor back, but its frames still say "locked". */
static bool holds(const struct thread_dump *d, const struct thread_dump_thread *t,
                  const struct thread_dump_line *l) {
    if (l->kind != THREAD_DUMP_LOCKED && l->kind != THREAD_DUMP_HELD)
        return false;
    return key_of(l) && (t->wait == THREAD_DUMP_NONE || key_of(&d->line_of[t->wait]) != key_of(l));
}

static int find_owners(struct thread_dump *d) {
    struct id_map owners;
    int err = 0;
    id_map_init(&owners, LINES_MAX);
    for (uint32_t i = 0; i < d->threads && !err; i++)
        for (uint32_t k = 0; k < d->thread[i].lines && !err; k++) {
            const struct thread_dump_line *l = &d->line_of[d->thread[i].line + k];
            if (holds(d, &d->thread[i], l))
                err = id_map_put(&owners, key_of(l), i);
        }
    for (uint32_t i = 0; i < d->threads && !err; i++) {
        struct thread_dump_thread *t = &d->thread[i];
        uint32_t owner;
        if (t->wait == THREAD_DUMP_NONE || !key_of(&d->line_of[t->wait]) ||
            d->line_of[t->wait].kind == THREAD_DUMP_NOTIFY)
            continue;
        if (id_map_get(&owners, key_of(&d->line_of[t->wait]), &owner) && owner != i)
            t->owner = owner;
    }
    id_map_free(&owners);
    return err;
}

/* Takes an owner from the VM's report of deadlocks, which knows owners of locks even if the dump
 * was made without them:
 *
 *     "lock-1":
 *       waiting for ownable synchronizer 0x00000000ffd1bb30, (a java.…ReentrantLock$NonfairSync),
 *       which is held by "lock-2"
 */
static void take_report(struct parser *p, char *line) {
    static const char held[] = "  which is held by \"";
    char *end = strrchr(line, '"');
    if (line[0] == '"' && end > line && !strcmp(end, "\":")) {
        *end = '\0';
        p->waiting = line + 1;
    } else if (p->waiting && !strncmp(line, held, sizeof held - 1) &&
               end > line + sizeof held - 2) {
        *end = '\0';
        uint32_t who =
            p->told < TOLD_MAX ? thread_dump_find(p->d, 0, p->waiting) : THREAD_DUMP_NONE;
        uint32_t owner =
            who != THREAD_DUMP_NONE ? thread_dump_find(p->d, 0, line + sizeof held - 1) : who;
        p->told++;
        p->waiting = NULL;
        if (who != owner && owner != THREAD_DUMP_NONE &&
            p->d->thread[who].owner == THREAD_DUMP_NONE)
            p->d->thread[who].owner = owner;
    }
}

/* Numbers the circles of threads that wait for each other. */
static int find_deadlocks(struct thread_dump *d) {
    uint32_t *round = calloc(d->threads ? d->threads : 1, sizeof *round);
    if (!round)
        return -ENOMEM;
    for (uint32_t i = 0; i < d->threads; i++) {
        uint32_t at = i;
        for (; at != THREAD_DUMP_NONE && !round[at]; at = d->thread[at].owner)
            round[at] = i + 1;
        if (at == THREAD_DUMP_NONE || round[at] != i + 1)
            continue;
        d->deadlocks++;
        for (; !d->thread[at].deadlock; at = d->thread[at].owner)
            d->thread[at].deadlock = d->deadlocks;
    }
    free(round);
    return 0;
}

/* ---- all of it ---- */

/* Returns the next line, or NULL at the end. */
static char *next_line(struct parser *p) {
    char *line = p->next, *end = line ? strchr(line, '\n') : NULL;
    if (end)
        *end = '\0';
    p->next = end ? end + 1 : NULL;
    return line;
}

/* True if a thread follows: then it was a name that looked like the VM's report. */
static bool has_thread(const char *text) {
    for (const char *s = text ? strstr(text, "\n\"") : NULL; s; s = strstr(s, "\n\"")) {
        size_t length = strcspn(++s, "\n");
        if (memmem(s, length, " nid=", 5))
            return true;
    }
    return false;
}

static int parse_threads(struct parser *p) {
    struct thread_dump *d = p->d;
    char *rest;
    int err = 0;
    for (char *line; !err && (line = next_line(p));) {
        if (!strncmp(line, "Found ", 6) && strstr(line, "deadlock") && !has_thread(p->next))
            break; /* the VM's report follows */
        if (is_header(line, &rest)) {
            err = start_thread(p, line, rest);
        } else if (*line && *line != ' ' && *line != '\t') {
            p->in_thread = false; /* "JNI global refs: …" */
        } else if (p->in_thread) {
            err = take_line(p, line);
        }
        if (p->in_thread && *line) {
            struct thread_dump_thread *t = &d->thread[d->threads - 1];
            size_t end = p->next ? (size_t)(p->next - d->words) : d->bytes;
            t->bytes = end - t->at;
        }
    }
    return err;
}

int thread_dump_parse(struct thread_dump *out, const char *text, size_t bytes) {
    *out = (struct thread_dump){.bytes = bytes};
    if (bytes > THREAD_DUMP_BYTES) {
        out->bytes = THREAD_DUMP_BYTES;
        out->cut = true;
    }
    out->text = malloc(out->bytes + 1);
    out->words = malloc(out->bytes + 1);
    int err = out->text && out->words ? 0 : -ENOMEM;
    if (!err) {
        clean(out->text, text, out->bytes);
        memcpy(out->words, out->text, out->bytes + 1);
        struct parser p = {.d = out, .next = out->words};
        err = parse_threads(&p);
        if (!err)
            err = find_owners(out);
        for (char *line; !err && (line = next_line(&p));)
            take_report(&p, line);
    }
    if (!err)
        err = find_deadlocks(out);
    if (!err && !out->threads)
        err = -EBADMSG;
    if (err)
        thread_dump_free(out);
    return err;
}

void thread_dump_free(struct thread_dump *d) {
    free(d->text);
    free(d->words);
    free(d->thread);
    free(d->line_of);
    *d = (struct thread_dump){0};
}

uint32_t thread_dump_find(const struct thread_dump *d, uint64_t nid, const char *name) {
    for (uint32_t i = 0; i < d->threads; i++)
        if ((!nid || d->thread[i].nid == nid) && (!name || !strcmp(d->thread[i].name, name)))
            return i;
    return THREAD_DUMP_NONE;
}

uint32_t thread_dump_deadlock(const struct thread_dump *d, uint32_t number) {
    for (uint32_t i = 0; i < d->threads && number; i++)
        if (d->thread[i].deadlock == number)
            return i;
    return THREAD_DUMP_NONE;
}

bool thread_dump_is_application(const struct thread_dump_thread *t) {
    return (t->state[0] || t->number) && thread_kind(t->name) == THREAD_APPLICATION;
}
