/* What `s` writes: the picture that is shown, and a title that says what it is of. */
#include "test/unit/tui/tui_fixture.h"

#include "tui/screen/save.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <unistd.h>

/* What the view on screen is saved to, and a NUL. *path: its name. */
static char *saved_as(struct fixture *f, const char *format, char path[600]) {
    struct err e = {0};
    char *data = calloc(1, 1 << 20);
    assert_non_null(data);
    if (save_as(&f->model, screen_view(f->screen), format, 0, path, 600, &e) != 0)
        fail_msg("%s", e.message);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_in_range(fread(data, 1, (1 << 20) - 1, file), 1, (1 << 20) - 2);
    fclose(file);
    unlink(path);
    return data;
}

static char *saved(struct fixture *f) {
    char path[600];
    return saved_as(f, "svg", path);
}

static bool says(struct fixture *f, const char *what) {
    char *svg = saved(f);
    bool found = strstr(svg, what) != NULL;
    free(svg);
    return found;
}

#define ROOT "[http-worker-1 tid=4711]"

/* Held, and the split is asked for in another view: what was held may not be split. */
static void a_held_picture_has_its_threads(void **unused) {
    (void)unused;
    static const struct {
        const char *presses;
        bool split;
    } cases[] = {
        {"3T1p2", true}, {"3T1p3", true}, {"1p2", true}, {"3Tp2", true},
        {"3Tp1", false}, {"3T1p", false}, {"1p", false}, {"3p", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture f;
        fixture_open(&f, LIVE_METHODS, 24, 80, false);
        fixture_press(&f, cases[i].presses);
        assert_true(f.model.held);
        if (says(&f, ROOT) != cases[i].split)
            fail_msg("%s: %s by thread", cases[i].presses, cases[i].split ? "not" : "is");
        assert_true(says(&f, "halfUp"));
        fixture_close(&f);
    }
}

static void the_title_says_whose_samples(void **unused) {
    (void)unused;
    struct fixture f;
    fixture_open(&f, LIVE_THREADS, 24, 80, false);
    profile_virtual_name(f.profile, 101, "task-101");
    fixture_virtual(&f, 4711, 101, 900, "2 shop.Task.run");
    fixture_second(&f);
    assert_false(says(&f, "by carrier"));
    fixture_press(&f, "v");
    assert_true(says(&f, "<title>cpu, by carrier \xc2\xb7"));
    fixture_press(&f, "\\shop\n");
    assert_true(says(&f, "<title>cpu, filter shop, by carrier \xc2\xb7"));
    fixture_press(&f, "v\x1bg\n"); /* a virtual thread has no other */
    assert_int_equal(f.model.question.virtual_id, 101);
    f.model.question.carriers = true;
    assert_true(says(&f, ", thread task-101 \xc2\xb7"));
    fixture_close(&f);
}

/* What is saved under the wall clock has no idle threads if the screen has none. */
static void idle_threads_are_left_out(void **unused) {
    (void)unused;
    struct fixture f;
    fixture_open(&f, LIVE_METHODS, 24, 80, false);
    fixture_engine(&f, WIRE_EVENT_WALL, "wall", "signal", 50000000);
    f.event = WIRE_EVENT_WALL;
    f.state = WIRE_THREAD_PARKED;
    fixture_sample(&f, 4711, 9, "2 shop.Pool.await");
    f.state = WIRE_THREAD_IO;
    fixture_sample(&f, 4711, 2, "2 shop.Store.ask");
    fixture_second(&f);
    fixture_press(&f, "E");
    assert_true(says(&f, "<title>wall, idle hidden \xc2\xb7"));
    assert_true(says(&f, "shop/Store"));
    assert_false(says(&f, "shop/Pool"));
    fixture_press(&f, "I");
    assert_false(says(&f, "idle hidden"));
    assert_true(says(&f, "shop/Store"));
    assert_true(says(&f, "shop/Pool"));
    fixture_close(&f);
}

/* What is saved has native frames folded if the screen has. */
static void natives_are_folded(void **unused) {
    (void)unused;
    struct fixture f;
    fixture_open(&f, LIVE_METHODS, 24, 80, false);
    fixture_sample(&f, 4711, 9, "2 shop.Pool.copy|n memmove");
    fixture_second(&f);
    assert_true(says(&f, "memmove"));
    fixture_press(&f, "J");
    assert_true(says(&f, "native folded"));
    assert_true(says(&f, "shop/Pool"));
    assert_false(says(&f, "memmove"));
    fixture_close(&f);
}

/* Another event's file has its name, its unit and its weights in it, and whether it is biased. */
static void the_event_is_stated(void **unused) {
    (void)unused;
    struct fixture f;
    fixture_open(&f, LIVE_METHODS, 24, 80, false);
    assert_false(says(&f, "BIASED"));
    f.event = WIRE_EVENT_ALLOC;
    f.each = 524288;
    fixture_sample(&f, 4711, 7, "2 shop.Alloc.make");
    fixture_engine(&f, WIRE_EVENT_ALLOC, "al/loc", "jvmti", 524287);
    f.status.engine[WIRE_EVENT_ALLOC].biased = true;
    fixture_second(&f);
    fixture_press(&f, "E");
    struct err e = {0};
    char path[600];
    assert_int_equal(save_as(&f.model, LIVE_METHODS, "svg", 0, path, sizeof path, &e), 0);
    assert_non_null(strstr(path, "/jtop-prof-shop.Main-4700-al_loc-1970"));
    unlink(path);
    char *svg = saved(&f);
    assert_non_null(strstr(svg, "Alloc.make"));
    assert_null(strstr(svg, "halfUp"));
    assert_non_null(strstr(svg, "data-total=\"1\" data-unit=\"bytes\""));
    assert_non_null(strstr(svg, "BIASED"));
    free(svg);
    fixture_close(&f);
}

static void every_format_is_written(void **unused) {
    (void)unused;
    static const struct {
        const char *format, *ending, *begins;
        size_t bytes;
    } cases[] = {
        {"svg", ".svg", "<?xml", 5},
        {"html", ".html", "<!DOCTYPE html>", 15},
        {"collapsed", ".collapsed", "[", 0},
        {"jfr", ".jfr", "FLR\0\0\2", 6},
        {"pprof", ".pb.gz", "\x1f\x8b\x08", 3},
    };
    struct fixture f;
    fixture_open(&f, LIVE_METHODS, 24, 80, false);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char path[600], *data = saved_as(&f, cases[i].format, path);
        assert_string_equal(path + strlen(path) - strlen(cases[i].ending), cases[i].ending);
        assert_memory_equal(data, cases[i].begins, cases[i].bytes);
        free(data);
    }
    fixture_close(&f);
}

/* "…;leaf COUNT" of a collapsed file: how many samples, and of how many stacks without `has`. */
static uint64_t count_samples(const char *collapsed, const char *has, int *without) {
    uint64_t sum = 0;
    char *copy = strdup(collapsed), *save = NULL;
    *without = 0;
    for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        sum += strtoull(strrchr(line, ' ') + 1, NULL, 10);
        *without += strstr(line, has) == NULL;
    }
    free(copy);
    return sum;
}

static uint32_t method_named(const struct fixture *f, const char *name) {
    const struct method_table *t = profile_methods_const(f->profile);
    for (uint32_t i = 0; i < method_table_count(t); i++)
        if (!strcmp(method_table_get(t, i)->name, name))
            return i;
    fail_msg("no %s", name);
    return 0;
}

/* Every way to narrow the question narrows the file, and its title says so. */
static void what_is_left_out_is_left_out(void **unused) {
    (void)unused;
    struct fixture f;
    char path[600], *data;
    int without;
    fixture_open(&f, LIVE_METHODS, 24, 80, false);
    model_narrow_method(&f.model, method_named(&f, "total"));
    assert_int_equal(model_ask(&f.model), 0);
    assert_true(says(&f, "<title>cpu, method shop.cart.Cart.total \xc2\xb7"));
    data = saved_as(&f, "collapsed", path);
    assert_int_equal(count_samples(data, "Cart.total", &without), 430);
    assert_int_equal(without, 0);
    free(data);
    model_narrow_package(&f.model, "shop.price");
    assert_int_equal(model_ask(&f.model), 0);
    assert_true(says(&f, "Cart.total, package shop.price \xc2\xb7"));
    data = saved_as(&f, "collapsed", path);
    assert_int_equal(count_samples(data, "Rounding.halfUp", &without), 310);
    assert_int_equal(without, 0);
    free(data);
    fixture_close(&f);
}

static void a_part_of_time_is_a_part_of_time(void **unused) {
    (void)unused;
    struct fixture f;
    char path[600], *data;
    int without;
    fixture_open(&f, LIVE_METHODS, 24, 80, false);
    assert_int_equal(model_mark(&f.model, true), 0);
    fixture_second(&f);
    fixture_sample(&f, 4711, 7, "2 shop.Late.comer");
    fixture_second(&f);
    assert_true(says(&f, "<title>cpu, since the mark \xc2\xb7"));
    data = saved_as(&f, "collapsed", path);
    assert_int_equal(count_samples(data, "shop/Late.comer", &without), 7);
    assert_int_equal(without, 0);
    free(data);
    assert_int_equal(model_mark(&f.model, false), 0);
    assert_int_equal(model_set_span(&f.model, 3600), 0);
    assert_true(says(&f, ", the last 3600 s \xc2\xb7"));
    assert_int_equal(model_scrub(&f.model, -1), 0);
    assert_true(says(&f, ", seconds 1 to "));
    fixture_close(&f);
}

/* A bottom-up tree gives pictures from the leaves; formats that read from the root stay so. */
static void from_the_leaves_where_the_tree_is(void **unused) {
    (void)unused;
    struct fixture f;
    char path[600], *before, *after;
    fixture_open(&f, LIVE_TREE, 24, 80, false);
    before = saved_as(&f, "collapsed", path);
    assert_false(says(&f, "from the leaf to its callers"));
    f.model.question.inverted = true;
    assert_int_equal(model_ask(&f.model), 0);
    assert_true(says(&f, "from the leaf to its callers"));
    assert_true(says(&f, "data-f=\"1 105 75 750000000 0\"><title>__memmove_avx_unaligned_erms"));
    after = saved_as(&f, "collapsed", path);
    assert_string_equal(before, after);
    free(before);
    free(after);
    fixture_close(&f);
}

static void a_baseline_colours_the_difference(void **unused) {
    (void)unused;
    struct fixture f;
    char path[600], *data;
    for (int inverted = 0; inverted < 2; inverted++) {
        fixture_open(&f, inverted ? LIVE_TREE : LIVE_THREADS, 24, 80, false);
        f.model.question.tree = f.model.question.inverted = inverted;
        assert_int_equal(model_ask(&f.model), 0);
        assert_int_equal(model_compare(&f.model, true), 0);
        fixture_sample(&f, 4711, 1000, WORKER "2 shop.cart.Cart.total");
        fixture_sample(&f, 4711, 200, "2 shop.New.one");
        fixture_second(&f);
        assert_true(says(&f, "<title>cpu, compared with "));
        data = saved(&f);
        /* 430 of 1,000 before, 1,430 of 2,200 now; and 120 of 1,000, 1,120 of 2,200 as a leaf */
        assert_non_null(
            strstr(data, inverted ? "before 12.00%, +38.91)" : "before 43.00%, +22.00)"));
        assert_non_null(strstr(data, ", new)"));
        assert_non_null(strstr(data, "change may be chance"));
        assert_non_null(strstr(data, inverted ? "from the leaf" : ROOT));
        free(data);
        data = saved_as(&f, "html", path);
        assert_non_null(strstr(data, "\"diff\":true"));
        free(data);
        fixture_close(&f);
    }
}

int main(void) {
    char where[] = "/tmp/jtop-save-XXXXXX";
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_held_picture_has_its_threads),
        cmocka_unit_test(the_event_is_stated),
        cmocka_unit_test(every_format_is_written),
        cmocka_unit_test(what_is_left_out_is_left_out),
        cmocka_unit_test(a_part_of_time_is_a_part_of_time),
        cmocka_unit_test(from_the_leaves_where_the_tree_is),
        cmocka_unit_test(a_baseline_colours_the_difference),
        cmocka_unit_test(the_title_says_whose_samples),
        cmocka_unit_test(idle_threads_are_left_out),
        cmocka_unit_test(natives_are_folded),
    };
    if (!mkdtemp(where) || chdir(where) != 0)
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return chdir("/") || rmdir(where) || failed;
}
