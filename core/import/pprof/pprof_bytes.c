#include "core/import/pprof/pprof_bytes.h"

#include <errno.h>

bool pprof_varint(const uint8_t *data, size_t bytes, size_t *at, uint64_t *out) {
    *out = 0;
    for (unsigned shift = 0; shift < 64 && *at < bytes; shift += 7) {
        uint8_t byte = data[(*at)++];
        *out |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return true;
    }
    return false;
}

int pprof_field_next(const uint8_t *data, size_t bytes, size_t *at, struct pprof_field *out) {
    uint64_t tag, length;
    size_t from = *at;
    *out = (struct pprof_field){0};
    if (from >= bytes)
        return 0;
    if (!pprof_varint(data, bytes, &from, &tag) || tag >> 3 == 0 || tag >> 3 > 1000)
        return -EINVAL;
    out->number = (uint32_t)(tag >> 3);
    out->wire = tag & 7;
    if (out->wire == PPROF_VARINT) {
        if (!pprof_varint(data, bytes, &from, &out->value))
            return -EINVAL;
    } else if (out->wire == PPROF_BYTES) {
        if (!pprof_varint(data, bytes, &from, &length) || length > bytes - from)
            return -EINVAL;
        out->data = data + from;
        out->bytes = (size_t)length;
        from += (size_t)length;
    } else {
        return -EINVAL; /* pprof files have no other wire types */
    }
    *at = from;
    return 1;
}
