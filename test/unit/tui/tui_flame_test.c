/* The flame graph as text, and what its keys and the mouse do. */
#include "test/unit/tui/tui_compare.h"

#include "tui/terminal/press.h"
#include "tui/view/view.h"

/* Keys are of what is on screen, so it is drawn first. */
static void open_flame(struct fixture *f, int rows, int cols, bool ascii) {
    fixture_open(f, LIVE_FLAME, rows, cols, ascii);
    screen_draw(f->screen, &f->canvas, NULL);
}

static void press(struct fixture *f, const char *presses) {
    for (char one[2] = ""; *presses; presses++) {
        one[0] = *presses;
        fixture_press(f, one);
        screen_draw(f->screen, &f->canvas, NULL);
    }
}

static void arrow(struct fixture *f, int32_t key) {
    screen_press(f->screen, key);
    screen_draw(f->screen, &f->canvas, NULL);
}

/* Whether a row of the screen has the text. */
static bool shows(struct fixture *f, const char *text) {
    struct text dump = {0};
    screen_draw(f->screen, &f->canvas, NULL);
    canvas_dump(&f->canvas, &dump);
    bool has = strstr(dump.data, text) != NULL;
    text_free(&dump);
    return has;
}

/* The last row of the view tells where the cursor is. */
static void expect_detail(struct fixture *f, const char *text) {
    struct text dump = {0};
    screen_draw(f->screen, &f->canvas, NULL);
    canvas_dump(&f->canvas, &dump);
    const char *at = dump.data;
    for (int row = 0; row < f->canvas.rows - 3; row++)
        at = strchr(at, '\n') + 1;
    size_t length = strcspn(at, "\n");
    if (length != strlen(text) || strncmp(at, text, length) != 0)
        fail_msg("the detail is \"%.*s\", not \"%s\"", (int)length, at, text);
    text_free(&dump);
}

static void sizes(void **unused) {
    (void)unused;
    static const struct { int rows, cols; } size[] = {{10, 40}, {24, 80}, {50, 160}};
    for (int i = 0; i < 6; i++) {
        struct fixture f;
        char name[64];
        int rows = size[i / 2].rows, cols = size[i / 2].cols;
        open_flame(&f, rows, cols, i % 2);
        fixture_press(&f, "kk");
        snprintf(name, sizeof name, "flame-%dx%d%s", cols, rows, i % 2 ? "-ascii" : "");
        compare_screen(&f, name);
        if (i == 2)
            compare_mono(&f, "flame-mono");
        fixture_close(&f);
    }
}

static void moving(void **unused) {
    (void)unused;
    struct fixture f;
    open_flame(&f, 24, 80, false);
    expect_detail(&f, "100.0% all");
    press(&f, "kkk");
    expect_detail(&f, "75.5% self 0.0%     755 shop.http.Worker.handle");
    press(&f, "k");
    expect_detail(&f, "43.0% self 12.0%     430 shop.cart.Cart.total");
    arrow(&f, PRESS_RIGHT);
    expect_detail(&f, "26.5% self 0.0%     265 shop.search.Index.find");
    press(&f, "jk"); /* back to where it came from, not to the widest */
    expect_detail(&f, "26.5% self 0.0%     265 shop.search.Index.find");
    arrow(&f, PRESS_RIGHT); /* past its parent's edge */
    expect_detail(&f, "14.0% self 14.0%     140 java.math.BigDecimal.multiply");
    arrow(&f, PRESS_RIGHT); /* there is nothing more */
    expect_detail(&f, "14.0% self 14.0%     140 java.math.BigDecimal.multiply");
    press(&f, "ge");
    expect_detail(&f, "31.0% self 31.0%     310 shop.price.Rounding.halfUp");
    press(&f, "i");
    expect_detail(&f, "100.0% all");
    press(&f, "jj");
    compare_screen(&f, "flame-icicles");
    press(&f, "iT");
    compare_screen(&f, "flame-by-thread");
    fixture_close(&f);
}

static void zoom(void **unused) {
    (void)unused;
    struct fixture f;
    open_flame(&f, 24, 80, false);
    press(&f, "kkkk\n");
    compare_screen(&f, "flame-zoom");
    press(&f, "k\n");
    expect_detail(&f, "31.0% self 31.0%     310 shop.price.Rounding.halfUp");
    press(&f, "\x1b");
    compare_screen(&f, "flame-zoom-once-more");
    press(&f, "\x1b");
    assert_false(shows(&f, "zoomed"));
    assert_true(shows(&f, "multiply"));
    /* Out by going to what is below, too. */
    press(&f, "\n");
    press(&f, "jjjjj\n");
    assert_false(shows(&f, "zoomed"));
    fixture_close(&f);
}

/* Numbers change, frames come and go: the cursor's stays the cursor's, and no edge moves that need
 * not. */
static void stays(void **unused) {
    (void)unused;
    struct fixture f;
    open_flame(&f, 24, 80, false);
    press(&f, "kkkk");
    arrow(&f, PRESS_RIGHT);
    fixture_sample(&f, 4711, 5, "2 java.lang.Thread.run|2 aa.First.one|2 shop.search.Index.find");
    fixture_sample(&f, 4711, 50, WORKER "2 shop.search.Index.find");
    fixture_second(&f);
    expect_detail(&f, "29.9% self 4.7%     315 shop.search.Index.find");
    f.model.question.filter[0] = 'B';
    f.model.question.filter[1] = 'D';
    f.model.question.filter[2] = 'x';
    fixture_second(&f);
    assert_true(shows(&f, "no samples"));
    f.model.question.filter[0] = '\0';
    fixture_second(&f);
    expect_detail(&f, "29.9% self 4.7%     315 shop.search.Index.find");
    fixture_close(&f);
}

static void pointing(void **unused) {
    (void)unused;
    struct fixture f;
    open_flame(&f, 24, 80, false);
    assert_true(screen_hovers(f.screen));
    /* The rows of the picture end above detail, status and footer. */
    struct mouse at = {.action = MOUSE_MOVE, .row = 20 - 5, .col = 60};
    screen_mouse(f.screen, &at);
    expect_detail(&f, "19.0% self 19.0%     190 java.util.HashMap.getNode");
    at.action = MOUSE_PRESS;
    at.col = 30;
    screen_mouse(f.screen, &at);
    expect_detail(&f, "31.0% self 31.0%     310 shop.price.Rounding.halfUp");
    at.action = MOUSE_MOVE;
    at.row = 6; /* nothing there: the cursor's again */
    screen_mouse(f.screen, &at);
    expect_detail(&f, "31.0% self 31.0%     310 shop.price.Rounding.halfUp");
    at = (struct mouse){.action = MOUSE_TWICE, .row = 20 - 4, .col = 60};
    screen_mouse(f.screen, &at);
    assert_true(shows(&f, "zoomed"));
    expect_detail(&f, "26.5% self 0.0%     265 shop.search.Index.find");
    fixture_close(&f);
}

static void searching(void **unused) {
    (void)unused;
    struct fixture f;
    open_flame(&f, 24, 80, false);
    press(&f, "/index\n");
    compare_screen(&f, "flame-search");
    compare_mono(&f, "flame-search-mono");
    press(&f, "/.run\nn");
    expect_detail(
        &f, "75.5% self 0.0%     755 shop.http.Worker.run                       matched 89.5%");
    press(&f, "n");
    expect_detail(
        &f, "89.5% self 0.0%     895 java.lang.Thread.run                       matched 89.5%");
    press(&f, "N");
    expect_detail(
        &f, "75.5% self 0.0%     755 shop.http.Worker.run                       matched 89.5%");
    fixture_close(&f);
}

static void stack(void **unused) {
    (void)unused;
    static const char leaf_first[] = "shop.cart.Cart.total\nshop.http.Worker.handle\n"
                                     "shop.http.Worker.run\njava.lang.Thread.run\n";
    struct fixture f;
    open_flame(&f, 24, 80, false);
    press(&f, "kkkk");
    screen_press(f.screen, 'y');
    assert_string_equal(screen_text(f.screen), leaf_first);
    press(&f, "i/cart.Cart\nn"); /* from above it is the same stack */
    for (int i = 0; i < 3; i++)
        press(&f, "j");
    screen_press(f.screen, 'y');
    assert_string_equal(screen_text(f.screen), leaf_first);
    fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes), cmocka_unit_test(moving),   cmocka_unit_test(zoom),
        cmocka_unit_test(stays), cmocka_unit_test(pointing), cmocka_unit_test(searching),
        cmocka_unit_test(stack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
