/* The report, and that names in it are only names. */
#include "test/unit/written.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void is_a_report(void **unused) {
    (void)unused;
    struct profile *p = profile_new(0);
    fixture_add(p, 21, "j:a/B.run()V\tj:a/B.fib(I)I\tj:a/B.fib(I)I", 3, 300000000);
    fixture_add(p, 21, "j:a/B.run()V", 1, 100000000);
    profile_thread_name(p, 21, 1, "one|two");
    struct snapshot *s = fixture_snapshot(p, false, false);
    struct text out = written("markdown", p, s, &(struct export_options){0});
    assert_string_equal(
        out.data, "## CPU profile\n\n"
                  "shop.Main (pid 7) \xc2\xb7 cpu every 10 ms \xc2\xb7 3 s \xc2\xb7 4 samples "
                  "\xc2\xb7 2 dropped (33.33%) \xc2\xb7 1 failed walk (25.00%, no\\_caller "
                  "1)\n\n"
                  "| Self | Total | Time | Samples | Method |\n"
                  "|---:|---:|---:|---:|:---|\n"
                  "| 75.00% | 75.00% | 300 ms | 3 | `a.B.fib` |\n"
                  "| 25.00% | 100.00% | 100 ms | 1 | `a.B.run` |\n\n"
                  "| Share | Samples | Thread |\n|---:|---:|:---|\n"
                  "| 100.00% | 4 | `one\\|two` tid 21 |\n\n"
                  "Leaf first:\n\n```text\n"
                  "75.00%, 300 ms, 3 samples\n    a.B.fib\n    a.B.fib\n    a.B.run\n\n"
                  "25.00%, 100 ms, 1 sample\n    a.B.run\n```\n\n"
                  "jtop-prof " JTOP_VERSION "\n");
    text_free(&out);
    snapshot_free(s);
    profile_free(p);
}

static void what_allocates_has_the_self(void **unused) {
    (void)unused;
    struct profile *p = profile_new(0);
    fixture_add(p, 21, "j:a/B.run()V\tj:a/B.make()V\to:[B", 3, 3072);
    struct export_quality q = written_quality;
    q.event = "alloc";
    q.unit = "bytes";
    struct snapshot *s = fixture_snapshot(p, false, false);
    const struct export_part part = {s, &q, NULL};
    struct text out = written_all("markdown", p, &part, 1, &(struct export_options){0});
    const char *classes = strstr(out.data, "| Class |");
    assert_non_null(classes);
    assert_non_null(strstr(classes, "| 100.00% | 100.00% | 3 KB | 3 | `byte[]` |\n"));
    const char *methods = strstr(classes, "| Method |");
    assert_non_null(methods);
    assert_non_null(strstr(methods, "| 100.00% | 100.00% | 3 KB | 3 | `a.B.make` |\n"));
    assert_null(strstr(methods, "`a.B.run` |"));
    text_free(&out);
    snapshot_free(s);
    profile_free(p);
}

static void names_stay_names(void **unused) {
    (void)unused;
    struct profile *p = profile_new(0);
    fixture_add(p, 1, "n:a`b\tn:c``d|e\tn:<img src=x>\tn:`", 1, 1);
    struct snapshot *s = fixture_snapshot(p, false, false);
    struct export_options o = {.title = "*a* <b> _c_ `d` [e](f) @g #h"};
    struct text out = written("markdown", p, s, &o);
    assert_non_null(
        strstr(out.data, "## \\*a\\* \\<b\\> \\_c\\_ \\`d\\` \\[e\\](f) &#64;g \\#h\n"));
    assert_non_null(strstr(out.data, "| `` ` `` |\n"));
    text_free(&out);

    /* Only leaves have rows. */
    fixture_add(p, 1, "n:c``d|e", 2, 2);
    fixture_add(p, 1, "n:<img src=x>", 3, 3);
    snapshot_free(s);
    s = fixture_snapshot(p, false, false);
    out = written("markdown", p, s, &(struct export_options){0});
    assert_non_null(strstr(out.data, "| ``` c``d\\|e ``` |\n"));
    assert_non_null(strstr(out.data, "| `<img src=x>` |\n"));
    text_free(&out);
    snapshot_free(s);
    profile_free(p);
}

static void long_paths_are_cut(void **unused) {
    (void)unused;
    struct profile *p = profile_new(0);
    char stack[40 * 8] = "";
    for (int i = 0; i < 40; i++)
        snprintf(stack + strlen(stack), sizeof stack - strlen(stack), "%sn:f%d", i ? "\t" : "", i);
    fixture_add(p, 1, stack, 1, 10);
    struct snapshot *s = fixture_snapshot(p, false, false);
    struct text out = written("markdown", p, s, &(struct export_options){0});
    assert_non_null(strstr(out.data, "    f39\n    f38\n"));
    assert_non_null(strstr(out.data, "    f24\n    \xe2\x80\xa6 24 more\n"));
    assert_null(strstr(out.data, "f23"));
    text_free(&out);
    snapshot_free(s);
    profile_free(p);
}

static void many_are_counted(void **unused) {
    (void)unused;
    struct profile *p = profile_new(0);
    for (int i = 0; i < 25; i++) {
        char name[16];
        snprintf(name, sizeof name, "n:f%d", i);
        fixture_add(p, (uint32_t)(100 + i), name, 1, (uint64_t)(100 + i));
    }
    struct snapshot *s = fixture_snapshot(p, false, false);
    struct text out = written("markdown", p, s, &(struct export_options){0});
    assert_non_null(strstr(out.data, "\xe2\x80\xa6 and 5 more.\n"));
    assert_non_null(strstr(out.data, "\xe2\x80\xa6 and 15 more.\n"));
    assert_null(strstr(out.data, "`f4`"));
    text_free(&out);
    snapshot_free(s);
    profile_free(p);
}

static void nothing_is_said_so(void **unused) {
    (void)unused;
    struct profile *p = profile_new(0);
    struct snapshot *s = fixture_snapshot(p, false, false);
    struct text out = written("markdown", p, s, &(struct export_options){0});
    assert_non_null(strstr(out.data, "\nNo samples.\n"));
    assert_null(strstr(out.data, "| Method"));
    text_free(&out);
    snapshot_free(s);
    profile_free(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_a_report),      cmocka_unit_test(what_allocates_has_the_self),
        cmocka_unit_test(names_stay_names), cmocka_unit_test(long_paths_are_cut),
        cmocka_unit_test(many_are_counted), cmocka_unit_test(nothing_is_said_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
