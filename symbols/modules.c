#include "symbols/modules.h"

#include "core/base/clock.h"
#include "core/base/utf8.h"
#include "symbols/elf/debug_file.h"
#include "symbols/elf/demangle.h"
#include "symbols/elf/vdso.h"

#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(element) ((element)->lost = true)
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <uthash.h>

enum {
    KEY_BYTES = 4096 + 64,
    NAME_BYTES = 256,
    BYTES_LIMIT = 256 << 20, /* of one process's symbol tables; further files get none */
    SPENT_SHARE = 20,        /* 1/20 of the elapsed time; see modules.h */
};

#define SPENT_FIRST_NS INT64_C(5000000000)

struct module_entry {
    struct module module;
    struct elf_symbols *elf;    /* our own table; NULL: none */
    struct symbol_file *shared; /* the store's table; NULL: none */
    bool seen;                  /* by the current sweep */
    bool lost;                  /* uthash had no memory to add it */
    UT_hash_handle hh;
    char key[];
};

static bool is_vdso(const struct mapping *m) {
    return strcmp(m->path, "[vdso]") == 0;
}

static bool has_name(const struct mapping *m) {
    return (m->path[0] == '/' && m->inode != 0) || is_vdso(m) || strcmp(m->path, "[vsyscall]") == 0;
}

/* A data mapping of the same file is a separate module, which is never read. 0: the path is too
 * long. */
static size_t make_key(const struct mapping *m, char key[KEY_BYTES]) {
    int n = snprintf(key, KEY_BYTES, "%c%x:%x:%" PRIu64 ":%s", m->executable ? 'x' : '-', m->major,
                     m->minor, m->inode, m->path);
    return n < 0 || n >= KEY_BYTES ? 0 : (size_t)n;
}

static struct module_entry *find(const struct modules *m, const struct mapping *mapping) {
    char key[KEY_BYTES];
    struct module_entry *found = NULL;
    size_t length = make_key(mapping, key);
    if (length)
        HASH_FIND_BYHASHVALUE(hh, m->table, key, length, intern_hash(m->names, key, length), found);
    return found;
}

/* A file to be read, and for whom. */
struct reading {
    const struct modules *modules;
    const struct mapping *mapping;
    int fd;
};

static struct elf_symbols *read_file(void *arg) {
    const struct reading *r = arg;
    struct elf_identity id;
    bool known = elf_identify(r->fd, &id);
    struct elf_symbols *elf = known ? elf_symbols_kept(r->fd, &id) : NULL;
    if (elf || elf_symbols_read(r->fd, &elf))
        return elf;
    if (!elf->has_symtab)
        debug_file_add(r->modules->files, r->mapping->path, elf);
    else if (known)
        elf_symbols_keep(elf, r->fd, &id);
    return elf;
}

static void take_file(struct modules *m, struct module_entry *e, const struct mapping *mapping) {
    struct reading r = {m, mapping, target_files_open_mapping(m->files, mapping)};
    if (r.fd < 0)
        return;
    if (m->store && m->mounts)
        e->shared = symbol_store_get(m->store, r.fd, m->mounts, read_file, &r);
    if (!e->shared)
        e->elf = read_file(&r);
    close(r.fd);
}

/* Reads the file unless the time for reading is used up. */
static void take_in_time(struct modules *m, struct module_entry *e, const struct mapping *mapping) {
    int64_t now = (int64_t)clock_now_ns();
    if (!m->begun_ns)
        m->begun_ns = now;
    if (m->spent_ns > SPENT_FIRST_NS + (now - m->begun_ns) / SPENT_SHARE)
        return;
    int64_t begin = (int64_t)clock_ns(CLOCK_THREAD_CPUTIME_ID);
    take_file(m, e, mapping);
    m->spent_ns += (int64_t)clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
}

static const struct elf_symbols *elf_of(const struct module_entry *e) {
    return e->shared ? symbol_file_elf(e->shared) : e->elf;
}

static void let_go(struct modules *m, struct module_entry *e) {
    if (e->shared)
        symbol_store_put(m->store, e->shared);
    elf_symbols_free(e->elf);
    e->shared = NULL;
    e->elf = NULL;
}

static void read_symbols(struct modules *m, struct module_entry *e, const struct mapping *mapping) {
    if (!mapping->executable || m->bytes >= BYTES_LIMIT)
        return;
    if (is_vdso(mapping)) {
        if (vdso_read(m->files->proc, mapping, &e->elf))
            return;
    } else if (mapping->path[0] == '/') {
        take_in_time(m, e, mapping);
    }
    const struct elf_symbols *elf = elf_of(e);
    size_t bytes = elf ? symbol_table_bytes(&elf->table) : 0;
    if (!elf || bytes > BYTES_LIMIT - m->bytes) {
        let_go(m, e);
        return;
    }
    m->bytes += bytes;
    e->module.elf = elf;
}

static bool name_module(struct modules *m, struct module_entry *e, const struct mapping *mapping) {
    char name[NAME_BYTES], placeholder[NAME_BYTES + 2];
    snprintf(name, sizeof name, "%s", mapping_base_name(mapping));
    utf8_clean(name);
    snprintf(placeholder, sizeof placeholder, name[0] == '[' ? "%s" : "[%s]", name);
    e->module.name = intern_text(m->names, name);
    e->module.placeholder = intern_text(m->names, placeholder);
    return e->module.name && e->module.placeholder;
}

static struct module_entry *add(struct modules *m, const struct mapping *mapping) {
    char key[KEY_BYTES];
    size_t length = make_key(mapping, key);
    if (!length)
        return NULL;
    struct module_entry *e = calloc(1, sizeof *e + length + 1);
    if (!e)
        return NULL;
    memcpy(e->key, key, length + 1);
    if (name_module(m, e, mapping))
        HASH_ADD_BYHASHVALUE(hh, m->table, key, length, intern_hash(m->names, key, length), e);
    else
        e->lost = true;
    if (e->lost) {
        free(e);
        return NULL;
    }
    read_symbols(m, e, mapping);
    return e;
}

const struct module *modules_get(struct modules *m, const struct mapping *mapping) {
    if (!has_name(mapping))
        return NULL;
    struct module_entry *e = find(m, mapping);
    if (!e)
        e = add(m, mapping);
    return e ? &e->module : NULL;
}

static void free_chain(struct modules *m, struct module_entry *e) {
    while (e) {
        struct module_entry *next = e->hh.next;
        if (e->module.elf)
            m->bytes -= symbol_table_bytes(&e->module.elf->table);
        let_go(m, e);
        free(e);
        e = next;
    }
}

void modules_sweep(struct modules *m, const struct maps *maps) {
    struct module_entry *unused = NULL;
    for (size_t i = 0; i < maps->count && m->table; i++) {
        struct module_entry *e = has_name(&maps->list[i]) ? find(m, &maps->list[i]) : NULL;
        if (e)
            e->seen = true;
    }
    for (struct module_entry *e = m->table, *next; e; e = next) {
        next = e->hh.next;
        if (e->seen) {
            e->seen = false;
            continue;
        }
        HASH_DEL(m->table, e);
        e->hh.next = unused;
        unused = e;
    }
    free_chain(m, unused);
}

void modules_free(struct modules *m) {
    struct module_entry *all = m->table;
    HASH_CLEAR(hh, m->table); /* frees only its own memory: the chain of elements stays */
    free_chain(m, all);
}
