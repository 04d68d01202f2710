/* Rows of the threads view: three for the threads of the VM, and pools of the application's. */
#include "tui/model/thread_pools.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* Names as the kernel has them: 15 bytes at most. */
static void kinds(void **unused) {
    (void)unused;
    static const struct {
        const char *name;
        enum thread_kind kind;
    } known[] = {
        {"G1 Conc#0", THREAD_GC},
        {"GC Thread#12", THREAD_GC},
        {"GC task thread#", THREAD_GC},
        {"ParGC Thread#1", THREAD_GC},
        {"Concurrent Mark", THREAD_GC},
        {"CMS Main Thread", THREAD_GC},
        {"CMS Thread#0", THREAD_GC},
        {"ZDriverMinor", THREAD_GC},
        {"RuntimeWorker#3", THREAD_GC},
        {"Shenandoah GC T", THREAD_GC},
        {"C1 CompilerThre", THREAD_JIT},
        {"C2 CompilerThread0", THREAD_JIT},
        {"JVMCI-native Co", THREAD_JIT},
        {"Sweeper thread", THREAD_JIT},
        {"VM Thread", THREAD_VM},
        {"VM Periodic Tas", THREAD_VM},
        {"Reference Handl", THREAD_VM},
        {"Reference Handler", THREAD_VM},
        {"Signal Dispatch", THREAD_VM},
        {"Monitor Deflati", THREAD_VM},
        {"Notification Th", THREAD_VM},
        {"StringDedupProc", THREAD_VM},
        {"JFR Recorder Th", THREAD_VM},
        {"jtop-prof", THREAD_VM},
        {"jtop-wall", THREAD_VM},
        {"main", THREAD_APPLICATION},
        {"CMS-publisher-1", THREAD_APPLICATION},
        {"GC", THREAD_APPLICATION},
        {"my VM Thread", THREAD_APPLICATION},
        {"", THREAD_APPLICATION},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct model_thread t = {.name = known[i].name};
        assert_int_equal(model_thread_kind(&t), known[i].kind);
        t.is_virtual = true; /* the application chooses the names of virtual threads */
        assert_int_equal(model_thread_kind(&t), THREAD_APPLICATION);
        t = (struct model_thread){.name = ""};
        strncpy(t.comm, known[i].name, sizeof t.comm - 1);
        assert_int_equal(model_thread_kind(&t), known[i].kind);
    }
}

struct shop {
    struct model model;
    struct snapshot answer;
    struct model_thread thread[16];
    struct thread_pools pools;
};

static void add(struct shop *s, const char *name, uint64_t weight) {
    struct model *m = &s->model;
    s->thread[m->thread_count++] = (struct model_thread){.tid = 100 + m->thread_count,
                                                         .name = name,
                                                         .state = 'S',
                                                         .cpu_percent = 1,
                                                         .weight = weight,
                                                         .samples = 1,
                                                         .row = UINT32_MAX};
    m->threads = s->thread;
    m->snapshot = &s->answer;
}

static void open_shop(struct shop *s) {
    *s = (struct shop){.pools = {.on = false}};
    add(s, "worker-1", 90);
    add(s, "G1 Conc#0", 80);
    add(s, "worker-2", 70);
    add(s, "VM Thread", 60);
    add(s, "GC Thread#0", 50);
    add(s, "main", 40);
    add(s, "C2 CompilerThre", 30);
    add(s, "jtop-prof", 20);
}

/* "name(threads)" of each row, its threads' rows with a '+'. They are in the model's order; the
 * table puts threads below their pool. */
static void expect(struct shop *s, const char *rows) {
    struct text t = {0};
    assert_int_equal(thread_pools_update(&s->pools, &s->model), 0);
    for (uint32_t i = 0; i < s->pools.count; i++) {
        struct thread_row r = thread_pools_row(&s->pools, i);
        text_add(&t, i ? " | " : "");
        if (r.is_pool)
            text_addf(&t, "%s(%u)", thread_pools_name(&s->pools, r.pool),
                      s->pools.pool[r.pool].sum.threads);
        else
            text_addf(&t, "%s%s", r.pool == THREAD_NO_POOL ? "" : "+",
                      s->model.threads[r.thread].name);
    }
    assert_string_equal(t.data, rows);
    text_free(&t);
}

static void three_rows(void **unused) {
    (void)unused;
    struct shop s;
    open_shop(&s);
    expect(&s, "worker-1 | GC threads(2) | worker-2 | VM threads(2) | main | JIT threads(1)");
    const struct thread_pool *gc = &s.pools.pool[thread_pools_find(&s.pools, &s.model, 4)];
    assert_int_equal(gc->sum.weight, 130);
    assert_int_equal(gc->sum.samples, 2);
    assert_int_equal(gc->heaviest, 1);
    assert_true(gc->sum.cpu_percent > 1.9 && gc->sum.cpu_percent < 2.1);
    assert_int_equal(thread_pools_find(&s.pools, &s.model, 0), THREAD_NO_POOL);
    const uint64_t item = gc->item;
    thread_pools_fold(&s.pools, item);
    expect(&s, "worker-1 | GC threads(2) | +G1 Conc#0 | worker-2 | VM threads(2) | +GC Thread#0 | "
               "main | JIT threads(1)");
    s.pools.on = true; /* the VM's rows stay, open or closed */
    expect(&s, "worker-#(2) | GC threads(2) | +G1 Conc#0 | VM threads(2) | +GC Thread#0 | main | "
               "JIT threads(1)");
    assert_int_equal(s.pools.pool[thread_pools_find(&s.pools, &s.model, 1)].item, item);
    thread_pools_fold(&s.pools, item);
    expect(&s, "worker-#(2) | GC threads(2) | VM threads(2) | main | JIT threads(1)");
    thread_pools_free(&s.pools);
}

/* An application's thread does not join a row of the VM because of its name. */
static void names_of_the_rows(void **unused) {
    (void)unused;
    struct shop s = {.pools = {.on = true}};
    add(&s, "VM threads", 9);
    add(&s, "VM threads", 8);
    add(&s, "VM Thread", 7);
    expect(&s, "VM threads(2) | VM threads(1)");
    assert_true(s.pools.pool[0].item != s.pools.pool[1].item);
    thread_pools_free(&s.pools);
}

/* With one thread chosen, that thread is the row. Without threads of the VM there are no pools. */
static void single_threads(void **unused) {
    (void)unused;
    struct shop s = {.model = {.asked = {.tid = 101}}};
    add(&s, "G1 Conc#0", 80);
    expect(&s, "G1 Conc#0");
    assert_null(s.pools.row);
    s.model.asked.tid = 0;
    expect(&s, "GC threads(1)");
    s.model.thread_count = 0;
    add(&s, "main", 2);
    add(&s, "worker-1", 1);
    expect(&s, "main | worker-1");
    assert_null(s.pools.row);
    thread_pools_free(&s.pools);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds),
        cmocka_unit_test(three_rows),
        cmocka_unit_test(names_of_the_rows),
        cmocka_unit_test(single_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
