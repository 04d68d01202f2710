#include "symbols/symbols.h"

#include "core/base/clock.h"
#include "core/base/hash.h"
#include "core/base/utf8.h"
#include "symbols/elf/demangle.h"
#include "symbols/elf/maps.h"
#include "symbols/elf/target_files.h"
#include "symbols/find.h"
#include "symbols/intern.h"
#include "symbols/kallsyms.h"
#include "symbols/modules.h"

#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(element) ((element)->lost = true)
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <uthash.h>

#define REFRESH_NS INT64_C(1000000000)
#define KERNEL_BIT (UINT64_C(1) << 63)

enum {
    CACHE_LIMIT = 1 << 18, /* addresses; a full cache is cleared */
    NAMES_LIMIT = 128 << 20,
};

static const struct symbol unknown = {.name = "[unknown]", .module = ""};

struct cached {
    uint64_t address;
    struct symbol symbol;
    bool kernel; /* not in the process's maps */
    bool lost;   /* uthash had no memory to add it */
    UT_hash_handle hh;
};

struct symbols {
    struct target_files files;
    struct maps maps;
    struct modules modules;
    struct intern names;
    struct cached *cache;
    uint64_t seed;           /* random, so that nobody can choose addresses with equal hashes */
    int64_t last_automatic;  /* last refresh of our own, CLOCK_MONOTONIC ns; 0: none yet */
    struct kallsyms *kernel; /* read when first needed, even through a const struct symbols */
};

int symbols_open(pid_t pid, struct symbols **out, struct err *e) {
    return symbols_open_shared(pid, NULL, out, e);
}

/* The inode number of the mount namespace; 0: not known. */
static uint64_t mounts_of(int proc) {
    struct stat st;
    return fstatat(proc, "ns/mnt", &st, 0) == 0 ? st.st_ino : 0;
}

int symbols_open_shared(pid_t pid, struct symbol_store *store, struct symbols **out,
                        struct err *e) {
    struct symbols *s = calloc(1, sizeof *s);
    struct kallsyms *kernel = calloc(1, sizeof *kernel);
    if (!s || !kernel) {
        free(s);
        free(kernel);
        return err_set(e, ENOMEM, "no memory for the symbols of process %d", (int)pid);
    }
    s->kernel = kernel;
    s->seed = hash_seed();
    s->names = (struct intern){.limit = NAMES_LIMIT, .seed = s->seed};
    s->modules = (struct modules){.files = &s->files, .names = &s->names, .store = store};
    int rc = target_files_open(pid, &s->files, e);
    if (rc == 0) {
        s->modules.mounts = mounts_of(s->files.proc);
        rc = maps_read(s->files.proc, &s->maps);
        if (rc == -ESRCH)
            err_set(e, ESRCH, "process %d has no memory mapped: it has ended", (int)pid);
        else if (rc == -EACCES || rc == -EPERM)
            err_set(e, -rc, "cannot read /proc/%d/maps: %s; run as the process's user or as root",
                    (int)pid, strerror(-rc));
        else if (rc)
            err_set(e, -rc, "cannot read /proc/%d/maps: %s", (int)pid, strerror(-rc));
    }
    if (rc) {
        symbols_free(s);
        return rc;
    }
    *out = s;
    return 0;
}

static void free_chain(struct cached *c) {
    while (c) {
        struct cached *next = c->hh.next;
        free(c);
        c = next;
    }
}

static void forget_all(struct symbols *s) {
    struct cached *all = s->cache;
    HASH_CLEAR(hh, s->cache); /* frees only its own memory: the chain of elements stays */
    free_chain(all);
}

/* Forgets the addresses at which `fresh` maps something else. */
static void forget_changed(struct symbols *s, const struct maps *fresh) {
    struct cached *changed = NULL;
    for (struct cached *c = s->cache, *next; c; c = next) {
        next = c->hh.next;
        if (c->kernel || mapping_same_at(maps_find(&s->maps, c->address),
                                         maps_find(fresh, c->address), c->address))
            continue;
        HASH_DEL(s->cache, c);
        c->hh.next = changed;
        changed = c;
    }
    free_chain(changed);
}

void symbols_free(struct symbols *s) {
    if (!s)
        return;
    forget_all(s);
    modules_free(&s->modules);
    maps_free(&s->maps);
    target_files_close(&s->files);
    kallsyms_free(s->kernel);
    free(s->kernel);
    intern_free(&s->names);
    free(s);
}

int symbols_refresh(struct symbols *s) {
    struct maps fresh;
    int rc = maps_read(s->files.proc, &fresh);
    if (rc)
        return rc;
    forget_changed(s, &fresh);
    maps_free(&s->maps);
    s->maps = fresh;
    modules_sweep(&s->modules, &s->maps);
    return 0;
}

/* uthash's default, the Jenkins hash, is slower and can be attacked. */
static unsigned hash(const struct symbols *s, uint64_t address) {
    return (unsigned)hash_pair(s->seed, address, 0);
}

static const struct symbol *cache_find(const struct symbols *s, uint64_t address) {
    struct cached *c;
    HASH_FIND_BYHASHVALUE(hh, s->cache, &address, sizeof address, hash(s, address), c);
    return c ? &c->symbol : NULL;
}

static void cache_add(struct symbols *s, uint64_t address, const struct symbol *symbol,
                      bool kernel) {
    if (HASH_COUNT(s->cache) >= CACHE_LIMIT)
        forget_all(s);
    struct cached *c = calloc(1, sizeof *c);
    if (!c)
        return;
    c->address = address;
    c->symbol = *symbol;
    c->kernel = kernel;
    HASH_ADD_BYHASHVALUE(hh, s->cache, address, sizeof c->address, hash(s, address), c);
    if (c->lost)
        free(c);
}

/* Makes a readable name of a symbol table's spelling: "_ZN1A1bEv@@V1" → "A::b". False: no
 * memory. */
static bool set_name(struct symbols *s, const char *raw, bool plt, struct symbol *out) {
    char text[DEMANGLE_BYTES + sizeof "@plt"], spelled[DEMANGLE_BYTES];
    size_t length = strnlen(raw, sizeof spelled - 1);
    const char *version = length > 1 ? memchr(raw + 1, '@', length - 1) : NULL;
    if (version)
        length = (size_t)(version - raw);
    memcpy(spelled, raw, length);
    spelled[length] = '\0';
    bool mangled = demangle(spelled, text);
    if (!mangled) {
        memcpy(text, spelled, length + 1);
        utf8_clean(text);
    }
    if (plt)
        stpcpy(text + strlen(text), "@plt");
    const char *name = intern_text(&s->names, text);
    if (!name)
        return false;
    out->name = name;
    out->language = mangled ? SYMBOL_CPP : SYMBOL_C;
    return true;
}

static void resolve_mapped(struct symbols *s, const struct mapping *m, uint64_t address,
                           struct symbol *out) {
    const struct module *module = modules_get(&s->modules, m);
    if (!module)
        return;
    out->module = module->name;
    out->name = module->placeholder;
    if (!module->elf)
        return;
    const struct symbol_entry *e = elf_symbols_find(module->elf, address - m->start + m->offset);
    if (e)
        out->exact = set_name(s, symbol_table_name(&module->elf->table, e), e->plt, out);
}

/* The mapping of an address. If there is none, reads the maps again, because a library may have
 * been loaded. */
static const struct mapping *find_mapping(struct symbols *s, uint64_t address) {
    const struct mapping *m = maps_find(&s->maps, address);
    if (m || (address & KERNEL_BIT))
        return m;
    int64_t now = (int64_t)clock_now_ns();
    if (s->last_automatic && now - s->last_automatic < REFRESH_NS)
        return NULL;
    s->last_automatic = now;
    symbols_refresh(s);
    return maps_find(&s->maps, address);
}

void symbols_resolve(struct symbols *s, uint64_t address, struct symbol *out) {
    const struct symbol *known = cache_find(s, address);
    if (known) {
        *out = *known;
        return;
    }
    *out = unknown;
    const struct mapping *m = find_mapping(s, address);
    if (!m) {
        if (address & KERNEL_BIT)
            symbols_resolve_kernel(s, address, out);
        return; /* not cached: something may be mapped there soon */
    }
    resolve_mapped(s, m, address, out);
    cache_add(s, address, out, false);
}

static const struct kallsyms *kernel_of(const struct symbols *s) {
    if (s->modules.store)
        return symbol_store_kernel(s->modules.store);
    kallsyms_read_once(s->kernel, "/proc/kallsyms");
    return s->kernel;
}

static const char *kernel_name(struct symbols *s, uint64_t address, const char **module) {
    const char *name = kallsyms_find(kernel_of(s), address, module);
    if (name || !kallsyms_may_be_old(kernel_of(s)))
        return name;
    if (s->modules.store)
        symbol_store_kernel_again(s->modules.store);
    else
        kallsyms_read_again(s->kernel, "/proc/kallsyms");
    return kallsyms_find(kernel_of(s), address, module);
}

void symbols_resolve_kernel(struct symbols *s, uint64_t address, struct symbol *out) {
    const struct symbol *known = cache_find(s, address);
    if (known) {
        *out = *known;
        return;
    }
    *out = (struct symbol){.name = "[kernel]", .module = "kernel", .language = SYMBOL_KERNEL};
    const char *module;
    const char *name = kernel_name(s, address, &module);
    if (name) {
        const char *kept = intern_text(&s->names, module);
        out->module = kept ? kept : "kernel";
        out->exact = set_name(s, name, false, out);
        out->language = SYMBOL_KERNEL;
    }
    cache_add(s, address, out, true);
}

int symbols_find(struct symbols *s, const char *library, const char *name,
                 struct symbol_place *out) {
    return find_symbol(&s->files, &s->maps, library, name, out);
}

bool symbols_are_missing(struct symbols *s, const char *library, char build_id[132],
                         bool *replaced) {
    return find_stripped(&s->files, &s->maps, library, build_id, replaced);
}

const char *symbols_kernel_trouble(const struct symbols *s) {
    const struct kallsyms *kernel = kernel_of(s);
    return kernel->trouble[0] ? kernel->trouble : NULL;
}
