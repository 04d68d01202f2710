#include "core/export/jfr/jfr_write.h"

#include "core/base/hash.h"

#include <stdlib.h>
#include <string.h>

void jfr_number(struct text *out, uint64_t n) {
    char buf[JFR_NUMBER_BYTES];
    text_add_n(out, buf, jfr_put(buf, n));
}

void jfr_string(struct text *out, const char *s) {
    if (!s || !*s) {
        text_add_n(out, s ? "\1" : "\0", 1);
        return;
    }
    jfr_symbol(out, s);
}

void jfr_symbol(struct text *out, const char *s) {
    size_t len = strlen(s);
    text_add_n(out, "\3", 1);
    jfr_number(out, len);
    text_add_n(out, s, len);
}

size_t jfr_begin(struct text *out) {
    static const char later[JFR_SIZE_BYTES] = {0};
    size_t at = out->len;
    text_add_n(out, later, sizeof later);
    return at;
}

static void put_size(char *to, uint64_t n) {
    for (int i = 0; i < JFR_SIZE_BYTES - 1; i++)
        to[i] = (char)(n >> 7 * i | 0x80);
    to[JFR_SIZE_BYTES - 1] = (char)(n >> 7 * (JFR_SIZE_BYTES - 1) & 0x7f);
}

void jfr_end_before(struct text *out, size_t at, size_t more) {
    if (!out->failed)
        put_size(out->data + at, out->len - at + more);
}

void jfr_end(struct text *out, size_t at) {
    jfr_end_before(out, at, 0);
}

void jfr_event(struct text *out, const struct text *event) {
    if (event->failed) {
        out->failed = true;
    } else if (event->len < 0x7f) {
        jfr_number(out, event->len + 1);
        text_add_n(out, event->data, event->len);
    } else {
        char size[JFR_SIZE_BYTES];
        put_size(size, JFR_SIZE_BYTES + event->len);
        text_add_n(out, size, sizeof size);
        text_add_n(out, event->data, event->len);
    }
}

void jfr_big_endian(char *to, uint64_t n, int bytes) {
    for (int i = bytes - 1; i >= 0; i--, n >>= 8)
        to[i] = (char)n;
}

uint32_t jfr_name(struct jfr_names *n, const char *s, size_t len) {
    uint32_t hash = (uint32_t)hash_bytes(index_seed(&n->index), s, len), pos = hash, id;
    while ((id = index_next(&n->index, hash, &pos)) != INDEX_NONE)
        if (!strncmp(n->bytes.data + n->at[id], s, len) && !n->bytes.data[n->at[id] + len])
            return id + 1;
    if (n->count == n->cap) {
        uint32_t cap = n->cap ? n->cap * 2 : 1024;
        size_t *at = realloc(n->at, cap * sizeof *at);
        if (at) {
            n->at = at;
            n->cap = cap;
        }
    }
    size_t at = n->bytes.len;
    if (n->count < n->cap && index_reserve(&n->index) == 0) {
        text_add_n(&n->bytes, s, len);
        text_add_n(&n->bytes, "", 1);
    } else {
        n->bytes.failed = true;
    }
    if (n->bytes.failed)
        return 0;
    index_put(&n->index, hash, n->count);
    n->at[n->count++] = at;
    return n->count;
}

void jfr_names_free(struct jfr_names *n) {
    text_free(&n->bytes);
    free(n->at);
    index_free(&n->index);
    *n = (struct jfr_names){0};
}

void jfr_header_write(char to[JFR_HEADER_BYTES], const struct jfr_header *h) {
    memcpy(to, "FLR", 4);
    jfr_big_endian(to + 4, 2, 2);
    jfr_big_endian(to + 6, 0, 2);
    jfr_big_endian(to + 8, h->bytes, 8);
    jfr_big_endian(to + 16, h->checkpoint, 8);
    jfr_big_endian(to + 24, h->metadata, 8);
    jfr_big_endian(to + 32, h->start_ns + (uint64_t)h->day, 8);
    jfr_big_endian(to + 40, h->duration_ns, 8);
    jfr_big_endian(to + 48, h->start_ns, 8);
    jfr_big_endian(to + 56, UINT64_C(1000000000), 8); /* ticks a second */
    jfr_big_endian(to + 64, h->last ? 3 : 1, 4);      /* numbers are compressed */
}
