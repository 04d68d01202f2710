/*
 * A profile of two methods and a window on it, for the tests of protocols: 3 samples of 30 ms in
 * second 5 of the samples' clock.
 */
#ifndef JTOP_TEST_PUSH_FIXTURE_H
#define JTOP_TEST_PUSH_FIXTURE_H

#include "core/http/push/protocol/labels.h"
#include "core/http/push/protocol/protobuf.h"
#include "core/http/push/protocol/protocol.h"
#include "test/unit/export/export_fixture.h"

#define FIXTURE_MESSAGES 4
#define FIXTURE_FROM_NS 1700000000000000000u
#define FIXTURE_TO_NS 1700000015000000000u

struct push_fixture {
    struct profile *p;
    struct query query;
    struct export_quality quality;
    struct export_part part;
    struct push_labels labels;
    struct push_profile f;
    struct push_message sent[FIXTURE_MESSAGES];
    int messages;
};

static inline int fixture_put(void *arg, struct push_message *m) {
    struct push_fixture *x = arg;
    assert(x->messages < FIXTURE_MESSAGES);
    x->sent[x->messages++] = *m;
    return 0;
}

static inline void push_fixture_begin(struct push_fixture *x) {
    *x = (struct push_fixture){.p = profile_new(0)};
    fixture_add(x->p, 7, "j:java/lang/Thread.run()V\tj:shop/Cart.total()J", 2, 20000000);
    fixture_add(x->p, 8, "j:java/lang/Thread.run()V\tj:shop/Cart.add()V", 1, 10000000);
    x->query = (struct query){.from_second = 1, .to_second = 15};
    x->quality = (struct export_quality){.event = "cpu",
                                         .unit = "ns",
                                         .interval = 10000000,
                                         .elapsed_ns = FIXTURE_TO_NS - FIXTURE_FROM_NS,
                                         .jvm = "Shop (pid 42)",
                                         .day_ns = (int64_t)(FIXTURE_FROM_NS - 5000000000)};
    x->part = (struct export_part){snapshot_take(x->p, &x->query), &x->quality, &x->query};
    (void)labels_set(&x->labels, "service_name", "shop");
    (void)labels_set(&x->labels, "pid", "42");
    (void)labels_set(&x->labels, "team.name", "a,b}c=d \xc3\xa4");
    x->f = (struct push_profile){.profile = x->p,
                                 .part = &x->part,
                                 .parts = 1,
                                 .labels = &x->labels,
                                 .from_ns = FIXTURE_FROM_NS,
                                 .to_ns = FIXTURE_TO_NS};
}

static inline int push_fixture_make(struct push_fixture *x, const char *protocol) {
    const struct push_protocol *p = push_protocol_by_name(protocol);
    return p->make(p, &x->f, fixture_put, x);
}

static inline void push_fixture_end(struct push_fixture *x) {
    for (int i = 0; i < x->messages; i++)
        text_free(&x->sent[i].body);
    snapshot_free((struct snapshot *)(uintptr_t)x->part.snapshot);
    profile_free(x->p);
}

/* The n-th field of that number in a message; asserts that it is there. */
static inline struct protobuf_field fixture_field(const char *data, size_t size, uint32_t number,
                                                  int n) {
    struct protobuf_field f = {0};
    size_t at = 0;
    while (protobuf_next(data, size, &at, &f))
        if (f.number == number && n-- == 0)
            return f;
    abort(); /* there is no such field */
}

static inline int fixture_fields(const char *data, size_t size, uint32_t number) {
    struct protobuf_field f;
    size_t at = 0;
    int n = 0;
    while (protobuf_next(data, size, &at, &f))
        n += f.number == number;
    assert(at == size); /* all of it is a message */
    return n;
}

static inline struct protobuf_field fixture_in(struct protobuf_field f, uint32_t number, int n) {
    return fixture_field(f.data, f.size, number, n);
}

static inline bool fixture_is(struct protobuf_field f, const char *text) {
    return f.bytes && f.size == strlen(text) && !memcmp(f.data, text, f.size);
}

#endif
