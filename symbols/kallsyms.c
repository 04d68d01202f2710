#include "symbols/kallsyms.h"

#include "core/base/file.h"
#include "core/base/hash.h"
#include "symbols/elf/table_file.h"

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

struct identity {
    char boot[40];
    uint64_t first, modules; /* hashes */
    uint64_t size;           /* of a file that has one, and its last change */
    int64_t second, nanosecond;
};

static uint64_t hash_beginning(const char *path) {
    char *text = NULL;
    size_t length = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    uint64_t h =
        file_read_all(fd, FIRST_BYTES, &text, &length) == 0 ? hash_bytes(1, text, length) : 0;
    close(fd);
    free(text);
    return h;
}

/* Name, size and address of each loaded module. How often it is used, which is between them, changes
 * all the time: "overlay 151552 4 - Live 0xffffffffc0203000". False: not known. */
static bool hash_modules(uint64_t *hash) {
    char *text = NULL;
    size_t length = 0;
    *hash = 1;
    int rc = read_file("/proc/modules", &text, &length);
    if (rc != 0)
        return rc == -ENOENT; /* a kernel without modules */
    char *rest = text, *line;
    while ((line = strsep(&rest, "\n"))) {
        char *word, *last = line;
        for (int i = 0; (word = strsep(&line, " ")); i++) {
            *hash = i < 2 ? hash_bytes(*hash, word, strlen(word)) : *hash;
            last = word[0] == '0' ? word : last; /* "0x…"; a mark of taint may follow */
        }
        *hash = hash_bytes(*hash, last, strlen(last));
    }
    free(text);
    return true;
}

/* False: nothing tells this kernel from others. */
static bool identify(const char *path, struct identity *id) {
    struct stat st;
    memset(id, 0, sizeof *id);
    if (stat(path, &st) != 0 ||
        file_line("/proc/sys/kernel/random/boot_id", id->boot, sizeof id->boot) < 0 ||
        strspn(id->boot, "0123456789abcdef-") < 32)
        return false;
    id->first = hash_beginning(path);
    if (st.st_size > 0) {
        id->size = (uint64_t)st.st_size;
        id->second = st.st_ctim.tv_sec;
        id->nanosecond = st.st_ctim.tv_nsec;
    }
    return id->first != 0 && hash_modules(&id->modules);
}

/* Fills `name` with the file's name. */
static struct table_file file_of(const struct identity *id, char name[64]) {
    snprintf(name, 64, "kallsyms-%.36s", id->boot);
    return (struct table_file){.magic = "kallsyms 1",
                               .folder = "kernel",
                               .prefix = "kallsyms-",
                               .name = name,
                               .most = KEPT_FILES,
                               .id = id,
                               .id_bytes = sizeof *id};
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

/* What is loaded and unloaded without a change of the identity. */
static bool comes_and_goes(const struct symbol_table *t, const struct symbol_entry *e) {
    const char *name = symbol_table_name(t, e), *module = name + strlen(name) + 1;
    return strncmp(module, "[bpf", 4) == 0 || strncmp(module, "[__builtin__", 12) == 0;
}

static void store(const struct symbol_table *t, const struct identity *id) {
    char name[64];
    struct symbol_table kept = *t;
    const struct table_file file = file_of(id, name);
    kept.entries = malloc((t->count + 1) * sizeof *kept.entries);
    kept.count = 0;
    for (size_t i = 0; kept.entries && i < t->count; i++)
        if (!comes_and_goes(t, &t->entries[i]))
            kept.entries[kept.count++] = t->entries[i];
    table_file_store(&file, &kept);
    free(kept.entries);
}

void kallsyms_read_once(struct kallsyms *k, const char *path) {
    struct identity id;
    char name[64];
    if (k->was_read)
        return;
    k->was_read = true;
    bool known = identify(path, &id);
    const struct table_file file = file_of(&id, name);
    k->is_kept = known && table_file_load(&file, &k->table);
    if (k->is_kept)
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
    bool known = identify(path, &id);
    if (read_table(&k->again, path) == 0 && known)
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
    bool again = k->was_read_again && k->again.count;
    return find(again ? &k->again : &k->table, address, module);
}

void kallsyms_free(struct kallsyms *k) {
    symbol_table_free(&k->table);
    symbol_table_free(&k->again);
}
