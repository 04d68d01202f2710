/* Findings about answers made by hand: what each is about, and where there is more about it. What
 * they say of a whole profile is in unit/tui_overview and unit/serve_findings. */
#include "core/report/findings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#define SECOND UINT64_C(1000000000)

static const struct method known[] = {
    {.kind = METHOD_JAVA, .class_name = "shop/Cart", .name = "total", .signature = "()V"},
    {.kind = METHOD_KERNEL, .class_name = "", .name = "copy_user", .signature = ""},
    {.kind = METHOD_CLASS, .class_name = "", .name = "shop/Order", .signature = ""},
    {.kind = METHOD_THREAD, .class_name = "", .name = "[GC threads]", .signature = ""},
};

static const struct method *method_of(const void *arg, uint32_t id) {
    (void)arg;
    assert_true(id < sizeof known / sizeof known[0]);
    return &known[id];
}

static const char *name_of(const void *arg, uint32_t id, char *out, size_t size) {
    snprintf(out, size, "<%s>", method_of(arg, id)->name);
    return out;
}

static void get(const void *arg, uint32_t i, struct findings_thread *out) {
    const struct findings_thread *list = arg;
    *out = list[i];
    out->self = &list[i];
}

static const struct jvm busy = {.pid = 7, .cpu_percent = 150};
static const struct session_status running = {.phase = SESSION_RUNNING, .samples = 100};

static struct findings_of about(const struct snapshot *s, const struct findings_thread *threads,
                                uint32_t count) {
    return (struct findings_of){.event = WIRE_EVENT_CPU,
                                .answer = s,
                                .cpu = s,
                                .threads = {count, get, threads},
                                .sleepers = {count, get, threads},
                                .jvm = &busy,
                                .status = &running,
                                .method = method_of,
                                .name = name_of};
}

static const struct finding *find(const struct findings_of *of, const char *text) {
    static struct finding found[FINDINGS_MAX];
    const int n = findings_list(of, found);
    assert_in_range(n, 1, FINDINGS_MAX);
    for (int i = 0; i < n; i++)
        if (strstr(found[i].text, text))
            return &found[i];
    return NULL;
}

static const struct finding *must(const struct findings_of *of, const char *text) {
    const struct finding *f = find(of, text);
    if (!f)
        fail_msg("nothing of \"%s\"", text);
    return f;
}

static void nothing(void **unused) {
    (void)unused;
    struct snapshot s = {.sampled_ns = SECOND};
    struct findings_of of = about(&s, NULL, 0);
    must(&of, "no samples in this selection");
    s.samples = 5;
    s.weight = 5;
    assert_int_equal(must(&of, "nothing stands out")->more, FINDING_MORE_NONE);
}

static void methods(void **unused) {
    (void)unused;
    struct snapshot_method rows[] = {{.method = 0, .self = 60, .self_samples = 6000},
                                     {.method = 1, .self = 30, .self_samples = 3000}};
    struct snapshot s = {
        .weight = 100, .samples = 10000, .sampled_ns = SECOND, .methods = rows, .method_count = 2};
    struct findings_of of = about(&s, NULL, 0);
    assert_int_equal(must(&of, "% of the CPU time is in <total> itself")->method, 0);
    assert_int_equal(must(&of, "30 % of the CPU time is in the kernel")->method, 1);
    /* Under wall, code is about CPU time. */
    struct snapshot wall = {.weight = 1000, .samples = 10, .sampled_ns = SECOND};
    of.answer = &wall;
    of.event = WIRE_EVENT_WALL;
    assert_int_equal(must(&of, "% of the CPU time is in <total> itself")->method, 0);
    of.cpu = NULL;
    assert_null(find(&of, "CPU time"));
    struct snapshot_method objects[] = {{.method = 2, .self = 40, .self_samples = 4}};
    struct snapshot alloc = {
        .weight = 80, .samples = 8, .sampled_ns = SECOND, .methods = objects, .method_count = 1};
    of.alloc = &alloc;
    assert_int_equal(must(&of, "are allocated per second, 50 % of it shop")->more,
                     FINDING_MORE_ALLOC);
    of.selected = true;
    must(&of, "are allocated per second in the selection, 50 % of it shop");
    of.cpu = &s;
    must(&of, "of the selection's CPU time is in <total> itself");
}

/* With native frames folded, what is left of the kernel is not all of it, and a row of the VM's
 * threads is no method. */
static void folded(void **unused) {
    (void)unused;
    struct snapshot_method rows[] = {{.method = 3, .self = 40, .self_samples = 4000},
                                     {.method = 0, .self = 30, .self_samples = 3000},
                                     {.method = 1, .self = 25, .self_samples = 2500}};
    struct snapshot s = {
        .weight = 100, .samples = 10000, .sampled_ns = SECOND, .methods = rows, .method_count = 3};
    struct findings_of of = about(&s, NULL, 0);
    must(&of, "25 % of the CPU time is in the kernel");
    s.folds_natives = true;
    assert_null(find(&of, "kernel"));
    assert_null(find(&of, "[GC threads]"));
    assert_int_equal(must(&of, "is in <total> itself")->method, 0);
    s.method_count = 1;
    assert_null(find(&of, "itself"));
}

static void threads(void **unused) {
    (void)unused;
    uint64_t waits[PROFILE_STATES] = {0}, runs[PROFILE_STATES] = {0};
    waits[WIRE_THREAD_BLOCKED] = 30;
    runs[WIRE_THREAD_RUNNING] = 70;
    const struct findings_thread list[] = {
        {.name = "", .tid = 12, .weight = 70, .states = runs},
        {.name = "GC Thread#1", .tid = 13, .weight = 20, .states = waits},
        {.name = "worker", .tid = 14, .weight = 5, .states = waits},
        {.name = "C2 CompilerThread0", .tid = 15, .weight = 3},
        {.name = "G1 Service", .is_virtual = true, .weight = 2},
    };
    struct snapshot s = {.weight = 100, .samples = 100, .sampled_ns = SECOND};
    struct findings_of of = about(&s, list, 5);
    assert_ptr_equal(must(&of, "is in 2 threads: [tid=12], GC Thread#1")->thread, &list[0]);
    must(&of, "the collector's threads take 20 % of the CPU time");
    assert_null(find(&of, "warming up"));
    const struct finding *blocked = must(
        &of, "30 % of the application threads' time is spent waiting for monitors, most by worker");
    assert_ptr_equal(blocked->thread, &list[2]);
    assert_int_equal(blocked->more, FINDING_MORE_LOCKS);
    assert_true(blocked->is_worse);
    of.sleepers.count = 0;
    assert_null(find(&of, "monitors"));
}

/* Only the last minute counts, and only if it is long enough. */
static void pauses(void **unused) {
    (void)unused;
    struct profile_second second[FINDINGS_SECONDS + 40] = {{.paused_ns = {SECOND, SECOND}}};
    second[90].paused_ns[0] = 6 * SECOND / 10;
    second[91].paused_ns[0] = 6 * SECOND / 10;
    struct snapshot s = {.weight = 1, .samples = 1, .sampled_ns = SECOND};
    struct findings_of of = about(&s, NULL, 0);
    of.second = second;
    of.seconds = FINDINGS_SECONDS + 40;
    must(&of, "collections stopped the JVM for 2 % of the last 60 s; worst second: 600ms");
    assert_null(find(&of, "safepoints"));
    of.seconds = 4;
    assert_null(find(&of, "stopped the JVM"));
}

/* A pause of the display is not idle; a JVM that is gone is not, either. */
static void jvm(void **unused) {
    (void)unused;
    struct jvm idle = {.cpu_percent = 2, .heap_used_bytes = 95, .heap_max_bytes = 100};
    struct session_status st = running;
    struct snapshot s = {.weight = 1, .samples = 1, .sampled_ns = SECOND};
    struct findings_of of = about(&s, NULL, 0);
    of.jvm = &idle;
    of.status = &st;
    must(&of, "nearly idle: it uses 2 % of a core");
    must(&of, "the heap is 95 % full");
    of.held = true;
    assert_null(find(&of, "idle"));
    assert_null(find(&of, "heap")); /* it is today's */
    of.held = false;
    st.phase = SESSION_JVM_GONE;
    assert_null(find(&of, "idle"));
    st.dropped = 1200;
    assert_int_equal(must(&of, "1,200 samples were dropped")->more, FINDING_MORE_STATUS);
    st.engine[WIRE_EVENT_ALLOC] = (struct session_engine){
        .asked = true, .error = 1, .name = "alloc", .reason = "alloc: this VM has none"};
    must(&of, "alloc cannot be sampled: this VM has none");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing), cmocka_unit_test(methods), cmocka_unit_test(folded),
        cmocka_unit_test(threads), cmocka_unit_test(pauses),  cmocka_unit_test(jvm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
