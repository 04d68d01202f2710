/*
 * Every key of the table, in every view where it is heard: what it changes on the screen, against
 * test/screens/keys/keys-VIEW.txt. A key that changes nothing, asks for nothing and says nothing is
 * one that should not be in the table.
 */
#include "test/unit/tui/tui_busy.h"
#include "test/unit/tui/tui_compare.h"

#include "tui/view/view.h"

#define ROWS 30
#define COLS 100
#define ROWS_TOLD 5 /* of those that change */

static const char *const wish_name[] = {
    [SCREEN_QUIT] = "quit",
    [SCREEN_SAVE] = "save",
    [SCREEN_RECORD] = "record",
    [SCREEN_COPY] = "copy",
    [SCREEN_PIPE] = "pipe",
    [SCREEN_MOUSE] = "mouse",
    [SCREEN_NEW_TAB] = "new tab",
    [SCREEN_NEXT_TAB] = "next tab",
    [SCREEN_PREVIOUS_TAB] = "previous tab",
    [SCREEN_CLOSE_TAB] = "close tab",
    [SCREEN_REDRAW] = "redraw",
};

/* A screen where every key has something to do: a row in the middle, a search, an earlier view. */
static void open_rich(struct fixture *f, enum live_view view, bool ascii) {
    open_busy(f, view, ROWS, COLS, ascii);
    for (int i = 0; i < 5; i++) {
        char deep[128];
        snprintf(deep, sizeof deep, "2 java.lang.Thread.run|2:%d shop.cart.Cart.sum", 60 + 7 * i);
        fixture_sample(f, 4713, 3, deep);
        fixture_sample(f, 4711, 30,
                       "2 java.lang.Thread.run|2:31 shop.cart.Cart.total|2:52 shop.cart.Cart.sum");
        fixture_sample(f, 4712, 20,
                       "2 java.lang.Thread.run|2:31 shop.cart.Cart.total|2:57 shop.cart.Cart.sum");
        f->event = WIRE_EVENT_ALLOC;
        fixture_sample(f, 4711, 9,
                       "2 java.lang.Thread.run|2 shop.cart.Cart.total|"
                       "2 java.util.ArrayList.grow|o java.lang.Object[]");
        fixture_sample(f, 4711, 4, "2 java.lang.Thread.run|2 shop.cart.Cart.sum|o java.lang.Long");
        f->event = WIRE_EVENT_CPU;
        fixture_second(f);
    }
    screen_draw(f->screen, &f->canvas, NULL);
    if (view == LIVE_LINES) /* of a method that has some */
        fixture_press(f, "1/Cart.sum\nL");
    memcpy(f->model.search, "cart", 5);
    fixture_press(f, view == LIVE_FLAME ? "kk" : "jj"); /* the root is below */
    screen_draw(f->screen, &f->canvas, NULL);
}

/* A row as text, but for the memory that this very process has. */
static void row_text(struct text *out, const struct canvas *c, int row) {
    struct canvas one = *c;
    struct text line = {0};
    one.rows = 1;
    one.cells += row * c->cols;
    canvas_dump(&one, &line);
    text_add(out, strstr(line.data, " of memory") ? "... of memory\n" : line.data);
    text_free(&line);
}

static bool same_text(const struct canvas *a, const struct canvas *b, int row) {
    struct text x = {0}, y = {0};
    row_text(&x, a, row);
    row_text(&y, b, row);
    bool same = !strcmp(x.data, y.data) && !strcmp(x.data, "... of memory\n");
    text_free(&x);
    text_free(&y);
    return same;
}

/* Rows that differ, the first few in full. Returns how many. */
static int tell_rows(struct text *out, const struct canvas *before, const struct canvas *after) {
    int differ = 0;
    size_t bytes = (size_t)after->cols * sizeof *after->cells;
    for (int row = 0; row < after->rows; row++) {
        const struct cell *a = before->cells + row * before->cols,
                          *b = after->cells + row * after->cols;
        if (!memcmp(a, b, bytes) || same_text(before, after, row))
            continue;
        if (differ++ < ROWS_TOLD) {
            text_addf(out, "  %2d|", row);
            row_text(out, after, row);
        }
    }
    return differ;
}

static void one_key(struct text *out, enum live_view view, const struct key_binding *k,
                    bool ascii) {
    struct fixture f;
    struct canvas before = {0};
    struct text rows = {0};
    open_rich(&f, view, ascii);
    if (k->command == COMMAND_BACK || k->command == COMMAND_RESET) /* something to undo */
        fixture_press(&f, "\x1b\\a\n");
    if (k->command == COMMAND_SECOND_ON || k->command == COMMAND_MINUTE_ON)
        fixture_press(&f, ",,,");
    if (k->command == COMMAND_NO_BASELINE)
        fixture_press(&f, "b");
    if (k->command == COMMAND_TOGGLE_THREADS && view == LIVE_THREADS)
        fixture_press(&f, "12");
    screen_draw(f.screen, &f.canvas, NULL);
    assert_int_equal(canvas_resize(&before, f.canvas.rows, f.canvas.cols), 0);
    memcpy(before.cells, f.canvas.cells,
           (size_t)before.rows * (size_t)before.cols * sizeof *before.cells);
    enum screen_wish wish = screen_press(f.screen, k->press[0]);
    fixture_rest(&f);
    screen_draw(f.screen, &f.canvas, NULL);
    int differ = tell_rows(&rows, &before, &f.canvas);
    if (!differ && !wish)
        text_addf(out, "%s %s: nothing\n", k->keys, k->name);
    else
        text_addf(out, "%s %s: %s%s%d rows\n%s", k->keys, k->name, wish ? wish_name[wish] : "",
                  wish ? ", " : "", differ, rows.data ? rows.data : "");
    text_free(&rows);
    canvas_free(&before);
    fixture_close(&f);
}

/* Where it is right that nothing is to be seen. */
static bool may_do_nothing(enum live_view view, const struct key_binding *k) {
    return k->command == COMMAND_METHODS + view || k->command == COMMAND_REVERSE ||
           k->command == COMMAND_COLLAPSE || k->command == COMMAND_FOLD ||
           (view == LIVE_LINES && k->command == COMMAND_ENTER) || /* no source, no folds */
           (view == LIVE_LOCKS && /* all are open; it is of all time, and has said so */
            (k->command == COMMAND_UNFOLD || k->command == COMMAND_NO_BASELINE));
}

static void each_view(bool ascii) {
    for (int view = 0; view < VIEWS; view++) {
        struct text out = {0};
        char file[64], idle[512] = "";
        for (const struct key_binding *k = key_bindings; k->help; k++) {
            size_t at = out.len;
            if (!(k->scope & views[view]->scope) || !k->press[0])
                continue;
            one_key(&out, (enum live_view)view, k, ascii);
            if (strstr(out.data + at, ": nothing\n") && !may_do_nothing((enum live_view)view, k))
                snprintf(idle + strlen(idle), sizeof idle - strlen(idle), " %s", k->name);
        }
        if (idle[0])
            fail_msg("keys of %s that do nothing:%s", views[view]->name, idle);
        snprintf(file, sizeof file, "keys-%s%s", views[view]->name, ascii ? "-ascii" : "");
        compare(&out, file);
        text_free(&out);
    }
}

static void utf8(void **unused) {
    (void)unused;
    each_view(false);
}

static void ascii(void **unused) {
    (void)unused;
    each_view(true);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(utf8), cmocka_unit_test(ascii)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
