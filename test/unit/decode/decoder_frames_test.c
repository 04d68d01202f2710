#include "core/profile/table/frame_name.h"
#include "test/unit/decode/decoder_fixture.h"

static void test_every_frame_type(void **state) {
    (void)state;
    struct stage s;
    open_stage(&s);
    recording_method(&s.r, 7, "shop/Cart", "add", "(I)V");
    recording_class(&s.r, 7, "[B"); /* the same number is another thing */
    recording_stub(&s.r, 0x7f0000001000, 64, "I2C adapter");
    static const enum wire_frame_type java[] = {WIRE_FRAME_INTERPRETED, WIRE_FRAME_C1,
                                                WIRE_FRAME_C2, WIRE_FRAME_INLINED,
                                                WIRE_FRAME_NATIVE_METHOD};
    for (size_t i = 0; i < 5; i++)
        recording_sample(&s.r, SECOND, 1, 10, 1, wire_frame_java(java[i], 7, 0));
    recording_sample(&s.r, SECOND, 1, 10, 2, CLASS(7), JAVA(7));
    recording_sample(&s.r, SECOND, 1, 10, 1, STUB(0x7f0000001000));
    recording_sample(&s.r, SECOND, 1, 10, 1, UINT64_C(0xee) << 56); /* a newer agent's */
    recording_sample(&s.r, SECOND, 1, 10, 0);
    play(&s);
    enum method_kind kind;
    assert_int_equal(self_of(&s, "add", &kind), 5);
    assert_int_equal(kind, METHOD_JAVA);
    assert_int_equal(self_of(&s, "[B", &kind), 1);
    assert_int_equal(kind, METHOD_CLASS);
    assert_int_equal(self_of(&s, "I2C adapter", &kind), 1);
    assert_int_equal(kind, METHOD_STUB);
    assert_int_equal(self_of(&s, "[unknown_frame]", NULL), 1);
    assert_int_equal(self_of(&s, "[no_stack]", NULL), 1);
    assert_int_equal(s.decoder->counts.samples, 9);

    struct query q = {.event = 0};
    struct snapshot *snap = snapshot_take(s.profile, &q);
    uint64_t tiers[TIERS] = {0};
    for (uint32_t i = 0; i < snap->method_count; i++) {
        const struct method *m =
            method_table_get(profile_methods(s.profile), snap->methods[i].method);
        if (strcmp(m->name, "add") == 0)
            memcpy(tiers, snap->methods[i].tier, sizeof tiers);
    }
    snapshot_free(snap);
    assert_int_equal(tiers[TIER_NONE], 1);
    assert_int_equal(tiers[TIER_INTERPRETED], 1);
    assert_int_equal(tiers[TIER_C1], 1);
    assert_int_equal(tiers[TIER_C2], 2);
    assert_int_equal(tiers[TIER_INLINED], 1);
    close_stage(&s);
}

/* "5:2/3 7:1/1" is line 5 with self 2 and total 3, in samples. */
static void expect_lines(struct stage *s, const char *class_name, const char *name,
                         const char *want) {
    struct method_table *t = profile_methods(s->profile);
    struct query q = {.lines = true,
                      .lines_of = method_table_intern(t, METHOD_JAVA, class_name, name, "", "")};
    struct snapshot *snap = snapshot_take(s->profile, &q);
    struct text got = {0};
    assert_non_null(snap);
    text_add(&got, "");
    for (uint32_t i = 0; i < snap->line_count; i++)
        text_addf(&got, "%s%u:%u/%u", i ? " " : "", snap->lines[i].line,
                  (unsigned)snap->lines[i].self_samples, (unsigned)snap->lines[i].total_samples);
    assert_string_equal(got.data, want);
    text_free(&got);
    snapshot_free(snap);
}

#define AT(id, bci) wire_frame_java(WIRE_FRAME_C2, id, bci)

static void test_lines(void **state) {
    (void)state;
    struct stage s;
    open_stage(&s);
    static const uint16_t lines[] = {10, 102, 0, 100, 4, 101, 6, 101}; /* javac may jump about */
    recording_method_lines(&s.r, 1, "A", "even", lines, sizeof lines);
    recording_method_lines(&s.r, 2, "A", "odd", lines + 4, sizeof lines - 8);
    recording_method(&s.r, 3, "A", "none", "");
    static const uint32_t bci[] = {0, 3, 4, 9, 10, 65534, WIRE_BCI_NONE};
    for (size_t i = 0; i < sizeof bci / sizeof bci[0]; i++)
        recording_sample(&s.r, SECOND, 1, 10, 3, AT(1, bci[i]), AT(2, bci[i]), AT(3, bci[i]));
    play(&s);
    expect_lines(&s, "A", "even", "0:1/1 100:2/2 101:2/2 102:2/2");
    expect_lines(&s, "A", "odd", "0:0/3 101:0/4");
    expect_lines(&s, "A", "none", "0:0/7");
    /* a sample that waits has its line when the name is there */
    recording_sample(&s.r, SECOND, 1, 10, 2, AT(7, 5), AT(8, 0));
    recording_method_lines(&s.r, 7, "B", "late", lines, sizeof lines);
    play(&s);
    assert_int_equal(s.decoder->held.count, 1);
    recording_method_lines(&s.r, 8, "B", "later", lines, sizeof lines);
    play(&s);
    expect_lines(&s, "B", "late", "101:1/1");
    expect_lines(&s, "B", "later", "100:0/1");
    close_stage(&s);
}

static void test_line_tables_are_bounded(void **state) {
    (void)state;
    struct stage s;
    open_stage(&s);
    static const uint16_t lines[] = {0, 1, 4, 2}, others[] = {0, 9};
    for (int i = 0; i < 100; i++)
        recording_method_lines(&s.r, 1, "A", "same", lines, sizeof lines);
    play(&s);
    size_t one = s.decoder->names.line_bytes;
    assert_in_range(one, sizeof lines, sizeof lines + 16);
    recording_method_lines(&s.r, 1, "A", "same", others, sizeof others); /* redefined */
    recording_sample(&s.r, SECOND, 1, 10, 1, AT(1, 4));
    play(&s);
    assert_true(s.decoder->names.line_bytes < one);
    expect_lines(&s, "A", "same", "9:1/1");
    /* no room: the name is kept without */
    s.decoder->names.line_bytes_max = one;
    recording_method_lines(&s.r, 2, "A", "more", lines, sizeof lines);
    recording_sample(&s.r, SECOND, 1, 10, 1, AT(2, 4));
    play(&s);
    expect_lines(&s, "A", "more", "0:1/1");
    assert_int_equal(s.decoder->counts.refused, 1);
    /* another agent's ids begin anew */
    decoder_new_stream(s.decoder);
    assert_int_equal(s.decoder->names.line_bytes, 0);
    close_stage(&s);
}

static void test_compiler_threads(void **state) {
    (void)state;
    struct stage s;
    open_stage(&s);
    uint64_t compiling = wire_frame_java(WIRE_FRAME_COMPILING, 1, 0);
    enum method_kind kind;
    recording_sample(&s.r, SECOND, 1, 10, 2, FAILURE(0), compiling);
    recording_sample(&s.r, SECOND, 1, 10, 1, compiling);
    play(&s);
    assert_int_equal(s.decoder->counts.samples, 1); /* the other one waits for the name */
    recording_method(&s.r, 1, "shop/Cart", "add", "(I)V");
    recording_sample(&s.r, SECOND, 1, 10, 1, JAVA(1));
    recording_sample(&s.r, SECOND, 1, 10, 1, compiling);
    play(&s);
    assert_int_equal(s.decoder->counts.samples, 4);
    assert_int_equal(s.decoder->held.count, 0);
    assert_int_equal(self_of(&s, "add", &kind), 3); /* two kinds of the same name */
    recording_sample(&s.r, SECOND, 1, 10, 1, wire_frame_java(WIRE_FRAME_COMPILING, 99, 0));
    play(&s);
    decoder_flush(s.decoder);
    assert_int_equal(self_of(&s, "[unknown_method]", &kind), 1);
    assert_int_equal(kind, METHOD_COMPILING);
    close_stage(&s);
}

/* The method that is compiled stands leafward of the function that begins to, and nowhere else. */
static void test_place_of_what_is_compiled(void **state) {
    (void)state;
    static const char *const function[] = {"C2Compiler::compile_method(ciEnv*, ciMethod*)",
                                           "other"};
    for (size_t i = 0; i < 2; i++) {
        struct stage s;
        open_stage(&s);
        s.decoder->replay = true;
        recording_method(&s.r, 1, "shop/Cart", "add", "(I)V");
        recording_symbol(&s.r, 0x1000, METHOD_CPP, "Compile::Compile", "libjvm.so");
        recording_symbol(&s.r, 0x2000, METHOD_CPP, function[i], "libjvm.so");
        recording_symbol(&s.r, 0x3000, METHOD_NATIVE, "thread_native_entry", "libjvm.so");
        recording_sample(&s.r, SECOND, 1, 10, 4, wire_frame_address(WIRE_FRAME_NATIVE, 0x1000),
                         wire_frame_address(WIRE_FRAME_NATIVE, 0x2001),
                         wire_frame_address(WIRE_FRAME_NATIVE, 0x3001),
                         wire_frame_java(WIRE_FRAME_COMPILING, 1, 0));
        play(&s);
        struct snapshot *snap = snapshot_take(s.profile, &(struct query){.tree = true});
        static const char *const expected[2][4] = {
            {"thread_native_entry", "C2Compiler::compile_method(ciEnv*, ciMethod*)", "add",
             "Compile::Compile"},
            {"thread_native_entry", "other", "Compile::Compile"}};
        assert_int_equal(snap->node_count, 4 - i);
        for (uint32_t k = 0; k < 4 - i; k++)
            assert_string_equal(
                method_table_get(profile_methods(s.profile), snap->nodes[k].method)->name,
                expected[i][k]);
        snapshot_free(snap);
        close_stage(&s);
    }
}

/* The program counter as the leaf; the frame below it is not a return address. */
static void test_program_counter(void **state) {
    (void)state;
    struct stage s;
    enum method_kind kind;
    open_stage(&s);
    s.decoder->replay = true;
    recording_symbol(&s.r, 0x1234, METHOD_NATIVE, "read", "libc.so.6");
    recording_sample(&s.r, SECOND, 1, 10, 2, wire_frame_address(WIRE_FRAME_PC, 0x1234),
                     wire_frame_address(WIRE_FRAME_NATIVE, 0x1234));
    play(&s);
    assert_int_equal(self_of(&s, "0x1234", &kind), 1);
    assert_int_equal(kind, METHOD_NATIVE);
    assert_int_equal(self_of(&s, "read", &kind), 0);
    close_stage(&s);
}

/* A class of its own, of the same name. */
static void test_classes_outside_tlabs_are_told_apart(void **state) {
    (void)state;
    struct stage s;
    enum method_kind kind;
    char name[64];
    open_stage(&s);
    recording_sample(&s.r, SECOND, 1, 10, 2, CLASS(7), JAVA(7));
    recording_sample(&s.r, SECOND, 1, 10, 2,
                     wire_frame_java(WIRE_FRAME_CLASS_OUTSIDE, 7, WIRE_BCI_NONE), JAVA(7));
    recording_class(&s.r, 7, "[B");
    recording_method(&s.r, 7, "shop/Cart", "add", "(I)V");
    play(&s);
    const struct method_table *t = profile_methods_const(s.profile);
    uint32_t inside = 0, outside = 0;
    for (uint32_t i = 0; i < method_table_count(t); i++) {
        const struct method *m = method_table_get(t, i);
        if (m->kind != METHOD_CLASS)
            continue;
        frame_name(m, NAME_MARKS, name, sizeof name);
        inside += strcmp(name, "byte[]_[i]") == 0;
        outside += strcmp(name, "byte[]_[k]") == 0;
    }
    assert_int_equal(inside, 1);
    assert_int_equal(outside, 1);
    assert_int_equal(self_of(&s, "[B", &kind), 2); /* both */
    close_stage(&s);
}

/* Nothing but what was asked for. */
static void test_no_java_frame_is_no_failure(void **state) {
    (void)state;
    struct stage s;
    open_stage(&s);
    recording_sample(&s.r, SECOND, 1, 10, 1, FAILURE(WIRE_FAILURE_NO_JAVA));
    recording_sample(&s.r, SECOND, 1, 10, 1, FAILURE(WIRE_FAILURE_SWITCHING));
    play(&s);
    assert_int_equal(profile_failed(s.profile, 0), 1);
    assert_int_equal(self_of(&s, "[no_Java_frame]", NULL), 1);
    assert_int_equal(self_of(&s, "[switching_virtual_thread]", NULL), 1);
    close_stage(&s);
}

static void test_failures_are_named_and_counted(void **state) {
    (void)state;
    struct stage s;
    open_stage(&s);
    recording_method(&s.r, 1, "A", "run", "()V");
    recording_sample(&s.r, SECOND, 1, 10, 2, JAVA(1), FAILURE(WIRE_FAILURE_TRUNCATED));
    recording_sample(&s.r, SECOND, 1, 10, 1, FAILURE(WIRE_FAILURE_UNKNOWN_PC));
    recording_sample(&s.r, SECOND, 1, 10, 2, JAVA(1), FAILURE(WIRE_FAILURE_NO_CALLER));
    recording_sample(&s.r, SECOND, 1, 10, 1, FAILURE(12345678));
    play(&s);
    assert_int_equal(profile_failed(s.profile, 0), 3);
    assert_int_equal(self_of(&s, "[unknown_pc]", NULL), 1);
    assert_int_equal(self_of(&s, "run", NULL), 2);
    assert_int_equal(s.decoder->counts.failed[WIRE_FAILURE_TRUNCATED], 1);
    assert_int_equal(s.decoder->counts.failed[WIRE_FAILURE_UNKNOWN_PC], 1);
    assert_int_equal(s.decoder->counts.failed[WIRE_FAILURE_NO_CALLER], 1);
    close_stage(&s);
}

/* A return address may be the first byte of the next function. */
static void test_return_addresses_name_the_caller(void **state) {
    (void)state;
    struct stage s;
    open_stage(&s);
    s.decoder->replay = true;
    recording_symbol(&s.r, 0x1fff, METHOD_NATIVE, "caller", "libc.so.6");
    recording_symbol(&s.r, 0x2000, METHOD_CPP, "next::one", "libjvm.so");
    recording_symbol(&s.r, UINT64_C(0xffffffff81000000), METHOD_KERNEL, "do_syscall_64", "kernel");
    recording_sample(&s.r, SECOND, 1, 10, 1, NATIVE(0x2000));
    recording_sample(&s.r, SECOND, 1, 10, 2, NATIVE(0x2000), NATIVE(0x2000));
    recording_sample(&s.r, SECOND, 1, 10, 3, KERNEL(UINT64_C(0xffffffff81000000)), NATIVE(0x2000),
                     NATIVE(0x2000));
    recording_sample(&s.r, SECOND, 1, 10, 1, NATIVE(0x9999));
    play(&s);
    enum method_kind kind;
    assert_int_equal(self_of(&s, "next::one", &kind), 2);
    assert_int_equal(kind, METHOD_CPP);
    assert_int_equal(self_of(&s, "do_syscall_64", &kind), 1);
    assert_int_equal(kind, METHOD_KERNEL);
    assert_int_equal(self_of(&s, "[unknown]", &kind), 1);
    assert_int_equal(kind, METHOD_NATIVE);
    struct query q = {.event = 0, .tree = true};
    struct snapshot *snap = snapshot_take(s.profile, &q);
    uint64_t callers = 0;
    for (uint32_t i = 0; i < snap->node_count; i++)
        if (snap->nodes[i].depth == 0 &&
            strcmp(method_table_get(profile_methods(s.profile), snap->nodes[i].method)->name,
                   "caller") == 0)
            callers += snap->nodes[i].total_samples;
    snapshot_free(snap);
    assert_int_equal(callers, 2);
    close_stage(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_frame_type),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_line_tables_are_bounded),
        cmocka_unit_test(test_compiler_threads),
        cmocka_unit_test(test_place_of_what_is_compiled),
        cmocka_unit_test(test_program_counter),
        cmocka_unit_test(test_classes_outside_tlabs_are_told_apart),
        cmocka_unit_test(test_no_java_frame_is_no_failure),
        cmocka_unit_test(test_failures_are_named_and_counted),
        cmocka_unit_test(test_return_addresses_name_the_caller),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
