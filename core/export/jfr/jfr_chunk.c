#include "core/export/jfr/jfr_chunk.h"

#include "core/export/jfr/jfr_parts.h"

#include <stdlib.h>
#include <string.h>

struct jfr_chunk *jfr_chunk_new(void) {
    return calloc(1, sizeof(struct jfr_chunk));
}

void jfr_chunk_free(struct jfr_chunk *c) {
    if (!c)
        return;
    for (int i = 0; i < JFR_POOLS; i++)
        text_free(&c->pool[i].body);
    text_free(&c->event);
    jfr_names_free(&c->symbols);
    jfr_names_free(&c->packages);
    jfr_names_free(&c->classes);
    jfr_names_free(&c->threads);
    free(c->method_known);
    free(c->stack);
    index_free(&c->stack_index);
    free(c);
}

bool jfr_chunk_failed(const struct jfr_chunk *c) {
    bool failed = c->failed || (c->events && c->events->failed) || c->symbols.bytes.failed ||
                  c->packages.bytes.failed || c->classes.bytes.failed || c->threads.bytes.failed;
    for (int i = 0; i < JFR_POOLS; i++)
        failed |= c->pool[i].body.failed;
    return failed;
}

void jfr_chunk_to(struct jfr_chunk *c, struct text *events) {
    c->events = events;
}

struct text *jfr_chunk_begin(struct jfr_chunk *c, const char *type, uint64_t time_ns) {
    text_clear(&c->event);
    jfr_number(&c->event, jfr_type(type));
    jfr_number(&c->event, time_ns);
    return &c->event;
}

void jfr_chunk_end(struct jfr_chunk *c) {
    jfr_event(c->events, &c->event);
}

static void add_one(struct jfr_chunk *c, const struct jfr_sample *s, uint64_t weight) {
    static const struct jfr_leaf none = {0};
    const struct jfr_kind *k = s->kind;
    if (c->rate && !jfr_rate_takes(c->rate, k->category, s->time_ns))
        return;
    uint32_t stack = s->stack - c->base[JFR_STACKS];
    const struct jfr_leaf *leaf = stack && stack <= c->stacks ? &c->stack[stack - 1].leaf : &none;
    uint64_t lasts = !k->lasts ? 0 : weight < s->time_ns ? weight : s->time_ns;
    const char *type = leaf->other && k->other ? k->other : k->type;
    struct text *event = jfr_chunk_begin(c, type, s->time_ns - lasts);
    if (k->lasts)
        jfr_number(event, lasts);
    jfr_number(event, s->thread);
    jfr_number(event, s->stack);
    k->fields(event, s, leaf, weight);
    jfr_chunk_end(c);
}

void jfr_chunk_add(struct jfr_chunk *c, const struct jfr_sample *s) {
    uint64_t events = s->kind->sum || !s->count ? 1 : s->count;
    for (uint64_t i = 0; i < events; i++)
        add_one(c, s, s->weight / events + (i < s->weight % events));
}

void jfr_chunk_limit(struct jfr_chunk *c, struct jfr_rate *rate) {
    c->rate = rate;
}

void jfr_chunk_add_free(struct jfr_chunk *c, uint64_t time_ns, uint32_t thread, uint64_t address) {
    if (c->rate && !jfr_rate_takes(c->rate, JFR_CATEGORY_NATIVEMEM, time_ns))
        return;
    struct text *event = jfr_chunk_begin(c, "profiler.Free", time_ns);
    jfr_number(event, thread);
    jfr_number(event, 0); /* stack */
    jfr_number(event, address);
    jfr_chunk_end(c);
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
