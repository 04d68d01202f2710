#include "core/http/push/protocol/protobuf.h"

enum wire_type { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

static void protobuf_add_varint(struct text *out, uint64_t value) {
    char buf[10];
    size_t n = 0;
    for (; value > 0x7f; value >>= 7)
        buf[n++] = (char)(value | 0x80);
    buf[n++] = (char)value;
    text_add_n(out, buf, n);
}

void protobuf_add_number(struct text *out, uint32_t field, uint64_t value) {
    protobuf_add_varint(out, (uint64_t)field << 3); /* WIRE_VARINT is 0 */
    protobuf_add_varint(out, value);
}

void protobuf_add_bytes(struct text *out, uint32_t field, const void *data, size_t bytes) {
    protobuf_add_varint(out, (uint64_t)field << 3 | WIRE_BYTES);
    protobuf_add_varint(out, bytes);
    if (bytes)
        text_add_n(out, data, bytes);
}

static bool read_varint(const char *text, size_t size, size_t *at, uint64_t *out) {
    *out = 0;
    for (unsigned shift = 0; shift < 64 && *at < size; shift += 7) {
        uint8_t byte = (uint8_t)text[(*at)++];
        *out |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return true;
    }
    return false;
}

bool protobuf_next(const char *text, size_t size, size_t *at, struct protobuf_field *out) {
    size_t next = *at;
    uint64_t key, length;
    *out = (struct protobuf_field){0};
    if (next >= size || !read_varint(text, size, &next, &key) || key >> 3 == 0 ||
        key >> 3 > UINT32_MAX)
        return false;
    out->number = (uint32_t)(key >> 3);
    switch (key & 7) {
    case WIRE_VARINT:
        if (!read_varint(text, size, &next, &out->value))
            return false;
        break;
    case WIRE_BYTES:
        if (!read_varint(text, size, &next, &length) || length > size - next)
            return false;
        out->bytes = true;
        out->data = text + next;
        out->size = (size_t)length;
        next += out->size;
        break;
    case WIRE_32:
    case WIRE_64:
        length = (key & 7) == WIRE_32 ? 4 : 8;
        if (length > size - next)
            return false;
        for (size_t i = 0; i < length; i++)
            out->value |= (uint64_t)(uint8_t)text[next + i] << (8 * i);
        next += length;
        break;
    default:
        return false;
    }
    *at = next;
    return true;
}
