/* The pieces of charts: scales, columns, labels and pauses. */
#include "tui/widget/chart.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

static void scales(void **unused) {
    (void)unused;
    assert_int_equal(chart_scale(0, "ns"), 1);
    assert_int_equal(chart_scale(1, "ns"), 1);
    assert_int_equal(chart_scale(3, "ns"), 5);
    assert_int_equal(chart_scale(501, "ns"), 1000);
    assert_int_equal(chart_scale(501, "bytes"), 1024);
    assert_int_equal(chart_scale(1025, "bytes"), 2048);
    assert_int_equal(chart_scale(UINT64_MAX, "ns"), UINT64_MAX);
}

static void expect(struct canvas *c, const char *text) {
    struct text t = {0};
    canvas_dump(c, &t);
    assert_false(t.failed);
    assert_string_equal(t.data, text);
    text_free(&t);
    canvas_clear(c);
}

/* A weight is never without a mark, and none is above the area. */
static void columns(void **unused) {
    (void)unused;
    struct canvas c = {0};
    setlocale(LC_CTYPE, "C.UTF-8");
    assert_int_equal(canvas_resize(&c, 3, 7), 0);
    static const uint64_t weight[] = {0, 1, 500, 1000, 5000};
    for (int i = 0; i < 5; i++)
        chart_column(&c, (struct area){1, i, 2, 1}, ROLE_STRIP, weight[i], 1000);
    expect(&c, "\n   \u2588\u2588\n \u2581\u2588\u2588\u2588\n");
    chart_column(&c, (struct area){0, 1, 3, 2}, ROLE_STRIP, 700, 2000);
    chart_column(&c, (struct area){0, 5, 3, 2}, ROLE_STRIP, 700, 0); /* no scale: the least */
    expect(&c, "\n \u2581\u2581\n \u2588\u2588  \u2581\u2581\n");
    c.ascii_lines = true;
    chart_column(&c, (struct area){0, 0, 2, 1}, ROLE_STRIP, 700, 1000);
    expect(&c, "=\n#\n\n");
    canvas_free(&c);
}

static void labels_and_pauses(void **unused) {
    (void)unused;
    struct canvas c = {0};
    const uint64_t ms = 1000000;
    assert_int_equal(canvas_resize(&c, 4, 12), 0);
    chart_label(&c, 0, 0, true, "ns", 500 * ms);
    chart_label(&c, 1, 0, true, "ns", 5 * ms);
    chart_label(&c, 2, 0, false, "bytes", 2048);
    expect(&c, "     50%\n    0.5%\n  2.0K/s\n\n");
    chart_pause(&c, 0, 0, (const uint64_t[2]){ms, 0}, ms);
    chart_pause(&c, 0, 1, (const uint64_t[2]){ms, 2 * ms}, 3 * ms);
    chart_pause(&c, 0, 2, (const uint64_t[2]){100 * ms, 0}, 100 * ms);
    chart_pause(&c, 0, 3, (const uint64_t[2]){0, 100 * ms}, 100 * ms);
    chart_pause(&c, 0, 4, (const uint64_t[2]){ms - 1, 0}, ms - 1);
    expect(&c, "gsGS\n\n\n\n");
    canvas_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scales),
        cmocka_unit_test(columns),
        cmocka_unit_test(labels_and_pauses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
