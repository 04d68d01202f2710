/* Which changes between two profiles are marked, and how they are told. */
#include "tui/cli/compare/compare_report.h"

#include "core/profile/snapshot/chance.h"

#include "test/unit/export/export_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <math.h>

static void chance_is_what_tables_say(void **state) {
    (void)state;
    /* 60 of 100 and 40 of 100: z is 2.69 with the correction, and that two-sided 0.0072. */
    assert_true(fabs(chance_of(60, 100, 40, 100) - 0.0072) < 0.0001);
    assert_true(fabs(chance_of(40, 100, 60, 100) - 0.0072) < 0.0001);
    assert_true(chance_of(50, 100, 50, 100) == 1);
    assert_true(chance_of(0, 100, 0, 100) == 1);
    assert_true(chance_of(100, 100, 100, 100) == 1);
    assert_true(chance_of(0, 0, 5, 10) == 1);
    assert_true(chance_of(7, 5, 5, 10) == 1);
    assert_true(chance_of(0, UINT64_MAX / 2, UINT64_MAX / 2, UINT64_MAX / 2) < 1e-9);
}

/* Event 0 is A, event 1 is B. */
static void add(struct profile *p, int event, const char *name, uint32_t count) {
    struct profile_frame f = {
        .method = method_table_intern(profile_methods(p), METHOD_JAVA, "a/B", name, "", "")};
    struct profile_sample s = {.time_ns = 1000000000,
                               .weight = count * UINT64_C(10),
                               .count = count,
                               .tid = 1,
                               .event = (uint8_t)event,
                               .frames = 1,
                               .frame = &f};
    assert_int_equal(profile_add(p, &s), 0);
}

struct compared {
    struct profile *p;
    struct snapshot *s[2];
    struct compare_rows rows;
};

static void compare(struct compared *c) {
    for (int i = 0; i < 2; i++)
        c->s[i] = snapshot_take(c->p, &(struct query){.event = i, .tree = true});
    assert_int_equal(compare_rows_make(c->s[0], c->s[1], true, &c->rows), 0);
}

static void done(struct compared *c) {
    compare_rows_free(&c->rows);
    snapshot_free(c->s[0]);
    snapshot_free(c->s[1]);
    profile_free(c->p);
}

static const char *name_of(const struct compared *c, uint32_t row) {
    return method_table_get(profile_methods_const(c->p), c->rows.row[row].method)->name;
}

static void the_largest_change_comes_first(void **state) {
    (void)state;
    struct compared c = {.p = profile_new(0)};
    add(c.p, 0, "same", 600);
    add(c.p, 0, "less", 400);
    add(c.p, 0, "gone", 3);
    add(c.p, 1, "same", 1195); /* of twice as many */
    add(c.p, 1, "less", 400);
    add(c.p, 1, "more", 405);
    compare(&c);
    assert_int_equal(c.rows.count, 4);
    assert_string_equal(name_of(&c, 0), "more");
    assert_string_equal(name_of(&c, 1), "less");
    assert_true(c.rows.row[0].changed && c.rows.row[1].changed);
    assert_int_equal(c.rows.changed, 2);
    assert_true(c.rows.row[0].share[0] == 0 && c.rows.row[0].share[1] > 0.2);
    for (uint32_t i = 2; i < 4; i++)
        assert_false(c.rows.row[i].changed);
    done(&c);
}

/* One in twenty of those that did not change looks changed at 5 %; hardly any is marked. */
static void many_comparisons_are_paid_for(void **state) {
    (void)state;
    struct compared c = {.p = profile_new(0)};
    uint32_t seed = 12345, below = 0;
    for (int i = 0; i < 400; i++) {
        char name[16];
        uint32_t count[2] = {0};
        snprintf(name, sizeof name, "m%d", i);
        for (int k = 0; k < 2 * 400; k++) {
            seed = seed * 1664525 + 1013904223;
            count[k & 1] += seed >> 24 < 64; /* a quarter of 400 each, by chance */
        }
        add(c.p, 0, name, count[0]);
        add(c.p, 1, name, count[1]);
    }
    compare(&c);
    for (uint32_t i = 0; i < c.rows.count; i++)
        below += c.rows.row[i].chance < 0.05;
    assert_true(below > 0);
    assert_int_equal(c.rows.changed, 0);
    done(&c);
}

static void reports_are_told(void **state) {
    (void)state;
    struct compared c = {.p = profile_new(0)};
    add(c.p, 0, "f", 100);
    add(c.p, 0, "g|`x", 100);
    add(c.p, 1, "f", 300);
    add(c.p, 1, "h", 100);
    compare(&c);
    const struct compare_sides sides = {.profile = c.p,
                                        .side = {{.path = "a.jfr",
                                                  .event = "cpu",
                                                  .unit = "ns",
                                                  .weight = 2000,
                                                  .samples = 200,
                                                  .counted = true},
                                                 {.path = "b.jfr",
                                                  .counted = true,
                                                  .event = "cpu",
                                                  .unit = "ns",
                                                  .weight = 4000,
                                                  .samples = 400,
                                                  .elapsed_ns = 2000000000}}};
    const struct export_options o = {.normalize = true};
    const struct compare_report r = {
        .sides = &sides, .snapshot = {c.s[0], c.s[1]}, .rows = &c.rows, .o = &o};
    struct text t = {0};
    compare_text(&t, &r);
    assert_non_null(strstr(t.data, "A: a.jfr: 200 samples of cpu, 2 us: duration not known\n"));
    assert_non_null(strstr(t.data, "B: b.jfr: 400 samples of cpu, 4 us: 2 us a second for 2 s\n"));
    assert_non_null(strstr(t.data, "\n3 of 3 methods changed by more than chance, marked *:\n"));
    assert_non_null(strstr(
        t.data, "\n   50.00%    0.00%   -50.00*      gone         100           0  a.B.g|`x\n"));
    assert_non_null(strstr(
        t.data, "\n    0.00%   25.00%   +25.00*       new           0         100  a.B.h\n"));
    assert_non_null(strstr(
        t.data, "\n   50.00%   75.00%   +25.00*     x1.50         100         300  a.B.f\n"));
    text_clear(&t);
    compare_markdown(&t, &r);
    assert_non_null(strstr(t.data, "| -50.00 | changed | gone | 100 | 0 | `a.B.g\\|'x` |\n"));
    text_clear(&t);
    assert_int_equal(compare_collapsed(&t, &r), 0);
    assert_string_equal(t.data, "a/B.f 100 300\na/B.g\\|`x 100 0\na/B.h 0 100\n");
    text_free(&t);
    done(&c);
}

static void nothing_is_compared_with_nothing(void **state) {
    (void)state;
    struct compared c = {.p = profile_new(0)};
    compare(&c);
    assert_int_equal(c.rows.count, 0);
    assert_int_equal(c.rows.changed, 0);
    done(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chance_is_what_tables_say),
        cmocka_unit_test(the_largest_change_comes_first),
        cmocka_unit_test(many_comparisons_are_paid_for),
        cmocka_unit_test(reports_are_told),
        cmocka_unit_test(nothing_is_compared_with_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
