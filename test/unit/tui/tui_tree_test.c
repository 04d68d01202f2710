/* The call tree: what unfolds, what is found, and where it begins. */
#include "test/unit/tui/tui_compare.h"

#include "tui/terminal/press.h"
#include "tui/view/view.h"

static bool shows(struct fixture *f, const char *text) {
    struct text dump = {0};
    screen_draw(f->screen, &f->canvas, NULL);
    canvas_dump(&f->canvas, &dump);
    bool has = strstr(dump.data, text) != NULL;
    text_free(&dump);
    return has;
}

/* The cursor's row as text, from the tree on. */
static void expect_cursor(struct fixture *f, const char *text) {
    struct text dump = {0};
    screen_draw(f->screen, &f->canvas, NULL);
    canvas_dump(&f->canvas, &dump);
    const char *at = strstr(dump.data, "\n>");
    assert_non_null(at);
    size_t length = strcspn(at + 1, "\n"), want = strlen(text);
    if (length < want || strncmp(at + 1 + length - want, text, want) != 0)
        fail_msg("the cursor is on \"%.*s\", not on \"%s\"", (int)length, at + 1, text);
    text_free(&dump);
}

static void folding(void **unused) {
    (void)unused;
    struct fixture f;
    fixture_open(&f, LIVE_TREE, 24, 80, false);
    fixture_press(&f, "}");
    compare_screen(&f, "tree-unfolded");
    fixture_press(&f, "{");
    compare_screen(&f, "tree-all-folded");
    fixture_press(&f, "+jj");
    expect_cursor(&f, "shop.price.Preisänderung.übernehmen");
    fixture_press(&f, "*");
    assert_true(shows(&f, "java.math.BigDecimal.multiply"));
    assert_false(shows(&f, "tcp_sendmsg"));
    expect_cursor(&f, "shop.price.Preisänderung.übernehmen");
    fixture_press(&f, "{"); /* what it stood under is what is left of it */
    expect_cursor(&f, "java.lang.Thread.run");
    fixture_close(&f);
}

static void searching(void **unused) {
    (void)unused;
    struct fixture f;
    fixture_open(&f, LIVE_TREE, 24, 80, false);
    fixture_press(&f, "/tcp\n"); /* in a branch that is closed */
    expect_cursor(&f, "tcp_sendmsg_[k]");
    compare_screen(&f, "tree-found");
    fixture_press(&f, "/\x15.run\n"); /* round the end */
    expect_cursor(&f, "java.lang.Thread.run");
    fixture_press(&f, "n");
    expect_cursor(&f, "shop.http.Worker.run");
    fixture_press(&f, "N");
    expect_cursor(&f, "java.lang.Thread.run");
    fixture_press(&f, "/\x15%%%\n");
    expect_cursor(&f, "java.lang.Thread.run");
    fixture_close(&f);
}

static uint32_t closed_roots(const struct fixture *f) {
    const struct snapshot *s = f->model.snapshot;
    uint32_t closed = 0;
    for (uint32_t i = 0; i < s->node_count; i = s->nodes[i].next)
        closed += s->nodes[i].closed;
    return closed;
}

/* Of each thread: what is below a root is asked for once it is opened, or needed otherwise, and the
 * screen shows no difference. */
static void by_thread(void **unused) {
    (void)unused;
    struct fixture f;
    fixture_open(&f, LIVE_TREE, 24, 80, false);
    fixture_press(&f, "T");
    uint32_t roots = closed_roots(&f) + 1; /* the heaviest is open */
    assert_in_range(roots, 4, 20);
    fixture_press(&f, "{jj");
    expect_cursor(&f, "▸ [価格-更新 tid=4713]");
    assert_false(shows(&f, "shop.search.Index.find"));
    fixture_press(&f, "\n");
    expect_cursor(&f, "▾ [価格-更新 tid=4713]");
    assert_true(shows(&f, "shop.price.Preisänderung.übernehmen"));
    assert_int_equal(closed_roots(&f), roots - 2);
    fixture_second(&f); /* they stay open, and nothing more is asked for */
    assert_true(shows(&f, "shop.price.Preisänderung.übernehmen"));
    assert_int_equal(closed_roots(&f), roots - 2);
    fixture_press(&f, "i"); /* another tree, in which others are open */
    assert_in_range(closed_roots(&f), 1, roots - 1);
    fixture_press(&f, "i");
    assert_int_equal(closed_roots(&f), roots - 2);
    fixture_press(&f, "/tcp\n"); /* in a root that is closed */
    expect_cursor(&f, "tcp_sendmsg_[k]");
    assert_int_equal(closed_roots(&f), 0);
    fixture_press(&f, "\x1b");
    fixture_second(&f);
    expect_cursor(&f, "tcp_sendmsg_[k]"); /* its root is open now */
    assert_in_range(closed_roots(&f), 1, roots - 2);
    fixture_press(&f, "}"); /* opens the whole tree */
    assert_int_equal(closed_roots(&f), 0);
    fixture_press(&f, "{");
    fixture_second(&f);
    assert_int_equal(closed_roots(&f), roots - 1);
    fixture_press(&f, "/tcp\x1b"); /* given up, but found */
    fixture_second(&f);
    expect_cursor(&f, "tcp_sendmsg_[k]");
    fixture_press(&f, "b"); /* what has changed can be anywhere */
    fixture_sample(&f, 4711, 60, WORKER "2 shop.cart.Cart.discount");
    fixture_sample(&f, 4712, 40, WORKER "2 shop.cart.Cart.discount");
    fixture_second(&f);
    assert_true(f.model.snapshot->node_count > 4);
    assert_int_equal(closed_roots(&f), 0);
    fixture_close(&f);
}

/* Back in the tree, the cursor is where it was, though other roots were open meanwhile. */
static void back_by_thread(void **unused) {
    (void)unused;
    struct fixture f;
    fixture_open(&f, LIVE_TREE, 24, 80, false);
    fixture_press(&f, "T{jj\njj");
    expect_cursor(&f, "shop.price.Preisänderung.übernehmen");
    fixture_press(&f, "\\halfUp\n");
    assert_false(shows(&f, "shop.price.Preisänderung.übernehmen"));
    fixture_press(&f, "\x1b");
    expect_cursor(&f, "shop.price.Preisänderung.übernehmen");
    fixture_second(&f);
    expect_cursor(&f, "shop.price.Preisänderung.übernehmen");
    fixture_close(&f);
}

/* A root that was opened and has become too light for anything below it: the profile is asked as
 * often as before, and the row is the same at each refresh. */
static void light_root(void **unused) {
    (void)unused;
    struct fixture f;
    fixture_open(&f, LIVE_TREE, 24, 80, false);
    fixture_press(&f, "T{jj\n");
    fixture_sample(&f, 4711, 9000000, WORKER "2 shop.cart.Cart.total");
    fixture_second(&f);
    unsigned asked = f.locks;
    fixture_second(&f);
    unsigned each = f.locks - asked;
    assert_int_equal(closed_roots(&f), 0); /* the others are light, too: nothing opens there */
    for (int i = 0; i < 3; i++) {
        expect_cursor(&f, "[価格-更新 tid=4713]");
        assert_false(shows(&f, "▾ [価格-更新 tid=4713]"));
        asked = f.locks;
        fixture_second(&f);
        assert_int_equal(f.locks - asked, each);
    }
    fixture_press(&f, "{\n"); /* the heaviest is open anyway: not asked twice */
    asked = f.locks;
    fixture_second(&f);
    assert_int_equal(f.locks - asked, each);
    fixture_close(&f);
}

/* From a method on: what it calls, and who calls it. */
static void from_method(void **unused) {
    (void)unused;
    struct fixture f;
    fixture_open(&f, LIVE_TREE, 24, 80, false);
    fixture_press(&f, "/Index.find\n");
    fixture_press(&f, "z");
    fixture_press(&f, "*");
    compare_screen(&f, "tree-from");
    fixture_press(&f, "i");
    fixture_press(&f, "*");
    compare_screen(&f, "tree-callers");
    fixture_close(&f);
}

static void pointing(void **unused) {
    (void)unused;
    struct fixture f;
    fixture_open(&f, LIVE_TREE, 24, 80, false);
    screen_draw(f.screen, &f.canvas, NULL);
    struct mouse at = {.action = MOUSE_PRESS, .row = 7, .col = 40};
    screen_mouse(f.screen, &at); /* selects */
    expect_cursor(&f, "▸ shop.price.Preisänderung.übernehmen");
    at.col = 28; /* its fold */
    screen_mouse(f.screen, &at);
    expect_cursor(&f, "▾ shop.price.Preisänderung.übernehmen");
    at.action = MOUSE_TWICE;
    screen_mouse(f.screen, &at);
    expect_cursor(&f, "▸ shop.price.Preisänderung.übernehmen");
    at.col = 40;
    screen_mouse(f.screen, &at);
    expect_cursor(&f, "▾ shop.price.Preisänderung.übernehmen");
    at = (struct mouse){.action = MOUSE_WHEEL_UP, .row = 10, .col = 3};
    screen_mouse(f.screen, &at);
    expect_cursor(&f, "java.lang.Thread.run");
    fixture_close(&f);
}

static void stack(void **unused) {
    (void)unused;
    struct fixture f;
    fixture_open(&f, LIVE_TREE, 24, 80, false);
    fixture_press(&f, "/Index\n");
    fixture_press(&f, "y");
    assert_string_equal(screen_text(f.screen), "shop.search.Index.find\nshop.http.Worker.handle\n"
                                               "shop.http.Worker.run\njava.lang.Thread.run\n");
    fixture_close(&f);
}

/* More or less than the baseline, and no more than chance; the same as a picture. */
static void changes(void **unused) {
    (void)unused;
    struct fixture f;
    fixture_open(&f, LIVE_TREE, 24, 80, false);
    fixture_press(&f, "b");
    fixture_sample(&f, 4711, 400, WORKER "2 shop.cart.Cart.total|i shop.price.Rounding.halfUp");
    fixture_sample(&f, 4711, 60, WORKER "2 shop.cart.Cart.discount");
    fixture_second(&f);
    fixture_press(&f, "}");
    compare_screen(&f, "tree-changes");
    fixture_press(&f, "5");
    compare_screen(&f, "flame-changes");
    f.canvas.ascii_lines = f.canvas.ascii_text = true;
    compare_screen(&f, "flame-changes-ascii");
    compare_mono(&f, "flame-changes-mono");
    fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folding),     cmocka_unit_test(searching),
        cmocka_unit_test(from_method), cmocka_unit_test(pointing),
        cmocka_unit_test(stack),       cmocka_unit_test(changes),
        cmocka_unit_test(by_thread),   cmocka_unit_test(back_by_thread),
        cmocka_unit_test(light_root),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
