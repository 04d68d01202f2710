/*
 * Returns the bytes of a file that is plain, or gzipped in any number of parts.
 *
 * Context: as import.h.
 */
#ifndef JTOP_IMPORT_GUNZIP_H
#define JTOP_IMPORT_GUNZIP_H

#include "core/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A file may inflate to GUNZIP_RATIO_FREE + its own size * GUNZIP_RATIO_MAX bytes, and never to
 * more than GUNZIP_PLAIN_MAX. */
#define GUNZIP_PLAIN_MAX (UINT64_C(1) << 30)
#define GUNZIP_RATIO_MAX 100u
#define GUNZIP_RATIO_FREE (UINT64_C(64) << 20)

struct gunzip {
    const uint8_t *data;
    size_t bytes;
    uint8_t *owned; /* inflated data; NULL: `data` is the file's own */
    bool cut;       /* the file ends early, or is damaged from there on */
};

/* `out` may point into `data`. A cut file gives the bytes before the cut. -EINVAL: the file
 * inflates to more than any profile would; -ENOMEM. */
int gunzip_open(const uint8_t *data, size_t bytes, struct gunzip *out, struct err *e);
/* Inflates at most `size` bytes into `out`; returns their number. */
size_t gunzip_peek(const uint8_t *data, size_t bytes, uint8_t *out, size_t size);
void gunzip_close(struct gunzip *b);

#endif
