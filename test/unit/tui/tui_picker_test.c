/* The list of JVMs: columns, order, filter, mouse, and rows that cannot be attached. */
#include "tui/screen/picker.h"

#include "test/unit/tui/tui_compare.h"
#include "tui/terminal/press.h"

static struct jvm *make_jvms(uint32_t *count) {
    static const struct jvm some[] = {
        {.pid = 52,
         .inner_pid = 1,
         .uid = 106,
         .user = "elasticsearch",
         .name = "org.elasticsearch.bootstrap.Elasticsearch",
         .version = "21.0.4+7-LTS",
         .perf_data = true,
         .container = true,
         .uptime_ms = UINT64_C(3456000000),
         .cpu_percent = 3.1,
         .rss_bytes = UINT64_C(9) << 30,
         .heap_used_bytes = UINT64_C(3487) << 20,
         .heap_max_bytes = UINT64_C(8) << 30,
         .threads = 188},
        {.pid = 990,
         .uid = 1000,
         .user = "ana",
         .name = "b\xff\x1bild.jar",
         .version = "25.412-b08",
         .uptime_ms = 42000,
         .threads = 9},
        {.pid = 4700,
         .uid = 1000,
         .user = "ana",
         .name = "shop.Main",
         .arguments = "--port 8080",
         .version = "17.0.15+6-Debian-1deb12u1",
         .perf_data = true,
         .uptime_ms = 93784000,
         .cpu_percent = 187.4,
         .rss_bytes = UINT64_C(412) << 20,
         .heap_used_bytes = UINT64_C(123) << 20,
         .heap_max_bytes = UINT64_C(512) << 20,
         .threads = 31},
        {.pid = 5100,
         .uid = 1000,
         .user = "ana",
         .name = "org.gradle.launcher.daemon.bootstrap.GradleDaemon",
         .version = "21.0.4+7-LTS",
         .uptime_ms = 7200000,
         .cpu_percent = 0.4,
         .rss_bytes = UINT64_C(800) << 20,
         .threads = 41},
    };
    struct jvm *out = malloc(sizeof some);
    assert_non_null(out);
    memcpy(out, some, sizeof some);
    *count = sizeof some / sizeof some[0];
    return out;
}

static int check(const struct jvm *j, uid_t uid, const char **word, struct err *e) {
    assert_int_equal(uid, 1000);
    *word = j->uid != uid ? "other user" : "stopped";
    if (j->uid != uid)
        return err_set(e, EPERM,
                       "JVM %d (%s) runs as uid %u and only that user may attach; this is uid %u "
                       "(Operation not permitted): run as user %s or as root",
                       (int)j->pid, j->name, (unsigned)j->uid, (unsigned)uid, j->user);
    if (j->pid == 5100)
        return err_set(e, ETIMEDOUT, "JVM 5100 is stopped by a signal");
    return 0;
}

struct state {
    struct picker *p;
    struct canvas c;
};

static void renew(struct state *s) {
    uint32_t count;
    struct jvm *jvms = make_jvms(&count);
    picker_update(s->p, jvms, count);
}

static void open_picker(struct state *s, int rows, int cols, bool ascii) {
    setlocale(LC_CTYPE, "C.UTF-8");
    *s = (struct state){.p = picker_new(1000)};
    s->c = (struct canvas){.ascii_lines = ascii, .ascii_text = ascii};
    assert_non_null(s->p);
    assert_int_equal(canvas_resize(&s->c, rows, cols), 0);
    picker_configure(s->p, NULL, check);
    renew(s);
}

static void close_picker(struct state *s) {
    picker_free(s->p);
    canvas_free(&s->c);
}

static void shows(struct state *s, const char *name) {
    picker_draw(s->p, &s->c, NULL);
    compare_canvas(&s->c, name);
}

/* What is on the cursor's row after a redraw. */
static pid_t at(struct state *s) {
    picker_draw(s->p, &s->c, NULL);
    const struct jvm *j = picker_chosen(s->p);
    return j ? j->pid : 0;
}

static void press(struct state *s, const char *presses) {
    for (; *presses; presses++)
        picker_press(s->p, (unsigned char)*presses);
}

static void empty(void **unused) {
    (void)unused;
    struct state s;
    open_picker(&s, 24, 80, false);
    picker_update(s.p, NULL, 0);
    shows(&s, "picker-empty");
    assert_int_equal(picker_press(s.p, PRESS_ENTER), PICKER_NOTHING);
    renew(&s);
    press(&s, "/ELASTIC");
    shows(&s, "picker-filter");
    picker_press(s.p, PRESS_ENTER);
    press(&s, "/NONE");
    assert_int_equal(at(&s), 0);
    picker_press(s.p, PRESS_ESCAPE);
    picker_say(s.p, "JVM 4700 (shop.Main) did not begin to listen in time, SIGQUIT was sent: it is "
                    "at a long safepoint, or has no CPU time; try again");
    shows(&s, "picker-error");
    close_picker(&s);
}

static void sizes(void **unused) {
    (void)unused;
    static const struct {
        int rows, cols;
        bool ascii;
        const char *name;
    } size[] = {{50, 160, false, "picker-marks-160x50"},
                {50, 160, true, "picker-marks-160x50-ascii"},
                {24, 80, false, "picker-marks-80x24"},
                {24, 80, true, "picker-marks-80x24-ascii"},
                {10, 40, false, "picker-marks-40x10"}};
    for (size_t i = 0; i < sizeof size / sizeof size[0]; i++) {
        struct state s;
        const char *const recent[] = {"gone.Main", "shop.Main"};
        const pid_t open = 990;
        open_picker(&s, size[i].rows, size[i].cols, size[i].ascii);
        picker_mark_recent(s.p, recent, 2);
        picker_mark_open(s.p, true, &open, 1);
        renew(&s);
        press(&s, "gj");
        shows(&s, size[i].name);
        close_picker(&s);
    }
}

/* Every column, one way and the other; the cursor stays with its JVM. */
static void sorting(void **unused) {
    (void)unused;
    struct state s;
    open_picker(&s, 24, 160, false);
    assert_int_equal(at(&s), 4700); /* the busiest that can be attached */
    press(&s, "g");
    assert_int_equal(at(&s), 52); /* pids, from the smallest on */
    press(&s, "SSSS");            /* CPU% */
    assert_int_equal(at(&s), 52);
    shows(&s, "picker-sorted");
    press(&s, "g");
    assert_int_equal(at(&s), 4700);
    press(&s, "rg");
    assert_int_equal(at(&s), 990);
    press(&s, "SSg"); /* heap */
    assert_int_equal(at(&s), 52);
    for (int i = 0; i < 4; i++)
        press(&s, "S");
    press(&s, "g"); /* name */
    assert_int_equal(at(&s), 990);
    press(&s, "Sg"); /* as at the beginning */
    assert_int_equal(at(&s), 52);
    close_picker(&s);
}

static void recent_first(void **unused) {
    (void)unused;
    struct state s;
    setlocale(LC_CTYPE, "C.UTF-8");
    const char *const recent[] = {"b\xff\x1bild.jar", "shop.Main"};
    s = (struct state){.p = picker_new(1000)};
    assert_int_equal(canvas_resize(&s.c, 24, 80), 0);
    picker_mark_recent(s.p, recent, 2);
    renew(&s);
    assert_int_equal(at(&s), 990); /* not the busiest: what one looked at last */
    press(&s, "j");
    assert_int_equal(at(&s), 4700);
    press(&s, "j");
    assert_int_equal(at(&s), 52);
    close_picker(&s);
}

static void cannot(void **unused) {
    (void)unused;
    struct state s;
    open_picker(&s, 24, 80, false);
    press(&s, "g");
    shows(&s, "picker-cannot");
    assert_int_equal(picker_press(s.p, PRESS_ENTER), PICKER_NOTHING);
    shows(&s, "picker-cannot-enter");
    press(&s, "j");
    assert_int_equal(picker_press(s.p, PRESS_ENTER), PICKER_CHOSEN);
    press(&s, "/stopped"); /* the reason is found too */
    assert_int_equal(at(&s), 5100);
    picker_press(s.p, PRESS_ENTER);
    assert_int_equal(picker_press(s.p, PRESS_ENTER), PICKER_NOTHING);
    assert_int_equal(picker_press(s.p, PRESS_ESCAPE), PICKER_NOTHING);
    assert_int_equal(picker_press(s.p, PRESS_ESCAPE), PICKER_QUIT);
    picker_mark_open(s.p, true, NULL, 0);
    assert_int_equal(picker_press(s.p, PRESS_ESCAPE), PICKER_BACK);
    assert_int_equal(picker_press(s.p, 'q'), PICKER_QUIT);
    assert_int_equal(picker_press(s.p, 'M'), PICKER_MOUSE);
    close_picker(&s);
}

/* What Enter takes is what was under the cursor, though the filter that found it goes. */
static void chosen(void **unused) {
    (void)unused;
    struct state s;
    open_picker(&s, 24, 80, false);
    press(&s, "g/shop");
    picker_press(s.p, PRESS_ENTER);
    assert_int_equal(at(&s), 4700);
    assert_int_equal(picker_press(s.p, PRESS_ENTER), PICKER_CHOSEN);
    assert_int_equal(at(&s), 4700);
    press(&s, "k");
    assert_int_equal(at(&s), 990);
    close_picker(&s);
}

/* A filter that for a moment finds nothing: the cursor is back on its JVM, and Enter takes the one
 * that is shown. */
static void mistyped(void **unused) {
    (void)unused;
    struct state s;
    open_picker(&s, 24, 80, false);
    press(&s, "gj");
    assert_int_equal(at(&s), 990);
    press(&s, "/%");
    assert_int_equal(at(&s), 0);
    assert_int_equal(picker_press(s.p, PRESS_ENTER), PICKER_NOTHING);
    assert_int_equal(picker_press(s.p, PRESS_ENTER), PICKER_NOTHING); /* there is none to take */
    press(&s, "/\x7f");
    assert_int_equal(at(&s), 990);
    press(&s, "%\x7fshop");
    assert_int_equal(at(&s), 4700);
    picker_press(s.p, PRESS_ENTER);
    assert_int_equal(picker_press(s.p, PRESS_ENTER), PICKER_CHOSEN);
    assert_int_equal(picker_chosen(s.p)->pid, 4700);
    /* Not held to anything, as after Home: that row too. */
    press(&s, "g/shop");
    picker_press(s.p, PRESS_ENTER);
    press(&s, "g");
    assert_int_equal(at(&s), 4700);
    assert_int_equal(picker_press(s.p, PRESS_ENTER), PICKER_CHOSEN);
    assert_int_equal(picker_chosen(s.p)->pid, 4700);
    close_picker(&s);
}

static void paste(struct state *s, const char *text) {
    for (; *text; text++)
        picker_press(s->p, (unsigned char)*text | PRESS_PASTED);
}

/* Text for the filter, and no commands where none is open. */
static void pasted(void **unused) {
    (void)unused;
    struct state s;
    open_picker(&s, 24, 80, false);
    press(&s, "g");
    paste(&s, "Gq/jjj");
    assert_int_equal(at(&s), 52);
    press(&s, "/");
    paste(&s, "99");
    press(&s, "0");
    assert_int_equal(at(&s), 990);
    picker_press(s.p, PRESS_ENTER);
    assert_int_equal(picker_press(s.p, PRESS_ENTER), PICKER_CHOSEN);
    assert_int_equal(picker_chosen(s.p)->pid, 990);
    close_picker(&s);
}

static enum picker_wish click(struct state *s, enum mouse_action action, int row, int col) {
    const struct mouse m = {.action = action, .row = row, .col = col};
    picker_draw(s->p, &s->c, NULL);
    return picker_mouse(s->p, &m);
}

/* The column where this text begins in a row. */
static int find(struct state *s, int row, const char *text) {
    for (int col = 0; col + (int)strlen(text) <= s->c.cols; col++) {
        size_t n = 0;
        while (text[n] && s->c.cells[row * s->c.cols + col + (int)n].text[0] == (wchar_t)text[n])
            n++;
        if (!text[n])
            return col;
    }
    fail_msg("no %s in row %d", text, row);
    return -1;
}

static void mouse(void **unused) {
    (void)unused;
    struct state s;
    open_picker(&s, 24, 80, false);
    assert_int_equal(click(&s, MOUSE_PRESS, 3, 30), PICKER_NOTHING);
    assert_int_equal(at(&s), 990);
    assert_int_equal(click(&s, MOUSE_TWICE, 3, 30), PICKER_CHOSEN);
    assert_int_equal(click(&s, MOUSE_TWICE, 2, 30), PICKER_NOTHING); /* it says why */
    click(&s, MOUSE_RELEASE, 3, 30);
    click(&s, MOUSE_DRAG, 3, 30);
    assert_int_equal(at(&s), 52);
    click(&s, MOUSE_WHEEL_DOWN, 10, 10);
    click(&s, MOUSE_WHEEL_DOWN, 10, 10);
    assert_int_equal(at(&s), 4700);
    click(&s, MOUSE_WHEEL_UP, 10, 10);
    assert_int_equal(at(&s), 990);
    click(&s, MOUSE_PRESS, 12, 10); /* below the last row */
    click(&s, MOUSE_MOVE, 2, 10);
    assert_int_equal(at(&s), 990);
    click(&s, MOUSE_PRESS, 1, find(&s, 1, "RSS"));
    press(&s, "g");
    assert_int_equal(at(&s), 52);
    click(&s, MOUSE_PRESS, 1, find(&s, 1, "RSS"));
    press(&s, "g");
    assert_int_equal(at(&s), 990);
    close_picker(&s);
}

/* A list that changes under the cursor: it stays with its JVM. */
static void renewing(void **unused) {
    (void)unused;
    struct state s;
    uint32_t count;
    open_picker(&s, 10, 80, false);
    press(&s, "G");
    assert_int_equal(at(&s), 5100);
    struct jvm *jvms = make_jvms(&count);
    picker_update(s.p, memmove(jvms, jvms + 2, 2 * sizeof *jvms), 2);
    assert_int_equal(at(&s), 5100);
    picker_update(s.p, NULL, 0);
    assert_int_equal(at(&s), 0);
    assert_int_equal(picker_press(s.p, PRESS_ENTER), PICKER_NOTHING);
    close_picker(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty),        cmocka_unit_test(sizes),  cmocka_unit_test(sorting),
        cmocka_unit_test(recent_first), cmocka_unit_test(cannot), cmocka_unit_test(chosen),
        cmocka_unit_test(mistyped),     cmocka_unit_test(pasted), cmocka_unit_test(mouse),
        cmocka_unit_test(renewing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
