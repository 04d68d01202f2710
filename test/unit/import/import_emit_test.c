/* What readers of foreign profiles tell, as a decoder understands it. */
#include "core/import/emit.h"
#include "core/wire/wire_names.h"

#include "core/decode/decoder.h"
#include "core/profile/snapshot/snapshot.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The kinds that a symbol's record has by number. */
_Static_assert(METHOD_NATIVE == 1 && METHOD_CPP == 2 && METHOD_KERNEL == 3,
               "as core/import/emit.c");

struct stage {
    struct profile *profile;
    struct decoder *decoder;
    struct emit *m;
    int records, fail_at; /* 0: never */
};

static int take(void *arg, const void *record) {
    struct stage *s = arg;
    if (++s->records == s->fail_at)
        return -EPIPE;
    decoder_decode(s->decoder, record);
    return 0;
}

static void open_stage(struct stage *s) {
    *s = (struct stage){.profile = profile_new(0)};
    s->decoder = decoder_new(s->profile, NULL);
    s->decoder->replay = true;
    s->m = emit_open(take, s);
    assert_non_null(s->m);
}

static void close_stage(struct stage *s) {
    decoder_flush(s->decoder);
    assert_int_equal(s->decoder->counts.bad, 0);
    emit_close(s->m);
    decoder_free(s->decoder);
    profile_free(s->profile);
}

static struct wire_text text(const char *s) {
    return (struct wire_text){s, strlen(s)};
}

static void sample(struct stage *s, uint32_t tid, const uint64_t *frame, uint32_t frames) {
    const struct wire_sample w = {.time_ns = 2000000000, .weight = 10, .count = 1, .tid = tid};
    emit_sample(s->m, &w, frame, frames);
    assert_int_equal(emit_failure(s->m), 0);
    assert_int_equal(s->decoder->held.count, 0); /* nothing waits for a name */
}

static const struct method *leaf_of(struct stage *s, struct snapshot *snap, uint32_t i) {
    return method_table_get(profile_methods(s->profile), snap->nodes[i].method);
}

static void every_kind_of_frame_has_its_name(void **state) {
    (void)state;
    struct stage s;
    open_stage(&s);
    const struct wire_text none = {0};
    uint64_t frame[] = {
        emit_class(s.m, text("[B")),
        emit_native(s.m, WIRE_FRAME_KERNEL, text("do_syscall_64"), none),
        emit_native(s.m, WIRE_FRAME_KERNEL, text("entry"), none),
        emit_native(s.m, WIRE_FRAME_NATIVE, text("read"), text("libc.so.6")),
        emit_native(s.m, WIRE_FRAME_NATIVE, text("Foo::bar(int)"), none),
        emit_java(s.m, WIRE_FRAME_INLINED, text("a/B"), text("f"), text("(I)V"), 12),
        emit_java(s.m, WIRE_FRAME_NATIVE_METHOD, text("a/B"), text("g"), none, 0),
        emit_java(s.m, WIRE_FRAME_COMPILING, text("a/B"), text("f"), text("(I)V"), 0),
        emit_native(s.m, WIRE_FRAME_NATIVE, text("read"), text("libc.so.6")),
    };
    assert_int_equal(frame[3], frame[8]);
    sample(&s, 5, frame, 9);
    struct query q = {.tree = true, .tiers = true};
    struct snapshot *snap = snapshot_take(s.profile, &q);
    assert_int_equal(snap->node_count, 9);
    static const struct {
        enum method_kind kind;
        const char *name, *module;
    } want[] = {{METHOD_NATIVE, "read", "libc.so.6"},
                {METHOD_COMPILING, "f", ""},
                {METHOD_JAVA, "g", ""},
                {METHOD_JAVA, "f", ""},
                {METHOD_CPP, "Foo::bar(int)", ""},
                {METHOD_NATIVE, "read", "libc.so.6"},
                {METHOD_KERNEL, "entry", ""},
                {METHOD_KERNEL, "do_syscall_64", ""},
                {METHOD_CLASS, "[B", ""}};
    for (uint32_t i = 0; i < 9; i++) {
        const struct method *m = leaf_of(&s, snap, i);
        assert_int_equal(m->kind, want[i].kind);
        assert_string_equal(m->name, want[i].name);
        assert_string_equal(m->module, want[i].module);
    }
    assert_int_equal(snap->nodes[3].tier[TIER_INLINED], 1);
    assert_int_equal(snap->nodes[2].tier[TIER_NONE], 1);
    snapshot_free(snap);
    close_stage(&s);
}

static void lines_belong_to_one_method(void **state) {
    (void)state;
    struct stage s;
    open_stage(&s);
    for (uint32_t line = 100; line > 90; line--) {
        uint64_t f =
            emit_java(s.m, WIRE_FRAME_C2, text("a/B"), text("f"), (struct wire_text){0}, line);
        sample(&s, 1, &f, 1);
    }
    uint64_t f = emit_java(s.m, WIRE_FRAME_C2, text("a/B"), text("f"), (struct wire_text){0},
                           WIRE_BCI_NONE + 5);
    sample(&s, 1, &f, 1);
    struct query q = {.tree = true};
    struct snapshot *snap = snapshot_take(s.profile, &q);
    assert_int_equal(snap->method_count, 1);
    q = (struct query){.lines = true, .lines_of = snap->methods[0].method};
    snapshot_free(snap);
    snap = snapshot_take(s.profile, &q);
    assert_int_equal(snap->line_count, 11);
    assert_int_equal(snap->lines[0].line, 0);
    assert_int_equal(snap->lines[1].line, 91);
    assert_int_equal(snap->lines[10].line, 100);
    snapshot_free(snap);
    close_stage(&s);
}

static const char *thread_name(struct stage *s, uint32_t tid, uint64_t java_id, uint64_t samples) {
    struct query q = {0};
    struct snapshot *snap = snapshot_take(s->profile, &q);
    const char *name = NULL;
    for (uint32_t i = 0; i < snap->thread_count; i++)
        if (snap->threads[i].tid == tid && snap->threads[i].java_id == java_id &&
            snap->threads[i].samples == samples)
            name = snap->threads[i].name;
    snapshot_free(snap);
    return name;
}

static void threads_are_who_they_say(void **state) {
    (void)state;
    struct stage s;
    open_stage(&s);
    uint64_t f = emit_native(s.m, WIRE_FRAME_NATIVE, text("x"), (struct wire_text){0});
    uint32_t made_up = emit_thread(s.m, 0, 0, text("one"));
    assert_true(made_up > WIRE_TID_MAX);
    assert_int_equal(emit_thread(s.m, 0, 0, text("one")), made_up);
    assert_int_not_equal(emit_thread(s.m, 0, 0, text("two")), made_up);
    sample(&s, made_up, &f, 1);
    assert_string_equal(thread_name(&s, made_up, 0, 1), "one");
    /* Renamed: the Java id is the same. */
    sample(&s, emit_thread(s.m, 7, 3, text("before")), &f, 1);
    sample(&s, emit_thread(s.m, 7, 3, text("after")), &f, 1);
    assert_string_equal(thread_name(&s, 7, 3, 2), "after");
    /* The number of one that is gone. */
    sample(&s, emit_thread(s.m, 8, 0, text("first")), &f, 1);
    sample(&s, emit_thread(s.m, 8, 0, text("second")), &f, 1);
    sample(&s, 8, &f, 1);
    assert_string_equal(thread_name(&s, 8, 0, 1), "first");
    assert_string_equal(thread_name(&s, 8, 0, 2), "second");
    assert_int_equal(emit_thread(s.m, 0, 0, (struct wire_text){0}), 0);
    close_stage(&s);
}

static void long_names_are_cut_between_characters(void **state) {
    (void)state;
    struct stage s;
    open_stage(&s);
    char name[3 * WIRE_STRING_MAX];
    for (size_t i = 0; i < sizeof name; i += 3)
        memcpy(name + i, "\xe2\x82\xac", 3);
    uint64_t f =
        emit_java(s.m, WIRE_FRAME_C2, (struct wire_text){name, sizeof name},
                  (struct wire_text){name, sizeof name}, (struct wire_text){name, sizeof name}, 5);
    sample(&s, 1, &f, 1);
    struct query q = {.tree = true};
    struct snapshot *snap = snapshot_take(s.profile, &q);
    const struct method *m = leaf_of(&s, snap, 0);
    assert_int_equal(strlen(m->class_name), WIRE_STRING_MAX / 3 * 3);
    assert_null(strchr(m->name, '?'));
    snapshot_free(snap);
    close_stage(&s);
}

static void marks_say_how_long(void **state) {
    (void)state;
    struct stage s;
    open_stage(&s);
    emit_jvm(s.m, 42, text("Shop"), text("17"), 5);
    emit_mark(s.m, 1000, WIRE_EVENT_CPU, "cpu", 7, true);
    emit_mark(s.m, 1000, WIRE_EVENT_PERF, "page-faults", 0, true);
    emit_mark(s.m, 9000, WIRE_EVENT_CPU, "cpu", 7, true);
    emit_mark(s.m, 9000, WIRE_EVENT_PERF, "page-faults", 0, true);
    assert_int_equal(s.decoder->marks.sampled_ns, 8000);
    assert_int_equal(s.decoder->marks.known, 1 << WIRE_EVENT_CPU | 1 << WIRE_EVENT_PERF);
    assert_string_equal(s.decoder->marks.engine[WIRE_EVENT_PERF].name, "page-faults");
    assert_string_equal(wire_mechanism_name[s.decoder->marks.engine[WIRE_EVENT_CPU].mechanism],
                        "imported");
    assert_string_equal(s.decoder->notes.jvm_name, "Shop");
    close_stage(&s);
}

static void who_takes_no_more_gets_no_more(void **state) {
    (void)state;
    struct stage s;
    open_stage(&s);
    s.fail_at = 3;
    for (int i = 0; i < 20; i++) {
        char name[16];
        snprintf(name, sizeof name, "f%d", i);
        emit_class(s.m, text(name));
    }
    assert_int_equal(emit_failure(s.m), -EPIPE);
    assert_int_equal(s.records, 3);
    close_stage(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_frame_has_its_name),
        cmocka_unit_test(lines_belong_to_one_method),
        cmocka_unit_test(threads_are_who_they_say),
        cmocka_unit_test(long_names_are_cut_between_characters),
        cmocka_unit_test(marks_say_how_long),
        cmocka_unit_test(who_takes_no_more_gets_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
