/* Everything made of the tables for people to read: the help on the screen, and the manual. */
#include "test/unit/tui/tui_compare.h"

#include "tui/cli/command/command.h"
#include "tui/view/view_help.h"

static int draw(struct canvas *c, const struct keymap *k, int rows, int cols, int top) {
    assert_int_equal(canvas_resize(c, rows, cols), 0);
    canvas_clear(c);
    struct caret caret;
    return view_help_draw(c, &(struct help_ask){.keys = k, .top = top}, &caret);
}

/* As one comes to it from a view. */
static void screens(void **unused) {
    (void)unused;
    static const struct {
        int rows, cols;
        bool ascii;
        const char *keys, *name;
    } cases[] = {
        {50, 160, false, "?", "keys-160x50"}, {50, 160, true, "?G", "keys-160x50-ascii"},
        {24, 80, false, "?", "keys-80x24"},   {24, 80, true, "?G", "keys-80x24-ascii"},
        {10, 40, false, "?jj", "keys-40x10"}, {10, 40, true, "?G", "keys-40x10-ascii"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture f;
        fixture_open(&f, LIVE_METHODS, cases[i].rows, cases[i].cols, cases[i].ascii);
        fixture_press(&f, cases[i].keys);
        compare_screen(&f, cases[i].name);
        if (i == 2)
            compare_mono(&f, "keys-80x24-mono");
        fixture_close(&f);
    }
}

/* Whatever one scrolls to, all of it can be read, on any screen. */
static void nothing_is_left_out(void **unused) {
    (void)unused;
    static const int sizes[][2] = {{10, 40}, {24, 80}, {50, 160}, {30, 129}, {20, 250}};
    struct canvas c = {0};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        struct text all = {0};
        int last = draw(&c, NULL, sizes[s][0], sizes[s][1], 0);
        for (int top = 0; top <= last; top++) {
            draw(&c, NULL, sizes[s][0], sizes[s][1], top);
            canvas_dump(&c, &all);
        }
        for (const struct key_binding *b = key_bindings; b->help; b++) {
            const char *end = strrchr(b->help, ' ');
            if (keymap_section(b) >= 0 && !strstr(all.data, end ? end : b->help))
                fail_msg("%dx%d: %s is cut", sizes[s][1], sizes[s][0], b->help);
        }
        text_free(&all);
    }
    canvas_free(&c);
}

static void keys_in_force(void **unused) {
    (void)unused;
    struct keymap k = {.bound = {false}};
    struct canvas c = {0};
    struct text t = {0};
    assert_int_equal(keymap_bind(&k, "help", "F2", NULL), 0);
    assert_int_equal(keymap_bind(&k, "overview", "", NULL), 0);
    assert_int_equal(keymap_bind(&k, "methods", "^A F7 x", NULL), 0);
    draw(&c, &k, 50, 160, 0);
    canvas_dump(&c, &t);
    assert_non_null(strstr(t.data, "Esc F2 back"));
    assert_non_null(strstr(t.data, "-            overview: what"));
    assert_non_null(strstr(t.data, "^A F7 x      methods: which"));
    text_free(&t);
    canvas_free(&c);
}

/* Between the two comments of a page stands what the program says. */
static void manual(void **unused) {
    (void)unused;
    static const char *const pages[] = {"1", "5", "7"};
    for (size_t i = 0; i < 3; i++) {
        char path[64];
        struct text t = {0};
        struct err e;
        snprintf(path, sizeof path, "man/jtop-prof.%s", pages[i]);
        char *page = read_file(path);
        assert_non_null(page);
        char *begin = strstr(page, ".\\\" Made from the tables"), *end = begin;
        if (begin)
            end = strstr(begin, ".\\\" So far from the tables");
        if (!begin || !end)
            fail_msg("%s has no place for the tables", path);
        *end = '\0';
        assert_int_equal(manual_tables(pages[i], &t, &e), 0);
        if (strcmp(strchr(begin, '\n') + 1, t.data) != 0)
            fail_msg("%s is not as the tables have it: make man", path);
        text_free(&t);
        free(page);
    }
    assert_int_equal(manual_tables("2", &(struct text){0}, NULL), -EINVAL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(screens),
        cmocka_unit_test(nothing_is_left_out),
        cmocka_unit_test(keys_in_force),
        cmocka_unit_test(manual),
    };
    setlocale(LC_CTYPE, "C.UTF-8");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
