/*
 * Access to the archives that contain sources, through libzip. A statically linked program
 * (JTOP_STATIC) has only stubs, because distributions provide libzip as a shared library only: no
 * archive can be opened then.
 *
 * Context: any thread, one at a time.
 */
#ifndef JTOP_SOURCE_SOURCE_ARCHIVE_H
#define JTOP_SOURCE_SOURCE_ARCHIVE_H

#ifndef JTOP_STATIC
#include <zip.h>
#else

#include <stddef.h>
#include <stdint.h>

typedef struct zip_t zip_t;
typedef struct zip_file_t zip_file_t;
typedef int64_t zip_int64_t;
typedef uint64_t zip_uint64_t;
typedef struct {
    uint64_t valid, size;
    const char *name;
} zip_stat_t;

enum { ZIP_STAT_NAME = 1, ZIP_STAT_SIZE = 4, ZIP_FL_ENC_RAW = 64 };

static inline zip_t *zip_fdopen(int fd, int flags, int *why) {
    (void)fd, (void)flags;
    *why = 0;
    return NULL;
}
static inline void zip_discard(zip_t *z) {
    (void)z;
}
static inline zip_int64_t zip_get_num_entries(zip_t *z, uint32_t flags) {
    (void)z, (void)flags;
    return 0;
}
static inline const char *zip_get_name(zip_t *z, zip_uint64_t entry, uint32_t flags) {
    (void)z, (void)entry, (void)flags;
    return NULL;
}
static inline int zip_stat_index(zip_t *z, zip_uint64_t entry, uint32_t flags, zip_stat_t *to) {
    (void)z, (void)entry, (void)flags;
    *to = (zip_stat_t){.valid = 0};
    return -1;
}
static inline zip_file_t *zip_fopen_index(zip_t *z, zip_uint64_t entry, uint32_t flags) {
    (void)z, (void)entry, (void)flags;
    return NULL;
}
static inline zip_int64_t zip_fread(zip_file_t *f, void *to, zip_uint64_t bytes) {
    (void)f, (void)to, (void)bytes;
    return -1;
}
static inline int zip_fclose(zip_file_t *f) {
    (void)f;
    return 0;
}
#endif

#endif
