/* Collapsed stacks read back: ours to the byte, others' for what they are. */
#include "test/unit/import/import_fixture.h"

#include "test/unit/export/export_fixture.h"

#include <errno.h>

static const struct export_options plain;

static struct profile *mixed(void) {
    struct profile *p = profile_new(0);
    fixture_add(p, 7, "j:java/lang/Thread.run()V\tj:b/B.f(Ljava/lang/String;[[I)V", 2, 200);
    fixture_add(p, 7, "i:java/lang/Thread.run()V\tj:b/B.f(J)V\tn:read", 3, 300);
    fixture_add(p, 8, "j:java/lang/Thread.run()V\te:[no_caller]", 1, 50);
    fixture_add(p, 8, "j:java/lang/Thread.run()V\tl:b/A.<init>()V\tk:do_syscall_64", 4, 1000);
    fixture_add(p, 8, "c:Main$$Lambda/0x00007f1234.run()V\tl:b/A.G()V\tl:b/A.Upper()V", 6, 66);
    fixture_add(p, 8, "j:java/lang/Thread.run()V\tl:b/A.f(La/B;)Ljava/lang/Object;", 4, 1000);
    fixture_add(p, 8, "j:Main.main()V\tc:b/A.g()V\to:[B", 1, 24);
    fixture_add(p, 8, "j:Main.main()V\tc:b/A.g()V\to:[[Ljava/util/Map$Entry;", 2, 24);
    fixture_add(p, 8, "j:Main.main()V\tc:b/A.g()V\to:Main$Inner", 2, 24);
    fixture_add(p, 8, "j:Main.main()V\tc:b/A.g()V\to:b/Some", 1, 2);
    fixture_add(p, 9, "n:start_thread\tp:Parse::Parse(JVMState*, ciMethod*, float)\ts:call_stub", 9,
                9);
    fixture_add(p, 9, "n:start_thread\tp:operator||\tn:a;b\\c", 9, 9);
    fixture_add(p, 1 << 21, "p:Compile::Code_Gen()", 3000000, 5);
    fixture_add_virtual(p, 9, 77, "j:java/lang/VirtualThread.run()V\tj:b/A.g()V", 5, 5);
    profile_thread_name(p, 7, 1, "main");
    profile_thread_name(p, 8, 2, "a;b|c\\d [x] tid=3");
    profile_virtual_name(p, 77, "v");
    return p;
}

static void ours_comes_back_to_the_byte(void **state) {
    (void)state;
    for (unsigned flags = 0; flags < 64; flags++) {
        struct profile *p = mixed();
        struct export_options o = {.threads = flags & 1,
                                   .simple = flags & 2,
                                   .signatures = flags & 4,
                                   .annotate = flags & 8,
                                   .library = flags & 16,
                                   .total = flags & 32};
        char *want = report_of(p, 0, "collapsed", &o);
        struct imported f;
        import_text(&f, want);
        assert_true(f.known);
        assert_int_equal(f.code, 0);
        assert_string_equal(f.result.format, "collapsed");
        assert_string_equal(f.result.damage, "");
        expect_report(&f, WIRE_EVENT_PERF, "collapsed", &o, want);
        imported_done(&f);
        free(want);
        profile_free(p);
    }
}

static void expect_kinds(const char *file, const char *want) {
    struct imported f;
    import_text(&f, file);
    struct query q = {.event = WIRE_EVENT_PERF, .tree = true};
    struct snapshot *s = snapshot_take(f.profile, &q);
    struct text got = {0};
    for (uint32_t i = 0; i < s->node_count; i++) {
        const struct method *m = method_table_get(profile_methods(f.profile), s->nodes[i].method);
        text_addf(&got, "%c %s|%s|%s|%s\n", "jnpkcsetC"[m->kind], m -> class_name, m -> name,
                  m -> signature, m -> module);
    }
    assert_string_equal(got.data ? got.data : "", want);
    text_free(&got);
    snapshot_free(s);
    imported_done(&f);
}

static void frames_are_told_apart(void **state) {
    (void)state;
    expect_kinds("a/b/C.m;libc.so.6`read 1\n", "j a/b/C|m||\nn |read||libc.so.6\n");
    expect_kinds("Main.main;foo 1\n", "j Main|main||\nn |foo||\n");
    expect_kinds("java.util.Map.get;std::sort 1\n", "j java/util/Map|get||\np |std::sort||\n");
    expect_kinds("a/B.f(I|)V;a/B.f(Ljava/lang/String|)V 1\n",
                 "j a/B|f||\nj a/B|f|(Ljava/lang/String;)V|\n");
    expect_kinds("x_[j];x.isra.0_[k] 1\n", "n |x_[j]||\nk |x.isra.0||\n");
    expect_kinds("A.b_[0];java.lang.String_[i] 1\n", "j A|b||\nc |java/lang/String||\n");
    expect_kinds("A.b_[0];java.lang.String_[k] 1\n", "j A|b||\nc |java/lang/String||\n");
    expect_kinds("A.b_[0];byte[]_[i] 1\n", "j A|b||\nc |[B||\n");
    expect_kinds("A.b_[0];String.equals_[i] 1\n", "j A|b||\nj String|equals||\n");
    expect_kinds("Ljava/util/List;::get;x 1\n", "n |Ljava/util/List||\np |::get||\nn |x||\n");
    expect_kinds("java;Ljava/util/List:::get_[j];x 1\n",
                 "n |java||\nj java/util/List|get||\nn |x||\n");
    expect_kinds("[compiling] a/B.c;x 1\n", "n |[compiling] a/B.c||\nn |x||\n");
    expect_kinds("net/http.(*conn).serve;encoding/json.Marshal;main.main 1\n",
                 "n |net/http.(*conn).serve||\nn |encoding/json.Marshal||\nn |main.main||\n");
    expect_kinds("swapper/0;[libfoo.so];src/x.c;f (a/b.py:3) 1\n",
                 "n |swapper/0||\nn |[libfoo.so]||\nn |src/x.c||\nn |f (a/b.py:3)||\n");
}

static void threads_have_their_names(void **state) {
    (void)state;
    struct imported f;
    const char *file = "[a tid=5];x;y 1\n[b tid=5];x;y 2\n[tid=6];x 3\n[v virtual=9];x;y 4\n";
    import_text(&f, file);
    expect_report(&f, WIRE_EVENT_PERF, "collapsed", &(struct export_options){.threads = true},
                  file);
    expect_report(&f, WIRE_EVENT_PERF, "collapsed", &plain, "x 3\nx;y 7\n");
    imported_done(&f);
}

static void headings_say_the_event(void **state) {
    (void)state;
    struct imported f;
    import_text(&f, "# event: cpu, ns\na;b 1000\n# a remark\n# event: alloc, samples\na;c_[i] 7\n"
                    "# event: page-faults, samples\na;d 2\n# event: x.Y.z, samples\na;e 3\n"
                    "# event: cycles, samples\na;f 4\n");
    assert_int_equal(profile_weight(f.profile, WIRE_EVENT_CPU), 1000);
    assert_int_equal(profile_samples(f.profile, WIRE_EVENT_CPU), 1);
    assert_int_equal(profile_samples(f.profile, WIRE_EVENT_ALLOC), 7);
    assert_int_equal(profile_samples(f.profile, WIRE_EVENT_PERF), 2);
    assert_int_equal(profile_samples(f.profile, WIRE_EVENT_METHOD), 3);
    assert_string_equal(f.decoder->marks.engine[WIRE_EVENT_PERF].name, "page-faults");
    assert_non_null(strstr(f.result.damage, "line 11 "));
    imported_done(&f);
}

static void numbers_have_bounds(void **state) {
    (void)state;
    struct imported f;
    import_text(&f, "a;b 5000000\na;c 99999999999999999999999999\na;d 0\n");
    assert_int_equal(profile_samples(f.profile, WIRE_EVENT_PERF), 2); /* all are weights */
    assert_int_equal(profile_weight(f.profile, WIRE_EVENT_PERF), UINT64_C(1) << 60);
    imported_done(&f);
}

/* As stackcollapse scripts and py-spy write them, and flamegraph.pl adds them up. */
static void odd_lines_count(void **state) {
    (void)state;
    struct imported f;
    import_text(&f, "a;b 20.\n 4\na;c 3.5\na;d 0.5\n");
    assert_int_equal(profile_samples(f.profile, WIRE_EVENT_PERF), 28);
    char *got = report_of(f.profile, WIRE_EVENT_PERF, "collapsed", &plain);
    assert_non_null(strstr(got, "[no_stack] 4\n"));
    free(got);
    assert_string_equal(f.result.damage, "");
    imported_done(&f);
}

static void large_weights_are_whole(void **state) {
    (void)state;
    struct imported f;
    import_text(&f, "a;b 1164000000000000\na;c 836000000000001\n");
    assert_int_equal(profile_samples(f.profile, WIRE_EVENT_PERF), 2);
    assert_int_equal(profile_weight(f.profile, WIRE_EVENT_PERF), 2000000000000001);
    imported_done(&f);
}

static void what_is_cut_is_said(void **state) {
    (void)state;
    struct imported f;
    import_text(&f, "a;b 5\r\n\r\na;c 6\r\na;");
    assert_true(f.known);
    assert_int_equal(profile_samples(f.profile, WIRE_EVENT_PERF), 11);
    assert_string_equal(f.result.damage,
                        "line 4 is not a stack with a count; such lines are left out");
    imported_done(&f);
}

static void deep_stacks_keep_their_leaf(void **state) {
    (void)state;
    static char text[100000];
    char *at = text;
    struct imported f;
    for (int i = 0; i < 5000; i++)
        at += sprintf(at, "f%d;", i);
    strcpy(at, "leaf 2\n");
    import_text(&f, text);
    char *got = report_of(f.profile, WIRE_EVENT_PERF, "collapsed", &plain);
    assert_memory_equal(got, "[truncated];f906;", 17);
    assert_non_null(strstr(f.result.note, "line 1 has more than 4095 frames"));
    assert_non_null(strstr(got, ";leaf 2\n"));
    free(got);
    imported_done(&f);
}

static void other_text_is_not_taken(void **state) {
    (void)state;
    static const char *const not [] = {"hello\n",
                                       "Total 5\n",
                                       "a;b\n",
                                       "# only a remark\n",
                                       "a;b 1x\n",
                                       "a;b 1\nx;y\nv;u\nz;w\n",
                                       "\n\n\n",
                                       "5\n",
                                       "a=1;b=2\n",
                                       "int main 3\nmore 4\n",
                                       "a;b 1\nc 2\nd 3\n",
                                       "a;b -1\n",
                                       "a;b .5\n",
                                       "\x01;a 1\n"};
    for (size_t i = 0; i < sizeof not / sizeof *not ; i++) {
        struct imported f;
        import_text(&f, not [i]);
        assert_false(f.known);
        assert_int_equal(f.code, -EINVAL);
        imported_done(&f);
    }
    struct imported f;
    import_bytes(&f, "a;b 1\n\0;x 1\n", 12);
    assert_false(f.known);
    imported_done(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ours_comes_back_to_the_byte), cmocka_unit_test(frames_are_told_apart),
        cmocka_unit_test(threads_have_their_names),    cmocka_unit_test(headings_say_the_event),
        cmocka_unit_test(numbers_have_bounds),         cmocka_unit_test(odd_lines_count),
        cmocka_unit_test(large_weights_are_whole),     cmocka_unit_test(what_is_cut_is_said),
        cmocka_unit_test(deep_stacks_keep_their_leaf), cmocka_unit_test(other_text_is_not_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
