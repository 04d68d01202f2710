/* Several events at once: their screens, the keys that switch between them, the list that starts
 * and stops them, locks, and the strip of the last seconds. */
#include "test/unit/tui/tui_busy.h"
#include "test/unit/tui/tui_compare.h"

#include "tui/model/engine_set.h"
#include "tui/screen/save.h"
#include "tui/terminal/press.h"

static void each_size(const char *name, enum live_view view, const char *presses) {
    static const struct { int rows, cols; } size[] = {{24, 80}, {50, 160}};
    for (int i = 0; i < 4; i++) {
        struct fixture f;
        char file[80];
        open_busy(&f, view, size[i / 2].rows, size[i / 2].cols, i % 2);
        fixture_press(&f, presses);
        snprintf(file, sizeof file, "%s-%dx%d%s", name, size[i / 2].cols, size[i / 2].rows,
                 i % 2 ? "-ascii" : "");
        compare_screen(&f, file);
        if (i == 0) {
            snprintf(file, sizeof file, "%s-mono", name);
            compare_mono(&f, file);
        }
        fixture_close(&f);
    }
}

static void screens(void **unused) {
    (void)unused;
    each_size("events-methods", LIVE_METHODS, "");
    each_size("events-threads", LIVE_THREADS, "");
    each_size("events-alloc", LIVE_TREE, "EEe");
    each_size("events-list", LIVE_METHODS, "oj");
    each_size("locks", LIVE_LOCKS, "j\n");
    struct fixture f; /* there, names are what is left of a row */
    open_busy(&f, LIVE_LOCKS, 10, 40, false);
    compare_screen(&f, "locks-40x10");
    fixture_press(&f, "2");
    compare_screen(&f, "threads-40x10");
    fixture_close(&f);
}

/* The views of each event in turn, forth and back. */
static void switches(void **unused) {
    (void)unused;
    static const int order[] = {WIRE_EVENT_WALL, WIRE_EVENT_ALLOC, WIRE_EVENT_LOCK, WIRE_EVENT_CPU};
    struct fixture f;
    open_busy(&f, LIVE_METHODS, 24, 80, false);
    for (int i = 0; i < 4; i++) {
        fixture_press(&f, "E");
        assert_int_equal(f.model.question.event, order[i]);
        int counted = order[i] == WIRE_EVENT_WALL ? (int)EVENT_ACTIVE : order[i];
        assert_int_equal(f.model.snapshot->weight, profile_weight(f.profile, counted));
    }
    for (int i = 2; i >= 0; i--) {
        fixture_press(&f, "[");
        assert_int_equal(f.model.question.event, order[i]);
    }
    compare_screen(&f, "events-wall");
    fixture_press(&f, "2");
    compare_screen(&f, "events-wall-threads");
    /* Held, another event is of the same time. */
    fixture_press(&f, "1pE");
    uint64_t before = f.model.snapshot->weight;
    f.now_ns += FIXTURE_SECOND;
    sample_as(&f, WIRE_EVENT_ALLOC, 512 * KIB, 4711, 50, "2 shop.Late.allocation");
    fixture_second(&f);
    fixture_press(&f, "EEEE");
    assert_int_equal(f.model.question.event, WIRE_EVENT_ALLOC);
    assert_int_equal(f.model.snapshot->weight, before);
    fixture_close(&f);
}

static const struct model_thread *thread_named(const struct fixture *f, const char *name) {
    char text[MODEL_NAME_SIZE];
    for (uint32_t i = 0; i < f->model.thread_count; i++)
        if (!strcmp(model_thread_name(&f->model.threads[i], text, sizeof text), name))
            return &f->model.threads[i];
    fail_msg("no thread %s", name);
    return NULL;
}

static bool has_method(const struct fixture *f, const char *name) {
    for (uint32_t i = 0; i < f->model.snapshot->method_count; i++)
        if (!strcmp(model_method(&f->model, f->model.snapshot->methods[i].method)->name, name))
            return true;
    return false;
}

/* Under the wall clock, samples of idle threads are left out, until a key shows them. */
static void idle_threads(void **unused) {
    (void)unused;
    struct fixture f;
    open_busy(&f, LIVE_METHODS, 30, 160, false);
    fixture_press(&f, "I"); /* this is CPU time */
    assert_false(f.model.question.idle);
    fixture_press(&f, "E");
    const uint64_t active = profile_weight(f.profile, EVENT_ACTIVE);
    const uint64_t all = profile_weight(f.profile, WIRE_EVENT_WALL);
    assert_true(active > 0 && active < all);
    assert_int_equal(f.model.snapshot->weight, active);
    assert_true(has_method(&f, "halfUp") && has_method(&f, "__libc_send"));
    assert_false(has_method(&f, "park") || has_method(&f, "sleep"));
    assert_true(model_idle_percent(&f.model) > 54 && model_idle_percent(&f.model) < 56);
    compare_screen(&f, "events-idle-hidden");
    fixture_press(&f, "2"); /* a sleeper has no share, but its row and what it did */
    const struct model_thread *sleeper = thread_named(&f, "価格-更新");
    assert_int_equal(sleeper->weight, 0);
    assert_int_equal(model_thread_states(&f.model, sleeper)[WIRE_THREAD_SLEEPING], 200 * 50 * MS);
    const struct model_thread *worker = thread_named(&f, "http-worker-1");
    assert_int_equal(worker->weight, 160 * 50 * MS);
    assert_int_equal(model_thread_states(&f.model, worker)[WIRE_THREAD_PARKED], 40 * 50 * MS);
    compare_screen(&f, "events-idle-hidden-threads");
    fixture_press(&f, "I1");
    assert_int_equal(f.model.snapshot->weight, all);
    assert_true(has_method(&f, "park") && has_method(&f, "sleep"));
    assert_true(model_idle_percent(&f.model) < 0);
    compare_screen(&f, "events-idle-shown");
    fixture_press(&f, "3I"); /* a view without columns of other events */
    assert_int_equal(f.model.snapshot->weight, active);
    assert_true(model_idle_percent(&f.model) > 54);
    fixture_press(&f, "E"); /* it is about the wall clock only */
    assert_int_equal(f.model.snapshot->weight, profile_weight(f.profile, WIRE_EVENT_ALLOC));
    assert_true(model_idle_percent(&f.model) < 0);
    fixture_close(&f);
}

static const struct snapshot_method *row_named(const struct fixture *f, const char *name) {
    for (uint32_t i = 0; i < f->model.snapshot->method_count; i++)
        if (!strcmp(model_method(&f->model, f->model.snapshot->methods[i].method)->name, name))
            return &f->model.snapshot->methods[i];
    fail_msg("no row %s", name);
    return NULL;
}

/* Native frames count for their Java callers, and threads of the VM are one row each. */
static void folded_natives(void **unused) {
    (void)unused;
    struct fixture f;
    open_busy(&f, LIVE_METHODS, 30, 160, false);
    profile_thread_name(f.profile, 4720, 40, "GC Thread#7");
    fixture_sample(&f, 4720, 9, "n start_thread|+ GangWorker::loop()");
    fixture_second(&f);
    const uint64_t all = f.model.snapshot->weight;
    assert_true(has_method(&f, "__libc_send") && has_method(&f, "GangWorker::loop()"));
    fixture_press(&f, "J");
    assert_int_equal(f.model.snapshot->weight, all);
    for (uint32_t i = 0; i < f.model.snapshot->method_count; i++) {
        const struct method *m = model_method(&f.model, f.model.snapshot->methods[i].method);
        assert_true(m->kind == METHOD_JAVA || m->kind == METHOD_ERROR ||
                    (m->kind == METHOD_THREAD && !strcmp(m->name, "[GC threads]")));
    }
    assert_int_equal(row_named(&f, "[GC threads]")->self, 99 * f.each);
    compare_screen(&f, "events-folded");
    fixture_press(&f, "3");
    compare_screen(&f, "events-folded-tree");
    fixture_press(&f, "1/GC threads\n\n"); /* what they do is shown without the fold */
    assert_int_equal(f.model.snapshot->weight, 99 * f.each);
    fixture_press(&f, "J");
    assert_int_equal(f.model.snapshot->weight, 99 * f.each);
    assert_true(has_method(&f, "GangWorker::loop()"));
    fixture_press(&f, "\033");
    assert_int_equal(f.model.snapshot->weight, all);
    assert_true(has_method(&f, "__libc_send"));
    fixture_press(&f, "J/libc_send\n"); /* not there; a filter finds it, for the caller's row */
    fixture_press(&f, "\\libc_send\n");
    assert_true(f.model.snapshot->weight > 0 && f.model.snapshot->weight < all);
    assert_false(has_method(&f, "__libc_send"));
    fixture_press(&f, "U"); /* as it was at the start */
    assert_true(has_method(&f, "__libc_send"));
    fixture_press(&f, "bJ"); /* rows of other kinds are not compared */
    assert_null(f.model.diff);
    assert_true(fixture_has(&f, "baseline is of cpu, native not folded"));
    fixture_press(&f, "J");
    assert_non_null(f.model.diff);
    fixture_close(&f);
}

/* Held, the key shows the same moment; a baseline of other samples is not compared. */
static void idle_threads_held(void **unused) {
    (void)unused;
    struct fixture f;
    open_busy(&f, LIVE_METHODS, 30, 160, false);
    fixture_press(&f, "Epb");
    const uint64_t active = f.model.snapshot->weight,
                   all = profile_weight(f.profile, WIRE_EVENT_WALL);
    assert_non_null(f.model.diff);
    f.now_ns += FIXTURE_SECOND;
    wall(&f, 4711, WIRE_THREAD_PARKED, 40, RUN "2 jdk.internal.misc.Unsafe.park");
    wall(&f, 4711, WIRE_THREAD_RUNNING, 10, RUN "2 shop.cart.Cart.total");
    fixture_second(&f);
    fixture_press(&f, "I");
    assert_int_equal(f.model.snapshot->weight, all);
    assert_null(f.model.diff);
    compare_screen(&f, "events-idle-baseline");
    fixture_press(&f, "I");
    assert_int_equal(f.model.snapshot->weight, active);
    assert_non_null(f.model.diff);
    fixture_press(&f, "p");
    assert_int_equal(f.model.snapshot->weight, active + 10 * 50 * MS);
    fixture_close(&f);
}

/* A thread that does nothing else, and a profile of such threads only. */
static void only_idle_threads(void **unused) {
    (void)unused;
    struct fixture f;
    open_busy(&f, LIVE_THREADS, 24, 80, false);
    profile_thread_name(f.profile, 4713, 23, "sleeper");
    wall(&f, 4713, WIRE_THREAD_SLEEPING, 1, "2 java.lang.Thread.run|I java.lang.Thread.sleep");
    fixture_second(&f);
    fixture_press(&f, "E/sleeper\n\n"); /* its methods */
    assert_int_equal(f.model.question.tid, 4713);
    assert_int_equal(f.model.snapshot->weight, 0);
    compare_screen(&f, "events-idle-only");
    fixture_press(&f, "2");
    assert_int_equal(f.model.thread_count, 1);
    fixture_press(&f, "1I");
    assert_true(has_method(&f, "sleep"));
    fixture_close(&f);
}

/* Shares of the other events are of the same threads and filter. */
static void other_columns(void **unused) {
    (void)unused;
    struct fixture f;
    open_busy(&f, LIVE_METHODS, 24, 80, false);
    uint32_t half_up = f.model.snapshot->methods[0].method;
    double all = model_method_share(&f.model, WIRE_EVENT_ALLOC, half_up);
    assert_true(all > 74.9 && all < 75.1);
    uint32_t total = METHOD_NONE; /* the objects are made below it */
    for (uint32_t i = 0; i < f.model.snapshot->method_count; i++)
        if (!strcmp(model_method(&f.model, f.model.snapshot->methods[i].method)->name, "total"))
            total = f.model.snapshot->methods[i].method;
    all = model_method_share(&f.model, WIRE_EVENT_ALLOC, total);
    assert_true(all > 74.9 && all < 75.1);
    fixture_press(&f, "2\n"); /* http-worker-1 */
    assert_true(model_method_share(&f.model, WIRE_EVENT_ALLOC, half_up) > 99.9);
    fixture_press(&f, "\\nothing\n");
    compare_screen(&f, "events-nothing");
    assert_true(model_method_share(&f.model, WIRE_EVENT_ALLOC, half_up) < 0.1);
    fixture_close(&f);
}

/* Rows of a huge profile cost milliseconds: one event's a refresh, until all are there. */
static void huge_profiles_take_turns(void **unused) {
    (void)unused;
    struct fixture f;
    open_busy(&f, LIVE_METHODS, 24, 80, false);
    for (int i = 0; i < 1000; i++) {
        char stack[2048];
        int n = snprintf(stack, sizeof stack, "2 pkg.C%d.root", i);
        for (int k = 0; k < 55; k++)
            n += snprintf(stack + n, sizeof stack - (size_t)n, "|2 pkg.C%d.m%d", k, i);
        fixture_sample(&f, 4711, 1, stack);
    }
    fixture_second(&f);
    int event[EVENT_KINDS], all = model_other_events(&f.model, event, EVENT_KINDS);
    assert_int_equal(all, 3);
    fixture_press(&f, "\\shop\n"); /* numbers without the filter would be wrong ones */
    screen_draw(f.screen, &f.canvas, NULL);
    for (int i = 1; i <= 3; i++) {
        assert_int_equal(model_other_events(&f.model, event, EVENT_KINDS), i);
        fixture_second(&f);
    }
    fixture_close(&f);
}

static const struct wire_engine_request *asked_for(const struct fixture *f, enum wire_event event) {
    for (uint32_t i = 0; i < f->asked_engines; i++)
        if (f->asked[i].event == event)
            return &f->asked[i];
    return NULL;
}

/* As live.c does after presses. */
static void tell(struct fixture *f) {
    if (screen_wants_switch(f->screen))
        screen_switch(f->screen);
    fixture_refresh(f);
}

static void press_and_tell(struct fixture *f, const char *presses) {
    fixture_press(f, presses);
    tell(f);
}

static void starts_and_stops(void **unused) {
    (void)unused;
    struct fixture f;
    fixture_open(&f, LIVE_METHODS, 24, 80, false);
    press_and_tell(&f, "o");
    assert_int_equal(f.switches, 0);
    fixture_press(&f, "jj ");
    compare_screen(&f, "events-list-switching");
    tell(&f);
    assert_int_equal(f.switches, 1);
    assert_int_equal(f.asked_engines, 2);
    assert_non_null(asked_for(&f, WIRE_EVENT_CPU));
    assert_string_equal(asked_for(&f, WIRE_EVENT_ALLOC)->name, "alloc");
    assert_int_equal(asked_for(&f, WIRE_EVENT_ALLOC)->flags, 0);
    press_and_tell(&f, "j\n"); /* live */
    assert_int_equal(f.asked_engines, 2);
    assert_int_equal(asked_for(&f, WIRE_EVENT_ALLOC)->flags, WIRE_ENGINE_LIVE);
    press_and_tell(&f, " ");
    assert_int_equal(asked_for(&f, WIRE_EVENT_ALLOC)->flags, 0);
    press_and_tell(&f, "g "); /* no CPU any more */
    assert_null(asked_for(&f, WIRE_EVENT_CPU));
    press_and_tell(&f, "jj ");
    assert_int_equal(f.asked_engines, 0);
    assert_int_equal(f.switches, 5);
    /* What is refused is as it was. */
    f.refused = "the JVM does not answer";
    press_and_tell(&f, " ");
    compare_screen(&f, "events-list-refused");
    f.refused = NULL;
    press_and_tell(&f, " ");
    assert_int_equal(f.asked_engines, 1);
    press_and_tell(&f, "q");
    compare_screen(&f, "events-stopped-cpu");
    fixture_close(&f);
}

static void changes_intervals(void **unused) {
    (void)unused;
    struct fixture f;
    fixture_open(&f, LIVE_METHODS, 24, 80, false);
    press_and_tell(&f, "o+");
    assert_int_equal(asked_for(&f, WIRE_EVENT_CPU)->interval, 20 * MS);
    press_and_tell(&f, "++-"); /* presses together are one change */
    assert_int_equal(asked_for(&f, WIRE_EVENT_CPU)->interval, 50 * MS);
    assert_int_equal(f.switches, 2);
    press_and_tell(&f, "jj+"); /* does not run: nothing to tell */
    assert_int_equal(f.switches, 2);
    press_and_tell(&f, " ");
    assert_int_equal(asked_for(&f, WIRE_EVENT_ALLOC)->interval, 1024 * KIB);
    press_and_tell(&f, "--");
    assert_int_equal(asked_for(&f, WIRE_EVENT_ALLOC)->interval, 200 * KIB);
    for (int i = 0; i < 40; i++)
        press_and_tell(&f, "-");
    assert_int_equal(asked_for(&f, WIRE_EVENT_ALLOC)->interval, KIB);
    for (int i = 0; i < 60; i++)
        press_and_tell(&f, "+");
    assert_int_equal(asked_for(&f, WIRE_EVENT_ALLOC)->interval, KIB << 30);
    fixture_close(&f);
}

static void adds_by_name(void **unused) {
    (void)unused;
    struct fixture f;
    fixture_open(&f, LIVE_METHODS, 24, 80, false);
    press_and_tell(&f, "oaitimer");
    compare_screen(&f, "events-list-typing");
    press_and_tell(&f, "\n");
    assert_int_equal(f.asked_engines, 1);
    assert_int_equal(f.asked[0].mechanism, WIRE_MECHANISM_ITIMER);
    press_and_tell(&f, "/no such:event?\n");
    assert_int_equal(f.switches, 1);
    screen_draw(f.screen, &f.canvas, NULL);
    struct text t = {0};
    canvas_dump(&f.canvas, &t);
    assert_non_null(strstr(t.data, "event: no such:event?")); /* there to be corrected */
    text_free(&t);
    press_and_tell(&f, "\x1bq");
    fixture_close(&f);
}

/* Samples of page faults do not pass for context switches; what cannot run takes nothing away. */
static void replaces_by_name(void **unused) {
    (void)unused;
    struct fixture f;
    fixture_open(&f, LIVE_METHODS, 24, 80, false);
    press_and_tell(&f, "oapage-faults\n");
    sample_as(&f, WIRE_EVENT_PERF, 1, 4711, 7, RUN "2 shop.cart.Cart.total");
    fixture_second(&f);
    f.cannot = "cpu-migrations";
    press_and_tell(&f, "acpu-migrations\n");
    assert_int_equal(profile_samples(f.profile, WIRE_EVENT_PERF), 7);
    assert_string_equal(asked_for(&f, WIRE_EVENT_PERF)->name, "page-faults");
    compare_screen(&f, "events-list-given-back");
    f.cannot = NULL;
    press_and_tell(&f, "acontext-switches\n");
    assert_int_equal(profile_samples(f.profile, WIRE_EVENT_PERF), 0);
    assert_int_equal(profile_samples(f.profile, WIRE_EVENT_CPU), 1000);
    assert_string_equal(asked_for(&f, WIRE_EVENT_PERF)->name, "context-switches");
    fixture_close(&f);
}

static void troubles(void **unused) {
    (void)unused;
    struct fixture f;
    open_busy(&f, LIVE_METHODS, 24, 80, false);
    fixture_reason(&f, WIRE_EVENT_LOCK, 95, "this VM has no contended monitor events");
    fixture_second(&f);
    compare_screen(&f, "events-cannot");
    fixture_press(&f, "o");
    compare_screen(&f, "events-list-cannot");
    fixture_press(&f, "q");
    fixture_engine(&f, WIRE_EVENT_LOCK, "lock", "jvmti", 10 * US);
    fixture_engine(&f, WIRE_EVENT_CPU, "cpu", "safepoint", 10 * MS);
    fixture_reason(&f, WIRE_EVENT_CPU, 0, "no signal reaches this VM");
    f.status.engine[WIRE_EVENT_CPU].biased = true;
    fixture_second(&f);
    compare_screen(&f, "events-biased");
    fixture_close(&f);
    fixture_open(&f, LIVE_METHODS, 24, 80, false);
    fixture_press(&f, "E4");
    compare_screen(&f, "locks-none");
    f.status.phase = SESSION_JVM_GONE;
    fixture_second(&f);
    fixture_press(&f, "o +a");
    assert_false(screen_wants_switch(f.screen));
    compare_screen(&f, "events-list-gone");
    fixture_close(&f);
}

/* What is in a recording is shown, the event to begin with too; nothing can be started. */
static void recording(void **unused) {
    (void)unused;
    struct fixture f;
    fixture_open(&f, LIVE_METHODS, 24, 80, false);
    model_free(&f.model);
    profile_free(f.profile);
    f.profile = profile_new(0);
    assert_non_null(f.profile);
    f.status = (struct session_status){.phase = SESSION_REPLAYED, .walker = "vm"};
    struct model_source source = f.model.source;
    source = (struct model_source){.arg = &f,
                                   .lock = fixture_lock,
                                   .unlock = fixture_unlock,
                                   .status = fixture_status,
                                   .jvm = fixture_jvm};
    model_init(&f.model, &source, &(struct model_settings){.walk = WIRE_WALK_VM});
    new_screen(&f, LIVE_METHODS);
    sample_as(&f, WIRE_EVENT_ALLOC, 512 * KIB, 4711, 300, "2 shop.Main.run|2 shop.Main.make");
    sample_as(&f, EVENT_LIVE, 512 * KIB, 4711, 30, "2 shop.Main.run|2 shop.Main.make");
    fixture_engine(&f, WIRE_EVENT_ALLOC, "alloc", "jvmti", 524287);
    f.status.engine[WIRE_EVENT_ALLOC].runs = false;
    f.status.engine[WIRE_EVENT_ALLOC].asked = false;
    fixture_second(&f);
    compare_screen(&f, "recording-alloc");
    fixture_press(&f, "Eo ");
    assert_int_equal(f.model.question.event, EVENT_LIVE);
    compare_screen(&f, "recording-list");
    assert_false(screen_wants_switch(f.screen));
    fixture_close(&f);
}

/* The newest second is at the right. */
static void strip(void **unused) {
    (void)unused;
    struct fixture f;
    fixture_open(&f, LIVE_METHODS, 30, 80, false);
    for (unsigned i = 0; i < 20; i++) {
        sample_as(&f, WIRE_EVENT_CPU, 10 * MS, 4711, i * 9, "2 shop.Main.run");
        if (i % 5 == 2)
            profile_pause(f.profile, f.now_ns, f.now_ns + i * 20 * MS, i % 2);
        fixture_second(&f);
    }
    compare_screen(&f, "strip-80x30");
    fixture_press(&f, "H");
    compare_screen(&f, "strip-off-80x30");
    fixture_press(&f, "H");
    for (int i = 0; i < 100; i++) {
        sample_as(&f, WIRE_EVENT_CPU, 10 * MS, 4711, 100, "2 shop.Main.run");
        fixture_second(&f);
    }
    compare_screen(&f, "strip-round-80x30");
    f.canvas.ascii_lines = f.canvas.ascii_text = true;
    canvas_resize(&f.canvas, 24, 80);
    fixture_press(&f, "H");
    compare_screen(&f, "strip-80x24-ascii");
    fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(screens),
        cmocka_unit_test(switches),
        cmocka_unit_test(idle_threads),
        cmocka_unit_test(folded_natives),
        cmocka_unit_test(idle_threads_held),
        cmocka_unit_test(only_idle_threads),
        cmocka_unit_test(other_columns),
        cmocka_unit_test(huge_profiles_take_turns),
        cmocka_unit_test(starts_and_stops),
        cmocka_unit_test(changes_intervals),
        cmocka_unit_test(adds_by_name),
        cmocka_unit_test(replaces_by_name),
        cmocka_unit_test(troubles),
        cmocka_unit_test(recording),
        cmocka_unit_test(strip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
