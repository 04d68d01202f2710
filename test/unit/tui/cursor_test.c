/* The selected row while rows come, go and move. */
#include "tui/widget/cursor.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static uint64_t item(const void *arg, uint32_t row) {
    return ((const uint64_t *)arg)[row];
}

static struct cursor_rows rows_of(const uint64_t *items, uint32_t count) {
    return (struct cursor_rows){.count = count, .item = item, .arg = items};
}

static void moves(void **unused) {
    (void)unused;
    static const struct {
        enum command command;
        uint32_t from, to;
    } step[] = {
        {COMMAND_DOWN, 0, 1},       {COMMAND_UP, 0, 0},          {COMMAND_DOWN, 99, 99},
        {COMMAND_PAGE_DOWN, 0, 19}, {COMMAND_PAGE_UP, 50, 31},   {COMMAND_HALF_DOWN, 0, 10},
        {COMMAND_HALF_UP, 50, 40},  {COMMAND_HALF_UP, 4, 0},     {COMMAND_HALF_DOWN, 95, 99},
        {COMMAND_END, 3, 99},       {COMMAND_PAGE_DOWN, 95, 99},
    };
    uint64_t items[100];
    for (uint32_t i = 0; i < 100; i++)
        items[i] = 1000 + i;
    const struct cursor_rows rows = rows_of(items, 100);
    for (size_t i = 0; i < sizeof step / sizeof step[0]; i++) {
        struct cursor c = {.row = step[i].from};
        cursor_fit(&c, 100, 20);
        assert_true(cursor_command(&c, step[i].command, &rows));
        assert_int_equal(c.row, step[i].to);
        assert_true(c.held);
        assert_int_equal(c.item, items[c.row]);
    }
    struct cursor c = {.row = 7};
    assert_false(cursor_command(&c, COMMAND_ENTER, &rows));
    for (uint32_t page = 0; page < 4; page++) { /* however small, half a page is a step */
        c = (struct cursor){.row = 7, .page = page};
        cursor_command(&c, COMMAND_HALF_DOWN, &rows);
        assert_int_equal(c.row, 8);
    }
}

static void follows(void **unused) {
    (void)unused;
    uint64_t before[] = {1, 2, 3, 4}, after[] = {4, 9, 1, 3, 2}, gone[] = {4, 9};
    struct cursor_rows rows = rows_of(before, 4);
    struct cursor c = {0};
    cursor_follow(&c, &rows);
    rows = rows_of(after, 5);
    cursor_follow(&c, &rows);
    assert_int_equal(c.row, 0); /* nobody moved it */
    rows = rows_of(before, 4);
    cursor_select(&c, 2, &rows);
    rows = rows_of(after, 5);
    cursor_follow(&c, &rows);
    assert_int_equal(c.row, 3);
    rows = rows_of(gone, 2);
    cursor_follow(&c, &rows);
    assert_int_equal(c.row, 1);
    assert_int_equal(c.item, 9); /* and stays with that one */
    rows = rows_of(NULL, 0);
    cursor_follow(&c, &rows);
    assert_int_equal(c.row, 0);
    rows = rows_of(after, 5);
    cursor_follow(&c, &rows);
    assert_int_equal(c.row, 1); /* though for a moment there was nothing at all */
    rows = rows_of(after, 5);
    cursor_select(&c, 3, &rows);
    cursor_command(&c, COMMAND_HOME, &rows);
    rows = rows_of(before, 4);
    cursor_follow(&c, &rows);
    assert_int_equal(c.row, 0);
}

static void fits(void **unused) {
    (void)unused;
    struct cursor c = {.row = 50, .top = 0};
    cursor_fit(&c, 100, 20);
    assert_int_equal(c.top, 31); /* just in sight */
    c.row = 10;
    cursor_fit(&c, 100, 20);
    assert_int_equal(c.top, 10);
    c.top = 95;
    c.row = 99;
    cursor_fit(&c, 100, 20);
    assert_int_equal(c.top, 80); /* a full screen */
    cursor_fit(&c, 5, 20);
    assert_int_equal(c.top, 0);
    assert_int_equal(c.row, 4);
    cursor_fit(&c, 0, 0);
    assert_int_equal(c.row, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moves),
        cmocka_unit_test(follows),
        cmocka_unit_test(fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
