/* Every view as text, compared with test/screens/NAME.txt. JTOP_SCREENS_UPDATE=1 writes them anew;
 * read the difference before it is committed. */
#include "test/unit/tui_fixture.h"

#include "tui/picker.h"
#include "tui/press.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static char *read_file(const char *path) {
    FILE *f = fopen(path, "r");
    if (!f)
        return NULL;
    char *data = calloc(1, 1 << 16);
    assert_non_null(data);
    size_t n = fread(data, 1, (1 << 16) - 1, f);
    data[n] = '\0';
    fclose(f);
    return data;
}

static void compare(const struct text *now, const char *name) {
    char path[256], seen[256];
    snprintf(path, sizeof path, "test/screens/%s.txt", name);
    assert_false(now->failed);
    if (getenv("JTOP_SCREENS_UPDATE")) {
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fputs(now->data, f);
        fclose(f);
        return;
    }
    char *expected = read_file(path);
    if (!expected || strcmp(expected, now->data) != 0) {
        const char *directory = getenv("TMPDIR");
        snprintf(seen, sizeof seen, "%s/%s.txt", directory ? directory : "/tmp", name);
        FILE *f = fopen(seen, "w");
        if (f) {
            fputs(now->data, f);
            fclose(f);
        }
        print_message("%s:\n%s", name, now->data);
        fail_msg("the screen differs from %s; it is in %s", path, seen);
    }
    free(expected);
}

static void compare_canvas(const struct canvas *c, const char *name) {
    struct text t = {0};
    canvas_dump(c, &t);
    compare(&t, name);
    text_free(&t);
}

static void compare_screen(struct fixture *f, const char *name) {
    screen_draw(f->screen, &f->canvas, NULL);
    compare_canvas(&f->canvas, name);
}

/* What a terminal without colour shows of the roles: under each row that has any, its attributes
 * as letters (b bold, d dim, r reverse, u underline). */
static void compare_mono(struct fixture *f, const char *name) {
    static const char letters[] = ".bdBrRxXuUxXxXxX";
    struct theme theme;
    assert_int_equal(theme_default(&theme, NULL), 0);
    screen_draw(f->screen, &f->canvas, NULL);
    for (int i = 0; i < f->canvas.rows * f->canvas.cols; i++) {
        struct cell *cell = &f->canvas.cells[i];
        bool plain = cell->text[0] == L' ' && !theme.style[cell->role].mono;
        *cell = (struct cell){
            .width = 1,
            .text = {plain ? L' ' : (wchar_t)letters[theme.style[cell->role].mono & 15]}};
    }
    compare_canvas(&f->canvas, name);
}

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
    fixture_press(&f, "G-jjklkkh ");
    compare_screen(&f, "tree-folded");
    fixture_press(&f, "gi");
    fixture_press(&f, "jl");
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
                      "1/");
    compare_screen(&f, "filter-typing-empty");
    fixture_press(&f, "SHOP.p");
    compare_screen(&f, "filter-typing");
    fixture_press(&f, "\n");
    compare_screen(&f, "filter-methods");
    fixture_press(&f, "2");
    compare_screen(&f, "filter-threads");
    fixture_press(&f, "/\x15!shop\n1");
    compare_screen(&f, "filter-without");
    fixture_press(&f, "/\x15no such thing\n");
    compare_screen(&f, "filter-nothing");
    fixture_press(&f, "\x1b");
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
    fixture_press(&f, "2\x1bg");
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
    snprintf(f.status.reason, sizeof f.status.reason, "%s", "this VM exports no AsyncGetCallTrace");
    f.status.recompiled = 12;
    f.status.recompile_ns = 34600000;
    fixture_second(&f);
    compare_screen(&f, "precise-80x24");
    assert_int_equal(canvas_resize(&f.canvas, 50, 160), 0);
    compare_screen(&f, "precise-160x50");
    f.model.settings.walk = WIRE_WALK_DWARF;
    snprintf(f.status.walker, sizeof f.status.walker, "dwarf");
    f.status.reason[0] = '\0';
    snprintf(f.status.message, sizeof f.status.message, "no unwind tables for some of it");
    fixture_second(&f);
    compare_screen(&f, "precise-dwarf");
    f.status.message[0] = '\0';
    snprintf(f.status.reason, sizeof f.status.reason, "perf_events are not allowed here");
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
    fixture_press(&f, "1");
    canvas_resize(&f.canvas, 24, 80);
    compare_screen(&f, "methods-80x24");
    screen_draw_batch(f.screen, &f.canvas);
    compare_canvas(&f.canvas, "batch-80x24");
    fixture_close(&f);
}

static struct jvm *make_jvms(uint32_t *count) {
    static const struct jvm some[] = {
        {.pid = 4700,
         .uid = 1000,
         .user = "ana",
         .name = "shop.Main",
         .arguments = "--port 8080",
         .version = "17.0.15+6-Debian-1deb12u1",
         .uptime_ms = 93784000,
         .cpu_percent = 187.4,
         .rss_bytes = UINT64_C(412) << 20,
         .heap_used_bytes = UINT64_C(123) << 20,
         .heap_max_bytes = UINT64_C(512) << 20,
         .threads = 31},
        {.pid = 52,
         .uid = 106,
         .user = "elasticsearch",
         .name = "org.elasticsearch.bootstrap.Elasticsearch",
         .version = "21.0.4+7-LTS",
         .uptime_ms = UINT64_C(86400000) * 40,
         .cpu_percent = 3.1,
         .rss_bytes = UINT64_C(9) << 30,
         .heap_used_bytes = UINT64_C(3500) << 20,
         .heap_max_bytes = UINT64_C(8) << 30,
         .threads = 188},
        {.pid = 990,
         .uid = 1000,
         .user = "ana",
         .name = "b\xff\x1bild.jar",
         .version = "25.412-b08",
         .uptime_ms = 42000,
         .threads = 9},
    };
    struct jvm *out = malloc(sizeof some);
    assert_non_null(out);
    memcpy(out, some, sizeof some);
    *count = 3;
    return out;
}

static void compare_picker(struct picker *p, struct canvas *c, const char *name) {
    picker_draw(p, c, NULL);
    compare_canvas(c, name);
}

static void picker(void **unused) {
    (void)unused;
    setlocale(LC_CTYPE, "C.UTF-8");
    struct canvas c = {0};
    uint32_t count;
    struct picker *p = picker_new(1000);
    assert_non_null(p);
    assert_int_equal(canvas_resize(&c, 24, 80), 0);
    picker_update(p, NULL, 0);
    compare_picker(p, &c, "picker-empty");
    assert_int_equal(picker_press(p, PRESS_ENTER), PICKER_NOTHING);
    struct jvm *jvms = make_jvms(&count);
    picker_update(p, jvms, count);
    compare_picker(p, &c, "picker-80x24");
    assert_int_equal(picker_press(p, PRESS_ENTER), PICKER_CHOSEN);
    assert_int_equal(picker_chosen(p)->pid, 4700);
    picker_press(p, 'j');
    compare_picker(p, &c, "picker-foreign");
    picker_say(p,
               "cannot attach to pid 52: it belongs to uid 106 (elasticsearch), we are uid 1000: "
               "run as that user or as root");
    compare_picker(p, &c, "picker-error");
    for (const char *s = "/ELASTIC"; *s; s++)
        picker_press(p, *s);
    compare_picker(p, &c, "picker-filter");
    picker_press(p, PRESS_ESCAPE);
    canvas_resize(&c, 50, 160);
    compare_picker(p, &c, "picker-160x50");
    assert_int_equal(picker_press(p, PRESS_ESCAPE), PICKER_QUIT);
    picker_free(p);
    canvas_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(views),
        cmocka_unit_test(tree_folds),
        cmocka_unit_test(zoom_and_filter),
        cmocka_unit_test(states),
        cmocka_unit_test(help),
        cmocka_unit_test(sizes),
        cmocka_unit_test(picker),
        cmocka_unit_test(virtual_threads),
        cmocka_unit_test(equal_names),
        cmocka_unit_test(walkers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
