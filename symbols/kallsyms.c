#include "symbols/kallsyms.h"

#include "core/base/file.h"
#include "core/base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    TEXT_LIMIT = 64 << 20,
    REACH = 64 << 10,   /* bytes that a function may cover at most; kallsyms has no sizes */
    FIRST_BYTES = 4096, /* of the file, that tell whether addresses are the same */
    KEPT_FILES = 4,
    KEPT_LEAST = 1000, /* symbols; fewer are read as fast */
};

struct line {
    uint64_t address;
    char type;
    const char *name; /* not terminated */
    size_t name_length;
    const char *module; /* "[ext4]", not terminated; NULL for the kernel proper */
    size_t module_length;
};

/* "ffffffffc0203000 t name\t[module]", not terminated. */
static bool parse_line(const char *p, const char *end, struct line *l) {
    *l = (struct line){0};
    unsigned digits = 0;
    for (; p < end && *p != ' '; p++, digits++) {
        unsigned digit;
        if (*p >= '0' && *p <= '9')
            digit = (unsigned)(*p - '0');
        else if (*p >= 'a' && *p <= 'f')
            digit = (unsigned)(*p - 'a' + 10);
        else
            return false;
        if (digits >= 16)
            return false;
        l->address = l->address << 4 | digit;
    }
    if (!digits || end - p < 4 || p[2] != ' ')
        return false;
    l->type = p[1];
    l->name = p + 3;
    const char *tab = memchr(l->name, '\t', (size_t)(end - l->name));
    l->name_length = (size_t)((tab ? tab : end) - l->name);
    if (tab && tab + 1 < end) {
        l->module = tab + 1;
        l->module_length = (size_t)(end - l->module);
    }
    return l->name_length > 0;
}

/* Moves names to the front of the text they were read from: "name\0module\0name\0\0…" */
static size_t keep_names(struct symbol_table *t, size_t kept, const struct line *l) {
    memmove(t->names + kept, l->name, l->name_length);
    kept += l->name_length;
    t->names[kept++] = '\0';
    if (l->module) {
        memmove(t->names + kept, l->module, l->module_length);
        kept += l->module_length;
    }
    t->names[kept++] = '\0';
    return kept;
}

/* Returns 0, -ENOMEM, or -EACCES if all addresses are hidden. */
static int parse(struct symbol_table *t, char *text, size_t length) {
    bool any = false;
    size_t kept = 0;
    t->names = text;
    t->names_length = length;
    for (char *p = text, *end = text + length, *eol; p < end; p = eol + 1) {
        struct line l;
        eol = memchr(p, '\n', (size_t)(end - p));
        if (!eol)
            break;
        if (!parse_line(p, eol, &l) || !strchr("tTwW", l.type))
            continue;
        any |= l.address != 0;
        struct symbol_entry e = {.start = l.address, .size = REACH, .name = (uint32_t)kept};
        kept = keep_names(t, kept, &l);
        int rc = symbol_table_add(t, &e, l.type == 'T' ? SYMBOL_GLOBAL : SYMBOL_LOCAL);
        if (rc)
            return rc;
    }
    if (!any)
        return -EACCES;
    char *fitting = realloc(text, kept);
    if (fitting)
        t->names = fitting;
    t->names_length = kept;
    symbol_table_finish(t);
    return 0;
}

static int read_file(const char *path, char **text, size_t *length) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int rc = file_read_all(fd, TEXT_LIMIT, text, length);
    close(fd);
    if (rc == 0 && *length == TEXT_LIMIT) {
        free(*text);
        rc = -E2BIG;
    }
    return rc;
}

/* Reads a small number from /proc/sys/kernel as text, or "?". */
static void read_setting(const char *path, char *value, size_t size) {
    if (file_line(path, value, size) < 0 || !value[0])
        snprintf(value, size, "?");
}

static void explain(struct kallsyms *k, const char *path, int rc) {
    char kptr[16], paranoid[16];
    if (rc != -EACCES && rc != -EPERM) {
        snprintf(k->trouble, sizeof k->trouble, "no kernel names: cannot read %s: %s", path,
                 strerror(-rc));
        return;
    }
    read_setting("/proc/sys/kernel/kptr_restrict", kptr, sizeof kptr);
    read_setting("/proc/sys/kernel/perf_event_paranoid", paranoid, sizeof paranoid);
    snprintf(k->trouble, sizeof k->trouble,
             "no kernel names: %s hides the addresses (/proc/sys/kernel/kptr_restrict is %s, "
             "perf_event_paranoid is %s); run as root, or: sysctl kernel.kptr_restrict=0 "
             "kernel.perf_event_paranoid=1",
             path, kptr, paranoid);
}

/* What is kept for later processes. */

/* Increase the number if the same text gives another table. */
#define MAGIC "jtop kallsyms 1"
#define FOLDER "kernel"
#define PREFIX "kallsyms-"

struct head {
    char magic[16];
    uint64_t entry_bytes, entries, names_bytes;
    struct identity {
        char boot[40];
        uint64_t first, modules; /* hashes */
        uint64_t size;           /* of a file that has one, and its last change */
        int64_t second, nanosecond;
    } id;
};

static uint64_t hash_file(const char *path, size_t most) {
    char *text = NULL;
    size_t length = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    uint64_t h = file_read_all(fd, most, &text, &length) == 0 ? hash_bytes(1, text, length) : 0;
    close(fd);
    free(text);
    return h;
}

/* False: nothing tells this kernel from others. */
static bool identify(const char *path, struct identity *id) {
    struct stat st;
    memset(id, 0, sizeof *id);
    if (stat(path, &st) != 0 ||
        file_line("/proc/sys/kernel/random/boot_id", id->boot, sizeof id->boot) < 0 ||
        strspn(id->boot, "0123456789abcdef-") < 32)
        return false;
    id->first = hash_file(path, FIRST_BYTES);
    id->modules = hash_file("/proc/modules", TEXT_LIMIT);
    if (st.st_size > 0) {
        id->size = (uint64_t)st.st_size;
        id->second = st.st_ctim.tv_sec;
        id->nanosecond = st.st_ctim.tv_nsec;
    }
    return id->first != 0;
}

static void name_of(const struct identity *id, char out[64]) {
    snprintf(out, 64, PREFIX "%.36s", id->boot);
}

/* Whether each entry's name is within the names, and another text after it. */
static bool are_sound(const struct symbol_entry *e, uint64_t count, const char *names,
                      uint64_t bytes) {
    bool good = bytes >= 2 && !names[bytes - 1] && !names[bytes - 2];
    for (uint64_t i = 0; i < count && good; i++)
        good = e[i].name < bytes - 1 && (i == 0 || e[i].start > e[i - 1].start);
    return good;
}

static bool load(struct kallsyms *k, const struct identity *id) {
    char name[64];
    name_of(id, name);
    if (!cache_file_map(FOLDER, name, &k->map))
        return false;
    const struct head *h = k->map.data;
    size_t bytes = k->map.bytes;
    char *after = (char *)k->map.data + sizeof *h;
    if (bytes >= sizeof *h && memcmp(h->magic, MAGIC, sizeof h->magic) == 0 &&
        memcmp(&h->id, id, sizeof *id) == 0 && h->entry_bytes == sizeof(struct symbol_entry) &&
        h->entries <= bytes / sizeof(struct symbol_entry) && h->names_bytes <= bytes &&
        bytes == sizeof *h + h->entries * sizeof(struct symbol_entry) + h->names_bytes) {
        struct symbol_entry *entries = (struct symbol_entry *)(void *)after;
        char *names = after + h->entries * sizeof *entries;
        if (are_sound(entries, h->entries, names, h->names_bytes)) {
            k->table = (struct symbol_table){.entries = entries,
                                             .count = h->entries,
                                             .names = names,
                                             .names_length = h->names_bytes};
            return k->is_kept = true;
        }
    }
    cache_file_unmap(&k->map);
    return false;
}

static void store(const struct symbol_table *t, const struct identity *id) {
    struct head h;
    char name[64];
    if (t->count < KEPT_LEAST)
        return;
    memset(&h, 0, sizeof h); /* padding, too */
    memcpy(h.magic, MAGIC, sizeof h.magic);
    h.entry_bytes = sizeof *t->entries;
    h.entries = t->count;
    h.names_bytes = t->names_length + 1; /* so that they end with two NULs */
    h.id = *id;
    const struct iovec piece[] = {{&h, sizeof h},
                                  {t->entries, t->count * sizeof *t->entries},
                                  {t->names, t->names_length},
                                  {(char[1]){0}, 1}};
    name_of(id, name);
    cache_file_store(FOLDER, PREFIX, name, piece, 4, KEPT_FILES);
}

static int read_table(struct symbol_table *t, const char *path) {
    char *text = NULL;
    size_t length = 0;
    int rc = read_file(path, &text, &length);
    if (rc == 0)
        rc = parse(t, text, length);
    if (rc != 0)
        symbol_table_free(t);
    return rc;
}

void kallsyms_read_once(struct kallsyms *k, const char *path) {
    struct identity id;
    if (k->was_read)
        return;
    k->was_read = true;
    bool known = identify(path, &id);
    if (known && load(k, &id))
        return;
    int rc = read_table(&k->table, path);
    if (rc != 0)
        explain(k, path, rc);
    else if (known)
        store(&k->table, &id);
}

bool kallsyms_may_be_old(const struct kallsyms *k) {
    return k->is_kept && !k->was_read_again;
}

void kallsyms_read_again(struct kallsyms *k, const char *path) {
    struct identity id;
    if (!kallsyms_may_be_old(k))
        return;
    if (read_table(&k->again, path) == 0 && identify(path, &id))
        store(&k->again, &id);
    k->was_read_again = true;
}

static const char *find(const struct symbol_table *t, uint64_t address, const char **module) {
    const struct symbol_entry *e = symbol_table_find(t, address);
    if (!e)
        return NULL;
    const char *name = symbol_table_name(t, e);
    const char *owner = name + strlen(name) + 1;
    *module = *owner ? owner : "kernel";
    return name;
}

const char *kallsyms_find(const struct kallsyms *k, uint64_t address, const char **module) {
    const char *name = find(&k->table, address, module);
    return name || !k->was_read_again ? name : find(&k->again, address, module);
}

void kallsyms_free(struct kallsyms *k) {
    if (k->is_kept)
        cache_file_unmap(&k->map);
    else
        symbol_table_free(&k->table);
    symbol_table_free(&k->again);
}
