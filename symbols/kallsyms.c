#include "symbols/kallsyms.h"

#include "core/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    TEXT_LIMIT = 64 << 20,
    REACH = 64 << 10, /* bytes that a function may cover at most; kallsyms has no sizes */
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

void kallsyms_read_once(struct kallsyms *k, const char *path) {
    if (k->was_read)
        return;
    k->was_read = true;
    char *text = NULL;
    size_t length = 0;
    int rc = read_file(path, &text, &length);
    if (rc == 0)
        rc = parse(&k->table, text, length);
    if (rc == 0)
        return;
    symbol_table_free(&k->table);
    explain(k, path, rc);
}

const char *kallsyms_find(const struct kallsyms *k, uint64_t address, const char **module) {
    const struct symbol_entry *e = symbol_table_find(&k->table, address);
    if (!e)
        return NULL;
    const char *name = symbol_table_name(&k->table, e);
    const char *owner = name + strlen(name) + 1;
    *module = *owner ? owner : "kernel";
    return name;
}

void kallsyms_free(struct kallsyms *k) {
    symbol_table_free(&k->table);
}
