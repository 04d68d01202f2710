/* The threads view: what is known of each, pools of them, their order. */
#include "test/unit/tui/tui_compare.h"

#include "tui/view/strip.h"
#include "tui/view/view.h"

#define POOL 12

static void sample(struct fixture *f, int event, uint64_t each, enum wire_thread_state state,
                   uint32_t tid, uint32_t count, const char *stack) {
    f->event = event;
    f->each = each;
    f->state = state;
    fixture_sample(f, tid, count, stack);
}

/* A pool of twelve, one with one thread less than two, and all events that have columns. */
static void open_busy(struct fixture *f, int rows, int cols, bool ascii) {
    fixture_open(f, LIVE_THREADS, rows, cols, ascii);
    profile_thread_name(f->profile, 4713, 23, "price-updates");
    for (uint32_t i = 0; i < POOL; i++) {
        char name[32];
        snprintf(name, sizeof name, "order-%u-intake-%u", i % 2, i);
        profile_thread_name(f->profile, 5000 + i, 100 + i, name);
    }
    for (uint32_t second = 0; second < 40; second += 5) {
        for (uint32_t i = 0; i < POOL; i++) {
            uint32_t tid = 5000 + i;
            sample(f, WIRE_EVENT_CPU, 10000000, WIRE_THREAD_RUNNING, tid, 1 + i % 3,
                   WORKER "2 shop.Order.parse");
            sample(f, WIRE_EVENT_WALL, 50000000, WIRE_THREAD_PARKED, tid, 60 - i,
                   WORKER "2 jdk.internal.misc.Unsafe.park");
            sample(f, WIRE_EVENT_WALL, 50000000, WIRE_THREAD_BLOCKED, tid, i,
                   WORKER "2 shop.Order.parse");
            sample(f, WIRE_EVENT_ALLOC, 524288, WIRE_THREAD_UNKNOWN, tid, 1 + second % 3,
                   WORKER "2 shop.Order.parse|o byte[]");
        }
        sample(f, WIRE_EVENT_WALL, 50000000, WIRE_THREAD_RUNNING, 4711, 70,
               WORKER "2 shop.cart.Cart.total");
        sample(f, WIRE_EVENT_LOCK, FIXTURE_SECOND, WIRE_THREAD_UNKNOWN, 4712, 2,
               WORKER "2 shop.search.Index.find|o shop.search.Index");
        f->now_ns += 5 * FIXTURE_SECOND;
    }
    fixture_engine(f, WIRE_EVENT_WALL, "wall", "signal", 50000000);
    fixture_engine(f, WIRE_EVENT_ALLOC, "alloc", "jvmti", 524288);
    fixture_engine(f, WIRE_EVENT_LOCK, "lock", "jvmti", 10000);
    fixture_second(f);
    f->event = WIRE_EVENT_CPU;
    f->each = 10000000;
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
        snprintf(name, sizeof name, "threads-busy-%dx%d%s", size[i / 2].cols, size[i / 2].rows,
                 i % 2 ? "-ascii" : "");
        compare_table(&f, name);
        if (i == 0)
            compare_mono(&f, "threads-busy-mono");
        fixture_press(&f, "d");
        snprintf(name, sizeof name, "threads-pools-%dx%d%s", size[i / 2].cols, size[i / 2].rows,
                 i % 2 ? "-ascii" : "");
        compare_table(&f, name);
        fixture_close(&f);
    }
}

static const char *copied(void *state, const struct fixture *f, struct text *t) {
    text_clear(t);
    view_threads.copy(state, &f->model, VIEW_CURSOR, t);
    return t->data ? t->data : "";
}

static enum view_outcome command(void *state, struct fixture *f, enum command c) {
    const struct area a = {.rows = 20, .cols = 80};
    enum view_outcome outcome = view_threads.command(state, c, &f->model);
    view_threads.draw(state, &f->canvas, a, &f->model);
    assert_true(outcome < VIEW_GO || outcome == view_go(LIVE_METHODS));
    return outcome;
}

static void pools(void **unused) {
    (void)unused;
    struct fixture f;
    open_busy(&f, 40, 120, false);
    fixture_press(&f, "d\n"); /* the pool is the heaviest row: its threads are below it */
    compare_table(&f, "threads-pool-open");
    fixture_press(&f, "jjSSSSS");
    compare_table(&f, "threads-pool-open-sorted");
    fixture_close(&f);
}

/* The cursor's thread is found again, whatever is done to the rows around it. */
static void follows(void **unused) {
    (void)unused;
    struct fixture f;
    struct text t = {0};
    struct view_subject on;
    open_busy(&f, 24, 80, false);
    void *state = view_threads.open(&f.model);
    assert_non_null(state);
    view_threads.update(state, &f.model);
    snprintf(f.model.search, sizeof f.model.search, "ORDER-1-intake-7");
    assert_true(view_threads.find(state, 0, &f.model));
    assert_string_equal(copied(state, &f, &t), "order-1-intake-7 tid=5007\n");
    command(state, &f, COMMAND_POOLS);
    assert_string_equal(copied(state, &f, &t), "order-#-intake-# (12)\n");
    assert_false(view_threads.subject(state, &f.model, &on));
    assert_int_equal(command(state, &f, COMMAND_ENTER), VIEW_DONE);
    assert_string_equal(copied(state, &f, &t), "order-#-intake-# (12)\n");
    command(state, &f, COMMAND_DOWN);
    assert_true(view_threads.subject(state, &f.model, &on));
    assert_non_null(on.thread);
    const struct view_subject first = on;
    command(state, &f, COMMAND_HOME);
    command(state, &f, COMMAND_END);
    command(state, &f, COMMAND_POOLS);
    command(state, &f, COMMAND_POOLS);
    command(state, &f, COMMAND_HOME);
    view_threads.seek(state, &first); /* in a pool that is open … */
    view_threads.update(state, &f.model);
    assert_true(view_threads.subject(state, &f.model, &on));
    assert_ptr_equal(on.thread, first.thread);
    command(state, &f, COMMAND_UP);
    command(state, &f, COMMAND_ENTER);
    command(state, &f, COMMAND_END);
    view_threads.seek(state, &first); /* … and in one that has to be opened */
    view_threads.update(state, &f.model);
    assert_true(view_threads.subject(state, &f.model, &on));
    assert_ptr_equal(on.thread, first.thread);
    uint32_t tid = first.thread->tid;
    for (int sort = 0; sort < 12; sort++) {
        command(state, &f, sort % 3 ? COMMAND_SORT : COMMAND_REVERSE);
        fixture_sample(&f, 4713, 1000, "2 java.lang.Thread.run");
        fixture_second(&f);
        view_threads.update(state, &f.model);
        assert_true(view_threads.subject(state, &f.model, &on));
        assert_int_equal(on.thread->tid, tid);
    }
    assert_int_equal(command(state, &f, COMMAND_ENTER), VIEW_GO);
    assert_int_equal(f.model.question.tid, tid);
    text_free(&t);
    view_threads.close(state);
    fixture_close(&f);
}

/* Virtual threads are pools too; one that has ended and one that lives are not the same. */
static void virtual_pools(void **unused) {
    (void)unused;
    struct fixture f;
    fixture_open(&f, LIVE_THREADS, 24, 80, false);
    for (uint32_t i = 0; i < 40; i++) {
        char name[32];
        snprintf(name, sizeof name, "order-%u", i);
        profile_virtual_name(f.profile, 1 + i, name);
        fixture_virtual(&f, 4711, 1 + i, 1 + i, "2 java.lang.VirtualThread.run|2 shop.Order.parse");
    }
    profile_thread_name(f.profile, 4714, 99, "http-worker-9");
    fixture_sample(&f, 4714, 4, WORKER "2 shop.cart.Cart.total");
    fixture_second(&f);
    fixture_press(&f, "d");
    compare_table(&f, "threads-virtual-pools");
    fixture_press(&f, "/worker-9\n"); /* its pool opens */
    compare_table(&f, "threads-virtual-pools-open");
    fixture_close(&f);
}

static void start_thread(struct fixture *f, uint32_t tid, const char *comm) {
    struct thread_stat *t = &f->thread[f->thread_count++];
    *t = (struct thread_stat){.tid = tid, .state = 'S'};
    snprintf(t->comm, sizeof t->comm, "%s", comm);
}

/* Threads of the VM are three rows, with pools of the application's threads and without. */
static void of_the_vm(void **unused) {
    (void)unused;
    struct fixture f;
    fixture_open(&f, LIVE_THREADS, 24, 80, false);
    start_thread(&f, 4722, "C2 CompilerThre");
    start_thread(&f, 4723, "GC Thread#0");
    start_thread(&f, 4724, "VM Periodic Tas");
    fixture_sample(&f, 4722, 50, "n start_thread|+ C2Compiler::compile_method");
    fixture_second(&f);
    compare_table(&f, "threads-vm");
    fixture_press(&f, "jjj\n"); /* the row of the GC */
    compare_table(&f, "threads-vm-open");
    fixture_press(&f, "d");
    compare_table(&f, "threads-vm-pools");
    fixture_press(&f, "d/periodic\n"); /* its row opens */
    compare_table(&f, "threads-vm-found");
    fixture_close(&f);
}

/* The cursor and the jumps of other views find a thread of the VM in its closed row. */
static void follows_into_the_vm(void **unused) {
    (void)unused;
    struct fixture f;
    struct text t = {0};
    struct view_subject on;
    fixture_open(&f, LIVE_THREADS, 24, 80, false);
    void *state = view_threads.open(&f.model);
    view_threads.update(state, &f.model);
    const struct model_thread *marker = NULL;
    for (uint32_t i = 0; i < f.model.thread_count; i++)
        if (f.model.threads[i].tid == 4720)
            marker = &f.model.threads[i];
    const struct view_subject to = {.method = METHOD_NONE, .thread = marker};
    view_threads.seek(state, &to);
    view_threads.update(state, &f.model);
    assert_string_equal(copied(state, &f, &t), "G1 Conc#0 tid=4720\n");
    assert_true(view_threads.subject(state, &f.model, &on));
    command(state, &f, COMMAND_POOLS); /* an open row of the VM stays open */
    assert_string_equal(copied(state, &f, &t), "G1 Conc#0 tid=4720\n");
    command(state, &f, COMMAND_UP);
    assert_string_equal(copied(state, &f, &t), "GC threads (1)\n");
    assert_false(view_threads.subject(state, &f.model, &on));
    command(state, &f, COMMAND_POOLS);
    assert_string_equal(copied(state, &f, &t), "GC threads (1)\n");
    command(state, &f, COMMAND_ENTER);
    fixture_second(&f);
    view_threads.update(state, &f.model);
    assert_string_equal(copied(state, &f, &t), "GC threads (1)\n");
    text_free(&t);
    view_threads.close(state);
    fixture_close(&f);
}

static void chosen_columns(void **unused) {
    (void)unused;
    struct fixture f;
    const struct area a = {.rows = 20, .cols = 80};
    open_busy(&f, 20, 80, false);
    f.model.settings.thread_columns = "name, blocked, alloc, events";
    void *state = view_threads.open(&f.model);
    canvas_clear(&f.canvas);
    view_threads.update(state, &f.model);
    view_threads.draw(state, &f.canvas, a, &f.model);
    compare_canvas(&f.canvas, "threads-columns");
    command(state, &f, COMMAND_POOLS);
    canvas_clear(&f.canvas);
    view_threads.draw(state, &f.canvas, a, &f.model);
    compare_canvas(&f.canvas, "threads-columns-pools");
    view_threads.close(state);
    fixture_close(&f);
}

static void compared(void **unused) {
    (void)unused;
    struct fixture f;
    open_busy(&f, 24, 80, false);
    fixture_press(&f, "b");
    fixture_sample(&f, 4720, 300,
                   "n start_thread|+ G1ConcurrentMark::do_marking_step(double, bool)");
    fixture_sample(&f, 5003, 4, WORKER "2 shop.Order.parse");
    fixture_second(&f);
    compare_table(&f, "threads-compared");
    fixture_press(&f, "d");
    compare_table(&f, "threads-compared-pools");
    fixture_close(&f);
}

#define LONG_NAME "invoice-archive-writer-that-has-a-name-of-sixty-characters-1"

/* The states that the agent would report, in the middle of a profile. The thread with the long name
 * is never sampled. */
static void open_states(struct fixture *f, int rows, int cols, bool ascii) {
    open_busy(f, rows, cols, ascii);
    start_thread(f, 4725, "invoice-archive");
    profile_thread_name(f->profile, 4725, 25, LONG_NAME);
    for (uint32_t i = 0; i < POOL; i++)
        profile_java_state(f->profile, 5000 + i,
                           i < 8   ? WIRE_JAVA_WAITING
                           : i < 9 ? WIRE_JAVA_BLOCKED
                                   : WIRE_JAVA_RUNNABLE);
    profile_java_state(f->profile, 4711, WIRE_JAVA_RUNNABLE);
    profile_java_state(f->profile, 4712, WIRE_JAVA_BLOCKED);
    profile_java_state(f->profile, 4713, WIRE_JAVA_WAITING);
    profile_java_state(f->profile, 4714, WIRE_JAVA_RUNNABLE); /* it has ended */
    profile_java_state(f->profile, 4725, WIRE_JAVA_TIMED_WAITING);
    fixture_second(f);
}

static const struct model_thread *thread_of(const struct fixture *f, uint32_t tid) {
    for (uint32_t i = 0; i < f->model.thread_count; i++)
        if (f->model.threads[i].tid == tid)
            return &f->model.threads[i];
    return NULL;
}

static void java_states(void **unused) {
    (void)unused;
    static const struct { int rows, cols; } size[] = {{50, 220}, {50, 160}, {30, 120}, {24, 80}};
    struct fixture f;
    for (int i = 0; i < 4; i++) {
        char name[64];
        open_states(&f, size[i].rows, size[i].cols, false);
        snprintf(name, sizeof name, "states-%dx%d", size[i].cols, size[i].rows);
        compare_table(&f, name);
        fixture_press(&f, "d");
        snprintf(name, sizeof name, "states-pools-%dx%d", size[i].cols, size[i].rows);
        compare_table(&f, name);
        fixture_close(&f);
    }
}

/* The names of threads without samples, and when states are shown. */
static void living_threads(void **unused) {
    (void)unused;
    struct fixture f;
    open_states(&f, 24, 80, false);
    const struct model_thread *t = thread_of(&f, 4725);
    assert_non_null(t);
    assert_string_equal(t->name, LONG_NAME);
    assert_int_equal(t->java_id, 25);
    assert_int_equal(t->java_state, WIRE_JAVA_TIMED_WAITING);
    assert_int_equal(thread_of(&f, 4714)->java_state, WIRE_JAVA_UNKNOWN);
    assert_int_equal(thread_of(&f, 4720)->java_state, WIRE_JAVA_UNKNOWN);
    assert_true(f.model.java_states);

    uint32_t before = f.asked_states;
    assert_true(before > 0);
    fixture_second(&f);
    assert_int_equal(f.asked_states, before + 1);

    fixture_press(&f, "p"); /* on hold, the states stay those of that moment */
    profile_java_state(f.profile, 4725, WIRE_JAVA_RUNNABLE);
    model_ask(&f.model);
    assert_int_equal(thread_of(&f, 4725)->java_state, WIRE_JAVA_TIMED_WAITING);
    fixture_second(&f);
    assert_int_equal(f.asked_states, before + 1);
    fixture_press(&f, "p");
    fixture_second(&f);
    assert_int_equal(thread_of(&f, 4725)->java_state, WIRE_JAVA_RUNNABLE);

    before = f.asked_states;
    fixture_press(&f, "1"); /* another view does not need them */
    fixture_second(&f);
    assert_int_equal(f.asked_states, before);
    fixture_press(&f, "p2"); /* these are not the states of the moment of the hold */
    assert_string_equal(thread_of(&f, 4725)->name, LONG_NAME);
    assert_false(f.model.java_states);
    fixture_press(&f, "p");
    fixture_second(&f);
    assert_true(f.model.java_states);

    profile_forget_java_states(f.profile);
    fixture_second(&f);
    assert_false(f.model.java_states);
    profile_java_state(f.profile, 4725, WIRE_JAVA_RUNNABLE);
    fixture_second(&f);
    assert_true(f.model.java_states);
    before = f.asked_states;
    f.model.hidden = true; /* another JVM is on screen */
    fixture_second(&f);
    assert_int_equal(f.asked_states, before);
    f.model.hidden = false;
    fixture_second(&f);
    assert_true(f.asked_states > before);
    f.status.phase = SESSION_JVM_GONE; /* nothing is in a state any more */
    fixture_second(&f);
    before = f.asked_states;
    fixture_second(&f);
    assert_int_equal(f.asked_states, before);
    assert_false(f.model.java_states);
    fixture_close(&f);
}

/* RUNNABLE comes first; threads whose state is not known come last. */
static void sorted_by_java_state(void **unused) {
    (void)unused;
    struct fixture f;
    const struct area a = {.rows = 22, .cols = 80};
    open_states(&f, 24, 80, false);
    f.model.settings.thread_columns = "java name";
    void *state = view_threads.open(&f.model);
    view_threads.update(state, &f.model);
    view_threads.draw(state, &f.canvas, a, &f.model);
    assert_true(view_threads.sort(state, &f.model, 0));
    canvas_clear(&f.canvas);
    view_threads.draw(state, &f.canvas, a, &f.model);
    compare_canvas(&f.canvas, "states-sorted");
    view_threads.close(state);
    fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_the_vm),
        cmocka_unit_test(follows_into_the_vm),
        cmocka_unit_test(busy),
        cmocka_unit_test(pools),
        cmocka_unit_test(follows),
        cmocka_unit_test(virtual_pools),
        cmocka_unit_test(chosen_columns),
        cmocka_unit_test(compared),
        cmocka_unit_test(java_states),
        cmocka_unit_test(living_threads),
        cmocka_unit_test(sorted_by_java_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
