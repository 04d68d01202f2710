/*
 * A shop in which everything is going on: CPU, wall clock, allocation, locks.
 */
#ifndef JTOP_TEST_TUI_BUSY_H
#define JTOP_TEST_TUI_BUSY_H

#include "test/unit/tui/tui_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define US UINT64_C(1000)
#define MS (1000 * US)
#define KIB UINT64_C(1024)

__attribute__((unused)) static void sample_as(struct fixture *f, int event, uint64_t each,
                                              uint32_t tid, uint32_t count, const char *stack) {
    f->event = event;
    f->each = each;
    fixture_sample(f, tid, count, stack);
}

__attribute__((unused)) static void wall(struct fixture *f, uint32_t tid,
                                         enum wire_thread_state state, uint32_t count,
                                         const char *stack) {
    f->state = state;
    sample_as(f, WIRE_EVENT_WALL, 50 * MS, tid, count, stack);
    f->state = WIRE_THREAD_UNKNOWN;
}

__attribute__((unused)) static uint32_t class_named(struct fixture *f, const char *name) {
    return method_table_intern(profile_methods(f->profile), METHOD_CLASS, name, "", "", "");
}

__attribute__((unused)) static void waited(struct fixture *f, const char *class_name,
                                           uint32_t flags, uint64_t lock, uint32_t tid, uint64_t ns,
                                           uint32_t owner, const char *stack) {
    struct profile_frame frame[FIXTURE_FRAMES];
    uint16_t n = fixture_stack(f, stack, frame);
    struct profile_lock l = {.time_ns = f->now_ns,
                             .waited_ns = ns,
                             .lock_id = lock,
                             .class_id = class_named(f, class_name),
                             .flags = flags,
                             .tid = tid,
                             .owner_tid = owner,
                             .owner_frames = n,
                             .owner_frame = frame + FIXTURE_FRAMES - n};
    assert_int_equal(profile_lock_wait(f->profile, &l), 0);
}

#define RUN "2 java.lang.Thread.run|2 shop.http.Worker.run|2 shop.http.Worker.handle|"

__attribute__((unused)) static void add_locks(struct fixture *f) {
    waited(f, "java/util/HashMap", WIRE_LOCK_MONITOR, 1, 4711, 310 * MS, 4712,
           RUN "2 shop.cart.Cart.total");
    waited(f, "java/util/HashMap", WIRE_LOCK_MONITOR, 1, 4713, 120 * MS, 4712,
           RUN "2 shop.cart.Cart.total");
    waited(f, "java/util/HashMap", WIRE_LOCK_MONITOR, 1, 4713, 20 * MS, 4712,
           RUN "2 shop.cart.Cart.total|n memmove"); /* the same method of Java */
    waited(f, "java/util/HashMap", WIRE_LOCK_MONITOR, 2, 4712, 40 * MS, 4711,
           RUN "2 shop.search.Index.find");
    waited(f, "java/util/concurrent/locks/ReentrantReadWriteLock$NonfairSync", WIRE_LOCK_SHARED, 3,
           4711, 15 * US, 0, "");
    waited(f, "shop/価格", 0, 4, 4712, 2500 * US, 4713, "");
}

__attribute__((unused)) static void new_screen(struct fixture *f, enum live_view view) {
    screen_free(f->screen);
    f->screen = screen_new(&f->model, view);
    assert_non_null(f->screen);
}

/* CPU, wall clock, allocation and locks of the shop. */
__attribute__((unused)) static void open_busy(struct fixture *f, enum live_view view, int rows,
                                              int cols, bool ascii) {
    static const struct wire_engine_request engine[] = {
        {.event = WIRE_EVENT_CPU, .name = "cpu"},
        {.event = WIRE_EVENT_WALL, .name = "wall"},
        {.event = WIRE_EVENT_ALLOC, .name = "alloc"},
        {.event = WIRE_EVENT_LOCK, .name = "lock"},
    };
    fixture_open(f, view, rows, cols, ascii);
    f->model.settings.engine = engine;
    f->model.settings.engines = sizeof engine / sizeof engine[0];
    new_screen(f, view);
    fixture_engine(f, WIRE_EVENT_WALL, "wall", "signal", 50 * MS);
    fixture_engine(f, WIRE_EVENT_ALLOC, "alloc", "jvmti", 524287);
    fixture_engine(f, WIRE_EVENT_LOCK, "lock", "jvmti", 10 * US);
    f->status.engine[WIRE_EVENT_WALL].coverage = 0.992;
    wall(f, 4711, WIRE_THREAD_RUNNING, 160,
         RUN "2 shop.cart.Cart.total|i shop.price.Rounding.halfUp");
    wall(f, 4711, WIRE_THREAD_PARKED, 40, RUN "2 jdk.internal.misc.Unsafe.park");
    wall(f, 4712, WIRE_THREAD_RUNNING, 90,
         RUN "2 shop.search.Index.find|1 java.util.HashMap.getNode");
    wall(f, 4712, WIRE_THREAD_BLOCKED, 60, RUN "2 shop.search.Index.find");
    wall(f, 4712, WIRE_THREAD_IO, 50,
         RUN "I java.net.SocketOutputStream.socketWrite0|n __libc_send");
    wall(f, 4713, WIRE_THREAD_SLEEPING, 200, "2 java.lang.Thread.run|I java.lang.Thread.sleep");
    wall(f, 4721, WIRE_THREAD_FUTEX, 200, "n start_thread|n pthread_cond_wait");
    sample_as(f, WIRE_EVENT_ALLOC, 512 * KIB, 4711, 300,
              RUN "2 shop.cart.Cart.total|i shop.price.Rounding.halfUp");
    sample_as(f, WIRE_EVENT_ALLOC, 512 * KIB, 4712, 100, RUN "2 shop.search.Index.find");
    sample_as(f, WIRE_EVENT_LOCK, 4 * MS, 4711, 100, RUN "2 shop.cart.Cart.total");
    sample_as(f, WIRE_EVENT_LOCK, 700 * US, 4712, 3, RUN "2 shop.search.Index.find");
    f->event = WIRE_EVENT_CPU;
    f->each = 10 * MS;
    add_locks(f);
    fixture_second(f);
}

#endif
