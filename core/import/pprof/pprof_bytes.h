/*
 * The fields of the message that a pprof file is. Only one level is read here, so that a profile is
 * never held as objects; what is in a field is for protobuf-c.
 *
 * Context: as import.h.
 */
#ifndef JTOP_IMPORT_PPROF_PPROF_BYTES_H
#define JTOP_IMPORT_PPROF_PPROF_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
