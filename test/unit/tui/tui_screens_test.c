/* Every view as text. */
#include "test/unit/tui/tui_compare.h"

#include "tui/terminal/press.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void views(void **unused) {
    (void)unused;
    static const char *const view_name[] = {"methods", "threads", "tree"};
    static const struct { int rows, cols; } size[] = {{24, 80}, {50, 160}};
    for (int v = 0; v < 3; v++) {
        for (int i = 0; i < 4; i++) {
            struct fixture f;
            char name[64];
            fixture_open(&f, (enum live_view)v, size[i / 2].rows, size[i / 2].cols, i % 2);
            snprintf(name, sizeof name, "%s-%dx%d%s", view_name[v], size[i / 2].cols,
                     size[i / 2].rows, i % 2 ? "-ascii" : "");
            compare_screen(&f, name);
            if (i == 0) {
                snprintf(name, sizeof name, "%s-mono", view_name[v]);
                compare_mono(&f, name);
            }
            fixture_close(&f);
        }
    }
}

static void tree_folds(void **unused) {
    (void)unused;
    struct fixture f;
    fixture_open(&f, LIVE_TREE, 24, 80, false);
    fixture_press(&f, "e");
    compare_screen(&f, "tree-hottest");
    fixture_press(&f, "G-jjk+kk-\n");
    compare_screen(&f, "tree-folded");
    fixture_press(&f, "gi");
    fixture_press(&f, "j+");
    compare_screen(&f, "tree-inverted");
    fixture_close(&f);
}

static void zoom_and_filter(void **unused) {
    (void)unused;
    struct fixture f;
    fixture_open(&f, LIVE_THREADS, 24, 80, false);
    fixture_press(&f, "j\n");
    compare_screen(&f, "methods-thread");
    fixture_press(&f, "3");
    compare_screen(&f, "tree-thread");
    fixture_press(&f, "\x1b"
                      "1\\");
    compare_screen(&f, "filter-typing-empty");
    fixture_press(&f, "SHOP.p");
    compare_screen(&f, "filter-typing");
    fixture_press(&f, "\n");
    compare_screen(&f, "filter-methods");
    fixture_press(&f, "2");
    compare_screen(&f, "filter-threads");
    fixture_press(&f, "\\\x15!shop\n1");
    compare_screen(&f, "filter-without");
    fixture_press(&f, "\\\x15no such thing\n");
    compare_screen(&f, "filter-nothing");
    fixture_press(&f, "U");
    compare_screen(&f, "methods-80x24"); /* as if nothing had been */
    fixture_close(&f);
}

static void states(void **unused) {
    (void)unused;
    struct fixture f;
    fixture_open(&f, LIVE_METHODS, 24, 80, false);
    fixture_press(&f, "p");
    f.status.dropped = 1234;
    fixture_sample(&f, 4720, 5000, "n somebody_else");
    fixture_second(&f);
    compare_screen(&f, "paused"); /* rows as before, header new */
    fixture_press(&f, "p");
    f.status.phase = SESSION_JVM_GONE;
    f.thread_count = 0;
    fixture_second(&f);
    compare_screen(&f, "jvm-gone");
    fixture_press(&f, "2");
    compare_screen(&f, "jvm-gone-threads");
    screen_say(f.screen, "written: /home/ana/jtop-prof-shop.Main-4700-20260101-120000.svg");
    compare_screen(&f, "written");
    fixture_close(&f);
}

/* Rows of virtual threads, and the same samples as their carriers'. */
static void virtual_threads(void **unused) {
    (void)unused;
    struct fixture f;
    fixture_open(&f, LIVE_THREADS, 24, 80, false);
#define TASK "2 java.lang.VirtualThread.run|2 shop.Task.run|"
    profile_thread_name(f.profile, 4731, 31, "ForkJoinPool-1-worker-1");
    profile_thread_name(f.profile, 4732, 32, "ForkJoinPool-1-worker-2");
    profile_virtual_name(f.profile, 101, "order-intake-pool-7-task-101");
    profile_virtual_name(f.profile, 102, "order-intake-pool-7-task-102");
    fixture_virtual(&f, 4731, 101, 100, TASK "i shop.Order.parse");
    fixture_virtual(&f, 4732, 101, 60, TASK "i shop.Order.parse");
    fixture_virtual(&f, 4732, 102, 80, TASK "2 shop.Order.total");
    fixture_virtual(&f, 4731, 103, 50, TASK "2 shop.Order.total"); /* has no name */
    fixture_sample(&f, 4731, 20, "2 java.util.concurrent.ForkJoinPool.runWorker");
    fixture_second(&f);
    compare_screen(&f, "threads-virtual");
    fixture_press(&f, "v");
    compare_screen(&f, "threads-carriers");
    fixture_press(&f, "3Te");
    compare_screen(&f, "tree-by-carrier");
    fixture_press(&f, "v");
    compare_screen(&f, "tree-by-thread");
    fixture_press(&f, "i");
    compare_screen(&f, "tree-by-thread-inverted");
    fixture_press(&f, "2jj\n");
    compare_screen(&f, "methods-virtual");
    fixture_press(&f, "2Ug");
    compare_screen(&f, "threads-virtual");
    fixture_close(&f);
}

static void equal_names(void **unused) {
    (void)unused;
    struct fixture f;
    fixture_open(&f, LIVE_METHODS, 24, 80, false);
    fixture_sample(&f, 4711, 400, "2 shop.Cart.run|2 shop.Cart.add(Lshop/price/Money;I)V");
    fixture_sample(&f, 4711, 350, "2 shop.Cart.run|2 shop.Cart.add([JLjava/lang/String;)V");
    fixture_second(&f);
    compare_screen(&f, "methods-overloads");
    fixture_close(&f);
}

/* How the samples are taken, where that is not as usual. */
static void walkers(void **unused) {
    (void)unused;
    struct fixture f;
    fixture_open(&f, LIVE_METHODS, 24, 80, false);
    f.model.settings = (struct model_settings){.walk = WIRE_WALK_ASGCT, .precise = true};
    fixture_reason(&f, WIRE_EVENT_CPU, 0, "this VM exports no AsyncGetCallTrace");
    f.status.recompiled = 12;
    f.status.recompile_ns = 34600000;
    fixture_second(&f);
    compare_screen(&f, "precise-80x24");
    assert_int_equal(canvas_resize(&f.canvas, 50, 160), 0);
    compare_screen(&f, "precise-160x50");
    f.model.settings.walk = WIRE_WALK_DWARF;
    snprintf(f.status.walker, sizeof f.status.walker, "dwarf");
    fixture_reason(&f, WIRE_EVENT_CPU, 0, "");
    snprintf(f.status.message, sizeof f.status.message, "no unwind tables for some of it");
    fixture_second(&f);
    compare_screen(&f, "precise-dwarf");
    f.status.message[0] = '\0';
    fixture_reason(&f, WIRE_EVENT_CPU, 0, "perf_events are not allowed here");
    snprintf(f.status.news, sizeof f.status.news,
             "after 2.1 s: recompiled shop.cart.Cart.total (C2) for precision: 3.4 ms");
    fixture_second(&f);
    assert_int_equal(canvas_resize(&f.canvas, 24, 80), 0);
    compare_screen(&f, "precise-news");
    fixture_close(&f);
}

static void help(void **unused) {
    (void)unused;
    struct fixture f;
    fixture_open(&f, LIVE_METHODS, 60, 100, false);
    fixture_press(&f, "?");
    compare_screen(&f, "help-100x60");
    canvas_resize(&f.canvas, 24, 80);
    compare_screen(&f, "help-80x24");
    screen_press(f.screen, PRESS_END);
    compare_screen(&f, "help-80x24-end");
    fixture_press(&f, "q");
    compare_screen(&f, "methods-80x24");
    fixture_close(&f);
}

static void sizes(void **unused) {
    (void)unused;
    struct fixture f;
    fixture_open(&f, LIVE_METHODS, 10, 40, false);
    compare_screen(&f, "methods-40x10");
    canvas_resize(&f.canvas, 9, 40);
    compare_screen(&f, "too-small");
    canvas_resize(&f.canvas, 10, 40);
    fixture_press(&f, "3");
    compare_screen(&f, "tree-40x10"); /* help and the way out are still there */
    fixture_press(&f, "1U");
    canvas_resize(&f.canvas, 24, 80);
    compare_screen(&f, "methods-80x24");
    screen_draw_batch(f.screen, &f.canvas);
    compare_canvas(&f.canvas, "batch-80x24");
    fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(views),
        cmocka_unit_test(tree_folds),
        cmocka_unit_test(zoom_and_filter),
        cmocka_unit_test(states),
        cmocka_unit_test(help),
        cmocka_unit_test(sizes),
        cmocka_unit_test(virtual_threads),
        cmocka_unit_test(equal_names),
        cmocka_unit_test(walkers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
