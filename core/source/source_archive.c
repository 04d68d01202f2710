#include "core/source/source_archive.h"

#include <stddef.h>

#ifdef JTOP_STATIC

const char *source_archive_missing(void) {
    return NULL;
}

struct source_archive *source_archive_open(int fd) {
    (void)fd;
    return NULL;
}

void source_archive_close(struct source_archive *a) {
    (void)a;
}

int64_t source_archive_entries(struct source_archive *a) {
    (void)a;
    return 0;
}

const char *source_archive_name(struct source_archive *a, int64_t entry) {
    (void)a, (void)entry;
    return NULL;
}

int64_t source_archive_size(struct source_archive *a, int64_t entry) {
    (void)a, (void)entry;
    return -1;
}

int64_t source_archive_read(struct source_archive *a, int64_t entry, void *to, uint64_t bytes) {
    (void)a, (void)entry, (void)to, (void)bytes;
    return -1;
}

#else

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <zip.h>

#ifndef JTOP_LIBZIP
#define JTOP_LIBZIP "libzip.so.4" /* the Makefile knows the name */
#endif

/* libzip's functions. A struct source_archive is a zip_t. */
static struct {
    __typeof__(&zip_fdopen) open;
    __typeof__(&zip_discard) discard;
    __typeof__(&zip_get_num_entries) entries;
    __typeof__(&zip_get_name) name;
    __typeof__(&zip_stat_index) stat;
    __typeof__(&zip_fopen_index) open_entry;
    __typeof__(&zip_fread) read;
    __typeof__(&zip_fclose) close;
} zip;
static bool loaded;

static _Atomic bool missing;

/* Fills the function pointer at `to`. */
static bool find(void *library, const char *name, void *to) {
    void *function = dlsym(library, name);
    memcpy(to, &function, sizeof function);
    return function != NULL;
}

/* The library stays loaded. */
static void load(void) {
    void *l = dlopen(JTOP_LIBZIP, RTLD_NOW | RTLD_LOCAL);
    atomic_store(&missing, !l);
    loaded = l && find(l, "zip_fdopen", &zip.open) && find(l, "zip_discard", &zip.discard) &&
             find(l, "zip_get_num_entries", &zip.entries) && find(l, "zip_get_name", &zip.name) &&
             find(l, "zip_stat_index", &zip.stat) && find(l, "zip_fopen_index", &zip.open_entry) &&
             find(l, "zip_fread", &zip.read) && find(l, "zip_fclose", &zip.close);
}

static zip_t *zip_of(struct source_archive *a) {
    return (zip_t *)(void *)a;
}

const char *source_archive_missing(void) {
    return atomic_load(&missing) ? JTOP_LIBZIP : NULL;
}

struct source_archive *source_archive_open(int fd) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int why;
    pthread_once(&once, load);
    return loaded ? (void *)zip.open(fd, 0, &why) : NULL;
}

void source_archive_close(struct source_archive *a) {
    if (a)
        zip.discard(zip_of(a));
}

int64_t source_archive_entries(struct source_archive *a) {
    return zip.entries(zip_of(a), 0);
}

const char *source_archive_name(struct source_archive *a, int64_t entry) {
    return zip.name(zip_of(a), (zip_uint64_t)entry, ZIP_FL_ENC_RAW);
}

int64_t source_archive_size(struct source_archive *a, int64_t entry) {
    zip_stat_t st;
    if (zip.stat(zip_of(a), (zip_uint64_t)entry, 0, &st) != 0 || !(st.valid & ZIP_STAT_SIZE) ||
        st.size > INT64_MAX)
        return -1;
    return (int64_t)st.size;
}

int64_t source_archive_read(struct source_archive *a, int64_t entry, void *to, uint64_t bytes) {
    zip_file_t *file = zip.open_entry(zip_of(a), (zip_uint64_t)entry, 0);
    if (!file)
        return -1;
    zip_int64_t n = zip.read(file, to, bytes);
    zip.close(file);
    return n;
}

#endif
