/*
 * The small part of protocol buffers that is needed for answers and for messages without a
 * definition of ours: fields are appended to a text, and read one after another.
 * source: protobuf.dev, "Encoding"
 *
 * Context: pure.
 */
#ifndef JTOP_HTTP_PUSH_PROTOCOL_PROTOBUF_H
#define JTOP_HTTP_PUSH_PROTOCOL_PROTOBUF_H

#include "core/base/text.h"

#include <stdbool.h>
#include <stdint.h>

/* Appends a field: a number, or bytes (text, messages). */
void protobuf_add_number(struct text *out, uint32_t field, uint64_t value);
void protobuf_add_bytes(struct text *out, uint32_t field, const void *data, size_t bytes);

struct protobuf_field {
    uint32_t number;
    bool bytes;       /* else a number */
    uint64_t value;   /* of a number */
    const char *data; /* of bytes; points into the text that is read */
    size_t size;
};

/* Reads the field at *at and moves *at after it. False: the end, or not a valid message (then *at
 * is not at the end). */
bool protobuf_next(const char *text, size_t size, size_t *at, struct protobuf_field *out);

#endif
