/* The detail pane: its screens, when it asks the profile, and that it says what the views say. */
#include "test/unit/tui/tui_busy.h"
#include "test/unit/tui/tui_compare.h"

#include "tui/model/detail.h"
#include "tui/terminal/press.h"

#include <sys/stat.h>
#include <unistd.h>

#define HAS(text) assert_true(fixture_has(&f, (text)))
#define HAS_NOT(text) assert_false(fixture_has(&f, (text)))

static char root[] = "/tmp/jtop-detail-XXXXXX";

static int make_root(void **unused) {
    (void)unused;
    char path[128];
    if (!mkdtemp(root))
        return -1;
    snprintf(path, sizeof path, "%s/Basket.java", root);
    FILE *f = fopen(path, "w");
    if (!f)
        return -1;
    for (int i = 1; i <= 60; i++)
        fprintf(f, i == 44 ? "\tsum += item.price() * 2; // 価格 \x1b[2J\n" : "    step(%d);\n", i);
    return fclose(f);
}

static int remove_root(void **unused) {
    (void)unused;
    char path[128];
    snprintf(path, sizeof path, "%s/Basket.java", root);
    return unlink(path) || rmdir(root);
}

#define CALL "2 java.lang.Thread.run|2 shop.http.Worker.run|"

/* A method that many call, that calls many, with many lines and threads. */
static void add_rich(struct fixture *f) {
    char stack[256];
    for (uint32_t i = 0; i < 9; i++) {
        snprintf(stack, sizeof stack,
                 CALL "2 shop.web.Controller%u.handle|2:%u Basket.total|2 shop.price.Rule%u.apply",
                 i, 40 + i, 8 - i);
        fixture_sample(f, 5000 + i, 40 + 9 * i, stack);
    }
    fixture_sample(f, 4711, 300, CALL "2 shop.web.Controller3.handle|2:44 Basket.total");
    fixture_sample(f, 4713, 30, "2:50 Basket.total|2 shop.価格.更新|2:51 Basket.total");
    fixture_sample(f, 4712, 7, CALL "2 Basket.total");
}

static void open_rich(struct fixture *f, enum live_view view, int rows, int cols, bool ascii) {
    open_busy(f, view, rows, cols, ascii);
    f->model.settings.source_path = root;
    for (int i = 0; i < 8; i++) { /* the last minute goes up and down */
        fixture_sample(f, 4711, 20u * (uint32_t)(i % 4), CALL "2:44 Basket.total");
        for (int k = 0; k < 5; k++)
            fixture_second(f);
    }
    add_rich(f);
    fixture_second(f);
    screen_draw(f->screen, &f->canvas, NULL);
    fixture_press(f, "P");
    fixture_rest(f);
}

static void rest(struct fixture *f) {
    fixture_rest(f);
    f->now_ns += DETAIL_REST_NS;
    fixture_rest(f);
}

/* The cursor goes to the first row with this text, and rests there. */
static void go_to(struct fixture *f, const char *text) {
    fixture_press(f, "/");
    fixture_press(f, text);
    fixture_press(f, "\n");
    f->model.search[0] = '\0';
    rest(f);
}

static void sizes(void **unused) {
    (void)unused;
    static const struct {
        int rows, cols;
    } size[] = {{36, 120}, {40, 160}, {60, 200}, {12, 100}, {20, 140}};
    for (int i = 0; i < 10; i++) {
        struct fixture f;
        char name[64];
        open_rich(&f, LIVE_METHODS, size[i / 2].rows, size[i / 2].cols, i % 2);
        go_to(&f, "Basket.total");
        snprintf(name, sizeof name, "detail-%dx%d%s", size[i / 2].cols, size[i / 2].rows,
                 i % 2 ? "-ascii" : "");
        compare_screen(&f, name);
        fixture_close(&f);
    }
    struct fixture f;
    open_rich(&f, LIVE_METHODS, 36, 120, false);
    go_to(&f, "Basket.total");
    compare_mono(&f, "detail-mono");
    fixture_press(&f, "G");
    rest(&f);
    compare_screen(&f, "detail-wide");
    fixture_close(&f);
}

/* Where it has no room, the key says so, and the screen is as without it. */
static void too_small(void **unused) {
    (void)unused;
    struct fixture f;
    open_rich(&f, LIVE_METHODS, 24, 80, false);
    compare_screen(&f, "detail-80x24");
    fixture_press(&f, "j"); /* the message is gone */
    assert_int_equal(canvas_resize(&f.canvas, 12, 40), 0);
    HAS_NOT("own code");
    fixture_press(&f, "P");
    HAS("the pane needs 100x12; this is 40x12");
    assert_int_equal(canvas_resize(&f.canvas, 12, 99), 0);
    HAS_NOT("own code");
    fixture_press(&f, "P");
    HAS("the pane needs 100x12; this is 99x12");
    assert_int_equal(canvas_resize(&f.canvas, 11, 160), 0);
    HAS_NOT("own code");
    fixture_press(&f, "P");
    HAS("the pane needs 100x12; this is 160x11");
    assert_int_equal(canvas_resize(&f.canvas, 12, 100), 0);
    HAS_NOT("own code");
    fixture_press(&f, "P");
    fixture_rest(&f);
    HAS("own code");
    assert_int_equal(canvas_resize(&f.canvas, 10, 40), 0);
    HAS_NOT("own code"); /* it is open, and comes back with the room */
    assert_int_equal(canvas_resize(&f.canvas, 12, 100), 0);
    HAS("own code");
    fixture_close(&f);
}

/* Open at first from 140 columns on, unless the settings say otherwise; the key closes it. */
static void first(void **unused) {
    (void)unused;
    struct fixture f;
    open_busy(&f, LIVE_METHODS, 24, 139, false);
    f.model.settings.no_pane = false;
    new_screen(&f, LIVE_METHODS);
    screen_update(f.screen);
    HAS_NOT("java.util.HashMap.getNode  ");
    fixture_rest(&f);
    HAS_NOT("CALLERS");
    assert_int_equal(canvas_resize(&f.canvas, 24, 140), 0);
    screen_draw(f.screen, &f.canvas, NULL);
    fixture_rest(&f);
    HAS("CALLERS");
    fixture_press(&f, "P");
    fixture_rest(&f);
    HAS_NOT("CALLERS");
    fixture_press(&f, "P");
    fixture_rest(&f);
    HAS("CALLERS");
    for (const char *view = "0457"; *view; view++) { /* they have no list with room beside it */
        fixture_press(&f, (char[]){*view, '\0'});
        f.now_ns += DETAIL_REST_NS;
        fixture_rest(&f);
        HAS_NOT("CALLERS");
    }
    fixture_close(&f);
}

static void of_threads(void **unused) {
    (void)unused;
    struct fixture f;
    open_rich(&f, LIVE_THREADS, 40, 160, false);
    compare_screen(&f, "detail-threads");
    fixture_press(&f, "jj");
    rest(&f);
    compare_screen(&f, "detail-threads-wide");
    fixture_press(&f, "gd");
    rest(&f);
    compare_screen(&f, "detail-threads-pool");
    fixture_close(&f);
}

/* A virtual thread is the same one on another carrier. */
static void of_a_virtual_thread(void **unused) {
    (void)unused;
    struct fixture f;
    open_rich(&f, LIVE_THREADS, 40, 160, false);
    fixture_virtual(&f, 4711, 77, 900, "2 java.lang.VirtualThread.run|2 shop.Task.call");
    fixture_second(&f);
    go_to(&f, "VirtualThread[#77]");
    assert_true(fixture_has(&f, "METHODS"));
    fixture_virtual(&f, 4712, 77, 1, "2 java.lang.VirtualThread.run|2 shop.Task.call");
    fixture_second(&f);
    assert_true(fixture_has(&f, "METHODS")); /* the answer is still that of this thread */
    fixture_close(&f);
}

/* Pages of lines have no pane: its text would be read as part of the rows. */
static void read_aloud(void **unused) {
    (void)unused;
    struct fixture f;
    open_busy(&f, LIVE_METHODS, 29, 200, false);
    f.model.settings.plain = true;
    screen_free(f.screen);
    f.screen = screen_new(&f.model, LIVE_METHODS);
    assert_non_null(f.screen);
    fixture_refresh(&f);
    screen_draw(f.screen, &f.canvas, NULL);
    rest(&f);
    assert_false(fixture_has(&f, "CALLERS"));
    fixture_press(&f, "P");
    rest(&f);
    assert_false(fixture_has(&f, "CALLERS"));
    assert_true(fixture_has(&f, "pages of lines have no pane"));
    fixture_close(&f);
}

static void of_trees(void **unused) {
    (void)unused;
    struct fixture f;
    open_rich(&f, LIVE_TREE, 40, 160, false);
    go_to(&f, "Basket.total");
    compare_screen(&f, "detail-tree");
    fixture_press(&f, "TG"); /* a thread's row, and the last method of all */
    rest(&f);
    compare_screen(&f, "detail-tree-by-thread");
    fixture_close(&f);
    open_rich(&f, LIVE_ALLOC, 40, 160, false);
    sample_as(&f, WIRE_EVENT_ALLOC, 512 * KIB, 4711, 9,
              CALL "2 Basket.total|2 java.util.ArrayList.grow|o java.lang.Object[]");
    fixture_second(&f);
    go_to(&f, "Object[]");
    compare_screen(&f, "detail-alloc");
    fixture_close(&f);
}

/* Of another row there is its name at once, and nothing of the row before. */
static void new_row(void **unused) {
    (void)unused;
    struct fixture f;
    open_rich(&f, LIVE_METHODS, 40, 160, false);
    go_to(&f, "Basket.total");
    HAS("CALLERS");
    fixture_press(&f, "j");
    fixture_rest(&f);
    compare_screen(&f, "detail-new-row");
    HAS_NOT("CALLERS");
    f.now_ns += DETAIL_REST_NS - 1;
    assert_int_equal(fixture_rest(&f), f.now_ns + 1);
    HAS_NOT("CALLERS");
    f.now_ns++;
    assert_int_equal(fixture_rest(&f), UINT64_MAX);
    HAS("CALLERS");
    fixture_press(&f, "\\Wor"); /* the pane is asked with the filter that was typed */
    rest(&f);
    assert_string_equal(f.model.asked.filter, "Wor");
    fixture_press(&f, "ker\n"); /* another question: these numbers are not its answer */
    screen_draw(f.screen, &f.canvas, NULL);
    HAS_NOT("CALLERS");
    fixture_rest(&f);
    HAS("CALLERS");
    fixture_close(&f);
}

/* Ten moves of the cursor ask nothing; where it rests, the profile is asked once. */
static void rests(void **unused) {
    (void)unused;
    struct fixture f;
    open_rich(&f, LIVE_METHODS, 40, 160, false);
    unsigned before = f.locks;
    for (int i = 0; i < 10; i++) {
        fixture_press(&f, "j");
        f.now_ns += DETAIL_REST_NS / 2;
        fixture_rest(&f);
    }
    assert_int_equal(f.locks, before);
    f.now_ns += DETAIL_REST_NS;
    for (int i = 0; i < 5; i++)
        assert_int_equal(fixture_rest(&f), UINT64_MAX);
    assert_int_equal(f.locks, before + 1);
    fixture_press(&f, "jjjjjjkkkk");
    fixture_rest(&f);
    f.now_ns += DETAIL_REST_NS;
    fixture_rest(&f);
    assert_int_equal(f.locks, before + 2);
    fixture_second(&f); /* a new answer of the model; one of the pane is not due yet */
    before = f.locks;
    assert_in_range(fixture_rest(&f), f.now_ns + FIXTURE_SECOND, f.now_ns + DETAIL_RENEW_NS);
    assert_int_equal(f.locks, before);
    f.now_ns += DETAIL_RENEW_NS;
    fixture_rest(&f);
    fixture_rest(&f);
    assert_int_equal(f.locks, before + 1);
    fixture_press(&f, "?"); /* nobody sees it */
    f.now_ns += DETAIL_RENEW_NS;
    fixture_refresh(&f);
    before = f.locks;
    assert_int_equal(fixture_rest(&f), UINT64_MAX);
    assert_int_equal(f.locks, before);
    fixture_close(&f);
}

/* A profile that takes long is asked in a tenth of the time at most, and not right after a press. */
static void slow(void **unused) {
    (void)unused;
    struct fixture f;
    open_rich(&f, LIVE_METHODS, 40, 160, false);
    f.now_ns += DETAIL_RENEW_NS;
    fixture_refresh(&f);
    fixture_clock_step = 500 * MS; /* from one look to the next */
    fixture_rest(&f);
    uint64_t last = f.now_ns;
    fixture_second(&f);
    fixture_clock_step = 0;
    unsigned before = f.locks, taken = 0;
    const uint64_t end = f.now_ns + 40 * FIXTURE_SECOND;
    for (; f.now_ns < end; f.now_ns += 10 * MS) {
        fixture_clock_step = 0;
        fixture_clock_ns = f.now_ns;
        if (f.now_ns % FIXTURE_SECOND == 0) {
            fixture_refresh(&f);
            before = f.locks;
        }
        fixture_clock_step = 500 * MS;
        screen_rest(f.screen, fixture_clock);
        if (f.locks == before)
            continue;
        before = f.locks;
        assert_true(f.now_ns - last >= 5 * FIXTURE_SECOND);
        last = f.now_ns;
        taken++;
    }
    assert_in_range(taken, 6, 8);
    fixture_clock_step = 0;
    f.now_ns += 10 * FIXTURE_SECOND;
    fixture_refresh(&f);
    before = f.locks;
    for (int i = 0; i < 20; i++, f.now_ns += DETAIL_REST_NS - 1) {
        fixture_press(&f, "H");
        assert_int_not_equal(fixture_rest(&f), UINT64_MAX);
    }
    assert_int_equal(f.locks, before);
    f.now_ns += 1;
    fixture_rest(&f);
    assert_int_equal(f.locks, before + 1);
    fixture_close(&f);
}

static uint32_t method_named(struct fixture *f, const char *name) {
    char text[MODEL_NAME_SIZE];
    for (uint32_t i = 0; i < f->model.method_count; i++)
        if (!strcmp(model_method_name(&f->model, i, text, sizeof text), name))
            return i;
    fail_msg("no method %s", name);
    return METHOD_NONE;
}

/* The detail of a subject, asked now. */
static const struct detail_answer *ask(struct detail *d, struct fixture *f,
                                       struct detail_subject of) {
    f->now_ns += FIXTURE_SECOND;
    fixture_clock_ns = f->now_ns;
    detail_want(d, &f->model, &of, false, f->now_ns);
    assert_int_equal(detail_take(d, &f->model, fixture_clock), 0);
    const struct detail_answer *a = detail_answer(d, &f->model, &of);
    assert_non_null(a);
    return a;
}

/* The branches of the tree of that method in the view: the same methods, weights and order. */
static void same_branches(struct fixture *f, uint32_t method, bool inverted,
                          const struct detail_methods *l) {
    struct model *m = &f->model;
    model_narrow_method(m, method);
    m->question.tree = m->question.from_method = true;
    m->question.inverted = inverted;
    assert_int_equal(model_ask(m), 0);
    const struct snapshot *s = m->snapshot;
    uint32_t children = 0;
    assert_true(s->node_count > 0);
    for (uint32_t i = snapshot_child(s, 0); i != SNAPSHOT_ROOT && i < s->nodes[0].next;
         i = s->nodes[i].next, children++) {
        uint32_t found = 0;
        for (uint32_t k = 0; k < l->count; k++)
            found += l->row[k].kind == DETAIL_METHOD && l->row[k].method == s->nodes[i].method &&
                     l->row[k].weight == s->nodes[i].total &&
                     l->row[k].samples == s->nodes[i].total_samples;
        assert_int_equal(found, 1);
    }
    for (uint32_t k = 0; k < l->count; k++) {
        assert_true(!k || l->row[k].weight <= l->row[k - 1].weight);
        if (l->row[k].kind != DETAIL_METHOD)
            assert_int_equal(l->row[k].weight, s->nodes[0].self);
    }
    assert_int_equal(l->all, children + (s->nodes[0].self > 0));
    assert_true(model_widen(m));
    m->question.tree = m->question.from_method = m->question.inverted = false;
    assert_int_equal(model_ask(m), 0);
}

/* Callers, calls, threads and lines have the numbers that the views of the method have. */
static void same_as_views(struct fixture *f, struct detail *d, uint32_t method) {
    struct model *m = &f->model;
    const struct detail_answer *a = ask(d, f, (struct detail_subject){.method = method});
    same_branches(f, method, true, &a->callers);
    same_branches(f, method, false, &a->callees);
    model_narrow_method(m, method);
    m->question.lines = true;
    m->question.lines_of = method;
    assert_int_equal(model_ask(m), 0);
    const struct snapshot *s = m->snapshot;
    assert_int_equal(a->weight, s->weight);
    assert_int_equal(a->samples, s->samples);
    assert_int_equal(a->all_threads, s->thread_count);
    assert_true(s->thread_count > 0);
    for (uint32_t i = 0; i < a->threads; i++) {
        assert_int_equal(a->thread[i].thread.tid, s->threads[i].tid);
        assert_int_equal(a->thread[i].weight, s->threads[i].weight);
    }
    const bool has_lines = model_method(m, method)->kind == METHOD_JAVA;
    assert_int_equal(a->all_lines, has_lines ? s->line_count : 0);
    for (uint32_t i = 0; has_lines && i < s->line_count; i++) {
        uint32_t found = 0;
        for (uint32_t k = 0; k < a->lines; k++)
            found += a->line[k].line == s->lines[i].line && a->line[k].weight == s->lines[i].total;
        assert_int_equal(found, 1);
    }
    for (uint32_t k = 1; k < a->lines; k++)
        assert_true(a->line[k].weight <= a->line[k - 1].weight);
    assert_true(model_widen(m));
    m->question.lines = false;
    assert_int_equal(model_ask(m), 0);
}

static void numbers(void **unused) {
    (void)unused;
    struct fixture f;
    static const char *const name[] = {"Basket.total", "shop.web.Controller3.handle",
                                       "java.lang.Thread.run", "java.util.HashMap.getNode",
                                       "tcp_sendmsg_[k]"};
    struct detail *d = detail_new();
    assert_non_null(d);
    open_rich(&f, LIVE_METHODS, 40, 160, false);
    for (int i = 0; i < 5; i++)
        same_as_views(&f, d, method_named(&f, name[i]));
    uint32_t basket = method_named(&f, "Basket.total");
    const struct detail_answer *a = ask(d, &f, (struct detail_subject){.method = basket});
    assert_int_equal(a->lines, 12);
    assert_string_equal(a->line[0].source, "sum += item.price() * 2; // \u4fa1\u683c ?[2J");
    /* within another restriction: by a filter, a thread, a method */
    model_narrow_filter(&f.model, "Rule[12]");
    assert_int_equal(model_ask(&f.model), 0);
    same_as_views(&f, d, basket);
    a = ask(d, &f, (struct detail_subject){.method = basket});
    assert_int_equal(a->samples, 40 + 9 * 7 + 40 + 9 * 6);
    assert_int_equal(a->callers.all, 2);
    assert_true(model_widen(&f.model));
    model_narrow_method(&f.model, method_named(&f, "shop.web.Controller3.handle"));
    assert_int_equal(model_ask(&f.model), 0);
    a = ask(d, &f, (struct detail_subject){.method = basket});
    assert_int_equal(a->samples, 40 + 9 * 3 + 300);
    assert_int_equal(a->callers.all, 1);
    assert_int_equal(a->callees.all, 2);
    assert_int_equal(a->callees.row[0].kind, DETAIL_ITSELF);
    assert_true(model_widen(&f.model));
    assert_int_equal(model_ask(&f.model), 0);
    detail_free(d);
    fixture_close(&f);
}

/* A thread's methods are those of the methods view that is limited to it. */
static void numbers_of_a_thread(void **unused) {
    (void)unused;
    struct fixture f;
    struct detail *d = detail_new();
    assert_non_null(d);
    open_rich(&f, LIVE_METHODS, 40, 160, false);
    struct model *m = &f.model;
    const struct model_thread *t = &m->threads[0];
    const struct detail_answer *a =
        ask(d, &f,
            (struct detail_subject){.method = METHOD_NONE, .tid = t->tid, .java_id = t->java_id});
    assert_int_equal(a->weight, t->weight);
    assert_true(model_zoom(m, t));
    assert_int_equal(model_ask(m), 0);
    uint32_t hot = 0;
    for (uint32_t i = 0; i < m->snapshot->method_count; i++)
        hot += m->snapshot->methods[i].self > 0;
    assert_int_equal(a->methods.all, hot);
    for (uint32_t i = 0; i < a->methods.count; i++) {
        assert_int_equal(a->methods.row[i].method, m->snapshot->methods[i].method);
        assert_int_equal(a->methods.row[i].weight, m->snapshot->methods[i].self);
    }
    uint64_t sum = 0, minute = 0;
    for (uint32_t k = 0; k < MODEL_SPARKS; k++) {
        sum += a->spark[k];
        minute += m->snapshot->thread_spark[k];
    }
    assert_true(sum > 0);
    assert_int_equal(sum, minute);
    detail_free(d);
    fixture_close(&f);
}

/* While paused, nothing newer than the pause is shown. */
static void held(void **unused) {
    (void)unused;
    struct fixture f;
    open_rich(&f, LIVE_METHODS, 40, 160, false);
    go_to(&f, "Basket.total");
    fixture_press(&f, "p");
    f.now_ns += 2 * FIXTURE_SECOND;
    fixture_sample(&f, 4711, 900, CALL "2 shop.web.Late.handle|2:44 Basket.total");
    fixture_refresh(&f);
    go_to(&f, "Thread.run");
    HAS("shop.http.Worker.run");
    go_to(&f, "Basket.total");
    HAS("shop.web.Controller3.handle");
    HAS_NOT("shop.web.Late");
    unsigned before = f.locks;
    f.now_ns += 2 * FIXTURE_SECOND;
    fixture_refresh(&f);
    fixture_rest(&f);
    assert_int_equal(f.locks, before); /* nothing has changed */
    fixture_press(&f, "p");
    f.now_ns += FIXTURE_SECOND;
    fixture_rest(&f);
    HAS("shop.web.Late");
    fixture_close(&f);
}

/* The row and column of a text in the pane; the view's own rows have it too. */
static struct mouse at_text(struct fixture *f, const char *text, enum mouse_action action) {
    struct mouse at = {.action = action, .row = -1};
    screen_draw(f->screen, &f->canvas, NULL);
    for (int row = 0; row < f->canvas.rows; row++) {
        char line[512] = "";
        for (int col = 110; col < f->canvas.cols; col++)
            line[col - 110] = (char)f->canvas.cells[row * f->canvas.cols + col].text[0];
        if (strstr(line, text)) {
            at.row = row;
            at.col = 110 + (int)(strstr(line, text) - line);
        }
    }
    assert_true(at.row >= 0);
    return at;
}

/* Two presses on a caller or a thread do what Enter does in its list; one does nothing. */
static void presses(void **unused) {
    (void)unused;
    struct fixture f;
    open_rich(&f, LIVE_METHODS, 40, 160, false);
    go_to(&f, "Basket.total");
    struct mouse once = at_text(&f, "Controller8.handle", MOUSE_PRESS);
    struct mouse twice = at_text(&f, "Controller8.handle", MOUSE_TWICE);
    screen_mouse(f.screen, &once);
    assert_int_equal(screen_view(f.screen), LIVE_METHODS);
    screen_mouse(f.screen, &twice);
    assert_int_equal(screen_view(f.screen), LIVE_TREE);
    HAS("WHO CALLS shop.web.Controller8.handle");
    fixture_press(&f, "\x1b");
    assert_int_equal(screen_view(f.screen), LIVE_METHODS);
    HAS(">"); /* the cursor is where it was */
    go_to(&f, "Basket.total");
    twice = at_text(&f, "http-worker-1", MOUSE_TWICE);
    screen_mouse(f.screen, &twice);
    assert_int_equal(screen_view(f.screen), LIVE_METHODS);
    assert_int_equal(f.model.question.tid, 4711);
    fixture_press(&f, "\x1b");
    assert_int_equal(f.model.question.tid, 0);
    go_to(&f, "Basket.total");
    twice = at_text(&f, "own code", MOUSE_TWICE);
    screen_mouse(f.screen, &twice);
    assert_int_equal(screen_view(f.screen), LIVE_METHODS);
    fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes),      cmocka_unit_test(too_small),
        cmocka_unit_test(first),      cmocka_unit_test(of_threads),
        cmocka_unit_test(of_trees),   cmocka_unit_test(of_a_virtual_thread),
        cmocka_unit_test(read_aloud), cmocka_unit_test(new_row),
        cmocka_unit_test(rests),      cmocka_unit_test(slow),
        cmocka_unit_test(numbers),    cmocka_unit_test(numbers_of_a_thread),
        cmocka_unit_test(held),       cmocka_unit_test(presses),
    };
    return cmocka_run_group_tests(tests, make_root, remove_root);
}
