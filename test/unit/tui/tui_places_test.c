/* The way back, keys without a meaning, and the menus. */
#include "test/unit/tui/tui_busy.h"

#include "tui/view/view.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define HAS(text) assert_true(fixture_has(&f, (text)))
#define HAS_NOT(text) assert_false(fixture_has(&f, (text)))

/* The line with the cursor's mark. */
static void selected(struct fixture *f, char *out, size_t size) {
    struct text t = {0};
    screen_draw(f->screen, &f->canvas, NULL);
    canvas_dump(&f->canvas, &t);
    const char *line = strstr(t.data, "\n>");
    assert_non_null(line);
    snprintf(out, size, "%.*s", (int)strcspn(line + 1, "\n"), line + 1);
    text_free(&t);
}

/* From a row to its callers, to the lines of one of them, and back, row by row. */
static void back_is_where_it_was(void **unused) {
    (void)unused;
    struct fixture f;
    char methods[300], tree[300], now[300];
    open_busy(&f, LIVE_METHODS, 40, 160, false);
    fixture_press(&f, "jj");
    selected(&f, methods, sizeof methods);
    fixture_press(&f, "\n");
    assert_int_equal(screen_view(f.screen), LIVE_TREE);
    HAS("WHO CALLS ");
    HAS("methods > callers of ");
    fixture_press(&f, "*j");
    selected(&f, tree, sizeof tree);
    fixture_press(&f, "L");
    assert_int_equal(screen_view(f.screen), LIVE_LINES);
    HAS(" > lines of ");
    fixture_press(&f, "2");
    HAS(" > threads");
    fixture_press(&f, "\x1b");
    assert_int_equal(screen_view(f.screen), LIVE_LINES);
    fixture_press(&f, "\x1b");
    assert_int_equal(screen_view(f.screen), LIVE_TREE);
    HAS("WHO CALLS ");
    selected(&f, now, sizeof now);
    assert_string_equal(now, tree);
    fixture_press(&f, "\x1b");
    assert_int_equal(screen_view(f.screen), LIVE_METHODS);
    assert_int_equal(f.model.question.narrowings, 0);
    selected(&f, now, sizeof now);
    assert_string_equal(now, methods);
    HAS_NOT("methods >");
    fixture_press(&f, "\x1b");
    HAS("there is nothing to go back to: q quits");
    fixture_close(&f);
}

/* The same, in each view: a restriction is made there and undone, and the row is the one before. */
static void each_view_comes_back(void **unused) {
    (void)unused;
    for (int view = 0; view < VIEWS; view++) {
        struct fixture f;
        char before[300], after[300];
        if (view == LIVE_STATUS || view == LIVE_LINES) /* no row; no lines in these samples */
            continue;
        open_busy(&f, (enum live_view)view, 40, 160, false);
        fixture_press(&f, view == LIVE_FLAME ? "kk" : "jj");
        selected(&f, before, sizeof before);
        fixture_press(&f, "1\n\\book\n51");
        for (int i = 0; i < 5 && f.model.question.narrowings + screen_view(f.screen) != 0; i++)
            fixture_press(&f, "\x1b");
        while (screen_view(f.screen) != (enum live_view)view || f.model.question.narrowings)
            fixture_press(&f, "\x1b");
        selected(&f, after, sizeof after);
        assert_string_equal(after, before);
        fixture_close(&f);
    }
}

/* The direction belongs to the view: the flame graph does not turn when the tree does, and Enter in
 * methods does not turn the tree for good. */
static void directions(void **unused) {
    (void)unused;
    struct fixture f;
    open_busy(&f, LIVE_METHODS, 40, 160, false);
    fixture_press(&f, "3i");
    HAS("BOTTOM-UP");
    fixture_press(&f, "5");
    HAS("FLAME GRAPH");
    HAS_NOT("ICICLES");
    fixture_press(&f, "i");
    HAS("ICICLES");
    fixture_press(&f, "3i");
    HAS_NOT("BOTTOM-UP");
    fixture_press(&f, "5");
    HAS("ICICLES");
    fixture_press(&f, "1\n");
    HAS("WHO CALLS");
    fixture_press(&f, "\x1b"
                      "3");
    HAS_NOT("BOTTOM-UP");
    HAS("CALL TREE");
    fixture_press(&f, "U5");
    HAS_NOT("ICICLES");
    fixture_close(&f);
}

/* A filter is one step, however many letters it has. A search that was typed here goes first; one
 * that was typed before stays. */
static void steps(void **unused) {
    (void)unused;
    struct fixture f;
    open_busy(&f, LIVE_METHODS, 40, 160, false);
    fixture_press(&f, "\\shop\n/Cart\n");
    HAS("methods > methods \\shop");
    fixture_press(&f, "3");
    fixture_press(&f, "\x1b");
    assert_int_equal(screen_view(f.screen), LIVE_METHODS);
    assert_string_equal(f.model.search, "Cart");
    fixture_press(&f, "\x1b");
    assert_string_equal(f.model.search, "");
    assert_string_equal(f.model.question.filter, "shop");
    fixture_press(&f, "\x1b");
    assert_string_equal(f.model.question.filter, "");
    fixture_press(&f, "\\no\x1b"); /* nothing came of it */
    fixture_press(&f, "\x1b");
    HAS("nothing to go back to");
    /* More places than are kept. */
    for (int i = 0; i < 100; i++)
        fixture_press(&f, i & 1 ? "1" : "3");
    for (int i = 0; i < 40; i++)
        fixture_press(&f, "\x1b");
    HAS("nothing to go back to");
    fixture_press(&f, "2z");
    fixture_press(&f, "1z3Z/x\n");
    fixture_press(&f, "U");
    assert_int_equal(f.model.question.narrowings, 0);
    assert_string_equal(f.model.search, "");
    assert_int_equal(screen_view(f.screen), LIVE_TREE);
    fixture_press(&f, "\x1b");
    HAS("nothing to go back to");
    fixture_close(&f);
}

static void unknown_keys(void **unused) {
    (void)unused;
    struct fixture f;
    open_busy(&f, LIVE_METHODS, 40, 160, false);
    fixture_press(&f, "K");
    HAS("K does nothing here: ? lists the keys");
    fixture_press(&f, "d");
    HAS("d does nothing in this view: ? lists the keys");
    screen_press(f.screen, PRESS_F1 + 10);
    HAS("F11 does nothing here: ? lists the keys");
    fixture_press(&f, "j");
    HAS_NOT("lists the keys");
    screen_press(f.screen, PRESS_PASTED | 'x');
    HAS_NOT("lists the keys");
    fixture_close(&f);
}

static void messages(void **unused) {
    (void)unused;
    struct fixture f;
    open_busy(&f, LIVE_METHODS, 40, 160, false);
    screen_say(f.screen, "written: /tmp/a.svg");
    fixture_second(&f);
    HAS("written: /tmp/a.svg");
    fixture_press(&f, "j");
    HAS_NOT("written");
    fixture_close(&f);
}

static void an_empty_view_starts_its_event(void **unused) {
    (void)unused;
    struct fixture f;
    fixture_open(&f, LIVE_METHODS, 24, 80, false);
    fixture_press(&f, "6");
    HAS("alloc does not run: Enter starts it");
    fixture_press(&f, "\n");
    assert_true(screen_wants_switch(f.screen));
    screen_switch(f.screen);
    assert_int_equal(f.asked_engines, 2);
    assert_string_equal(f.asked[1].name, "alloc");
    fixture_second(&f);
    HAS("no samples yet");
    fixture_press(&f, "\n");
    assert_false(screen_wants_switch(f.screen));
    fixture_press(&f, "4"); /* it shows locks, whatever the event */
    HAS("locks are not sampled: Enter starts lock");
    fixture_press(&f, "\n");
    screen_switch(f.screen);
    assert_int_equal(f.asked_engines, 3);
    assert_string_equal(f.asked[2].name, "lock");
    fixture_press(&f, "o\n"); /* and stops it */
    screen_switch(f.screen);
    assert_int_equal(f.asked_engines, 2);
    assert_string_equal(f.asked[1].name, "alloc");
    fixture_press(&f, "\x1b");
    /* What was stopped is not started again by a key that does nothing else. */
    f.event = WIRE_EVENT_ALLOC;
    fixture_sample(&f, 4711, 10, "2 shop.Main.run|o java.lang.Long");
    fixture_second(&f);
    fixture_press(&f, "6o\n");
    screen_switch(f.screen);
    fixture_press(&f, "\x1b");
    fixture_second(&f);
    fixture_press(&f, "\\nothing like this\n\n");
    assert_false(screen_wants_switch(f.screen));
    fixture_press(&f, "U");
    /* Not if it is empty because of a restriction, or if it cannot be started any more. */
    fixture_press(&f, "1\\nothing like this\n");
    HAS("no samples here: Esc goes back, U removes every restriction");
    fixture_press(&f, "\n");
    assert_false(screen_wants_switch(f.screen));
    f.status.phase = SESSION_JVM_GONE;
    fixture_second(&f);
    fixture_press(&f, "U4\n");
    assert_false(screen_wants_switch(f.screen));
    fixture_close(&f);
}

/* Only s writes a file at once. S needs one more key, and says which there are. */
static void saving(void **unused) {
    (void)unused;
    static const struct {
        char key;
        const char *format;
    } cases[] = {{'s', "svg"}, {'h', "html"}, {'j', "jfr"}, {'p', "pprof"}, {'c', "collapsed"}};
    struct fixture f;
    open_busy(&f, LIVE_METHODS, 24, 80, false);
    for (const char *k = "hcJP"; *k; k++) {
        assert_int_equal(screen_press(f.screen, *k), SCREEN_NOTHING);
        screen_press(f.screen, PRESS_ESCAPE); /* h opens the help */
    }
    assert_int_equal(screen_press(f.screen, 's'), SCREEN_SAVE);
    assert_string_equal(screen_format(f.screen), "svg");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture_press(&f, "S");
        HAS("save: [s]vg [h]tml [j]fr [p]prof [c]ollapsed");
        assert_int_equal(screen_press(f.screen, cases[i].key), SCREEN_SAVE);
        assert_string_equal(screen_format(f.screen), cases[i].format);
        HAS_NOT("save: ");
    }
    fixture_press(&f, "S");
    assert_int_equal(screen_press(f.screen, 'x'), SCREEN_NOTHING);
    HAS("x is not in this menu: nothing was written");
    fixture_press(&f, "S\x1b");
    HAS_NOT("save: ");
    assert_int_equal(screen_view(f.screen), LIVE_METHODS);
    fixture_press(&f, "S");
    screen_press(f.screen, PRESS_NONE); /* another button of the mouse */
    screen_press(f.screen, PRESS_PASTED | 'h');
    HAS("save: ");
    fixture_press(&f, "q"); /* leaves the menu, not the program */
    HAS_NOT("save: ");
    fixture_close(&f);
}

/* A press of the mouse while a filter is typed does not change where Esc leads. */
static void mouse_while_typing(void **unused) {
    (void)unused;
    struct fixture f;
    open_busy(&f, LIVE_METHODS, 24, 80, false);
    fixture_press(&f, "\n\\boo");
    screen_draw(f.screen, &f.canvas, NULL);
    screen_mouse(f.screen, &(struct mouse){.action = MOUSE_PRESS, .row = 8, .col = 20});
    fixture_press(&f, "k\n");
    assert_string_equal(f.model.question.filter, "book");
    fixture_press(&f, "\x1b");
    assert_int_equal(screen_view(f.screen), LIVE_TREE);
    assert_string_equal(f.model.question.filter, "");
    assert_true(f.model.question.with_method);
    fixture_close(&f);
}

/* The keys of this view come first, and a search finds others. */
static void help(void **unused) {
    (void)unused;
    struct fixture f;
    open_busy(&f, LIVE_THREADS, 24, 80, false);
    fixture_press(&f, "h");
    HAS("In threads\n");
    HAS("d            group threads whose names differ only in digits");
    HAS("/ search");
    fixture_press(&f, "/clip");
    HAS("search: clip");
    HAS("copy the row's stack, or all tagged rows, to your clipboard");
    HAS_NOT("group threads");
    HAS_NOT("In threads\n");
    fixture_press(&f, "\n");
    HAS("with \"clip\"");
    fixture_press(&f, "/\x15nothing like it\n");
    HAS("no key has this text");
    fixture_press(&f, "\x1b"); /* the search, then the help */
    HAS("In threads\n");
    fixture_press(&f, "/dig\x1b");
    HAS("In threads\n");
    fixture_press(&f, "\x1b");
    HAS("SHARE%");
    fixture_press(&f, "?h");
    HAS("SHARE%");
    fixture_close(&f);
}

static void palette(void **unused) {
    (void)unused;
    struct fixture f;
    open_busy(&f, LIVE_METHODS, 24, 100, false);
    fixture_press(&f, ":");
    HAS("command: ");
    fixture_press(&f, "sav\t");
    HAS("command: save-  save-svg save-menu save-html");
    fixture_press(&f, "h\t");
    HAS("command: save-html  write HTML at once");
    assert_int_equal(screen_press(f.screen, PRESS_ENTER), SCREEN_SAVE);
    assert_string_equal(screen_format(f.screen), "html");
    fixture_press(&f, ":thr\n"); /* a beginning is enough */
    assert_int_equal(screen_view(f.screen), LIVE_THREADS);
    fixture_press(&f, ":tree\n"); /* not: to-tree */
    assert_int_equal(screen_view(f.screen), LIVE_TREE);
    HAS("methods > threads > call tree");
    fixture_press(&f, ":filter\n");
    HAS("filter (regex");
    fixture_press(&f, "book\n");
    assert_string_equal(f.model.question.filter, "book");
    fixture_press(&f, ":save\n");
    HAS("\"save\" begins several names: save-svg, save-menu");
    fixture_press(&f, ":pools\n"); /* a command of another view */
    HAS("there is no command \"pools\" in this view");
    fixture_press(&f, ":\n");
    HAS_NOT("command");
    fixture_press(&f, ":quit\x1b");
    HAS_NOT("command");
    assert_int_equal(screen_press(f.screen, ':'), SCREEN_NOTHING);
    fixture_press(&f, "quit");
    assert_int_equal(screen_press(f.screen, PRESS_ENTER), SCREEN_QUIT);
    fixture_close(&f);
}

static void footer(void **unused) {
    (void)unused;
    struct fixture f;
    open_busy(&f, LIVE_METHODS, 24, 80, false);
    screen_draw(f.screen, &f.canvas, NULL);
    screen_mouse(f.screen, &(struct mouse){.action = MOUSE_PRESS, .row = 23, .col = 1});
    assert_int_equal(screen_view(f.screen), LIVE_TREE); /* Enter */
    fixture_press(&f, "\x1b");
    assert_int_equal(screen_view(f.screen), LIVE_METHODS);
    fixture_close(&f);
}

static void sorting(void **unused) {
    (void)unused;
    struct fixture f;
    char first[300], now[300];
    open_busy(&f, LIVE_METHODS, 24, 80, false);
    selected(&f, first, sizeof first);
    screen_press(f.screen, PRESS_F6);
    HAS("sort by: [1 SELF%]  2 ");
    HAS(" METHOD");
    fixture_press(&f, "3");
    HAS("TOTAL%\u25be");
    screen_press(f.screen, PRESS_F6);
    HAS("[3 TOTAL%]");
    fixture_press(&f, "3"); /* again: it stays, and is not turned */
    HAS("TOTAL%\u25be");
    screen_press(f.screen, PRESS_F6);
    fixture_press(&f, "y");
    HAS("y is not in this menu: nothing was sorted");
    fixture_press(&f, "2");
    screen_press(f.screen, PRESS_F6);
    HAS("[3 SHARE%]");
    fixture_press(&f, "1");
    HAS("TID\u25b4");
    fixture_press(&f, "1");
    screen_press(f.screen, PRESS_F6);
    fixture_press(&f, "1");
    selected(&f, now, sizeof now);
    assert_string_equal(now, first);
    fixture_press(&f, "3");
    screen_press(f.screen, PRESS_F6); /* a tree has its own order */
    HAS("F6 does nothing in this view");
    /* Narrow: what does not fit is cut, with a sign. */
    fixture_press(&f, "1");
    assert_int_equal(canvas_resize(&f.canvas, 24, 60), 0);
    screen_draw(f.screen, &f.canvas, NULL);
    screen_press(f.screen, PRESS_F6);
    HAS("\u2026");
    fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(back_is_where_it_was),
        cmocka_unit_test(each_view_comes_back),
        cmocka_unit_test(directions),
        cmocka_unit_test(steps),
        cmocka_unit_test(unknown_keys),
        cmocka_unit_test(messages),
        cmocka_unit_test(an_empty_view_starts_its_event),
        cmocka_unit_test(saving),
        cmocka_unit_test(mouse_while_typing),
        cmocka_unit_test(help),
        cmocka_unit_test(palette),
        cmocka_unit_test(footer),
        cmocka_unit_test(sorting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
