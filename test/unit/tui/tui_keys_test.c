/* The key table, and what any keys at all may do to the screen while the profile grows. */
#include "test/unit/tier.h"
#include "test/unit/tui/tui_fixture.h"

#include "tui/key/keymap.h"
#include "tui/view/view.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void table(void **unused) {
    (void)unused;
    /* In one place a press has one meaning, and what works is explained. */
    for (const struct key_binding *a = key_bindings; a->help; a++) {
        assert_true(a->scope && a->command != COMMAND_NONE && !a->press[0] == !a->keys[0]);
        for (const struct key_binding *b = a + 1; b->help; b++)
            for (int i = 0; i < KEY_PRESSES && a->press[i]; i++)
                for (int k = 0; k < KEY_PRESSES && b->press[k]; k++)
                    if (a->press[i] == b->press[k] && (a->scope & b->scope))
                        fail_msg("%s and %s are the same key", a->keys, b->keys);
    }
    for (int i = 0; i < VIEWS; i++) {
        assert_int_equal(keymap_command(NULL, 'q', views[i]->scope), COMMAND_QUIT);
        assert_int_equal(keymap_command(NULL, views[i]->key, SCOPE_VIEWS), COMMAND_METHODS + i);
    }
    assert_int_equal(keymap_command(NULL, PRESS_NONE, SCOPE_ALL), COMMAND_NONE);
}

/* The line with the cursor's mark, from its name on. */
static void selected(struct fixture *f, char *out, size_t size) {
    struct text t = {0};
    screen_draw(f->screen, &f->canvas, NULL);
    canvas_dump(&f->canvas, &t);
    const char *line = strstr(t.data, "\n>");
    assert_non_null(line);
    const char *end = strchr(line + 1, '\n');
    snprintf(out, size, "%.*s", (int)(end - line - 26), line + 26);
    text_free(&t);
}

static void cursor_stays(void **unused) {
    (void)unused;
    static const struct {
        enum live_view view;
        const char *presses;
    } cases[] = {{LIVE_METHODS, "jjj"}, {LIVE_THREADS, "jj"}, {LIVE_TREE, "jj"}};
    for (size_t i = 0; i < 3; i++) {
        struct fixture f;
        char before[200], after[200];
        fixture_open(&f, cases[i].view, 24, 80, false);
        fixture_press(&f, cases[i].presses);
        selected(&f, before, sizeof before);
        /* Others get hotter and push it down. */
        for (int k = 0; k < 30; k++) {
            char stack[64];
            snprintf(stack, sizeof stack, "2 new.Hot%d.run|2 new.Hot%d.work", k, k);
            fixture_sample(&f, 9000 + (uint32_t)k, 1000, stack);
        }
        fixture_second(&f);
        selected(&f, after, sizeof after);
        /* The numbers changed, the name did not: it stands at the end of the row. */
        const char *name = strrchr(before, ' ');
        assert_non_null(name);
        assert_non_null(strstr(after, name));
        fixture_close(&f);
    }
}

/* All rows below the column heads, down to the status row. */
static void rows_of(struct fixture *f, struct text *out) {
    struct text t = {0};
    text_clear(out);
    screen_draw(f->screen, &f->canvas, NULL);
    canvas_dump(&f->canvas, &t);
    const char *heads = strstr(t.data, "TID");
    assert_non_null(heads);
    const char *end = t.data + t.len - 1;
    for (int i = 0; i < 2; i++)
        end = memrchr(t.data, '\n', (size_t)(end - t.data));
    text_add_n(out, strchr(heads, '\n'), (size_t)(end - strchr(heads, '\n')));
    text_free(&t);
}

/* Whatever one looks at meanwhile: the kernel's figures are part of the picture. */
static void held_threads_stand_still(void **unused) {
    (void)unused;
    struct fixture f;
    struct text before = {0}, after = {0};
    fixture_open(&f, LIVE_THREADS, 24, 80, false);
    fixture_press(&f, "p");
    rows_of(&f, &before);
    f.thread[0].state = 'D';
    f.thread[1].cpu_ns += 500000000;
    f.thread_count--; /* one has ended */
    fixture_second(&f);
    fixture_second(&f);
    rows_of(&f, &after);
    assert_string_equal(before.data, after.data);
    fixture_press(&f, "13\\shop\n\x1b"
                      "2");
    rows_of(&f, &after);
    assert_string_equal(before.data, after.data);
    fixture_press(&f, "p");
    fixture_second(&f);
    rows_of(&f, &after);
    assert_string_not_equal(before.data, after.data);
    text_free(&before);
    text_free(&after);
    fixture_close(&f);
}

static uint64_t seed = 88172645463325252u;

static uint32_t roll(uint32_t sides) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed >> 33) % sides;
}

static int32_t random_press(void) {
    static const int32_t likely[] = {
        '1', '2', '3', '4', 'i', 'e', 'p', '/', '?', 't', ' ',         'G',          'g',      'v',
        'T', 'E', '[', 'o', 'H', '+', '-', 'a', ' ', 'j', PRESS_ENTER, PRESS_ESCAPE, PRESS_TAB};
    switch (roll(4)) {
    case 0:
        return likely[roll(sizeof likely / sizeof likely[0])];
    case 1:
        return PRESS_UP + (int32_t)roll(PRESS_LAST - PRESS_UP + 1);
    case 2:
        return (int32_t)roll(0x80);
    default:
        return roll(50) ? (int32_t)(0x20 + roll(0x5f)) : (int32_t)roll(0x120000);
    }
}

static void random_sample(struct fixture *f) {
    char stack[512] = "";
    int n = 0, depth = 1 + (int)roll(12);
    for (int i = 0; i < depth; i++)
        n += snprintf(stack + n, sizeof stack - (size_t)n, "%s%c pkg.C%u.m%u", i ? "|" : "",
                      "I12in+ke"[roll(8)], roll(4), roll(4));
    uint32_t tid = 4700 + roll(30);
    f->event = roll(2) ? WIRE_EVENT_CPU : (int)roll(EVENT_KINDS);
    f->state = (enum wire_thread_state)roll(WIRE_THREAD_STATES);
    fixture_virtual(f, tid, roll(3) ? 0 : 1 + roll(20), 1 + roll(3), stack);
}

static void random_wait(struct fixture *f) {
    struct profile_frame frame[2];
    for (int i = 0; i < 2; i++) {
        char name[32];
        snprintf(name, sizeof name, "2 pkg.C%u.m%u", roll(4), roll(4));
        frame[i] = fixture_frame(f->profile, name, strlen(name));
    }
    char class_name[16];
    snprintf(class_name, sizeof class_name, "pkg/L%u", roll(4));
    struct profile_lock l = {.time_ns = f->now_ns,
                             .waited_ns = roll(1000000),
                             .lock_id = roll(9),
                             .class_id = method_table_intern(profile_methods(f->profile),
                                                             METHOD_CLASS, class_name, "", "", ""),
                             .flags = roll(4),
                             .tid = 4700 + roll(30),
                             .owner_tid = roll(2) ? 4700 + roll(30) : 0,
                             .owner_virtual_id = roll(2) ? 1 + roll(20) : 0,
                             .owner_frames = (uint16_t)roll(3),
                             .owner_frame = frame};
    assert_int_equal(profile_lock_wait(f->profile, &l), 0);
    char name[16];
    snprintf(name, sizeof name, "task-%u", roll(100));
    profile_virtual_name(f->profile, 1 + roll(20), name);
    profile_pause(f->profile, f->now_ns, f->now_ns + roll(400000000), roll(2));
}

static void random_resize(struct fixture *f) {
    int rows = 1 + (int)roll(60), cols = 1 + (int)roll(200);
    assert_int_equal(canvas_resize(&f->canvas, rows, cols), 0);
}

/* Nothing but text in the cells, whole characters only. */
static void assert_sound(const struct canvas *c) {
    for (int i = 0; i < c->rows * c->cols; i++) {
        const struct cell *cell = &c->cells[i];
        assert_true(cell->role < ROLES && cell->width <= 2);
        assert_true(cell->text[0] >= 0x20 && (cell->text[0] < 0x7f || cell->text[0] >= 0xa0));
        if (cell->width == 2)
            assert_true((i + 1) % c->cols != 0 && cell[1].width == 0);
        if (cell->width == 0)
            assert_true(i % c->cols != 0 && cell[-1].width == 2);
    }
}

static void random_keys(void **unused) {
    (void)unused;
    struct fixture f;
    fixture_open(&f, LIVE_METHODS, 24, 80, false);
    for (int i = 0; i < (tier_is_fast() ? 8000 : 20000); i++) {
        screen_press(f.screen, random_press());
        if (screen_wants_switch(f.screen) && roll(4) == 0)
            screen_switch(f.screen);
        f.refused = roll(8) ? NULL : "not now";
        if (roll(8) == 0)
            random_sample(&f);
        if (roll(32) == 0)
            random_wait(&f);
        if (roll(32) == 0)
            random_resize(&f);
        if (roll(16) == 0)
            fixture_second(&f);
        if (roll(2))
            continue;
        screen_draw(f.screen, &f.canvas, NULL);
        assert_sound(&f.canvas);
        assert_false(f.locked);
    }
    fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table),
        cmocka_unit_test(cursor_stays),
        cmocka_unit_test(held_threads_stand_still),
        cmocka_unit_test(random_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
