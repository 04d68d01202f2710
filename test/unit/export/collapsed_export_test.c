#include "core/export/export.h"

#include "test/unit/export/export_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static struct profile *mixed(void) {
    struct profile *p = profile_new(0);
    fixture_add(p, 7, "j:java/lang/Thread.run()V\tj:b/B.f(I)V", 2, 200);
    fixture_add(p, 7, "i:java/lang/Thread.run()V\tj:b/B.f(J)V", 3, 300);
    fixture_add(p, 8, "j:java/lang/Thread.run()V", 1, 50);
    fixture_add(p, 8, "j:java/lang/Thread.run()V\tl:b/A.g()V\tk:do_syscall_64", 4, 1000);
    fixture_add(p, 8, "j:java/lang/Thread.run()V\tc:b/A.g()V\to:[B", 1, 24);
    profile_thread_name(p, 7, 1, "main");
    profile_thread_name(p, 8, 2, "a;b|c\\d");
    return p;
}

static void expect(struct profile *p, bool by_thread, bool inverted, const struct export_options *o,
                   const char *want) {
    struct text t = {0};
    struct query ask = {.tree = true,
                        .by_thread = by_thread,
                        .inverted = inverted,
                        .carriers = o->carriers,
                        .tiers = o->annotate};
    struct snapshot *s = snapshot_take(p, &ask);
    assert_non_null(s);
    struct export_options unused = {0};
    const struct export_quality q = {.event = "cpu", .unit = "ns", .dropped = 12};
    assert_int_equal(exporter_by_format("collapsed", &unused)->write(&t, p, s, &q, o), 0);
    assert_string_equal(t.data ? t.data : "", want);
    text_free(&t);
    snapshot_free(s);
    profile_free(p);
}

static void test_merges_what_prints_alike(void **state) {
    (void)state;
    expect(mixed(), false, false, &(struct export_options){0},
           "java/lang/Thread.run 1\n"
           "java/lang/Thread.run;b/A.g;byte[]_[i] 1\n"
           "java/lang/Thread.run;b/A.g;do_syscall_64_[k] 4\n"
           "java/lang/Thread.run;b/B.f 5\n");
}

static void test_total_and_simple(void **state) {
    (void)state;
    expect(mixed(), false, false, &(struct export_options){.total = true, .simple = true},
           "Thread.run 50\n"
           "Thread.run;A.g;byte[]_[i] 24\n"
           "Thread.run;A.g;do_syscall_64_[k] 1000\n"
           "Thread.run;B.f 500\n");
}

/* A method that ran in two ways is two frames, from the root or from the leaf. */
static void test_annotated_frames_differ_by_tier(void **state) {
    (void)state;
    expect(mixed(), false, false, &(struct export_options){.annotate = true},
           "java/lang/Thread.run_[0];b/B.f_[j] 3\n"
           "java/lang/Thread.run_[j] 1\n"
           "java/lang/Thread.run_[j];b/A.g_[1];byte[]_[i] 1\n"
           "java/lang/Thread.run_[j];b/A.g_[i];do_syscall_64_[k] 4\n"
           "java/lang/Thread.run_[j];b/B.f_[j] 2\n");
    expect(mixed(), false, true, &(struct export_options){.annotate = true, .simple = true},
           "B.f_[j];Thread.run_[0] 3\n"
           "B.f_[j];Thread.run_[j] 2\n"
           "Thread.run_[j] 1\n"
           "byte[]_[i];A.g_[1];Thread.run_[j] 1\n"
           "do_syscall_64_[k];A.g_[i];Thread.run_[j] 4\n");
}

static void test_virtual_threads(void **state) {
    (void)state;
    for (int carriers = 0; carriers < 2; carriers++) {
        struct profile *p = profile_new(0);
        profile_thread_name(p, 8, 2, "carrier-1");
        profile_virtual_name(p, 31, "task");
        fixture_add(p, 8, "n:park", 1, 1);
        fixture_add_virtual(p, 8, 31, "j:A.f()V", 2, 2);
        fixture_add_virtual(p, 9, 31, "j:A.f()V", 3, 3);
        fixture_add_virtual(p, 9, 32, "j:A.f()V", 4, 4);
        expect(p, true, false, &(struct export_options){.threads = true, .carriers = carriers},
               carriers ? "[carrier-1 tid=8];A.f 2\n"
                          "[carrier-1 tid=8];park 1\n"
                          "[tid=9];A.f 7\n"
                        : "[VirtualThread[#32] virtual=32];A.f 4\n"
                          "[carrier-1 tid=8];park 1\n"
                          "[task virtual=31];A.f 5\n");
    }
}

static void test_compiler_threads(void **state) {
    (void)state;
    struct profile *p = profile_new(0);
    struct profile_frame f = {.method = method_table_intern(profile_methods(p), METHOD_COMPILING,
                                                            "a/Main$$Lambda$3+0x0000000801000a08",
                                                            "run", "(I)V", "")};
    struct profile_sample s = {.weight = 1, .count = 1, .tid = 9, .frames = 1, .frame = &f};
    assert_int_equal(profile_add(p, &s), 0);
    expect(p, false, false, &(struct export_options){.normalize = true, .annotate = true},
           "a/Main$$Lambda.run 1\n");
}

static void test_signatures_and_threads_are_escaped(void **state) {
    (void)state;
    struct profile *p = profile_new(0);
    fixture_add(p, 8, "j:A.f(Ljava/lang/String;I)V\tp:operator|\tn:a\\b;c", 4, 1);
    profile_thread_name(p, 8, 2, "x;y");
    expect(p, true, false, &(struct export_options){.signatures = true, .threads = true},
           "[x|y tid=8];A.f(Ljava/lang/String|I)V;operator\\|;a\\\\b|c 4\n");
}

static void test_inverted_tree_keeps_counts(void **state) {
    (void)state;
    struct profile *p = profile_new(0);
    fixture_add(p, 1, "n:main\tn:a\tn:x", 2, 2);
    fixture_add(p, 1, "n:main\tn:b\tn:x", 3, 3);
    fixture_add(p, 1, "n:main", 1, 1);
    expect(p, false, true, &(struct export_options){.reverse = true},
           "main 1\nx;a;main 2\nx;b;main 3\n");
}

static void test_empty(void **state) {
    (void)state;
    expect(profile_new(0), false, false, &(struct export_options){0}, "");
}

static void test_deepest_stack(void **state) {
    (void)state;
    struct profile *p = profile_new(0);
    static char stack[PROFILE_STACK_MAX * 4 + 1], want[PROFILE_STACK_MAX * 2 + 8];
    for (size_t i = 0; i < PROFILE_STACK_MAX; i++) {
        memcpy(stack + i * 4, "n:r\t", 4);
        memcpy(want + i * 2, "r;", 2);
    }
    memcpy(want + PROFILE_STACK_MAX * 2 - 1, " 9\n", 3);
    fixture_add(p, 1, stack, 9, 9);
    expect(p, false, false, &(struct export_options){0}, want);
}

/* Only where several follow each other. */
static void test_heading(void **state) {
    (void)state;
    struct profile *p = profile_new(0);
    fixture_add(p, 1, "j:A.f()V\to:[B", 2, 20);
    struct snapshot *s = fixture_snapshot(p, false, false);
    struct export_options o = {0};
    const struct exporter *x = exporter_by_format("collapsed", &o);
    struct export_quality q = {.event = "alloc", .unit = "bytes", .several = true};
    struct text t = {0};
    assert_int_equal(x->write(&t, p, s, &q, &o), 0);
    assert_string_equal(t.data, "A.f;byte[]_[i] 2\n");
    text_clear(&t);
    q.heading = true;
    assert_int_equal(x->write(&t, p, s, &q, &o), 0);
    assert_string_equal(t.data, "# event: alloc, samples\nA.f;byte[]_[i] 2\n");
    text_clear(&t);
    o.total = true;
    assert_int_equal(x->write(&t, p, s, &q, &o), 0);
    assert_string_equal(t.data, "# event: alloc, bytes\nA.f;byte[]_[i] 20\n");
    text_free(&t);
    snapshot_free(s);
    profile_free(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_merges_what_prints_alike),
        cmocka_unit_test(test_total_and_simple),
        cmocka_unit_test(test_annotated_frames_differ_by_tier),
        cmocka_unit_test(test_virtual_threads),
        cmocka_unit_test(test_compiler_threads),
        cmocka_unit_test(test_signatures_and_threads_are_escaped),
        cmocka_unit_test(test_inverted_tree_keeps_counts),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_deepest_stack),
        cmocka_unit_test(test_heading),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
