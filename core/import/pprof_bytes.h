/*
 * The bytes of a pprof file: plain or gzipped, and the fields of the message that it is. Only one
 * level is read here, so that a profile is never held as objects; what is in a field is for
 * protobuf-c.
 *
 * Context: as import.h.
 */
#ifndef JTOP_IMPORT_PPROF_BYTES_H
#define JTOP_IMPORT_PPROF_BYTES_H

#include "core/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PPROF_PLAIN_MAX (UINT64_C(1) << 30)   /* inflated; and not more than … */
#define PPROF_RATIO_MAX 100u                  /* … so many times the file, with … */
#define PPROF_RATIO_FREE (UINT64_C(64) << 20) /* … so much for nothing */

struct pprof_bytes {
    const uint8_t *data;
    size_t bytes;
    uint8_t *owned; /* inflated; NULL: data is the file's */
    bool cut;       /* the file ends early, or is damaged from there on */
};

/* `data` is what `out` may point into. A cut file gives what is before the cut. -EINVAL: it
 * inflates to more than any profile does; -ENOMEM. */
int pprof_bytes_open(const uint8_t *data, size_t bytes, struct pprof_bytes *out, struct err *e);
/* Inflates at most `size` bytes into `out`; returns how many. */
size_t pprof_bytes_peek(const uint8_t *data, size_t bytes, uint8_t *out, size_t size);
void pprof_bytes_close(struct pprof_bytes *b);

enum { PPROF_VARINT = 0, PPROF_BYTES = 2 };

struct pprof_field {
    uint32_t number, wire;
    uint64_t value;      /* PPROF_VARINT */
    const uint8_t *data; /* PPROF_BYTES */
    size_t bytes;
};

/* The field at *at, which moves behind it. 1; 0: the end; -EINVAL: no whole field. */
int pprof_field_next(const uint8_t *data, size_t bytes, size_t *at, struct pprof_field *out);

/* A varint at *at. False: none. */
bool pprof_varint(const uint8_t *data, size_t bytes, size_t *at, uint64_t *out);

#endif
