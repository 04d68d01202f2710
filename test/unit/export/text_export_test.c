#include "core/export/export.h"

#include "test/unit/export/export_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static const struct export_quality quality = {
    .event = "cpu",
    .unit = "ns",
    .dropped = 10,
    .failed = {{"unknown_Java", 9}, {"not_walkable_Java", 0}},
    .failed_count = 2,
};

static const char full[] = "--- Execution profile ---\n"
                           "Total samples       : 90\n"
                           "unknown_Java        : 9 (10.00%)\n"
                           "dropped             : 10 (10.00%)\n"
                           "\n"
                           "--- 500000000 ns (50.00%), 50 samples\n"
                           "  [ 0] java.util.HashMap.get\n"
                           "  [ 1] java.lang.Thread.run\n"
                           "\n"
                           "--- 490000000 ns (49.00%), 1 sample\n"
                           "  [ 0] do_syscall_64_[k]\n"
                           "  [ 1] java.lang.Thread.run\n"
                           "\n"
                           "--- 10000000 ns (1.00%), 39 samples\n"
                           "  [ 0] byte[]\n"
                           "  [ 1] java.util.HashMap.get\n"
                           "\n"
                           "          ns  percent  samples  top\n"
                           "  ----------  -------  -------  ---\n"
                           "   500000000   50.00%       50  java.util.HashMap.get\n"
                           "   490000000   49.00%        1  do_syscall_64_[k]\n"
                           "    10000000    1.00%       39  byte[]\n";

static struct profile *sample(void) {
    struct profile *p = profile_new(0);
    fixture_add(p, 1, "j:java/lang/Thread.run()V\tj:java/util/HashMap.get(I)V", 20, 200000000);
    fixture_add(p, 1, "i:java/lang/Thread.run()V\tj:java/util/HashMap.get(J)V", 30, 300000000);
    fixture_add(p, 1, "j:java/lang/Thread.run()V\tk:do_syscall_64", 1, 490000000);
    fixture_add(p, 1, "j:java/util/HashMap.get(J)V\to:[B", 39, 10000000);
    return p;
}

static char *write_text(const char *formats, struct export_options o) {
    struct text t = {0};
    struct profile *p = sample();
    struct snapshot *s = fixture_snapshot(p, false, false);
    char *copy = strdup(formats), *save = NULL;
    const struct exporter *x = exporters;
    for (char *f = strtok_r(copy, ",", &save); f; f = strtok_r(NULL, ",", &save))
        assert_non_null(x = exporter_by_format(f, &o));
    free(copy);
    assert_int_equal(x->write(&t, p, s, &quality, &o), 0);
    snapshot_free(s);
    profile_free(p);
    return t.data;
}

static void expect(const char *formats, struct export_options o, const char *want) {
    char *got = write_text(formats, o);
    assert_string_equal(got, want);
    free(got);
}

static void test_all_parts(void **state) {
    (void)state;
    expect("text", (struct export_options){0}, full);
    expect("summary,traces,flat", (struct export_options){0}, full);
}

static void test_parts_and_limits(void **state) {
    (void)state;
    char *summary = strndup(full, (size_t)(strstr(full, "\n\n") + 2 - full));
    expect("summary", (struct export_options){0}, summary);

    char want[2048];
    snprintf(want, sizeof(want), "%s%.*s", summary,
             (int)(strstr(full, "--- 490") - full) - (int)strlen(summary), full + strlen(summary));
    expect("traces=1", (struct export_options){0}, want);

    const char *table = strstr(full, "          ns");
    snprintf(want, sizeof(want), "%s%.*s", summary, (int)(strstr(full, "    10000000") - table),
             table);
    expect("flat=2", (struct export_options){0}, want);
    free(summary);
}

static void test_names(void **state) {
    (void)state;
    char *got = write_text("flat", (struct export_options){.signatures = true});
    assert_non_null(strstr(got, "   300000000   30.00%       30  java.util.HashMap.get(long)\n"));
    assert_non_null(strstr(got, "   200000000   20.00%       20  java.util.HashMap.get(int)\n"));
    free(got);
    got = write_text("traces", (struct export_options){.annotate = true, .simple = true});
    assert_non_null(strstr(got, "  [ 0] HashMap.get_[j]\n  [ 1] Thread.run_[0]\n"));
    free(got);
}

static void test_flat_rows_by_tier(void **state) {
    (void)state;
    struct text t = {0};
    struct profile *p = profile_new(0);
    fixture_add(p, 1, "j:A.run()V\ti:A.f()V", 2, 20);
    fixture_add(p, 1, "j:A.run()V\tj:A.f()V", 3, 30);
    fixture_add(p, 1, "i:A.run()V\tj:A.f()V", 1, 10);
    fixture_add(p, 1, "j:A.f()V\tl:A.f()V", 1, 40);
    struct snapshot *s = snapshot_take(p, &(struct query){.tree = true, .tiers = true});
    struct export_options o = {.annotate = true, .want_flat = true};
    assert_int_equal(exporters[0].write(&t, p, s, &quality, &o), 0);
    const char *table = strstr(t.data, "  ----------");
    assert_non_null(table);
    assert_string_equal(table, "  ----------  -------  -------  ---\n"
                               "          40   40.00%        4  A.f_[j]\n"
                               "          40   40.00%        1  A.f_[i]\n"
                               "          20   20.00%        2  A.f_[0]\n");
    text_free(&t);
    snapshot_free(s);
    profile_free(p);
}

static void test_nothing_sampled(void **state) {
    (void)state;
    struct text t = {0};
    struct profile *p = profile_new(0);
    struct snapshot *s = fixture_snapshot(p, false, false);
    const struct export_quality q = {.unit = "bytes"};
    assert_int_equal(exporters[0].write(&t, p, s, &q, &(struct export_options){0}), 0);
    assert_string_equal(t.data, "--- Execution profile ---\n"
                                "Total samples       : 0\n"
                                "\n"
                                "       bytes  percent  samples  top\n"
                                "  ----------  -------  -------  ---\n");
    text_free(&t);
    snapshot_free(s);
    profile_free(p);
}

/* What only some events have to say of themselves. */
static void test_event_and_its_quality(void **state) {
    (void)state;
    struct text t = {0};
    struct profile *p = profile_new(0);
    fixture_add(p, 1, "j:A.f()V", 40, 1000);
    struct snapshot *s = fixture_snapshot(p, false, false);
    struct export_quality q = {.event = "wall",
                               .unit = "ns",
                               .biased = true,
                               .coverage = 0.9876,
                               .windows = 3,
                               .window_ns = 1500000,
                               .failed = {{"loop", 5}},
                               .failed_count = 1,
                               .walks = 200};
    const struct export_options o = {.want_summary = true};
    assert_int_equal(exporters[0].write(&t, p, s, &q, &o), 0);
    assert_string_equal(t.data, "--- Execution profile ---\n"
                                "Total samples       : 40\n"
                                "event               : wall, 1000 ns\n"
                                "BIASED              : samples are taken at safepoints only\n"
                                "coverage            : 98.8% of the threads' time is in samples\n"
                                "windows             : 3, 1.500 ms\n"
                                "loop                : 5 (2.50% of all events)\n"
                                "\n");
    text_clear(&t);
    q = (struct export_quality){.event = "cpu", .unit = "ns", .several = true};
    assert_int_equal(exporters[0].write(&t, p, s, &q, &o), 0);
    assert_non_null(strstr(t.data, "event               : cpu, 1000 ns\n"));
    text_free(&t);
    snapshot_free(s);
    profile_free(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_parts),       cmocka_unit_test(test_parts_and_limits),
        cmocka_unit_test(test_names),           cmocka_unit_test(test_flat_rows_by_tier),
        cmocka_unit_test(test_nothing_sampled), cmocka_unit_test(test_event_and_its_quality),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
