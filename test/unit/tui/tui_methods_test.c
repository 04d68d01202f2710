/* The methods view: its columns, their order, what a row leads to. */
#include "test/unit/tui/tui_compare.h"

#include "tui/view/strip.h"
#include "tui/view/view.h"

/* Other events beside CPU time, and a minute behind it. */
static void open_busy(struct fixture *f, int rows, int cols, bool ascii) {
    fixture_open(f, LIVE_METHODS, rows, cols, ascii);
    for (uint32_t i = 0; i < 60; i++) {
        if (i % 5 == 0) {
            f->event = WIRE_EVENT_CPU;
            f->each = 10000000;
            fixture_sample(f, 4711, 10 + i, WORKER "2 shop.cart.Cart.total");
            fixture_sample(f, 4712, 70 - i,
                           WORKER "2 shop.search.Index.find|1 java.util.HashMap.getNode");
            fixture_sample(f, 4712, 3,
                           WORKER "2 shop.search.Index.find|I java.util.HashMap.getNode");
            f->event = WIRE_EVENT_ALLOC;
            f->each = 524288;
            fixture_sample(f, 4711, 3, WORKER "2 shop.cart.Cart.total|o byte[]");
            fixture_sample(f, 4712, 1, WORKER "2 shop.search.Index.find|o java.lang.String");
        }
        f->now_ns += FIXTURE_SECOND;
    }
    fixture_engine(f, WIRE_EVENT_ALLOC, "alloc", "jvmti", 524288);
    fixture_second(f);
}

/* The table of the screen, from its heads on: what is around it has its own tests. */
static void compare_table(struct fixture *f, const char *name) {
    struct canvas *c = &f->canvas, table = *c;
    int heads = 0, below = c->rows >= 30 ? 2 + STRIP_ROWS : 2;
    screen_draw(f->screen, c, NULL);
    while (heads < c->rows - 1 && c->cells[heads * c->cols].role != ROLE_COLUMNS)
        heads++;
    table.cells += heads * c->cols;
    table.rows -= heads + below;
    compare_canvas(&table, name);
}

static void busy(void **unused) {
    (void)unused;
    static const struct { int rows, cols; } size[] = {{50, 160}, {30, 120}, {24, 80}, {10, 40}};
    struct fixture f;
    for (int i = 0; i < 8; i++) {
        char name[64];
        open_busy(&f, size[i / 2].rows, size[i / 2].cols, i % 2);
        snprintf(name, sizeof name, "methods-busy-%dx%d%s", size[i / 2].cols, size[i / 2].rows,
                 i % 2 ? "-ascii" : "");
        compare_table(&f, name);
        if (i == 0)
            compare_mono(&f, "methods-busy-mono");
        fixture_close(&f);
    }
}

/* The table alone: the rest of the screen has its own tests. */
static void compare_view(struct fixture *f, const char *name) {
    const struct area a = {.rows = f->canvas.rows, .cols = f->canvas.cols};
    void *state = view_methods.open(&f->model);
    canvas_clear(&f->canvas);
    view_methods.update(state, &f->model);
    view_methods.draw(state, &f->canvas, a, &f->model);
    compare_canvas(&f->canvas, name);
    view_methods.close(state);
}

static void sorted(void **unused) {
    (void)unused;
    struct fixture f;
    open_busy(&f, 50, 160, false);
    screen_draw(f.screen, &f.canvas, NULL);
    fixture_press(&f, "jjj"); /* its row is followed through every order */
    fixture_press(&f, "SS");
    compare_table(&f, "methods-by-total");
    fixture_press(&f, "r");
    compare_table(&f, "methods-by-total-reversed");
    fixture_press(&f, "rSSSSSSS"); /* past the other events */
    compare_table(&f, "methods-by-name");
    fixture_press(&f, "S");
    fixture_press(&f, "g");
    compare_table(&f, "methods-busy-160x50"); /* round, and back */
    fixture_close(&f);
}

static void chosen_columns(void **unused) {
    (void)unused;
    struct fixture f;
    open_busy(&f, 12, 80, false);
    f.model.settings.method_columns = "name,total,tiers,self,delta,alloc";
    compare_view(&f, "methods-columns");
    fixture_close(&f);
}

static void presses(void **unused) {
    (void)unused;
    struct fixture f;
    const struct area a = {.rows = 20, .cols = 80};
    open_busy(&f, 24, 80, false);
    void *state = view_methods.open(&f.model);
    assert_non_null(state);
    struct view_subject on;
    view_methods.update(state, &f.model);
    assert_int_equal(view_methods.draw(state, &f.canvas, a, &f.model), 1);
    /* Found from the cursor on, round the end; and it is what the cursor is on. */
    snprintf(f.model.search, sizeof f.model.search, "WORKER.run");
    assert_true(view_methods.find(state, 0, &f.model));
    assert_true(view_methods.subject(state, &f.model, &on));
    assert_null(on.thread);
    assert_string_equal(model_method(&f.model, on.method)->class_name, "shop/http/Worker");
    assert_true(view_methods.find(state, 1, &f.model)); /* itself again */
    snprintf(f.model.search, sizeof f.model.search, "nothing like it");
    assert_false(view_methods.find(state, 1, &f.model));
    struct text text = {0};
    view_methods.copy(state, &f.model, VIEW_CURSOR, &text);
    assert_string_equal(text.data, "shop.http.Worker.run\n");
    text_free(&text);
    /* The mouse, on a row and twice on it. */
    const struct mouse once = {.action = MOUSE_PRESS, .row = 2, .col = 30};
    const struct mouse twice = {.action = MOUSE_TWICE, .row = 2, .col = 30};
    assert_int_equal(view_methods.mouse(state, a, &once, &f.model), VIEW_DONE);
    assert_true(view_methods.subject(state, &f.model, &on));
    assert_int_equal(on.method, f.model.snapshot->methods[1].method);
    assert_int_equal(view_methods.mouse(state, a, &twice, &f.model), view_go(LIVE_TREE));
    assert_true(f.model.question.with_method);
    assert_int_equal(f.model.question.method, on.method);
    /* Somebody else brings it to a row; before it is there, nothing happens. */
    const struct view_subject last = {
        .method = f.model.snapshot->methods[f.model.snapshot->method_count - 1].method};
    view_methods.seek(state, &last);
    view_methods.draw(state, &f.canvas, a, &f.model);
    assert_true(view_methods.subject(state, &f.model, &on));
    assert_int_equal(on.method, last.method);
    view_methods.close(state);
    fixture_close(&f);
}

static void compared(void **unused) {
    (void)unused;
    struct fixture f;
    open_busy(&f, 24, 80, false);
    f.event = WIRE_EVENT_CPU;
    f.each = 10000000;
    fixture_press(&f, "b");
    fixture_sample(&f, 4711, 900, WORKER "2 shop.cart.Cart.total");
    fixture_sample(&f, 4711, 3, WORKER "2 shop.cart.Cart.isNew");
    fixture_second(&f);
    compare_table(&f, "methods-compared-80x24");
    assert_int_equal(canvas_resize(&f.canvas, 50, 160), 0);
    compare_table(&f, "methods-compared-160x50");
    fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(busy),    cmocka_unit_test(sorted),   cmocka_unit_test(chosen_columns),
        cmocka_unit_test(presses), cmocka_unit_test(compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
