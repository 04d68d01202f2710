/* The status view: every section, at every size. */
#include "test/unit/tui/tui_busy.h"
#include "test/unit/tui/tui_compare.h"

/* What this process takes is another figure each time. */
static void compare_status(struct fixture *f, const char *name) {
    struct text t = {0};
    screen_draw(f->screen, &f->canvas, NULL);
    canvas_dump(&f->canvas, &t);
    char *at = t.data ? strstr(t.data, " of memory") : NULL;
    for (; at && at > t.data && at[-1] != ' '; at--)
        ;
    if (at) {
        size_t figure = strcspn(at, " ");
        memmove(at + 3, at + figure, strlen(at + figure) + 1);
        memcpy(at, "99M", 3);
    }
    compare(&t, name);
    text_free(&t);
}

static void open_status(struct fixture *f, int rows, int cols, bool ascii) {
    open_busy(f, LIVE_STATUS, rows, cols, ascii);
    fixture_reason(f, WIRE_EVENT_LOCK, 95,
                   "this VM has no events for contended monitors; their replacement needs the flag "
                   "-XX:+UnlockDiagnosticVMOptions, and the VM was started without it");
    f->status.dropped = 12;
    f->status.engine[WIRE_EVENT_CPU].dropped = 12;
    f->status.failed[WIRE_FAILURE_NO_CALLER] = 2;
    f->status.engine[WIRE_EVENT_WALL].coverage = 0.987;
    f->status.missed_ns = 1500 * MS;
    f->status.windows = 3;
    f->status.window_ns = 20 * MS;
    f->status.recompiled = 4;
    f->status.recompile_ns = 17 * MS;
    snprintf(f->jvm.vm_name, sizeof f->jvm.vm_name, "OpenJDK 64-Bit Server VM");
    snprintf(f->status.news, sizeof f->status.news, "after 2.1 s: recompiled shop.cart.Cart.total");
    fixture_second(f);
}

static void sizes(void **unused) {
    (void)unused;
    static const struct { int rows, cols; } size[] = {{60, 160}, {24, 80}, {10, 40}};
    for (int i = 0; i < 6; i++) {
        struct fixture f;
        char name[64];
        open_status(&f, size[i / 2].rows, size[i / 2].cols, i % 2);
        snprintf(name, sizeof name, "status-%dx%d%s", size[i / 2].cols, size[i / 2].rows,
                 i % 2 ? "-ascii" : "");
        compare_status(&f, name);
        fixture_close(&f);
    }
    struct fixture f;
    open_status(&f, 24, 80, false);
    compare_mono(&f, "status-mono"); /* its memory is further down */
    fixture_press(&f, "/unknown_pc\n");
    compare_screen(&f, "status-found");
    fixture_press(&f, "G");
    compare_status(&f, "status-end");
    fixture_close(&f);
}

/* A JVM that gets less of the CPUs than it wants. */
static void quota(void **unused) {
    (void)unused;
    static const struct session_cpu half = {
        .known = true,
        .quota = 0.5,
        .periods = 1290,
        .throttled = 402,
        .throttled_ns = 38 * FIXTURE_SECOND,
        .share = 0.31,
        .group = "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod0f3.slice/"
                 "cri-containerd-8d7b0f4e6a1c.scope"};
    static const struct { int rows, cols; } size[] = {{60, 160}, {24, 80}, {10, 40}};
    for (int i = 0; i < 3; i++) {
        struct fixture f;
        char name[64];
        open_status(&f, size[i].rows, size[i].cols, false);
        f.cpu = half;
        f.jvm.cpu_percent = 48.3;
        f.jvm.container = true;
        fixture_refresh(&f);
        snprintf(name, sizeof name, "status-quota-%dx%d", size[i].cols, size[i].rows);
        screen_draw(f.screen, &f.canvas, NULL);
        fixture_press(&f, "G");
        compare_status(&f, name);
        fixture_close(&f);
    }
}

/* All of it can be reached on the smallest screen, and each row is drawn within it. */
static void scrolls(void **unused) {
    (void)unused;
    struct fixture f;
    struct text t = {0};
    open_status(&f, 10, 40, false);
    for (int i = 0; i < 200; i++) {
        screen_draw(f.screen, &f.canvas, NULL);
        canvas_dump(&f.canvas, &t);
        fixture_press(&f, "j");
    }
    static const char *const word[] = {"EVENTS",     "STACKS",      "COST", "SESSION",    "JVM",
                                       "unknown_pc", "was stopped", "news", "collections"};
    for (size_t i = 0; i < sizeof word / sizeof word[0]; i++)
        if (!strstr(t.data, word[i]))
            fail_msg("%s is nowhere", word[i]);
    text_free(&t);
    fixture_close(&f);
}

static void recording(void **unused) {
    (void)unused;
    struct fixture f;
    open_status(&f, 50, 100, false);
    f.status.phase = SESSION_REPLAYED;
    for (int i = 0; i < EVENT_KINDS; i++) /* nothing runs, and much is not in a recording */
        f.status.engine[i].runs = f.status.engine[i].asked = false;
    f.status.engine[WIRE_EVENT_LOCK] = (struct session_engine){.coverage = -1};
    f.jvm.user[0] = f.jvm.vm_name[0] = '\0';
    fixture_second(&f);
    compare_status(&f, "status-recording");
    fixture_close(&f);
}

/* Why the threads view has no Java states: from the agent, and only if there is a reason. */
static void no_java_states(void **unused) {
    (void)unused;
    struct fixture f;
    fixture_open(&f, LIVE_STATUS, 60, 160, false);
    assert_false(fixture_has(&f, "Java states"));
    f.status.java_states = WIRE_JAVA_REPORT_NO_FIELD;
    fixture_second(&f);
    assert_true(fixture_has(&f, "not known: this VM's java.lang.Thread has no field threadStatus"));
    f.status.java_states = WIRE_JAVA_REPORT_NO_TIDS;
    fixture_second(&f);
    assert_true(fixture_has(&f, "not known: this VM does not tell which native thread"));
    fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_java_states), cmocka_unit_test(sizes),     cmocka_unit_test(quota),
        cmocka_unit_test(scrolls),        cmocka_unit_test(recording),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
