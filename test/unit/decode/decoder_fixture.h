/*
 * A decoder on a stage: records are played to it, the profile is looked at.
 *
 *      struct stage s;
 *      open_stage(&s);
 *      recording_sample(&s.r, SECOND, 1, 10, 1, JAVA(1));
 *      play(&s);
 *      assert_int_equal(self_of(&s, "add", NULL), 1);
 *      close_stage(&s);
 *
 * Context: tests of cmocka.
 */
#ifndef JTOP_TEST_DECODER_FIXTURE_H
#define JTOP_TEST_DECODER_FIXTURE_H

#include "core/decode/decoder.h"
#include "core/profile/snapshot/snapshot.h"
#include "test/unit/recording.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdlib.h>

#define JAVA(id) wire_frame_java(WIRE_FRAME_C2, id, 3)
#define NATIVE(address) wire_frame_address(WIRE_FRAME_NATIVE, address)
#define KERNEL(address) wire_frame_address(WIRE_FRAME_KERNEL, address)
#define STUB(address) wire_frame_address(WIRE_FRAME_STUB, address)
#define CLASS(id) wire_frame_java(WIRE_FRAME_CLASS, id, WIRE_BCI_NONE)
#define FAILURE(f) wire_frame_address(WIRE_FRAME_ERROR, f)

#define SECOND UINT64_C(1000000000)

struct stage {
    struct profile *profile;
    struct decoder *decoder;
    struct recording r;
};

static inline void open_stage(struct stage *s) {
    *s = (struct stage){.profile = profile_new(0)};
    s->decoder = decoder_new(s->profile, NULL);
    assert_non_null(s->decoder);
}

static inline void close_stage(struct stage *s) {
    recording_done(&s->r);
    decoder_free(s->decoder);
    profile_free(s->profile);
}

/* Decodes what was recorded since the last time, each record in a block of its exact size so that
 * ASan sees any step beyond it. */
static inline void play(struct stage *s) {
    size_t at = 0;
    for (const void *record; (record = recording_next(&s->r, &at));) {
        uint64_t word;
        memcpy(&word, record, sizeof word);
        void *copy = malloc(wire_header_length(word));
        assert_non_null(copy);
        memcpy(copy, record, wire_header_length(word));
        decoder_prepare(s->decoder, copy);
        decoder_decode(s->decoder, copy);
        free(copy);
    }
    text_clear(&s->r.bytes);
}

/* Self samples of the method with this name, of CPU time; its kind where asked for. */
static inline uint64_t self_of(struct stage *s, const char *name, enum method_kind *kind) {
    struct query q = {.event = 0};
    struct snapshot *snap = snapshot_take(s->profile, &q);
    uint64_t self = 0;
    assert_non_null(snap);
    for (uint32_t i = 0; i < snap->method_count; i++) {
        const struct method *m =
            method_table_get(profile_methods(s->profile), snap->methods[i].method);
        if (strcmp(m->name, name) != 0)
            continue;
        self += snap->methods[i].self_samples;
        if (kind)
            *kind = m->kind;
    }
    snapshot_free(snap);
    return self;
}

static inline const char *thread_name(struct stage *s, uint32_t tid) {
    struct query q = {.event = 0};
    struct snapshot *snap = snapshot_take(s->profile, &q);
    const char *name = NULL;
    assert_non_null(snap);
    for (uint32_t i = 0; i < snap->thread_count; i++)
        if (snap->threads[i].tid == tid)
            name = snap->threads[i].name;
    snapshot_free(snap);
    return name;
}

/* The event's stacks, root first, a line each with its weight and samples: "run;add 10/1\n". */
static inline int stack_line(void *arg, const struct snapshot_node *const *path, uint32_t depth) {
    void **to = arg;
    struct text *out = to[0];
    const struct method_table *t = to[1];
    for (uint32_t i = 0; i < depth; i++)
        text_addf(out, "%s%s", i ? ";" : "", method_table_get(t, path[i]->method)->name);
    text_addf(out, " %u/%u\n", (unsigned)path[depth - 1]->self,
              (unsigned)path[depth - 1]->self_samples);
    return 0;
}

static inline void expect_stacks(struct stage *s, int event, const char *want) {
    struct query q = {.event = event, .tree = true};
    struct snapshot *snap = snapshot_take(s->profile, &q);
    struct text got = {0};
    assert_non_null(snap);
    text_add(&got, "");
    void *to[] = {&got, profile_methods(s->profile)};
    assert_int_equal(snapshot_each_stack(snap, stack_line, to), 0);
    assert_string_equal(got.data, want);
    text_free(&got);
    snapshot_free(snap);
}

#endif
