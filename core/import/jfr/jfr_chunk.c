#include "core/import/jfr/jfr_chunk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NS UINT64_C(1000000000)
#define TICKS_A_SECOND_MAX (10 * NS) /* so that its product with NS does not overflow */
#define TEXT_DEPTH_MAX 4

/* ---- the header; source: jdk.jfr.internal.consumer.ChunkHeader, JDK 11–25 ---- */

enum {
    AT_MAJOR = 4,
    AT_BYTES = 8,
    AT_METADATA = 24,
    AT_START_NS = 32,
    AT_LASTS_NS = 40,
    AT_START_TICKS = 48,
    AT_TICKS_A_SECOND = 56,
    AT_GENERATION = 64, /* since JDK 14: 0 if the chunk is complete */
    AT_FLAGS = 67,      /* 1: numbers are compressed */
};

static bool is_chunk(const uint8_t *data, size_t bytes) {
    return bytes >= 4 && !memcmp(data, JFR_MAGIC, 4);
}

/* Finds the end of the chunk. A chunk that is being written has no size yet, or the size at its
 * last flush. */
static void find_end(struct jfr_chunk *k, size_t left) {
    uint64_t bytes = jfr_cursor_big_endian(k->begin + AT_BYTES, 8);
    bool known = bytes >= JFR_HEADER_BYTES && bytes <= left;
    bool last = !known || !is_chunk(k->begin + bytes, left - (size_t)bytes);
    k->whole = known && (k->begin[AT_GENERATION] == 0 || !last);
    k->end = k->begin + (k->whole ? (size_t)bytes : left);
}

static int read_header(struct jfr_chunk *k, const uint8_t *data, size_t bytes, const char **why) {
    *why = "no chunk begins here";
    if (!is_chunk(data, bytes))
        return -EINVAL;
    *why = "a chunk's header is cut";
    k->end = data + bytes;
    if (bytes < JFR_HEADER_BYTES)
        return -ENODATA;
    uint64_t major = jfr_cursor_big_endian(data + AT_MAJOR, 2);
    *why = "its format has neither version 1 nor 2, which JDK 8u262 and later write";
    if (major != 1 && major != 2)
        return -EINVAL;
    k->begin = data;
    k->fixed = !(data[AT_FLAGS] & 1);
    k->start_ns = jfr_cursor_big_endian(data + AT_START_NS, 8);
    k->lasts_ns = jfr_cursor_big_endian(data + AT_LASTS_NS, 8);
    k->start_ticks = jfr_cursor_big_endian(data + AT_START_TICKS, 8);
    k->ticks_a_second = jfr_cursor_big_endian(data + AT_TICKS_A_SECOND, 8);
    if (k->ticks_a_second == 0 || k->ticks_a_second > TICKS_A_SECOND_MAX)
        k->ticks_a_second = NS;
    find_end(k, bytes);
    return 0;
}

/* ---- events ---- */

bool jfr_chunk_next(struct jfr_chunk *k, const uint8_t **at, struct jfr_event *out) {
    struct jfr_cursor c = jfr_chunk_cursor(k, *at);
    if (c.at >= c.end)
        return false;
    uint64_t bytes = jfr_cursor_number(&c, 4);
    if (c.bad || bytes > (size_t)(k->end - *at) || bytes <= (size_t)(c.at - *at)) {
        k->damage = *at;
        return false;
    }
    c.end = *at + bytes;
    out->c = c;
    out->type = jfr_cursor_number(&out->c, 8);
    *at = c.end;
    return true;
}

static bool metadata_at(struct jfr_chunk *k, uint64_t offset, struct jfr_event *out) {
    if (offset < JFR_HEADER_BYTES || offset >= (size_t)(k->end - k->begin))
        return false;
    const uint8_t *at = k->begin + offset, *damage = k->damage;
    bool found = jfr_chunk_next(k, &at, out) && out->type == JFR_EVENT_OF_METADATA;
    k->damage = damage;
    return found;
}

/* Finds the metadata event. The header gives its position. In a cut chunk it may be elsewhere, or
 * missing. */
static bool find_metadata(struct jfr_chunk *k, struct jfr_event *out) {
    if (metadata_at(k, jfr_cursor_big_endian(k->begin + AT_METADATA, 8), out))
        return true;
    const uint8_t *at = jfr_chunk_first(k);
    struct jfr_event e;
    bool found = false;
    while (jfr_chunk_next(k, &at, &e))
        if (e.type == JFR_EVENT_OF_METADATA) {
            *out = e;
            found = true;
        }
    k->damage = NULL;
    return found;
}

int jfr_chunk_open(struct jfr_chunk *k, const uint8_t *data, size_t bytes, const char **why) {
    struct jfr_event metadata;
    *k = (struct jfr_chunk){0};
    int r = read_header(k, data, bytes, why);
    if (r < 0)
        return r;
    *why = "the description of its types is missing";
    if (!find_metadata(k, &metadata))
        return -ENODATA;
    *why = "the description of its types is damaged";
    r = jfr_types_read(&k->types, metadata.c);
    k->string = jfr_type_by_name(&k->types, "java.lang.String");
    return r == -EINVAL ? -ENODATA : r;
}

void jfr_chunk_close(struct jfr_chunk *k) {
    jfr_types_free(&k->types);
}

/* ---- time ---- */

/* A duration of centuries means "forever" and counts as 0. */
uint64_t jfr_chunk_span(const struct jfr_chunk *k, uint64_t ticks) {
    uint64_t seconds = ticks / k->ticks_a_second, rest = ticks % k->ticks_a_second;
    if (seconds > UINT64_C(1) << 32)
        return 0;
    return seconds * NS + rest * NS / k->ticks_a_second;
}

uint64_t jfr_chunk_time(const struct jfr_chunk *k, uint64_t ticks) {
    return ticks >= k->start_ticks ? k->start_ns + jfr_chunk_span(k, ticks - k->start_ticks)
                                   : k->start_ns - jfr_chunk_span(k, k->start_ticks - ticks);
}

/* ---- constants ---- */

/* A constant takes at least the bytes of its number, so the number of constants is limited by the
 * file's size. */
static int add_constant(struct jfr_type *t, uint64_t number, const uint8_t *at) {
    if (t->constants == t->room) {
        uint32_t room = t->room ? t->room * 2 : 64;
        struct jfr_constant *c = realloc(t->constant, room * sizeof *c);
        if (!c)
            return -ENOMEM;
        t->constant = c;
        t->room = room;
    }
    t->constant[t->constants++] = (struct jfr_constant){.number = number, .at = at};
    return 0;
}

static int read_pool(struct jfr_chunk *k, struct jfr_cursor *c) {
    struct jfr_type *t = jfr_type_by_id(&k->types, jfr_cursor_number(c, 8));
    uint64_t count = jfr_cursor_number(c, 4);
    int r = 0;
    if (!t)
        c->bad = true;
    for (uint64_t i = 0; i < count && !c->bad && r == 0; i++) {
        uint64_t number = jfr_cursor_number(c, 8);
        const uint8_t *at = c->at;
        if (jfr_value_skip(c, t))
            r = add_constant(t, number, at);
    }
    return r;
}

static int read_checkpoint(struct jfr_chunk *k, struct jfr_cursor *c) {
    jfr_cursor_number(c, 8); /* start */
    jfr_cursor_number(c, 8); /* duration */
    jfr_cursor_number(c, 8); /* position of the checkpoint before it */
    jfr_cursor_byte(c);      /* kind of the checkpoint */
    uint64_t pools = jfr_cursor_number(c, 4);
    int r = 0;
    for (uint64_t i = 0; i < pools && !c->bad && r == 0; i++)
        r = read_pool(k, c);
    return r;
}

static int by_number(const void *a, const void *b) {
    const struct jfr_constant *x = a, *y = b;
    return x->number != y->number ? (x->number > y->number) - (x->number < y->number)
                                  : (x->at > y->at) - (x->at < y->at);
}

/* Sorts the constants by number and keeps each number once. */
static void settle(struct jfr_type *t) {
    uint32_t kept = 0;
    if (t->constants)
        qsort(t->constant, t->constants, sizeof *t->constant, by_number);
    for (uint32_t i = 0; i < t->constants; i++)
        if (kept == 0 || t->constant[kept - 1].number != t->constant[i].number)
            t->constant[kept++] = t->constant[i];
    t->constants = kept;
}

int jfr_chunk_read_constants(struct jfr_chunk *k) {
    const uint8_t *at = jfr_chunk_first(k);
    struct jfr_event e;
    int r = 0;
    while (r == 0 && jfr_chunk_next(k, &at, &e))
        if (e.type == JFR_EVENT_OF_CONSTANTS)
            r = read_checkpoint(k, &e.c);
    for (uint32_t i = 0; i < k->types.count; i++)
        settle(&k->types.type[i]);
    return r;
}

struct jfr_constant *jfr_constant_get(const struct jfr_type *t, uint64_t number) {
    struct jfr_constant *c = t ? t->constant : NULL;
    uint32_t left = c ? t->constants : 0;
    while (left > 0) {
        uint32_t half = left / 2;
        if (c[half].number == number)
            return &c[half];
        if (c[half].number < number) {
            c += half + 1;
            left -= half + 1;
        } else {
            left = half;
        }
    }
    return NULL;
}

/* ---- text ---- */

static struct wire_text text_of(const struct jfr_chunk *k, const struct jfr_type *t,
                                const uint8_t *at, char *scratch, unsigned depth);

static struct wire_text constant_text(const struct jfr_chunk *k, const struct jfr_type *t,
                                      uint64_t number, char *scratch, unsigned depth) {
    const struct jfr_constant *c = jfr_constant_get(t, number);
    struct wire_text none = {0};
    return c && depth < TEXT_DEPTH_MAX ? text_of(k, t, c->at, scratch, depth + 1) : none;
}

static struct wire_text string_text(const struct jfr_chunk *k, const uint8_t *at, char *scratch,
                                    unsigned depth) {
    struct jfr_cursor c = jfr_chunk_cursor(k, at);
    struct jfr_string s = jfr_cursor_peek_string(&c);
    if (s.encoding == JFR_STRING_UTF8)
        return (struct wire_text){(const char *)s.at, (size_t)s.n};
    if (s.encoding == JFR_STRING_CONSTANT)
        return constant_text(k, k->string, s.n, scratch, depth);
    return (struct wire_text){scratch, jfr_string_copy(&s, &c, scratch, WIRE_STRING_MAX)};
}

static struct wire_text field_text(const struct jfr_chunk *k, const struct jfr_field *f,
                                   const struct jfr_value *v, char *scratch, unsigned depth) {
    if (!f->type || f->array)
        return (struct wire_text){0};
    return f->pool ? constant_text(k, f->type, v->number, scratch, depth)
                   : text_of(k, f->type, v->at, scratch, depth);
}

/* The cost depends only on the length of the text, not on the other fields of the value, because
 * constants are read often. */
static struct wire_text text_of(const struct jfr_chunk *k, const struct jfr_type *t,
                                const uint8_t *at, char *scratch, unsigned depth) {
    struct jfr_cursor c = jfr_chunk_cursor(k, at);
    struct jfr_value first = {.at = at};
    if (t->form == JFR_STRING)
        return string_text(k, at, scratch, depth);
    if (t->form != JFR_STRUCT || t->fields == 0 || depth == TEXT_DEPTH_MAX)
        return (struct wire_text){0};
    if (t->field[0].pool)
        first.number = jfr_cursor_number(&c, 8);
    return field_text(k, &t->field[0], &first, scratch, depth + 1);
}

struct wire_text jfr_text(const struct jfr_chunk *k, const struct jfr_field *f,
                          const struct jfr_value *v, char scratch[WIRE_STRING_MAX]) {
    return field_text(k, f, v, scratch, 0);
}
