#include "attach/find/hsperf.h"

#include <errno.h>
#include <string.h>

enum {
    PROLOGUE_SIZE = 32,
    ENTRY_SIZE = 20,
    VERSION_MAJOR = 2,
    LITTLE_ENDIAN_FILE = 1,
};

static uint32_t u32_at(const uint8_t *p) {
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

int hsperf_open(struct hsperf *h, const void *data, size_t size) {
    static const uint8_t magic[4] = {0xca, 0xfe, 0xc0, 0xc0};
    const uint8_t *p = data;
    *h = (struct hsperf){0};
    if (size < PROLOGUE_SIZE || memcmp(p, magic, sizeof magic) != 0)
        return -EINVAL;
    /* This program runs on little-endian machines only, and so do the JVMs that it can profile. */
    if (p[4] != LITTLE_ENDIAN_FILE || p[5] != VERSION_MAJOR)
        return -EINVAL;
    if (!p[7])
        return -EAGAIN;
    uint32_t used = u32_at(p + 8), first = u32_at(p + 24);
    if (used > size)
        used = (uint32_t)size;
    if (first < PROLOGUE_SIZE || first > used)
        return -EINVAL;
    *h = (struct hsperf){.data = data, .used = used, .at = first, .left = u32_at(p + 28)};
    return 0;
}

/* Reads the entry of `length` bytes at p; false: it is wrong, or neither a number nor a text. */
static bool decode(const uint8_t *p, uint32_t length, struct hsperf_entry *e) {
    uint32_t name = u32_at(p + 4), vector = u32_at(p + 8), data = u32_at(p + 16);
    if (name < ENTRY_SIZE || name >= length || data < ENTRY_SIZE || data > length)
        return false;
    if (!memchr(p + name, '\0', length - name))
        return false;
    *e = (struct hsperf_entry){.name = (const char *)p + name};
    if (p[12] == 'J' && vector == 0) {
        if (length - data < sizeof e->number)
            return false;
        memcpy(&e->number, p + data, sizeof e->number);
        return true;
    }
    if (p[12] != 'B' || vector > length - data)
        return false;
    e->is_text = true;
    e->text = (const char *)p + data;
    e->text_len = strnlen(e->text, vector);
    return true;
}

bool hsperf_next(struct hsperf *h, struct hsperf_entry *e) {
    while (h->left > 0) {
        h->left--;
        if (h->used - h->at < ENTRY_SIZE)
            break;
        const uint8_t *p = h->data + h->at;
        uint32_t length = u32_at(p);
        if (length < ENTRY_SIZE || length > h->used - h->at)
            break;
        h->at += length;
        if (decode(p, length, e))
            return true;
    }
    h->left = 0;
    return false;
}
