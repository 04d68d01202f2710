/* What `s` writes: the picture that is shown, and a title that says what it is of. */
#include "test/unit/tui_fixture.h"

#include "tui/save.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <unistd.h>

/* The file that the view on screen is saved to, as text. */
static char *saved(struct fixture *f) {
    struct err e = {0};
    char path[600], *data = calloc(1, 1 << 20);
    assert_non_null(data);
    if (save_svg(&f->model, screen_view(f->screen), 0, path, sizeof path, &e) != 0)
        fail_msg("%s", e.message);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_in_range(fread(data, 1, (1 << 20) - 1, file), 1, (1 << 20) - 2);
    fclose(file);
    unlink(path);
    return data;
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
    fixture_press(&f, "/shop\n");
    assert_true(says(&f, "<title>cpu, filter shop, by carrier \xc2\xb7"));
    fixture_press(&f, "v\x1bg\n"); /* a virtual thread has no other */
    assert_int_equal(f.model.question.virtual_id, 101);
    f.model.question.carriers = true;
    assert_true(says(&f, ", thread task-101 \xc2\xb7"));
    fixture_close(&f);
}

int main(void) {
    char where[] = "/tmp/jtop-save-XXXXXX";
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_held_picture_has_its_threads),
        cmocka_unit_test(the_title_says_whose_samples),
    };
    if (!mkdtemp(where) || chdir(where) != 0)
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return chdir("/") || rmdir(where) || failed;
}
