/* Windows, scrubbing, marks, baselines, and what narrows the question. */
#include "test/unit/tui/tui_fixture.h"

#include "tui/view/strip.h"

#include <time.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

/* Seconds 110 to 119: each one sample more than the one before, of a method of its own. */
static void open_ten(struct fixture *f, int rows, int cols) {
    fixture_open(f, LIVE_METHODS, rows, cols, false);
    f->now_ns = 110 * FIXTURE_SECOND;
    for (uint32_t i = 0; i < 10; i++) {
        char stack[64];
        snprintf(stack, sizeof stack, "2 app.Main.run|2 app.S%u.work", i);
        fixture_sample(f, 4711, i + 1, stack);
        fixture_second(f);
    }
}

static uint64_t shown(const struct fixture *f) {
    return f->model.snapshot->samples;
}

static void screen_says(struct fixture *f, const char *what, bool yes) {
    struct text t = {0};
    screen_draw(f->screen, &f->canvas, NULL);
    canvas_dump(&f->canvas, &t);
    if (!strstr(t.data, what) == yes)
        fail_msg("%s '%s' in:\n%s", yes ? "no" : "a", what, t.data);
    text_free(&t);
}

static void windows(void **unused) {
    (void)unused;
    struct fixture f;
    open_ten(&f, 24, 160);
    uint64_t all = shown(&f);
    screen_says(&f, "last 1m ", true); /* at first */
    screen_says(&f, "of all", false);
    fixture_press(&f, "www");
    screen_says(&f, "last 10s", true);
    screen_says(&f, "of all", true);
    assert_true(shown(&f) < all && shown(&f) >= 54 - 1 && shown(&f) <= 55);
    fixture_second(&f); /* the window moves on, though nothing came */
    fixture_second(&f);
    assert_true(shown(&f) <= 55 - 1 - 2);
    fixture_press(&f, "w");
    screen_says(&f, "last 1m ", true);
    fixture_press(&f, "w");
    screen_says(&f, "last", false);
    assert_int_equal(shown(&f), all);
    for (int i = 0; i < 60; i++)
        fixture_second(&f);
    assert_int_equal(shown(&f), all);
    fixture_press(&f, "www");
    screen_says(&f, "last 1m ", true);
    assert_int_equal(shown(&f), 0);
    fixture_close(&f);
}

/* What was chosen for the time comes back when it goes on; U shows the first window again. */
static void the_window_comes_back(void **unused) {
    (void)unused;
    struct fixture f;
    open_ten(&f, 24, 160);
    fixture_press(&f, ",");
    screen_says(&f, "10s window", true);
    fixture_press(&f, "p");
    screen_says(&f, "last 1m ", true);
    fixture_press(&f, "w,"); /* everything, then a moment of it */
    screen_says(&f, "10s window", true);
    fixture_press(&f, "p");
    screen_says(&f, " window", false);
    screen_says(&f, "last", false);
    fixture_press(&f, "w,"); /* five minutes were chosen, so they stay */
    screen_says(&f, "5m window", true);
    fixture_press(&f, "www,\\x\n");
    fixture_press(&f, "m");
    fixture_press(&f, "U");
    screen_says(&f, "last 1m ", true);
    screen_says(&f, "LIVE", true);
    screen_says(&f, "PAUSED", false);
    screen_says(&f, "\\x", false);
    fixture_close(&f);
}

/* A mark is older than a minute sooner or later. It counts on. */
static void a_mark_outlives_the_window(void **unused) {
    (void)unused;
    struct fixture f;
    open_ten(&f, 24, 160);
    fixture_press(&f, "m");
    fixture_second(&f);
    fixture_sample(&f, 4711, 7, "2 app.New.work");
    for (int i = 0; i < 90; i++)
        fixture_second(&f);
    assert_int_equal(shown(&f), 7);
    screen_says(&f, "since the mark", true);
    fixture_press(&f, "www"); /* a window that was chosen is the window */
    assert_int_equal(shown(&f), 0);
    /* A minute is the first window again, however one came to it. */
    fixture_press(&f, "mU,wpm");
    fixture_second(&f);
    fixture_sample(&f, 4711, 5, "2 app.New.work");
    for (int i = 0; i < 90; i++)
        fixture_second(&f);
    assert_int_equal(shown(&f), 5);
    fixture_close(&f);
}

static void scrubbing(void **unused) {
    (void)unused;
    struct fixture f;
    open_ten(&f, 24, 160);
    uint64_t all = shown(&f), before = shown(&f);
    fixture_press(&f, ",");
    screen_says(&f, "PAUSED -1s", true);
    screen_says(&f, "10s window", true);
    for (int i = 0; i < 4; i++) {
        fixture_press(&f, ",");
        assert_true(shown(&f) <= before);
        before = shown(&f);
    }
    uint64_t at = f.model.held_second, there = shown(&f);
    fixture_sample(&f, 4711, 500, "2 app.Later.work"); /* sampling goes on */
    fixture_second(&f);
    assert_int_equal(shown(&f), there);
    fixture_press(&f, ".");
    assert_int_equal(f.model.held_second, at + 1);
    fixture_press(&f, "<<<<<<");
    assert_int_equal(f.model.held_second, f.model.oldest_second);
    fixture_press(&f, ">>>>>>");
    assert_int_equal(f.model.held_second, f.model.newest_second);
    screen_says(&f, "app.Later.work", true);
    fixture_press(&f, "p");
    screen_says(&f, "LIVE", true);
    screen_says(&f, " window", false);
    assert_int_equal(shown(&f), all + 500);
    fixture_close(&f);
}

static void marks(void **unused) {
    (void)unused;
    struct fixture f;
    open_ten(&f, 24, 160);
    fixture_press(&f, "m");
    assert_int_equal(shown(&f), 0);
    fixture_second(&f);
    fixture_sample(&f, 4711, 7, "2 app.New.work");
    fixture_second(&f);
    assert_int_equal(shown(&f), 7);
    screen_says(&f, "since the mark", true);
    fixture_press(&f, "m");
    screen_says(&f, "since the mark", false);
    assert_true(shown(&f) > 7);
    fixture_close(&f);
}

static void baseline(void **unused) {
    (void)unused;
    struct fixture f;
    open_ten(&f, 24, 160);
    fixture_press(&f, "b");
    assert_non_null(f.model.diff);
    fixture_sample(&f, 4711, 1000, "2 app.Main.run|2 app.S9.work");
    fixture_second(&f);
    fixture_second(&f);
    screen_says(&f, "vs 2s ago", true);
    const struct snapshot *s = f.model.snapshot;
    assert_string_equal(model_method(&f.model, s->methods[0].method)->name, "work");
    struct diff_change c = diff_method_self(f.model.diff, 0);
    assert_true(c.percent > 40 && !c.chance);
    fixture_press(&f, "3"); /* trees are compared, both ways round */
    assert_non_null(f.model.diff);
    assert_true(diff_node(f.model.diff, 0).percent != 0);
    fixture_press(&f, "i");
    assert_non_null(f.model.diff);
    fixture_press(&f, "B");
    assert_null(f.model.diff);
    screen_says(&f, "against", false);
    fixture_press(&f, "bpbBp"); /* the mark of the first goes with the baseline */
    assert_null(f.model.baseline);
    assert_int_equal(f.model.mark_second, 0);
    fixture_press(&f, "bU");
    assert_null(f.model.baseline);
    assert_int_equal(f.model.mark_second, 0);
    fixture_close(&f);
}

/* Escape undoes the last one first, whatever it was. */
static void narrowings(void **unused) {
    (void)unused;
    struct fixture f;
    open_ten(&f, 24, 160);
    uint64_t all = shown(&f);
    struct model *m = &f.model;
    uint32_t method = m->snapshot->methods[0].method;
    char package[64];
    model_narrow_method(m, method);
    assert_string_equal(model_package(m, method, package, sizeof package), "shop.price");
    model_narrow_package(m, "shop");
    fixture_press(&f, "\\Cart\n");
    assert_int_equal(m->question.narrowings, 3);
    screen_says(&f, "shop.*", true);
    screen_says(&f, "\\Cart", true);
    uint64_t narrow = shown(&f);
    assert_true(narrow > 0 && narrow < all);
    fixture_press(&f, "/run\n"); /* a search is left first */
    screen_says(&f, "search: ", false);
    assert_string_equal(m->search, "run");
    fixture_press(&f, "\x1b");
    assert_string_equal(m->search, "");
    assert_int_equal(m->question.narrowings, 3);
    fixture_press(&f, "\x1b");
    assert_string_equal(m->question.filter, "");
    assert_string_equal(m->question.package, "shop");
    fixture_press(&f, "\x1b");
    assert_string_equal(m->question.package, "");
    assert_true(m->question.with_method);
    fixture_press(&f, "\x1b");
    assert_false(m->question.with_method);
    assert_int_equal(shown(&f), all);
    fixture_press(&f, "\x1b");
    assert_int_equal(shown(&f), all);
    fixture_close(&f);
}

/* Pausing changes neither a mark that is younger than the newest sample, nor the window of a JVM
 * that idles. */
static void pauses(void **unused) {
    (void)unused;
    struct fixture f;
    open_ten(&f, 24, 160);
    fixture_press(&f, "mp2");
    assert_int_equal(shown(&f), 0);
    fixture_press(&f, "mpw");
    for (int i = 0; i < 4; i++)
        fixture_second(&f);
    uint64_t window = shown(&f);
    fixture_press(&f, "p");
    assert_int_equal(shown(&f), window);
    fixture_press(&f, "3i");
    assert_int_equal(shown(&f), window);
    fixture_close(&f);
}

static void whole_screen(struct fixture *f, struct text *out) {
    text_clear(out);
    screen_draw(f->screen, &f->canvas, NULL);
    canvas_dump(&f->canvas, out);
}

/* While paused, nothing moves: neither rows, nor figures, nor the strip. */
static void a_pause_stands_still(void **unused) {
    (void)unused;
    struct fixture f;
    struct text before = {0}, after = {0};
    open_ten(&f, 40, 160);
    f.status.day_ns = INT64_C(1700000000000000000);
    fixture_second(&f);
    fixture_press(&f, "p");
    whole_screen(&f, &before);
    for (int i = 0; i < 20; i++) {
        fixture_sample(&f, 4711, 9, "2 app.Later.work");
        f.status.samples += 9;
        f.status.dropped++;
        f.status.elapsed_ns += FIXTURE_SECOND;
        f.status.agent_ns += 70000000;
        f.status.engine[WIRE_EVENT_CPU].threads++;
        f.jvm.cpu_percent += 3;
        f.jvm.heap_used_bytes += 1 << 20;
        fixture_second(&f);
    }
    whole_screen(&f, &after);
    assert_string_equal(before.data, after.data);
    f.status.phase = SESSION_JVM_GONE; /* this is shown at once */
    fixture_second(&f);
    screen_says(&f, "the JVM is gone", true);
    fixture_press(&f, "p");
    fixture_second(&f);
    screen_says(&f, "drops 20!", true);
    text_free(&before);
    text_free(&after);
    fixture_close(&f);
}

static void mouse(struct fixture *f, enum mouse_action action, int row, int col) {
    screen_mouse(f->screen, &(struct mouse){.action = action, .row = row, .col = col});
}

/* Times of day, and a part of the strip that the mouse selects. Row 35 is the strip's first. */
static void a_dragged_span(void **unused) {
    (void)unused;
    struct fixture f;
    setenv("TZ", "UTC", 1);
    tzset();
    open_ten(&f, 40, 160);
    f.status.day_ns = INT64_C(86400) * 19000 * (int64_t)FIXTURE_SECOND; /* the samples' clock */
    fixture_second(&f);
    screen_says(&f, "now", true);
    screen_says(&f, "00:01:45", true);
    uint64_t last = strip_second_at(&f.model, 160, 159);
    assert_int_equal(last, f.model.seconds_from + f.model.seconds - 1);
    assert_int_equal(strip_second_at(&f.model, 160, 150), last - 9);
    assert_int_equal(strip_second_at(&f.model, 160, 0), f.model.seconds_from);
    mouse(&f, MOUSE_DRAG, 35, 150); /* not begun on the strip */
    assert_false(f.model.held);
    mouse(&f, MOUSE_PRESS, 35, 157);
    screen_says(&f, "PAUSED", true);
    assert_int_equal(f.model.held_second, last - 2);
    assert_int_equal(f.model.span, 1);
    mouse(&f, MOUSE_DRAG, 20, 154); /* the mouse may leave the strip */
    mouse(&f, MOUSE_DRAG, 37, 155);
    mouse(&f, MOUSE_RELEASE, 37, 155);
    mouse(&f, MOUSE_DRAG, 35, 20);
    screen_says(&f, "(3s)", true);
    screen_says(&f, "00:01:55\u201300:01:58 (3s)", true);
    assert_int_equal(shown(&f), 6 + 7 + 8);
    /* The selected seconds are reversed, and no others. */
    screen_draw(f.screen, &f.canvas, NULL);
    for (int col = 9; col < 160; col++)
        assert_int_equal(f.canvas.cells[35 * 160 + col].role == ROLE_STATE_HELD,
                         col >= 155 && col <= 157);
    mouse(&f, MOUSE_PRESS, 36, 157); /* and the other way round */
    mouse(&f, MOUSE_DRAG, 36, 159);
    mouse(&f, MOUSE_RELEASE, 36, 159);
    screen_says(&f, "(3s)", true);
    fixture_press(&f, "p");
    screen_says(&f, "last 1m ", true);
    screen_says(&f, "now", true);
    mouse(&f, MOUSE_PRESS, 35, 157); /* the button is released where nothing hears of it */
    fixture_press(&f, "p?");
    mouse(&f, MOUSE_RELEASE, 3, 3);
    fixture_press(&f, "?");
    mouse(&f, MOUSE_DRAG, 20, 150);
    screen_says(&f, "LIVE", true);
    fixture_press(&f, "wp");
    screen_says(&f, "until 00:02:0", true);
    fixture_close(&f);
}

static void bad_expressions(void **unused) {
    (void)unused;
    struct fixture f;
    open_ten(&f, 24, 160);
    fixture_press(&f, "\\work(\n");
    screen_says(&f, "not a regular expression", true);
    assert_int_equal(shown(&f), 0);
    fixture_press(&f, "\\\x15S[12]\n");
    assert_int_equal(shown(&f), 2 + 3);
    fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows),
        cmocka_unit_test(scrubbing),
        cmocka_unit_test(marks),
        cmocka_unit_test(baseline),
        cmocka_unit_test(narrowings),
        cmocka_unit_test(bad_expressions),
        cmocka_unit_test(pauses),
        cmocka_unit_test(the_window_comes_back),
        cmocka_unit_test(a_mark_outlives_the_window),
        cmocka_unit_test(a_pause_stands_still),
        cmocka_unit_test(a_dragged_span),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
