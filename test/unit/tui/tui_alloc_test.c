/* Classes by bytes, and the sites that make them. */
#include "test/unit/tui/tui_compare.h"

#include "tui/model/alloc_tree.h"
#include "tui/terminal/press.h"
#include "tui/view/view.h"

#define MIB (UINT64_C(1) << 20)

static void samples(struct fixture *f, uint32_t count, const char *stack) {
    fixture_sample(f, 4711, count, stack);
}

#define SITE WORKER "2 shop.cart.Cart.render|"
#define TEXT "2 java.lang.StringBuilder.append|2 java.lang.AbstractStringBuilder.grow|"

/* Half a mebibyte a sample, and what of it is alive. */
static void open_alloc(struct fixture *f, int rows, int cols, bool ascii, bool live) {
    fixture_open(f, LIVE_METHODS, rows, cols, ascii);
    fixture_engine(f, WIRE_EVENT_ALLOC, "alloc", "jvmti", MIB / 2);
    f->event = WIRE_EVENT_ALLOC;
    f->each = MIB / 2;
    samples(f, 120, SITE TEXT "2 java.util.Arrays.copyOf|o byte[]");
    samples(f, 40, SITE "2 java.lang.String.format|2 java.util.Formatter.format|" TEXT "o byte[]");
    samples(f, 30, WORKER "2 shop.http.Request.read|o byte[]");
    samples(f, 10, "2 java.lang.Thread.run|2 java.util.TimerThread.run|o byte[]");
    samples(f, 75, SITE "o java.lang.StringBuilder");
    samples(f, 25,
            "2 java.lang.Thread.run|2 shop.price.Preisänderung.übernehmen|"
            "2 java.math.BigDecimal.multiply|o java.math.BigDecimal");
    if (live) {
        f->event = EVENT_LIVE;
        samples(f, 6, WORKER "2 shop.http.Request.read|o byte[]");
        samples(f, 1, SITE "o java.lang.StringBuilder");
    }
    fixture_second(f);
    fixture_press(f, "6");
    screen_draw(f->screen, &f->canvas, NULL);
}

static void sizes(void **unused) {
    (void)unused;
    static const struct { int rows, cols; } size[] = {{10, 40}, {24, 80}, {50, 160}};
    for (int i = 0; i < 6; i++) {
        struct fixture f;
        char name[64];
        int rows = size[i / 2].rows, cols = size[i / 2].cols;
        open_alloc(&f, rows, cols, i % 2, i > 3);
        fixture_press(&f, "\njj");
        snprintf(name, sizeof name, "alloc-%dx%d%s", cols, rows, i % 2 ? "-ascii" : "");
        compare_screen(&f, name);
        if (i == 2)
            compare_mono(&f, "alloc-mono");
        fixture_close(&f);
    }
}

/* The same whichever way round the tree is, and after everything was opened and closed. */
static void folding(void **unused) {
    (void)unused;
    struct fixture f;
    open_alloc(&f, 24, 80, false, false);
    compare_screen(&f, "alloc-folded");
    fixture_press(&f, "e");
    compare_screen(&f, "alloc-hottest");
    fixture_press(&f, "}");
    compare_screen(&f, "alloc-unfolded");
    f.model.question.inverted = true;
    model_ask(&f.model);
    screen_update(f.screen);
    struct text before = {0}, after = {0};
    screen_draw(f.screen, &f.canvas, NULL);
    canvas_dump(&f.canvas, &before);
    f.model.question.inverted = false;
    model_ask(&f.model);
    screen_update(f.screen);
    screen_draw(f.screen, &f.canvas, NULL);
    canvas_dump(&f.canvas, &after);
    assert_string_equal(before.data, after.data);
    text_free(&before);
    text_free(&after);
    fixture_press(&f, "{");
    compare_screen(&f, "alloc-folded-again");
    fixture_close(&f);
}

static void stack(void **unused) {
    (void)unused;
    struct fixture f;
    open_alloc(&f, 24, 80, false, false);
    fixture_press(&f, "e/render\n");
    fixture_press(&f, "y");
    assert_string_equal(screen_text(f.screen),
                        "byte[]\njava.lang.StringBuilder.append\nshop.cart.Cart.render\n");
    fixture_close(&f);
}

#define SITES 300000u /* more than a tree has room for */

static enum alloc_frame class_or_site(const void *arg, uint32_t method) {
    (void)arg;
    return method == 0 ? ALLOC_NO_CODE : ALLOC_OWN;
}

static const struct snapshot_node *site_node(const struct alloc_tree *t, uint32_t method) {
    for (uint32_t i = 0; i < t->tree.node_count; i++)
        if (t->tree.nodes[i].method == method)
            return &t->tree.nodes[i];
    return NULL;
}

/* What there is no room for is told, and the sums of the rest are whole. */
static void limit(void **unused) {
    (void)unused;
    struct snapshot_method class = {.method = 0, .self = 2 * SITES, .self_samples = 2 * SITES};
    struct snapshot s = {.methods = &class, .method_count = 1, .max_depth = 2};
    struct tree_rows open = {0};
    struct alloc_tree t = {0};
    s.nodes = calloc(4 * (size_t)SITES, sizeof *s.nodes);
    assert_non_null(s.nodes);
    for (uint32_t i = 0; i < 2 * SITES; i++) { /* all of them, and then all of them again */
        s.nodes[s.node_count++] =
            (struct snapshot_node){.method = 1 + i % SITES, .parent = SNAPSHOT_ROOT};
        s.nodes[s.node_count] = (struct snapshot_node){
            .parent = s.node_count - 1, .depth = 1, .self = 1, .self_samples = 1};
        s.node_count++;
    }
    const struct alloc_ask ask = {.snapshot = &s, .open = &open, .seed = 7, .what = class_or_site};
    assert_int_equal(alloc_tree_build(&t, &ask), 0);
    assert_false(t.cut);
    tree_rows_build(&open, &t.tree, ask.seed);
    tree_rows_open(&open, &t.tree, 0);
    assert_int_equal(alloc_tree_build(&t, &ask), -ENOMEM);
    assert_true(t.cut);
    assert_non_null(site_node(&t, 1));
    assert_int_equal(site_node(&t, 1)->total, 2);
    assert_int_equal(site_node(&t, 1000)->total, 2);
    assert_null(site_node(&t, SITES));
    tree_rows_close_all(&open);
    assert_int_equal(alloc_tree_build(&t, &ask), 0);
    assert_false(t.cut);
    alloc_tree_free(&t);
    tree_rows_free(&open);
    free(s.nodes);
}

static void empty(void **unused) {
    (void)unused;
    struct fixture f;
    fixture_open(&f, LIVE_METHODS, 24, 80, false);
    fixture_press(&f, "6");
    compare_screen(&f, "alloc-none");
    fixture_press(&f, "\n*}{ejkG");
    compare_screen(&f, "alloc-none");
    fixture_close(&f);
}

/* Of allocations that are sampled since 13 s, in a profile of 63 s: rates are over the 13 s, and the
 * screen says so. */
static void begun_later(void **unused) {
    (void)unused;
    struct fixture f;
    struct text text = {0};
    fixture_open(&f, LIVE_METHODS, 24, 160, true);
    for (int i = 0; i < 63; i++) {
        f.event = WIRE_EVENT_CPU;
        f.each = 10000000;
        samples(&f, 1, WORKER "2 shop.http.Request.read");
        if (i == 50) {
            fixture_engine(&f, WIRE_EVENT_ALLOC, "alloc", "jvmti", MIB / 2);
            profile_event_runs(f.profile, WIRE_EVENT_ALLOC, f.now_ns, true);
        }
        f.event = WIRE_EVENT_ALLOC;
        f.each = MIB / 2;
        if (i >= 50)
            samples(&f, 106, WORKER "2 shop.http.Request.read|o byte[]");
        fixture_second(&f);
        profile_event_runs(f.profile, WIRE_EVENT_ALLOC, f.now_ns, i >= 50);
    }
    fixture_press(&f, "6");
    screen_draw(f.screen, &f.canvas, NULL);
    canvas_dump(&f.canvas, &text);
    assert_int_equal(text.failed, false);
    if (!strstr(text.data, " 53M ") || !strstr(text.data, "alloc sampled for 13s"))
        fail_msg("no 53M a second, or no 13s:\n%s", text.data);
    text_free(&text);
    fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes), cmocka_unit_test(folding), cmocka_unit_test(stack),
        cmocka_unit_test(limit), cmocka_unit_test(empty),   cmocka_unit_test(begun_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
