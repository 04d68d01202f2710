/* What reaches the grid from hostile text, and the small parts a screen is made of. */
#include "tui/terminal/canvas.h"
#include "tui/terminal/press.h"
#include "tui/widget/cursor.h"
#include "core/base/format.h"
#include "tui/widget/line_editor.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct canvas grid(int rows, int cols) {
    struct canvas c = {0};
    assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
    assert_int_equal(canvas_resize(&c, rows, cols), 0);
    return c;
}

/* Frees the canvas. */
static void assert_dump(struct canvas *c, const char *expected) {
    struct text t = {0};
    canvas_dump(c, &t);
    assert_string_equal(t.data, expected);
    text_free(&t);
    canvas_free(c);
}

static void hostile_text(void **unused) {
    (void)unused;
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"a\x1b[2Jb\r\n\tc\x7f", "a?[2Jb???c?\n"},
        {"\xc2\x9b"
         "31m",
         "?31m\n"}, /* C1 CSI */
        {"x\xe2\x80\xae"
         "cba",
         "x?cba\n"}, /* right-to-left override */
        {"\xff\xc3[\xed\xa0\x80\xc0\xaf", "??"
                                          "[?????\n"}, /* no UTF-8 */
        {"\xe2\x82", "??\n"},                          /* cut short */
        {"\xf4\x90\x80\x80", "????\n"},                /* beyond Unicode */
        {"\xcc\x88"
         "a\xcc\x88",
         "?a\xcc\x88\n"}, /* a mark without a base; a mark */
        {"e\xcc\x81\xcc\x82\xcc\x83\xcc\x84!", "e\xcc\x81\xcc\x82!\n"}, /* piled up marks */
        {"日本", "日本\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct canvas c = grid(1, 40);
        canvas_text(&c, 0, 0, 40, ROLE_TEXT, cases[i].in);
        assert_dump(&c, cases[i].out);
    }
    struct canvas c = grid(1, 20);
    c.ascii_text = true;
    canvas_text(&c, 0, 0, 20, ROLE_TEXT, "Ä日e\xcc\x81");
    assert_dump(&c, "??e?\n");
}

static void widths_and_cuts(void **unused) {
    (void)unused;
    struct canvas c = grid(8, 10);
    assert_int_equal(canvas_width(&c, "日本e\xcc\x81"), 5);
    assert_int_equal(canvas_text(&c, 0, 7, 10, ROLE_TEXT, "日本"), 2); /* no half characters */
    canvas_text(&c, 1, 0, 10, ROLE_TEXT, "日本語");
    canvas_text(&c, 1, 1, 1, ROLE_TEXT, "x"); /* over a right half */
    canvas_text(&c, 1, 4, 1, ROLE_TEXT, "y"); /* over a left half */
    canvas_tail(&c, 2, 0, 6, ROLE_TEXT, "abcdefgh");
    canvas_tail(&c, 3, 0, 6, ROLE_TEXT, "日本語日本");
    canvas_head(&c, 4, 0, 6, ROLE_TEXT, "abcdefgh");
    canvas_right(&c, 5, 0, 6, ROLE_TEXT, "日1");
    assert_int_equal(canvas_middle(&c, 6, 0, 7, ROLE_TEXT, "pool-1-17"), 7);
    canvas_middle(&c, 7, 0, 6, ROLE_TEXT, "日本語日本");
    canvas_text(&c, 9, 0, 6, ROLE_TEXT, "outside");
    canvas_text(&c, 0, -3, 6, ROLE_TEXT, "outside");
    canvas_tail(&c, 0, 0, 0, ROLE_TEXT, "outside");
    canvas_tail(&c, 0, 0, -5, ROLE_TEXT, "outside");
    canvas_middle(&c, 0, 0, 0, ROLE_TEXT, "outside");
    canvas_middle(&c, 0, 0, -5, ROLE_TEXT, "outside");
    canvas_role(&c, 7, -2, 100, ROLE_HOT);
    assert_dump(&c, "       日\n x本y\n…defgh\n…日本\nabcde…\n   日1\npoo…-17\n日…本\n");
}

static void themes(void **unused) {
    (void)unused;
    struct theme t;
    struct err e = {0};
    assert_int_equal(theme_default(&t, &e), 0);
    /* The one that must be seen without colour. */
    assert_int_equal(t.style[ROLE_CURSOR].mono, THEME_REVERSE);
    assert_int_equal(theme_parse(&t, "mine", "hot 196 default bold,underline bold # very\n\n", &e),
                     0);
    assert_int_equal(t.style[ROLE_HOT].foreground, 196);
    assert_int_equal(t.style[ROLE_HOT].background, THEME_DEFAULT_COLOUR);
    assert_int_equal(t.style[ROLE_HOT].attributes, THEME_BOLD | THEME_UNDERLINE);
    static const char *const wrong[] = {"#\nhot red", "#\nhott red default - -",
                                        "#\nhot 256 default - -", "#\nhot red default blink -",
                                        "#\nhot red default - - -"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_not_equal(theme_parse(&t, "mine", wrong[i], &e), 0);
        assert_memory_equal(e.message, "mine:2: ", 8);
    }
}

static void formats(void **unused) {
    (void)unused;
    struct format f;
    assert_string_equal(format_bytes(&f, 0), "0B");
    assert_string_equal(format_bytes(&f, 999), "999B");
    assert_string_equal(format_bytes(&f, 1000), "1.0K");
    assert_string_equal(format_bytes(&f, (10u << 20) - 1), "10M");
    assert_string_equal(format_bytes(&f, UINT64_MAX), "16E");
    assert_string_equal(format_count(&f, 999), "999");
    assert_string_equal(format_count(&f, UINT64_MAX), "18,446,744,073,709,551,615");
    assert_string_equal(format_short_count(&f, 999999), "999999");
    assert_string_equal(format_short_count(&f, 12345678), "12.3M");
    assert_string_equal(format_clock(&f, 93784000), "1d 02:03:04");
    assert_string_equal(format_age(&f, 3599999), "59m59");
    assert_string_equal(format_interval(&f, 1000000), "1ms");
    assert_string_equal(format_interval(&f, 0), "0ns");
    assert_string_equal(format_percent(&f, 0.0 / (double)percent_of(0, 0)), "0.0"); /* NaN */
    assert_true(percent_error(500, 1000) > 3.09 && percent_error(500, 1000) < 3.11);
    assert_true(percent_error(1, 1000000) > 0.00019 && percent_error(1, 1000000) < 0.0002);
    assert_true(percent_error(1000, 1000) == 0 && percent_error(0, 0) == 0);
}

static void editor(void **unused) {
    (void)unused;
    struct line_editor l = {0};
    line_editor_open(&l, "ab");
    assert_true(line_editor_press(&l, 0xe4));
    assert_false(line_editor_press(&l, PRESS_LEFT));
    assert_true(line_editor_press(&l, 0x1f600));
    assert_string_equal(l.text, "ab😀ä");
    assert_true(line_editor_press(&l, PRESS_BACKSPACE));
    assert_true(line_editor_press(&l, PRESS_DELETE));
    assert_false(line_editor_press(&l, PRESS_DELETE));
    assert_false(line_editor_press(&l, 0x1b));
    assert_string_equal(l.text, "ab");
    for (int i = 0; i < 1000; i++)
        line_editor_press(&l, 0x65e5);
    assert_true(l.length < sizeof l.text && strlen(l.text) == l.length);
    assert_true(line_editor_press(&l, PRESS_CTRL('U')));
    assert_string_equal(l.text, "");
    char longer[LINE_EDITOR_BYTES + 100];
    memset(longer, 'x', sizeof longer);
    memcpy(longer + LINE_EDITOR_BYTES - 3, "日", 3); /* the cut goes through it */
    longer[sizeof longer - 1] = '\0';
    line_editor_open(&l, longer);
    assert_int_equal(l.length, LINE_EDITOR_BYTES - 3);
}

static uint64_t number(const void *arg, uint32_t row) {
    return ((const uint64_t *)arg)[row];
}

static void cursor_stays_on_item(void **unused) {
    (void)unused;
    uint64_t items[] = {10, 20, 30, 40, 50, 60, 70, 80};
    struct cursor_rows rows = {.count = 8, .item = number, .arg = items};
    struct cursor c = {0};
    cursor_fit(&c, 8, 4);
    items[0] = 20, items[1] = 10;
    cursor_follow(&c, &rows); /* nobody moved it: it stays on top */
    assert_int_equal(c.row, 0);
    cursor_command(&c, COMMAND_PAGE_DOWN, &rows);
    assert_int_equal(c.row, 3);
    cursor_fit(&c, 8, 4);
    items[3] = 80, items[7] = 40; /* its item falls to the end */
    cursor_follow(&c, &rows);
    assert_int_equal(c.row, 7);
    cursor_fit(&c, 8, 4);
    assert_int_equal(c.top, 4);
    rows.count = 5; /* its item is gone */
    cursor_follow(&c, &rows);
    cursor_fit(&c, rows.count, 4);
    assert_int_equal(c.row, 4);
    assert_int_equal(c.top, 1);
    cursor_command(&c, COMMAND_HOME, &rows);
    items[0] = 99;
    cursor_follow(&c, &rows);
    assert_int_equal(c.row, 0);
    rows.count = 0;
    cursor_command(&c, COMMAND_END, &rows);
    cursor_fit(&c, 0, 4);
    assert_int_equal(c.row, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_text), cmocka_unit_test(widths_and_cuts),
        cmocka_unit_test(themes),       cmocka_unit_test(formats),
        cmocka_unit_test(editor),       cmocka_unit_test(cursor_stays_on_item),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
