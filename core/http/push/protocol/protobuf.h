/*
 * The little of protocol buffers that answers, and messages without a definition of ours, need:
 * fields are appended to a text, and read one after another.
 * source: protobuf.dev, "Encoding"
 *
 * Context: pure.
 */
#ifndef JTOP_HTTP_PUSH_PROTOCOL_PROTOBUF_H
#define JTOP_HTTP_PUSH_PROTOCOL_PROTOBUF_H

#include "core/base/text.h"

#include <stdbool.h>
#include <stdint.h>

/* A field of a number, or of bytes (text, messages). */
void protobuf_add_number(struct text *out, uint32_t field, uint64_t value);
void protobuf_add_bytes(struct text *out, uint32_t field, const void *data, size_t bytes);

struct protobuf_field {
    uint32_t number;
    bool bytes;       /* else a number */
    uint64_t value;   /* of a number */
    const char *data; /* of bytes; in the text that is read */
    size_t size;
};

/* The field at *at, which moves behind it. False: the end, or no such message (then *at is not the
 * end). */
bool protobuf_next(const char *text, size_t size, size_t *at, struct protobuf_field *out);

#endif
