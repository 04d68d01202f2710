#include "core/import/gunzip.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static bool is_gzip(const uint8_t *data, size_t bytes) {
    return bytes > 2 && data[0] == 0x1f && data[1] == 0x8b && data[2] == 8;
}

/* Inflates gzip members that follow each other, until the input or the output ends. */
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

/* Fills `out`; returns the number of bytes written. */
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

size_t gunzip_peek(const uint8_t *data, size_t bytes, uint8_t *out, size_t size) {
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

int gunzip_open(const uint8_t *data, size_t bytes, struct gunzip *out, struct err *e) {
    struct inflating f = {.in = data, .left = bytes};
    size_t size = 0, limit = GUNZIP_RATIO_FREE + (uint64_t)bytes * GUNZIP_RATIO_MAX;
    int r = 0;
    *out = (struct gunzip){.data = data, .bytes = bytes};
    if (!is_gzip(data, bytes))
        return 0;
    out->bytes = 0;
    if (limit > GUNZIP_PLAIN_MAX)
        limit = GUNZIP_PLAIN_MAX;
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
                        "the file inflates to more than %zu MB, too much for a profile of its size",
                        limit >> 20);
    }
    inflateEnd(&f.z);
    out->cut = f.broken;
    out->data = out->owned;
    if (r < 0)
        gunzip_close(out);
    return r;
}

void gunzip_close(struct gunzip *b) {
    free(b->owned);
    *b = (struct gunzip){0};
}
