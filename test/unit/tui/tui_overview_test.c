/* The overview: what stands out, and what is on it at every size. */
#include "test/unit/tui/tui_busy.h"
#include "test/unit/tui/tui_compare.h"

#include "tui/model/finding.h"
#include "tui/terminal/press.h"

static void open_overview(struct fixture *f, int rows, int cols, bool ascii) {
    open_busy(f, LIVE_OVERVIEW, rows, cols, ascii);
    f->jvm.heap_used_bytes = UINT64_C(480) << 20;
    for (unsigned i = 0; i < 40; i++) {
        sample_as(f, WIRE_EVENT_CPU, 10 * MS, 4711, 20 + i * 3, RUN "2 shop.cart.Cart.total");
        sample_as(f, WIRE_EVENT_ALLOC, 512 * KIB, 4711, 9, RUN "2 shop.Main.make|o byte[]");
        sample_as(f, WIRE_EVENT_ALLOC, 512 * KIB, 4712, 2,
                  RUN "2 shop.Main.make|o java.lang.String");
        if (i % 3 == 1)
            profile_pause(f->profile, f->now_ns, f->now_ns + i * 10 * MS, i % 2);
        fixture_second(f);
    }
    screen_draw(f->screen, &f->canvas, NULL);
}

static void sizes(void **unused) {
    (void)unused;
    static const struct { int rows, cols; } size[] = {{50, 160}, {24, 80}, {10, 40}};
    for (int i = 0; i < 6; i++) {
        struct fixture f;
        char name[64];
        open_overview(&f, size[i / 2].rows, size[i / 2].cols, i % 2);
        snprintf(name, sizeof name, "overview-%dx%d%s", size[i / 2].cols, size[i / 2].rows,
                 i % 2 ? "-ascii" : "");
        compare_screen(&f, name);
        fixture_close(&f);
    }
    struct fixture f;
    open_overview(&f, 24, 80, false);
    compare_mono(&f, "overview-mono");
    fixture_close(&f);
    fixture_open(&f, LIVE_OVERVIEW, 24, 80, false); /* nothing but CPU */
    compare_screen(&f, "overview-cpu");
    fixture_close(&f);
}

static bool finds(const struct model *m, const char *text) {
    struct finding found[FINDINGS_MAX];
    int n = finding_list(m, found);
    assert_in_range(n, 1, FINDINGS_MAX);
    for (int i = 0; i < n; i++)
        if (strstr(found[i].text, text))
            return true;
    return false;
}

/* Each is said when it is so, and only then. */
static void findings(void **unused) {
    (void)unused;
    struct fixture f;
    fixture_open(&f, LIVE_OVERVIEW, 24, 80, false);
    static const char *const later[] = {"stopped the JVM",  "the heap is",      "the kernel",
                                        "collector's",      "is warming up",    "dropped",
                                        "are not complete", "cannot be sampled"};
    assert_true(finds(&f.model, " cores) is in 3 threads: http-worker-1, "));
    assert_true(
        finds(&f.model, "28 to 34 % of the CPU time is in shop.price.Rounding.halfUp itself"));
    for (size_t i = 0; i < sizeof later / sizeof later[0]; i++)
        assert_false(finds(&f.model, later[i]));
    for (int i = 0; i < 10; i++) {
        profile_pause(f.profile, f.now_ns, f.now_ns + 100 * MS, 0);
        sample_as(&f, WIRE_EVENT_CPU, 10 * MS, 4711, 200, "2 shop.Main.run|k copy_user");
        profile_thread_name(f.profile, 4730, 0, "GC Thread#0");
        profile_thread_name(f.profile, 4731, 0, "C2 CompilerThread0");
        sample_as(&f, WIRE_EVENT_CPU, 10 * MS, 4730, 150, "+ G1");
        sample_as(&f, WIRE_EVENT_CPU, 10 * MS, 4731, 150, "+ C2");
        fixture_second(&f);
    }
    f.status.dropped = 5;
    f.status.failed[WIRE_FAILURE_LOOP] = f.status.samples;
    f.jvm.heap_used_bytes = f.jvm.heap_max_bytes;
    fixture_reason(&f, WIRE_EVENT_LOCK, 95, "this VM has none");
    fixture_second(&f);
    for (size_t i = 0; i < sizeof later / sizeof later[0]; i++)
        if (!finds(&f.model, later[i]))
            fail_msg("nothing of \"%s\"", later[i]);
    assert_true(finds(&f.model,
                      "collections stopped the JVM for 9 % of the last 11 s; worst second: 100ms"));
    fixture_press(&f, "\\no such thing\n");
    screen_draw(f.screen, &f.canvas, NULL);
    assert_false(finds(&f.model, "CPU time"));
    fixture_close(&f);
}

/* Waiting for work is no finding. Waiting for monitors is one, and code is about CPU time. */
static void idle_and_wall(void **unused) {
    (void)unused;
    struct fixture f;
    struct finding found[FINDINGS_MAX];
    fixture_open(&f, LIVE_OVERVIEW, 24, 80, false);
    assert_false(finds(&f.model, "nearly idle"));
    f.jvm.cpu_percent = 4.2;
    fixture_second(&f);
    assert_true(finding_list(&f.model, found) > 1);
    assert_string_equal(found[0].text, "the JVM is nearly idle: it uses 4 % of a core");
    fixture_engine(&f, WIRE_EVENT_WALL, "wall", "signal", 50 * MS);
    profile_thread_name(f.profile, 4730, 0, "GC Thread#0");
    for (int i = 0; i < 10; i++) {
        f.state = WIRE_THREAD_PARKED;
        sample_as(&f, WIRE_EVENT_WALL, 50 * MS, 4711, 180, RUN "n __futex_abstimed_wait_common");
        f.state = WIRE_THREAD_FUTEX;
        sample_as(&f, WIRE_EVENT_WALL, 50 * MS, 4730, 200, "n __futex_abstimed_wait_common");
        f.state = WIRE_THREAD_UNKNOWN;
        fixture_second(&f);
    }
    fixture_press(&f, "E");
    assert_int_equal(f.model.asked.event, WIRE_EVENT_WALL);
    assert_false(finds(&f.model, "futex"));
    assert_false(finds(&f.model, "collector"));
    assert_false(finds(&f.model, "all threads' time"));
    assert_false(finds(&f.model, "waiting for monitors"));
    assert_true(finds(&f.model, "of the CPU time is in shop.price.Rounding.halfUp itself"));
    assert_true(fixture_has(&f, "halfUp itself"));
    fixture_press(&f, "gj\n"); /* it leads to what it says: CPU time */
    assert_int_equal(f.model.asked.event, WIRE_EVENT_CPU);
    assert_true(f.model.asked.with_method && f.model.snapshot->weight > 0);
    fixture_press(&f, "\033");
    assert_int_equal(f.model.asked.event, WIRE_EVENT_WALL);
    f.state = WIRE_THREAD_BLOCKED;
    sample_as(&f, WIRE_EVENT_WALL, 50 * MS, 4712, 200, RUN "2 shop.cart.Cart.total");
    fixture_second(&f);
    assert_true(finds(
        &f.model, "10 % of the application threads' time is spent waiting for monitors, most by "));
    fixture_close(&f);
}

static void lock_second(struct fixture *f) {
    fixture_second(f);
    profile_event_runs(f->profile, WIRE_EVENT_LOCK, f->now_ns, true);
}

/* Waits for locks are those of the time shown, compared with the time in which they were sampled. */
static void locks(void **unused) {
    (void)unused;
    struct fixture f;
    open_busy(&f, LIVE_OVERVIEW, 50, 160, false);
    waited(&f, "shop/Old", WIRE_LOCK_MONITOR, 1, 4711, 20 * FIXTURE_SECOND, 4712, "");
    lock_second(&f);
    assert_true(finds(&f.model, "threads waited 20.5s for locks ("));
    assert_true(finds(&f.model, " % for shop.Old, held most by http-worker-2"));
    for (int i = 0; i < 20; i++)
        lock_second(&f);
    waited(&f, "shop/New", WIRE_LOCK_MONITOR, 1, 4711, 710 * MS, 4712, "");
    lock_second(&f);
    assert_true(finds(&f.model, "shop.Old"));
    fixture_press(&f, "www"); /* ten seconds */
    assert_false(finds(&f.model, "shop.Old"));
    assert_true(finds(
        &f.model,
        "in 10.0s, threads waited 710ms for locks (as much as 7 % of the time of one thread): "
        "100 % for shop.New, held most by http-worker-2"));
    for (int i = 0; i < 20; i++)
        lock_second(&f);
    assert_false(finds(&f.model, "for locks"));
    fixture_close(&f);
}

/* From a row to what belongs to it. */
static void goes(void **unused) {
    (void)unused;
    struct fixture f;
    open_overview(&f, 50, 160, false);
    fixture_press(&f, "/Cart.total\n"); /* a finding has it first */
    fixture_press(&f, "\n");
    assert_int_equal(screen_view(f.screen), LIVE_TREE);
    assert_true(f.model.question.with_method);
    /* one for the search, one for the method */
    fixture_press(&f, "\x1b\x1b"
                      "0");
    assert_false(f.model.question.with_method);
    screen_draw(f.screen, &f.canvas, NULL);
    fixture_press(&f, "/http-worker-2\n\n");
    assert_int_equal(screen_view(f.screen), LIVE_METHODS);
    assert_true(model_zoomed(&f.model.question));
    fixture_press(&f, "\x1b\x1b"
                      "0");
    screen_draw(f.screen, &f.canvas, NULL);
    screen_press(f.screen, PRESS_END); /* the last row is a lock */
    fixture_press(&f, "\n");
    assert_int_equal(screen_view(f.screen), LIVE_LOCKS);
    fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes), cmocka_unit_test(findings), cmocka_unit_test(idle_and_wall),
        cmocka_unit_test(locks), cmocka_unit_test(goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
