/* The line of keys: what it never leaves out, and that it shows the keys in force. */
#include "core/base/text.h"
#include "tui/view/footer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <locale.h>
#include <string.h>

#include <cmocka.h>

static const unsigned scopes[] = {SCOPE_METHODS, SCOPE_THREADS, SCOPE_TREE,
                                  SCOPE_LOCKS,   SCOPE_FLAME,   SCOPE_ALLOC,
                                  SCOPE_LINES,   SCOPE_STATUS,  SCOPE_OVERVIEW};

/* Returns how many columns are used. */
static int draw(const struct keymap *k, unsigned scope, int cols, struct text *out) {
    struct canvas c = {0};
    assert_int_equal(canvas_resize(&c, 1, cols), 0);
    text_clear(out);
    footer_draw(&c, 0, k, scope);
    canvas_dump(&c, out);
    canvas_free(&c);
    out->data[strcspn(out->data, "\n")] = '\0';
    return (int)strlen(out->data);
}

static void the_way_out_stays(void **unused) {
    (void)unused;
    struct text t = {0};
    for (size_t i = 0; i < sizeof scopes / sizeof scopes[0]; i++) {
        for (int cols = 40; cols <= 160; cols += 20) {
            assert_true(draw(NULL, scopes[i], cols, &t) <= cols);
            if (!strstr(t.data, "F1 help") || !strstr(t.data, "F10 quit") ||
                !strstr(t.data, "s SVG"))
                fail_msg("%d columns, scope %x: %s", cols, scopes[i], t.data);
        }
        /* at 80, what one does most is there too */
        draw(NULL, scopes[i], 80, &t);
        if (!strstr(t.data, "F3 search") || !strstr(t.data, "p pause"))
            fail_msg("80 columns, scope %x: %s", scopes[i], t.data);
    }
    draw(NULL, SCOPE_EVENTS, 40, &t);
    assert_non_null(strstr(t.data, "Esc back"));
    text_free(&t);
}

/* What is drawn can be pressed. */
static void presses(void **unused) {
    (void)unused;
    struct canvas c = {.rows = 1, .cols = 80};
    struct text t = {0};
    draw(NULL, SCOPE_METHODS, 80, &t);
    int at = (int)(strstr(t.data, "F3 search") - t.data);
    assert_int_equal(footer_press_at(&c, NULL, SCOPE_METHODS, at), PRESS_F3);
    assert_int_equal(footer_press_at(&c, NULL, SCOPE_METHODS, at + 8), PRESS_F3);
    assert_int_equal(footer_press_at(&c, NULL, SCOPE_METHODS, at + 9), PRESS_NONE);
    assert_int_equal(footer_press_at(&c, NULL, SCOPE_METHODS, 0), PRESS_ENTER);
    assert_int_equal(footer_press_at(&c, NULL, SCOPE_METHODS, 79), PRESS_NONE);
    text_free(&t);
}

static void as_bound(void **unused) {
    (void)unused;
    struct keymap k = {.bound = {false}};
    struct text t = {0};
    assert_int_equal(keymap_bind(&k, "pause", "F9 x", NULL), 0);
    assert_int_equal(keymap_bind(&k, "search", "", NULL), 0);
    draw(&k, SCOPE_METHODS, 160, &t);
    assert_non_null(strstr(t.data, "F9 pause"));
    assert_null(strstr(t.data, "search"));
    text_free(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_way_out_stays),
        cmocka_unit_test(presses),
        cmocka_unit_test(as_bound),
    };
    setlocale(LC_CTYPE, "C.UTF-8");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
