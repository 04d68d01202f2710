/* The page of stacks: what the JVM answers, as lines; its keys; and what is shown if the JVM does not
 * answer, or there is none. */
#include "test/unit/tui/tui_compare.h"

#include "tui/model/thread_dump.h"
#include "tui/screen/save.h"
#include "tui/terminal/press.h"

#include <stdatomic.h>
#include <unistd.h>

/* ---- a JVM that answers as it is told ---- */

static struct {
    char *text; /* the answer; NULL: it stays silent until it is cancelled */
    size_t bytes;
    const char *error;
    atomic_int asked, cancelled;
    bool locks;
} vm;

static int answer(const struct jvm *j, bool locks,
                  int (*each)(void *context, const char *data, size_t len), void *context,
                  struct err *e) {
    vm.locks = locks;
    atomic_fetch_add(&vm.asked, 1);
    if (vm.error)
        return err_set(e, EPERM, "JVM %d: %s", (int)j->pid, vm.error);
    for (int rc; !vm.text; usleep(1000))
        if ((rc = each(context, "", 0)) < 0) {
            atomic_fetch_add(&vm.cancelled, 1);
            return rc;
        }
    for (size_t at = 0; at < vm.bytes; at += 1000) { /* in pieces, as from a socket */
        int rc = each(context, vm.text + at, vm.bytes - at < 1000 ? vm.bytes - at : 1000);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static void open_page(struct fixture *f, enum live_view view, int rows, int cols, bool ascii) {
    fixture_open(f, view, rows, cols, ascii);
    f->model.source.stacks = answer;
    screen_draw(f->screen, &f->canvas, NULL);
}

static void read_answer(const char *name) {
    char path[128];
    snprintf(path, sizeof path, "test/fuzz/corpus/thread_dump/%s", name);
    vm.text = read_file(path);
    assert_non_null(vm.text);
    vm.bytes = strlen(vm.text);
}

static int begin(void **unused) {
    (void)unused;
    memset(&vm, 0, sizeof vm);
    read_answer("shop");
    return 0;
}

static int end(void **unused) {
    (void)unused;
    free(vm.text);
    return 0;
}

/* Draws until the answer is on screen. */
static void await_answer(struct fixture *f) {
    for (int i = 0; i < 10000; i++) {
        screen_draw(f->screen, &f->canvas, NULL);
        if (!screen_waits(f->screen))
            return;
        usleep(1000);
    }
    fail_msg("no answer");
}

static void await_cancelled(int times) {
    for (int i = 0; i < 10000 && atomic_load(&vm.cancelled) < times; i++)
        usleep(1000);
    assert_int_equal(atomic_load(&vm.cancelled), times);
}

static void ask(struct fixture *f) {
    fixture_press(f, "D");
    await_answer(f);
}

static char *page(struct fixture *f) {
    static struct text t;
    text_clear(&t);
    screen_draw(f->screen, &f->canvas, NULL);
    canvas_dump(&f->canvas, &t);
    return t.data;
}

static void shows(struct fixture *f, const char *what) {
    if (!strstr(page(f), what))
        fail_msg("not shown: %s\n%s", what, page(f));
}

static void hides(struct fixture *f, const char *what) {
    if (strstr(page(f), what))
        fail_msg("shown: %s\n%s", what, page(f));
}

/* Compares the screen. The time of the answer is the real one: it is replaced. */
static void compare_page(struct fixture *f, const char *name) {
    struct text t = {0};
    text_add(&t, page(f));
    char *at = strstr(t.data, "stacks of ");
    assert_non_null(at);
    memcpy(at + strlen("stacks of "), "14:57:02", 8);
    compare(&t, name);
    text_free(&t);
}

/* ---- the page ---- */

static void screens(void **unused) {
    (void)unused;
    static const struct { int rows, cols; } size[] = {{24, 80}, {50, 160}};
    for (int i = 0; i < 4; i++) {
        struct fixture f;
        char file[80];
        open_page(&f, LIVE_METHODS, size[i / 2].rows, size[i / 2].cols, i % 2);
        ask(&f);
        snprintf(file, sizeof file, "stacks-%dx%d%s", size[i / 2].cols, size[i / 2].rows,
                 i % 2 ? "-ascii" : "");
        compare_page(&f, file);
        if (i == 0)
            compare_mono(&f, "stacks-mono");
        fixture_close(&f);
    }
    struct fixture f;
    open_page(&f, LIVE_METHODS, 10, 40, false);
    ask(&f);
    compare_page(&f, "stacks-40x10");
    fixture_close(&f);
}

/* On a thread's row its own stack, found by its number; on a pool's row those of the pool. */
static void of_the_row(void **unused) {
    (void)unused;
    struct fixture f;
    open_page(&f, LIVE_THREADS, 30, 100, false);
    fixture_press(&f, "/worker-2\n");
    ask(&f);
    shows(&f, "STACK OF THREAD http-worker-2");
    shows(&f, "http-worker-2  WAITING (parking)  tid 4712");
    shows(&f, "at shop.http.Worker.run(Worker.java:40)");
    hides(&f, "http-worker-1  ");
    fixture_press(&f, "\x1b");
    hides(&f, "STACK OF THREAD");
    fixture_press(&f, "/VM Thr\n");
    ask(&f);
    shows(&f, "VM Thread  runnable  tid 4721");
    fixture_press(&f, "q");
    fixture_press(&f, "d/worker\n");
    ask(&f);
    shows(&f, "STACKS OF POOL http-worker-#: 2");
    shows(&f, "http-worker-1  BLOCKED");
    shows(&f, "http-worker-2  WAITING");
    hides(&f, "VM Thread  runnable");
    fixture_press(&f, "q1");
    ask(&f);
    shows(&f, "STACKS OF ALL THREADS: 7");
    fixture_close(&f);
}

/* In a container the numbers are other ones, so the names count. */
static void by_name(void **unused) {
    (void)unused;
    struct fixture f;
    open_page(&f, LIVE_THREADS, 30, 100, false);
    f.jvm.inner_pid = 7;
    f.jvm.container = true;
    fixture_second(&f);
    char *nid;
    while ((nid = strstr(vm.text, "nid=47"))) /* "nid=4711" is 5711 for the JVM */
        nid[4] = '5';
    fixture_press(&f, "/worker-2\n");
    ask(&f);
    shows(&f, "http-worker-2  WAITING (parking)  tid 5712");
    hides(&f, "http-worker-1  ");
    fixture_close(&f);
}

static void no_such_thread(void **unused) {
    (void)unused;
    struct fixture f;
    open_page(&f, LIVE_THREADS, 30, 100, false);
    f.jvm.inner_pid = 7;
    fixture_second(&f);
    fixture_press(&f, "/worker-2\n");
    memcpy(strstr(vm.text, "\"http-worker-2"), "\"else", 5);
    ask(&f);
    shows(&f, "this thread is not in the JVM's answer");
    fixture_press(&f, "q/gone\n");
    fixture_press(&f, "D");
    shows(&f, "this thread has ended: it has no stack any more");
    assert_false(screen_waits(f.screen));
    fixture_close(&f);
}

static void deadlocks(void **unused) {
    (void)unused;
    struct fixture f;
    open_page(&f, LIVE_METHODS, 50, 100, false);
    ask(&f);
    shows(&f, "deadlock: http-worker-1 waits for 価格-更新, 価格-更新 waits for http-worker-1");
    shows(&f, "http-worker-1  BLOCKED (on object monitor)  tid 4711  DEADLOCK");
    shows(&f, "waits for <0xffd156b8> shop.price.Table, held by 価格-更新");
    hides(&f, "tid 4712  DEADLOCK");
    char *all = page(&f), *vm_threads = strstr(all, "threads of the JVM itself:");
    assert_non_null(vm_threads);
    assert_true(strstr(all, "http-worker-2  WAITING") < vm_threads);
    assert_true(strstr(all, "Reference Handler  RUNNABLE") > vm_threads);
    fixture_close(&f);
}

static void scrolls(void **unused) {
    (void)unused;
    struct fixture f;
    open_page(&f, LIVE_METHODS, 14, 80, false);
    ask(&f);
    shows(&f, "deadlock: ");
    fixture_press(&f, "j");
    hides(&f, "deadlock: ");
    fixture_press(&f, "k");
    shows(&f, "deadlock: ");
    screen_press(f.screen, PRESS_PAGE_DOWN);
    shows(&f, "lines 8 to ");
    screen_press(f.screen, PRESS_PAGE_UP);
    shows(&f, "lines 1 to ");
    screen_press(f.screen, PRESS_END);
    shows(&f, "VM Thread  runnable");
    screen_press(f.screen, PRESS_DOWN);
    shows(&f, "VM Thread  runnable");
    const struct mouse wheel = {.action = MOUSE_WHEEL_UP, .row = 9};
    screen_mouse(f.screen, &wheel);
    hides(&f, "VM Thread  runnable");
    screen_press(f.screen, PRESS_HOME);
    shows(&f, "lines 1 to ");
    fixture_close(&f);
}

static void searches(void **unused) {
    (void)unused;
    struct fixture f;
    open_page(&f, LIVE_METHODS, 14, 80, false);
    fixture_press(&f, "/halfUp\n");
    ask(&f);
    fixture_press(&f, "/CART.TOTAL\n");
    shows(&f, ">     at shop.cart.Cart.total(Cart.java:52)");
    fixture_press(&f, "n");
    shows(&f, ">     at shop.cart.Cart.total(Cart.java:50)");
    fixture_press(&f, "n"); /* from the end to the beginning */
    shows(&f, ">     at shop.cart.Cart.total(Cart.java:52)");
    fixture_press(&f, "N");
    shows(&f, ">     at shop.cart.Cart.total(Cart.java:50)");
    fixture_press(&f, "/nowhere\n");
    shows(&f, "not found: nowhere");
    fixture_press(&f, "q");
    assert_string_equal(f.model.search, "halfUp"); /* the view has its own again */
    fixture_close(&f);
}

static void copies_and_saves(void **unused) {
    (void)unused;
    struct fixture f;
    char directory[] = "/tmp/stacks-XXXXXX", path[512], *written;
    struct err e = {0};
    size_t bytes;
    open_page(&f, LIVE_THREADS, 30, 100, false);
    fixture_press(&f, "/worker-2\n");
    ask(&f);
    assert_int_equal(screen_press(f.screen, 'y'), SCREEN_COPY);
    assert_non_null(strstr(screen_text(f.screen), "http-worker-2  WAITING (parking)  tid 4712\n"));
    assert_null(strstr(screen_text(f.screen), "VM Thread"));
    assert_int_equal(screen_press(f.screen, 's'), SCREEN_SAVE_STACKS);
    const char *dump = screen_stacks_dump(f.screen, &bytes);
    assert_int_equal(bytes, vm.bytes); /* all threads, as the JVM wrote them */
    assert_string_equal(dump, vm.text);
    char *here = getcwd(NULL, 0);
    assert_non_null(mkdtemp(directory));
    assert_int_equal(chdir(directory), 0);
    f.model.question.event = WIRE_EVENT_ALLOC; /* the file is not of an event */
    assert_int_equal(save_text(&f.model, ".txt", dump, bytes, 1000000000, path, sizeof path, &e),
                     0);
    assert_non_null(strstr(path, "/jtop-prof-shop.Main-4700-20010909-"));
    assert_string_equal(path + strlen(path) - 4, ".txt");
    written = read_file(path);
    assert_string_equal(written, vm.text);
    free(written);
    unlink(path);
    assert_int_equal(chdir(here), 0);
    rmdir(directory);
    free(here);
    fixture_close(&f);
}

/* D takes new ones; until they come, and if none come, the old ones stay. */
static void again(void **unused) {
    (void)unused;
    struct fixture f;
    open_page(&f, LIVE_METHODS, 30, 100, false);
    ask(&f);
    memcpy(strstr(vm.text, "Table)"), "Tavle)", 6);
    screen_press(f.screen, PRESS_F5);
    await_answer(&f);
    shows(&f, "shop.price.Tavle");
    assert_int_equal(atomic_load(&vm.asked), 2);
    char *text = vm.text;
    vm.text = NULL;
    fixture_press(&f, "D");
    shows(&f, "asking the JVM for its stacks");
    shows(&f, "shop.price.Tavle");
    fixture_press(&f, "\x1b");
    shows(&f, "shop.price.Tavle");
    hides(&f, "asking the JVM");
    await_cancelled(1);
    vm.text = text;
    fixture_press(&f, "?");
    shows(&f, "keys");
    fixture_press(&f, "\x1b");
    shows(&f, "shop.price.Tavle");
    fixture_close(&f);
}

/* ---- no stacks ---- */

static void silence(void **unused) {
    (void)unused;
    struct fixture f;
    open_page(&f, LIVE_METHODS, 30, 100, false);
    free(vm.text);
    vm.text = NULL;
    fixture_press(&f, "D");
    shows(&f, "asking the JVM for its stacks ... Esc cancels");
    fixture_press(&f, "ys");
    shows(&f, "asking the JVM for its stacks ... Esc cancels");
    fixture_press(&f, "D"); /* it is asked only once */
    fixture_press(&f, "\x1b");
    shows(&f, "cancelled: the JVM has not answered");
    shows(&f, "SELF%");
    assert_false(screen_waits(f.screen));
    await_cancelled(1); /* its thread ends */
    assert_int_equal(atomic_load(&vm.asked), 1);
    fixture_press(&f, "D"); /* and also with the screen */
    fixture_close(&f);
    await_cancelled(2);
}

static void nobody_to_ask(void **unused) {
    (void)unused;
    struct fixture f;
    open_page(&f, LIVE_METHODS, 30, 100, false);
    f.model.source.stacks = NULL;
    fixture_press(&f, "D");
    shows(&f, "this is a recording: there is no JVM to ask for its stacks");
    f.model.source.stacks = answer;
    f.status.phase = SESSION_JVM_GONE;
    fixture_second(&f);
    fixture_press(&f, "D");
    shows(&f, "the JVM is gone: it has no stacks any more");
    assert_int_equal(atomic_load(&vm.asked), 0);
    fixture_close(&f);
}

static void errors(void **unused) {
    (void)unused;
    struct fixture f;
    open_page(&f, LIVE_METHODS, 30, 60, false);
    vm.error = "it runs as user 1000, this is user 1001: start jtop-prof as that user or as root";
    ask(&f);
    shows(&f, "  JVM 4700: it runs as user 1000, this is user 1001: start\n");
    shows(&f, "  jtop-prof as that user or as root\n");
    vm.error = NULL;
    fixture_press(&f, "D"); /* asks again */
    await_answer(&f);
    shows(&f, "deadlock: ");
    fixture_press(&f, "q");
    vm.bytes = 100;
    ask(&f);
    shows(&f, "the answer of JVM 4700 is no thread dump");
    fixture_close(&f);
}

/* An answer without end is cut, and is shown. */
static void endless(void **unused) {
    (void)unused;
    struct fixture f;
    size_t bytes = THREAD_DUMP_BYTES + (1 << 20);
    char *text = malloc(bytes + 1);
    assert_non_null(text);
    memset(text, '\n', bytes);
    memcpy(text, vm.text, vm.bytes);
    free(vm.text);
    vm.text = text;
    vm.bytes = bytes;
    open_page(&f, LIVE_METHODS, 30, 100, false);
    ask(&f);
    shows(&f, "the JVM's answer is longer than 16 MiB: threads at its end are missing");
    shows(&f, "http-worker-1  BLOCKED");
    fixture_close(&f);
}

/* A walk over a large heap would stop the JVM for long. */
static void large_heap(void **unused) {
    (void)unused;
    struct fixture f;
    open_page(&f, LIVE_METHODS, 30, 120, false);
    ask(&f);
    assert_true(vm.locks);
    hides(&f, "are left out");
    fixture_press(&f, "q");
    f.jvm.heap_used_bytes = UINT64_C(256) << 20;
    fixture_second(&f);
    ask(&f);
    assert_true(vm.locks);
    fixture_press(&f, "q");
    f.jvm.heap_used_bytes++;
    fixture_second(&f);
    ask(&f);
    assert_false(vm.locks);
    shows(&f, "owners of java.util.concurrent locks are left out: key l requests them");
    fixture_press(&f, "l"); /* the user takes the pause */
    await_answer(&f);
    assert_true(vm.locks);
    hides(&f, "are left out");
    fixture_close(&f);
}

static void virtual_threads(void **unused) {
    (void)unused;
    struct fixture f;
    open_page(&f, LIVE_THREADS, 30, 100, false);
    ask(&f);
    hides(&f, "virtual threads are not in a thread dump");
    fixture_press(&f, "q");
    fixture_virtual(&f, 4712, 99, 50, "2 java.lang.VirtualThread.run|2 shop.Task.call");
    fixture_second(&f);
    fixture_press(&f, "1");
    ask(&f);
    shows(&f, "virtual threads are not in a thread dump");
    fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(screens, begin, end),
        cmocka_unit_test_setup_teardown(of_the_row, begin, end),
        cmocka_unit_test_setup_teardown(by_name, begin, end),
        cmocka_unit_test_setup_teardown(no_such_thread, begin, end),
        cmocka_unit_test_setup_teardown(deadlocks, begin, end),
        cmocka_unit_test_setup_teardown(scrolls, begin, end),
        cmocka_unit_test_setup_teardown(searches, begin, end),
        cmocka_unit_test_setup_teardown(copies_and_saves, begin, end),
        cmocka_unit_test_setup_teardown(again, begin, end),
        cmocka_unit_test_setup_teardown(silence, begin, end),
        cmocka_unit_test_setup_teardown(nobody_to_ask, begin, end),
        cmocka_unit_test_setup_teardown(errors, begin, end),
        cmocka_unit_test_setup_teardown(endless, begin, end),
        cmocka_unit_test_setup_teardown(large_heap, begin, end),
        cmocka_unit_test_setup_teardown(virtual_threads, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
