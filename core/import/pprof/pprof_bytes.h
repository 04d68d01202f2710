/*
 * Reads the fields of a pprof file's message. Only the top level is read here, so that a profile is
 * never held in memory as objects; protobuf-c reads the content of each field.
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

/* Reads the field at *at and moves *at behind it. 1: a field was read; 0: the end; -EINVAL: there
 * is no complete field. */
int pprof_field_next(const uint8_t *data, size_t bytes, size_t *at, struct pprof_field *out);

/* Reads a varint at *at. False: there is no varint. */
bool pprof_varint(const uint8_t *data, size_t bytes, size_t *at, uint64_t *out);

#endif
