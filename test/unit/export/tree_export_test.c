/* The page around the tree: its data are html_export_test.c's. What it does is tried in
 * test/e2e/formats/tree_chromium.py. */
#include "test/unit/written.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static int occurrences(const char *text, const char *what) {
    int n = 0;
    for (; (text = strstr(text, what)); text++)
        n++;
    return n;
}

static void stands_by_itself(void **unused) {
    (void)unused;
    struct profile *p = profile_new(0);
    fixture_add(p, 1, "n:</script><script>alert(1)</script>\tn:a&b", 3, 30);
    struct snapshot *s = fixture_snapshot(p, false, false);
    struct text out = written("tree", p, s, &(struct export_options){.title = "</h1><script>"});
    assert_non_null(strstr(out.data, "window.callTree ="));
    assert_non_null(strstr(out.data, "\"frames\":2,"));
    assert_int_equal(occurrences(out.data, "<script"), 4);
    assert_int_equal(occurrences(out.data, "</script"), 4);
    assert_null(strstr(out.data, "http"));
    assert_null(strstr(out.data, "<link rel=\"stylesheet"));
    text_free(&out);
    snapshot_free(s);
    profile_free(p);
}

static void is_no_flame_graph(void **unused) {
    (void)unused;
    struct profile *p = profile_new(0);
    struct snapshot *s = fixture_snapshot(p, false, false);
    struct text tree = written("tree", p, s, &(struct export_options){0});
    struct text flames = written("html", p, s, &(struct export_options){0});
    assert_null(strstr(tree.data, "<canvas"));
    assert_null(strstr(flames.data, "callTree"));
    assert_ptr_equal(exporter_by_path("x.html"),
                     exporter_by_format("html", &(struct export_options){0}));
    text_free(&tree);
    text_free(&flames);
    snapshot_free(s);
    profile_free(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stands_by_itself),
        cmocka_unit_test(is_no_flame_graph),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
