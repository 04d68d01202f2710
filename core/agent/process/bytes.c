#include "core/agent/process/bytes.h"

#include <string.h>
#include <sys/mman.h>

#define CAPACITY_FIRST 65536u

const uint8_t *bytes_skip(struct bytes_in *in, size_t n) {
    if (in->bad || n > (size_t)(in->end - in->at)) {
        in->bad = true;
        return NULL;
    }
    const uint8_t *at = in->at;
    in->at += n;
    return at;
}

uint8_t bytes_u1(struct bytes_in *in) {
    const uint8_t *b = bytes_skip(in, 1);
    return b ? b[0] : 0;
}

uint16_t bytes_u2(struct bytes_in *in) {
    const uint8_t *b = bytes_skip(in, 2);
    if (!b)
        return 0;
    return (uint16_t)(b[0] << 8 | b[1]);
}

uint32_t bytes_u4(struct bytes_in *in) {
    uint32_t high = bytes_u2(in);
    return high << 16 | bytes_u2(in);
}

void *bytes_alloc(size_t n) {
    void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

void bytes_free(void *p, size_t n) {
    if (p)
        munmap(p, n);
}

static bool grow(struct bytes_out *out, size_t n) {
    size_t capacity = out->capacity ? out->capacity : CAPACITY_FIRST;
    while (capacity < n)
        capacity *= 2;
    void *p = out->at ? mremap(out->at, out->capacity, capacity, MREMAP_MAYMOVE) : MAP_FAILED;
    if (!out->at)
        p = bytes_alloc(capacity);
    if (!p || p == MAP_FAILED)
        return false;
    out->at = p;
    out->capacity = capacity;
    return true;
}

void bytes_put(struct bytes_out *out, const void *from, size_t n) {
    if (!out->failed && out->n + n > out->capacity)
        out->failed = !grow(out, out->n + n);
    if (out->failed || !n)
        return;
    memcpy(out->at + out->n, from, n);
    out->n += n;
}

void bytes_end(struct bytes_out *out) {
    bytes_free(out->at, out->capacity);
    *out = (struct bytes_out){0};
}

void bytes_put1(struct bytes_out *out, uint32_t value) {
    bytes_put(out, &(uint8_t){(uint8_t)value}, 1);
}

void bytes_put2(struct bytes_out *out, uint32_t value) {
    bytes_put1(out, value >> 8);
    bytes_put1(out, value);
}

void bytes_put4(struct bytes_out *out, uint32_t value) {
    bytes_put2(out, value >> 16);
    bytes_put2(out, value);
}

void bytes_set2(struct bytes_out *out, size_t where, uint32_t value) {
    if (out->failed)
        return;
    out->at[where] = (uint8_t)(value >> 8);
    out->at[where + 1] = (uint8_t)value;
}

void bytes_set4(struct bytes_out *out, size_t where, uint32_t value) {
    bytes_set2(out, where, value >> 16);
    bytes_set2(out, where + 2, value);
}
