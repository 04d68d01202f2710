#include "core/import/pprof_bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static bool is_gzip(const uint8_t *data, size_t bytes) {
    return bytes > 2 && data[0] == 0x1f && data[1] == 0x8b && data[2] == 8;
}

/* Inflates members that follow each other until the input or the output ends. */
struct inflating {
    z_stream z;
    const uint8_t *in;
    size_t left;
    bool ended, broken;
};

static void feed(struct inflating *f) {
    size_t n = f->left < (1u << 30) ? f->left : 1u << 30;
    f->z.next_in = (Bytef *)(uintptr_t)f->in;
    f->z.avail_in = (uInt)n;
    f->in += n;
    f->left -= n;
}

/* Fills `out`; returns the bytes that came. */
static size_t inflate_into(struct inflating *f, uint8_t *out, size_t size) {
    f->z.next_out = out;
    f->z.avail_out = (uInt)size;
    while (f->z.avail_out > 0 && !f->ended && !f->broken) {
        if (f->z.avail_in == 0 && f->left > 0)
            feed(f);
        int r = inflate(&f->z, Z_NO_FLUSH);
        bool more = f->z.avail_in > 0 || f->left > 0;
        if (r == Z_STREAM_END) {
            f->ended = !more || inflateReset(&f->z) != Z_OK;
        } else if (r != Z_OK) {
            f->broken = true;
        }
    }
    return size - f->z.avail_out;
}

size_t pprof_bytes_peek(const uint8_t *data, size_t bytes, uint8_t *out, size_t size) {
    struct inflating f = {.in = data, .left = bytes};
    if (!is_gzip(data, bytes)) {
        size_t n = bytes < size ? bytes : size;
        memcpy(out, data, n);
        return n;
    }
    if (inflateInit2(&f.z, 15 + 16) != Z_OK)
        return 0;
    size_t got = inflate_into(&f, out, size);
    inflateEnd(&f.z);
    return got;
}

#define STEP ((size_t)1 << 20)

int pprof_bytes_open(const uint8_t *data, size_t bytes, struct pprof_bytes *out, struct err *e) {
    struct inflating f = {.in = data, .left = bytes};
    size_t size = 0, limit = PPROF_RATIO_FREE + (uint64_t)bytes * PPROF_RATIO_MAX;
    int r = 0;
    *out = (struct pprof_bytes){.data = data, .bytes = bytes};
    if (!is_gzip(data, bytes))
        return 0;
    out->bytes = 0;
    if (limit > PPROF_PLAIN_MAX)
        limit = PPROF_PLAIN_MAX;
    if (inflateInit2(&f.z, 15 + 16) != Z_OK)
        return err_set(e, ENOMEM, "no memory to inflate the file");
    while (r == 0 && !f.ended && !f.broken) {
        if (out->bytes == size) {
            size = size ? size * 2 : STEP;
            uint8_t *more = realloc(out->owned, size);
            if (!more) {
                r = err_set(e, ENOMEM, "no memory to inflate the file");
                break;
            }
            out->owned = more;
        }
        size_t room = size - out->bytes;
        out->bytes += inflate_into(&f, out->owned + out->bytes, room < STEP ? room : STEP);
        if (out->bytes > limit)
            r = err_set(e, EINVAL,
                        "the file inflates to more than %zu MB, which no profile of its size does",
                        limit >> 20);
    }
    inflateEnd(&f.z);
    out->cut = f.broken;
    out->data = out->owned;
    if (r < 0)
        pprof_bytes_close(out);
    return r;
}

void pprof_bytes_close(struct pprof_bytes *b) {
    free(b->owned);
    *b = (struct pprof_bytes){0};
}

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
        return -EINVAL; /* the format has no others */
    }
    *at = from;
    return 1;
}
