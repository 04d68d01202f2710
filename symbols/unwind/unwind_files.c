#include "symbols/unwind/unwind_files.h"

#include "symbols/elf/debug_file.h"
#include "symbols/elf/target_files.h"
#include "symbols/elf/vdso.h"
#include "symbols/unwind/unwind_cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct listed {
    struct unwind_mapping mapping;
    int rank;
};

/* A table that was built and is to be kept for later processes. */
struct keeping {
    struct unwind_identity id;
    struct unwind_table table;
    struct keeping *next;
};

struct unwind_files {
    struct target_files files;
    struct maps maps;
    struct unwind_identity *file; /* the vdso's fields are all 0 */
    uint32_t file_count;
    struct unwind_mapping *list;
    struct keeping *keeping;
};

int unwind_files_open(pid_t pid, struct unwind_files **out, struct err *e) {
    struct unwind_files *u = calloc(1, sizeof *u);
    if (u)
        u->file = calloc(UNWIND_FILES_LIMIT, sizeof *u->file);
    if (!u || !u->file) {
        free(u);
        return err_set(e, ENOMEM, "no memory for the unwind tables of process %d", (int)pid);
    }
    int rc = target_files_open(pid, &u->files, e);
    if (rc) {
        unwind_files_close(u);
        return rc;
    }
    *out = u;
    return 0;
}

static void drop_first(struct unwind_files *u) {
    struct keeping *k = u->keeping;
    u->keeping = k->next;
    unwind_table_free(&k->table);
    free(k);
}

void unwind_files_close(struct unwind_files *u) {
    if (!u)
        return;
    while (u->keeping)
        drop_first(u);
    target_files_close(&u->files);
    maps_free(&u->maps);
    free(u->list);
    free(u->file);
    free(u);
}

static bool is_vdso(const struct mapping *m) {
    return strcmp(m->path, "[vdso]") == 0;
}

static int identify(const struct unwind_files *u, const struct mapping *m,
                    struct unwind_identity *out) {
    *out = (struct unwind_identity){0};
    if (is_vdso(m))
        return 0;
    int fd = target_files_open_mapping(&u->files, m);
    if (fd < 0)
        return fd;
    struct stat st;
    int rc = fstat(fd, &st) < 0 ? -errno : 0;
    close(fd);
    if (!rc)
        *out = (struct unwind_identity){st.st_dev, st.st_ino, (uint64_t)st.st_size,
                                        st.st_ctim.tv_sec, st.st_ctim.tv_nsec};
    return rc;
}

/* The number of a file, a new one if the file is new; UNWIND_FILES_LIMIT: too many files. */
static uint32_t number_of(struct unwind_files *u, const struct unwind_identity *id) {
    for (uint32_t i = 0; i < u->file_count; i++) {
        const struct unwind_identity *f = &u->file[i];
        if (f->inode == id->inode && f->device == id->device && f->size == id->size &&
            f->second == id->second && f->nanosecond == id->nanosecond)
            return i;
    }
    if (u->file_count < UNWIND_FILES_LIMIT)
        u->file[u->file_count++] = *id;
    else
        return UNWIND_FILES_LIMIT;
    return u->file_count - 1;
}

static int rank(const struct mapping *m) {
    static const char *const first[] = {"libjvm.so",  "libc.so", "libc-",
                                        "libpthread", "ld-",     "[vdso]"};
    const char *name = mapping_base_name(m);
    int n = sizeof first / sizeof first[0];
    for (int i = 0; i < n; i++)
        if (strncmp(name, first[i], strlen(first[i])) == 0)
            return i;
    return n;
}

static int by_importance(const void *a, const void *b) {
    const struct listed *x = a, *y = b;
    uint64_t x_bytes = x->mapping.end - x->mapping.begin;
    uint64_t y_bytes = y->mapping.end - y->mapping.begin;
    if (x->rank != y->rank)
        return x->rank - y->rank;
    if (x_bytes != y_bytes)
        return x_bytes > y_bytes ? -1 : 1;
    return (x->mapping.begin > y->mapping.begin) - (x->mapping.begin < y->mapping.begin);
}

static size_t fill(struct unwind_files *u, struct listed *list) {
    size_t n = 0;
    for (size_t i = 0; i < u->maps.count; i++) {
        const struct mapping *m = &u->maps.list[i];
        struct unwind_identity id;
        if (!m->executable || (m->path[0] != '/' && !is_vdso(m)) || identify(u, m, &id))
            continue;
        uint32_t file = number_of(u, &id);
        if (file < UNWIND_FILES_LIMIT)
            list[n++] = (struct listed){{m->start, m->end, m->offset, file}, rank(m)};
    }
    qsort(list, n, sizeof *list, by_importance);
    return n;
}

int unwind_files_list(struct unwind_files *u, const struct unwind_mapping **out, size_t *count) {
    struct maps fresh;
    *count = 0;
    int rc = maps_read(u->files.proc, &fresh);
    if (rc)
        return rc;
    maps_free(&u->maps);
    u->maps = fresh;
    struct listed *list = calloc(fresh.count + 1, sizeof *list);
    free(u->list);
    u->list = calloc(fresh.count + 1, sizeof *u->list);
    if (!list || !u->list) {
        free(list);
        return -ENOMEM;
    }
    *count = fill(u, list);
    for (size_t i = 0; i < *count; i++)
        u->list[i] = list[i].mapping;
    free(list);
    *out = u->list;
    return 0;
}

/* Code without tables in its own file may have some in its debug file (as musl's libc does). To
 * check that a debug file belongs to it, its build-id is needed, which is read together with its
 * symbols. */
static void try_debug_file(const struct unwind_files *u, const struct mapping *m, int fd,
                           struct unwind_table *t) {
    struct elf_symbols *symbols;
    if (t->covered >= unwind_table_code(t) / 2 || elf_symbols_read(fd, &symbols))
        return;
    int debug_fd = debug_file_open(&u->files, m->path, symbols);
    elf_symbols_free(symbols);
    if (debug_fd < 0)
        return;
    struct unwind_table both;
    if (unwind_table_read(fd, debug_fd, &both) == 0) {
        unwind_table_free(t);
        *t = both;
    }
    close(debug_fd);
}

static int build_table(const struct unwind_files *u, const struct mapping *mapping,
                       struct unwind_table *out) {
    if (is_vdso(mapping)) {
        void *data;
        size_t size;
        int rc = vdso_copy(u->files.proc, mapping, &data, &size);
        if (rc)
            return rc;
        rc = unwind_table_read_memory(data, size, out);
        free(data);
        return rc;
    }
    int fd = target_files_open_mapping(&u->files, mapping);
    if (fd < 0)
        return fd;
    int rc = unwind_table_read(fd, -1, out);
    if (rc == 0)
        try_debug_file(u, mapping, fd, out);
    close(fd);
    return rc;
}

int unwind_files_table(struct unwind_files *u, const struct unwind_mapping *m,
                       struct unwind_table *out, bool *built) {
    const struct mapping *mapping = maps_find(&u->maps, m->begin);
    *out = (struct unwind_table){0};
    *built = false;
    if (!mapping)
        return -ENOENT;
    if (!is_vdso(mapping) && unwind_cache_load(&u->file[m->file], out))
        return 0;
    *built = true;
    return build_table(u, mapping, out);
}

/* A table that covers little may be better when a debug file has been installed. The vdso has no
 * identity. */
void unwind_files_keep(struct unwind_files *u, const struct unwind_mapping *m,
                       struct unwind_table *t) {
    bool worth = t->count >= UNWIND_CACHE_ROWS && t->covered >= unwind_table_code(t) / 2 &&
                 u->file[m->file].inode;
    struct keeping *k = worth ? malloc(sizeof *k) : NULL;
    if (!k) {
        unwind_table_free(t);
        return;
    }
    *k = (struct keeping){u->file[m->file], *t, u->keeping};
    u->keeping = k;
    *t = (struct unwind_table){0};
}

bool unwind_files_store(struct unwind_files *u) {
    if (!u->keeping)
        return false;
    unwind_cache_store(&u->keeping->id, &u->keeping->table);
    drop_first(u);
    return true;
}
