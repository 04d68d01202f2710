/* The lines view: with a source, without one, and for code that has no lines. */
#include "test/unit/tui/tui_compare.h"

#include "tui/terminal/press.h"

#include <sys/stat.h>
#include <unistd.h>

static char root[] = "/tmp/jtop-lines-XXXXXX";

#define LINES 120

/* A method from line 40 to 60, with something wide and a tab in it. */
static void write_source(void) {
    char path[128];
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/shop%s", root, i ? "/cart" : "");
        assert_int_equal(mkdir(path, 0700), 0);
    }
    snprintf(path, sizeof path, "%s/shop/cart/Cart.java", root);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (int i = 1; i <= LINES; i++)
        fprintf(f,
                i == 40   ? "    public long total(List<Item> items) {\n"
                : i == 44 ? "\tsum += item.price() * item.count(); // 価格 \x1b[2J\n"
                : i == 60 ? "    }\n"
                          : "        step(%d);\n",
                i);
    fclose(f);
}

static int make_root(void **unused) {
    (void)unused;
    if (!mkdtemp(root))
        return -1;
    write_source();
    return 0;
}

static int remove_root(void **unused) {
    (void)unused;
    static const char *const path[] = {"/shop/cart/Cart.java", "/shop/cart", "/shop", ""};
    for (int i = 0; i < 4; i++) {
        char name[128];
        snprintf(name, sizeof name, "%s%s", root, path[i]);
        if (remove(name) != 0)
            return -1;
    }
    return 0;
}

#define CALL "2 java.lang.Thread.run|2:12 shop.http.Worker.run|"

static void open_lines(struct fixture *f, int rows, int cols, bool ascii, bool source) {
    fixture_open(f, LIVE_METHODS, rows, cols, ascii);
    f->model.settings.source_path = source ? root : "";
    fixture_sample(f, 4711, 600, CALL "2:44 shop.cart.Cart.total");
    fixture_sample(f, 4711, 40, CALL "2:46 shop.cart.Cart.total");
    fixture_sample(f, 4712, 25, CALL "2:52 shop.cart.Cart.total|2:7 shop.price.Rounding.halfUp");
    fixture_sample(f, 4712, 5, CALL "2:90 shop.cart.Cart.total");
    fixture_sample(f, 4712, 3, CALL "2 shop.cart.Cart.total");
    fixture_second(f);
    fixture_press(f, "7");
    fixture_second(f);
}

/* The directory's name is another one each time. */
static void compare_lines(struct fixture *f, const char *name) {
    struct text t = {0};
    screen_draw(f->screen, &f->canvas, NULL);
    canvas_dump(&f->canvas, &t);
    char *at = t.data ? strstr(t.data, "/shop/cart/Cart.java") : NULL;
    for (int i = 0; at && i < 6 && at - i > t.data; i++) {
        char *c = at - 1 - i;
        if ((*c < '0' || *c > '9') && (*c < 'a' || *c > 'z') && (*c < 'A' || *c > 'Z'))
            break;
        *c = 'X';
    }
    compare(&t, name);
    text_free(&t);
}

static void sizes(void **unused) {
    (void)unused;
    static const struct { int rows, cols; } size[] = {{50, 160}, {24, 80}, {10, 40}};
    for (int i = 0; i < 6; i++) {
        struct fixture f;
        char name[64];
        open_lines(&f, size[i / 2].rows, size[i / 2].cols, i % 2, true);
        snprintf(name, sizeof name, "lines-%dx%d%s", size[i / 2].cols, size[i / 2].rows,
                 i % 2 ? "-ascii" : "");
        compare_lines(&f, name);
        fixture_close(&f);
    }
    struct fixture f;
    open_lines(&f, 24, 80, false, false);
    compare_mono(&f, "lines-mono");
    fixture_close(&f);
}

/* The cursor stays on its line; what is searched for is found; folds open. */
static void moves(void **unused) {
    (void)unused;
    struct fixture f;
    open_lines(&f, 24, 80, false, true);
    fixture_press(&f, "G");
    fixture_sample(&f, 4711, 10, CALL "2:100 shop.cart.Cart.total");
    fixture_second(&f);
    compare_lines(&f, "lines-moved");
    fixture_press(&f, "/item.price\n");
    compare_lines(&f, "lines-found");
    assert_int_equal(screen_press(f.screen, 'y'), SCREEN_COPY);
    assert_string_equal(screen_text(f.screen), "shop.cart.Cart.total:44\tsum += item.price() * "
                                               "item.count(); // 価格 ?[2J\n");
    fixture_close(&f);
}

/* From another method of another view, and back to where it was. */
static void jumps(void **unused) {
    (void)unused;
    struct fixture f;
    open_lines(&f, 24, 80, false, false);
    fixture_press(&f, "1/halfUp\nL");
    fixture_second(&f);
    compare_screen(&f, "lines-jumped");
    fixture_press(&f, "1/memmove\nL"); /* native code */
    fixture_second(&f);
    compare_screen(&f, "lines-native");
    fixture_close(&f);
}

/* A source that is not the one that runs, and a method that has no samples now. */
static void odd_sources(void **unused) {
    (void)unused;
    struct fixture f;
    open_lines(&f, 24, 80, false, true);
    fixture_sample(&f, 4711, 10, CALL "2:400 shop.cart.Cart.total");
    fixture_second(&f);
    fixture_press(&f, "g");
    compare_lines(&f, "lines-version");
    fixture_press(&f, "\\no such thing\n");
    compare_lines(&f, "lines-nothing");
    fixture_close(&f);
}

/* The first view, before there are samples: then it shows the hottest method. */
static void first_view(void **unused) {
    (void)unused;
    struct fixture f;
    struct text text = {0};
    fixture_open(&f, LIVE_LINES, 24, 80, true);
    fixture_second(&f);
    screen_draw(f.screen, &f.canvas, NULL);
    canvas_dump(&f.canvas, &text);
    assert_false(text.failed);
    if (!strstr(text.data, "shop.price.Rounding.halfUp") || strstr(text.data, "no Java method"))
        fail_msg("not the hottest method:\n%s", text.data);
    text_free(&text);
    fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes),       cmocka_unit_test(moves),      cmocka_unit_test(jumps),
        cmocka_unit_test(odd_sources), cmocka_unit_test(first_view),
    };
    return cmocka_run_group_tests(tests, make_root, remove_root);
}
