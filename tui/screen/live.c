#include "tui/screen/live.h"

#include "attach/doctor/doctor.h"
#include "core/base/clock.h"
#include "tui/screen/jvm_tabs.h"
#include "tui/screen/live_plain.h"
#include "tui/screen/live_setup.h"
#include "tui/screen/picker.h"
#include "tui/terminal/loop.h"
#include "tui/terminal/pipe.h"
#include "tui/terminal/terminal_signals.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MS UINT64_C(1000000)
#define PICKER_REFRESH_NS (1000 * MS)
/* While a JVM is new, it is refreshed faster than requested. The first samples are shown at once:
 * the session's descriptor reports them. */
#define EARLY_REFRESH_NS (200 * MS)
#define EARLY_NS (1000 * MS)
#define ANSWER_NS (50 * MS) /* how often the answer of a JVM is looked for */

struct live {
    const struct live_options *o;
    struct loop loop;
    struct jvm_tabs tabs;
    struct picker *picker;
    bool mouse;            /* the mouse is used by this program, not by the terminal */
    bool mouse_on, hovers; /* as last sent to the terminal */
};

/* Where the user goes from the picker or from a screen. */
enum way { WAY_STAY, WAY_TABS, WAY_PICKER, WAY_OUT };

static void use_mouse(struct live *l, bool hover) {
    if (l->mouse == l->mouse_on && hover == l->hovers)
        return;
    terminal_use_mouse(l->loop.terminal, l->mouse, hover);
    l->mouse_on = l->mouse;
    l->hovers = hover;
}

/* ---- the picker ---- */

static void show_picker(struct live *l) {
    struct caret caret;
    picker_draw(l->picker, &l->loop.canvas, &caret);
    loop_show(&l->loop, &caret);
}

static void list_jvms(struct live *l) {
    struct jvm *jvms = NULL;
    struct err e = {0};
    pid_t open[JVM_TABS_MAX];
    int n = jvm_list_all(&jvms, &e), opened = 0;
    for (int i = 0; i < l->tabs.count; i++)
        if (!l->tabs.tab[i]->replay)
            open[opened++] = l->tabs.tab[i]->model.jvm.pid;
    picker_mark_open(l->picker, l->tabs.count > 0, open, opened);
    if (n < 0)
        picker_say(l->picker, e.message);
    else
        picker_update(l->picker, jvms, (uint32_t)n);
}

/* Attaches to the JVM at the cursor, or shows its tab if it is open. After an error, the picker
 * stays. */
static enum way open_chosen(struct live *l) {
    const struct jvm j = *picker_chosen(l->picker);
    int open = jvm_tabs_find(&l->tabs, &j);
    if (open >= 0) {
        jvm_tabs_go(&l->tabs, open);
        return WAY_TABS;
    }
    char text[400];
    snprintf(text, sizeof text, "attaching to %s (pid %d) ...", j.name, (int)j.pid);
    picker_say(l->picker, text);
    show_picker(l);
    struct err e = {0};
    struct session *s = NULL;
    /* While other JVMs are open, a single signal does not end the program here. */
    signals_impatient(l->tabs.count ? 0 : SIGNALS_PATIENCE_S);
    int err = live_attach(&j, &l->o->session, &s, &e);
    signals_patient();
    if (err || jvm_tabs_open(&l->tabs, s, l->o, NULL, clock_now_ns(), &e)) {
        picker_say(l->picker, e.message);
        return WAY_STAY;
    }
    picker_say(l->picker, "");
    config_remember(j.name);
    return WAY_TABS;
}

static enum way take_picker_press(struct live *l, int32_t press) {
    enum picker_wish wish;
    if (press == PRESS_MOUSE) {
        const struct mouse m = terminal_mouse(l->loop.terminal);
        wish = picker_mouse(l->picker, &m);
    } else {
        wish = picker_press(l->picker, press);
    }
    switch (wish) {
    case PICKER_CHOSEN:
        return open_chosen(l);
    case PICKER_BACK:
        return l->tabs.count ? WAY_TABS : WAY_OUT;
    case PICKER_QUIT:
        return WAY_OUT;
    case PICKER_MOUSE:
        l->mouse = !l->mouse;
        break;
    case PICKER_REDRAW:
        terminal_redraw(l->loop.terminal);
        break;
    case PICKER_NOTHING:
        break;
    }
    return WAY_STAY;
}

static void mark_recent(struct picker *p) {
    char name[CONFIG_RECENT][CONFIG_TEXT];
    const char *list[CONFIG_RECENT];
    int count = config_recent(name);
    for (int i = 0; i < count; i++)
        list[i] = name[i];
    picker_mark_recent(p, list, count);
}

static enum way run_picker(struct live *l) {
    uint64_t next = 0;
    enum way way = WAY_STAY;
    mark_recent(l->picker);
    while (way == WAY_STAY) {
        uint64_t now = clock_now_ns(), look = jvm_tabs_look(&l->tabs, true, now);
        if (now >= next) {
            list_jvms(l);
            next = now + loop_period_ns(&l->loop, PICKER_REFRESH_NS);
        }
        use_mouse(l, false);
        show_picker(l);
        unsigned happened = loop_wait(&l->loop, -1, next < look ? next : look);
        if (happened & LOOP_QUIT)
            way = WAY_OUT;
        int32_t press;
        while (way == WAY_STAY && (happened & LOOP_PRESS) && (press = loop_press(&l->loop)) >= 0)
            way = take_picker_press(l, press);
    }
    return way;
}

/* ---- a JVM's screen ---- */

static uint64_t next_refresh(struct live *l, const struct jvm_tab *t, uint64_t now) {
    uint64_t period = live_refresh_ms(l->o) * MS;
    if (now - t->opened_ns < EARLY_NS && period > EARLY_REFRESH_NS)
        period = EARLY_REFRESH_NS;
    return now + loop_period_ns(&l->loop, period);
}

static void show_screen(struct live *l, struct screen *s) {
    struct caret caret;
    screen_draw(s, &l->loop.canvas, &caret);
    loop_show(&l->loop, &caret);
}

static void copy(struct live *l, struct screen *s) {
    const char *text = screen_text(s);
    size_t length = strlen(text), lines = 0;
    for (const char *at = text; *at; at++)
        lines += *at == '\n';
    if (!length)
        screen_say(s, "nothing to copy here");
    else if (length > TERMINAL_COPY_MOST)
        screen_say(s, "not copied: %zu KB are too much for a terminal's clipboard; s saves a file",
                   length >> 10);
    else if (terminal_copy(l->loop.terminal, text, length))
        screen_say(s, "copied to the terminal's clipboard: %zu line%s", lines ? lines : 1,
                   lines > 1 ? "s" : "");
    else
        screen_say(s, "not copied: this terminal accepts no text for its clipboard (OSC 52)");
}

/* Pipes the table to the command, which has the terminal until it ends. Its output stays until a
 * press. */
static void pipe_table(struct live *l, struct screen *s) {
    struct text table = {0};
    struct err e = {0};
    const char *command = screen_text(s);
    int status = 0;
    screen_table(s, &table);
    if (table.failed) {
        screen_say(s, "no memory for the table");
        text_free(&table);
        return;
    }
    terminal_leave(l->loop.terminal);
    int rc = pipe_run(command, table.data ? table.data : "", table.len, &status, &e);
    if (rc == 0) {
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
            printf("\n[press a key]");
        else if (WIFEXITED(status))
            printf("\n[exit %d: press a key]", WEXITSTATUS(status));
        else
            printf("\n[signal %d: press a key]", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
        fflush(stdout);
        pipe_wait_key();
        printf("\n");
        fflush(stdout);
    }
    terminal_resume(l->loop.terminal);
    if (rc)
        screen_say(s, "not piped: %s", e.message);
    else if (WIFEXITED(status) && WEXITSTATUS(status))
        screen_say(s, "%s: exit %d", command, WEXITSTATUS(status));
    text_free(&table);
}

static void step_tab(struct live *l, struct screen *s, int by) {
    struct jvm_tabs *t = &l->tabs;
    if (t->count > 1)
        jvm_tabs_go(t, (t->on + by + t->count) % t->count);
    else
        screen_say(s, "no other JVM is open");
}

/* Closes the tab on screen. Its samples are lost, so the last tab is not closed this way. */
static void close_tab(struct live *l, struct screen *s) {
    if (l->tabs.count == 1) {
        screen_say(s, "this is the only JVM: q detaches and quits");
        return;
    }
    screen_say(s, "detaching from the JVM ...");
    show_screen(l, s);
    jvm_tabs_close(&l->tabs);
}

static enum way carry_out(struct live *l, struct jvm_tab *t, enum screen_wish wish) {
    struct screen *s = t->screen;
    switch (wish) {
    case SCREEN_NOTHING:
        break;
    case SCREEN_QUIT:
        return WAY_OUT;
    case SCREEN_SAVE:
        jvm_tab_save(t, time(NULL));
        break;
    case SCREEN_SAVE_STACKS:
        jvm_tab_save_stacks(t, time(NULL));
        break;
    case SCREEN_RECORD:
        jvm_tab_record(t, time(NULL));
        break;
    case SCREEN_COPY:
        copy(l, s);
        break;
    case SCREEN_PIPE:
        pipe_table(l, s);
        break;
    case SCREEN_MOUSE:
        l->mouse = !l->mouse;
        screen_say(s, l->mouse ? "jtop-prof uses the mouse"
                               : "the terminal uses the mouse: it selects text");
        break;
    case SCREEN_NEW_TAB:
        return WAY_PICKER;
    case SCREEN_NEXT_TAB:
        step_tab(l, s, 1);
        break;
    case SCREEN_PREVIOUS_TAB:
        step_tab(l, s, -1);
        break;
    case SCREEN_CLOSE_TAB:
        close_tab(l, s);
        break;
    case SCREEN_REDRAW:
        terminal_redraw(l->loop.terminal);
        break;
    }
    return WAY_STAY;
}

static enum way take_presses(struct live *l) {
    enum way way = WAY_STAY;
    int32_t press;
    while (way == WAY_STAY && (press = loop_press(&l->loop)) >= 0) {
        struct jvm_tab *t = jvm_tabs_on(&l->tabs);
        enum screen_wish wish;
        if (press == PRESS_MOUSE) {
            const struct mouse m = terminal_mouse(l->loop.terminal);
            wish = screen_mouse(t->screen, &m);
        } else {
            wish = screen_press(t->screen, press);
        }
        way = carry_out(l, t, wish);
    }
    return way;
}

static void refresh(struct live *l, struct jvm_tab *t, uint64_t now) {
    if (model_refresh(&t->model, now))
        screen_say(t->screen, "no memory for a new screen: the last one stays");
    screen_line_rate(t->screen, loop_bytes_per_second(&l->loop), loop_is_slow(&l->loop));
    screen_update(t->screen);
    t->refresh_ns = next_refresh(l, t, now);
}

static enum way run_screen(struct live *l) {
    enum way way = WAY_STAY;
    while (way == WAY_STAY) {
        struct jvm_tab *t = jvm_tabs_on(&l->tabs);
        int fd = session_event_fd(t->session);
        uint64_t now = clock_now_ns();
        if (now >= t->refresh_ns)
            refresh(l, t, now);
        uint64_t look = jvm_tabs_look(&l->tabs, false, now);
        use_mouse(l, screen_hovers(t->screen));
        uint64_t rest = screen_rest(t->screen, clock_now_ns);
        show_screen(l, t->screen);
        uint64_t until = t->refresh_ns < look ? t->refresh_ns : look;
        until = rest < until ? rest : until;
        if (screen_waits(t->screen) && until > now + ANSWER_NS)
            until = now + ANSWER_NS;
        unsigned happened = loop_wait(&l->loop, fd, until);
        if (happened & LOOP_QUIT)
            return WAY_OUT;
        if (happened & LOOP_OTHER) {
            live_clear_event(fd);
            t->refresh_ns = 0;
        }
        if (happened & LOOP_PRESS)
            way = take_presses(l);
        if (way == WAY_STAY && t == jvm_tabs_on(&l->tabs) && screen_wants_switch(t->screen)) {
            show_screen(l, t->screen); /* shows the pending switch: a busy JVM takes its time */
            screen_switch(t->screen);
            t->opened_ns = clock_now_ns();
            t->refresh_ns = 0;
        }
    }
    return way;
}

/* ---- all of it ---- */

/* Shows a line until the first screen is ready. */
static void show_opening(struct live *l) {
    struct canvas *c = &l->loop.canvas;
    canvas_clear(c);
    if (l->o->replay)
        canvas_textf(c, 0, 0, c->cols, ROLE_TEXT, "reading %s ...", l->o->replay);
    else
        canvas_textf(c, 0, 0, c->cols, ROLE_TEXT, "attaching to %s (pid %d) ...", l->o->jvm->name,
                     (int)l->o->jvm->pid);
    loop_show(&l->loop, &(struct caret){0});
}

/* Opens the JVM or recording of the command line. */
static int open_first(struct live *l, struct err *e) {
    struct session *s = NULL;
    show_opening(l);
    int err = live_open_session(l->o, &s, e);
    if (err)
        return err;
    if (l->o->jvm)
        config_remember(l->o->jvm->name);
    return jvm_tabs_open(&l->tabs, s, l->o, l->o->replay, clock_now_ns(), e);
}

static int run(struct live *l, struct err *e) {
    enum way way = WAY_PICKER;
    if (l->o->replay || l->o->jvm) {
        int err = open_first(l, e);
        if (err)
            return err;
        way = WAY_TABS;
    }
    while (way != WAY_OUT)
        way = way == WAY_PICKER ? run_picker(l) : run_screen(l);
    for (struct jvm_tab *t; (t = jvm_tabs_on(&l->tabs)); jvm_tabs_close(&l->tabs)) {
        screen_say(t->screen, "detaching from the JVM ...");
        show_screen(l, t->screen);
    }
    return 0;
}

static int run_terminal(const struct live_options *o, struct terminal *t, bool utf8,
                        struct err *e) {
    struct live l = {.o = o, .mouse = !o->no_mouse};
    l.loop.canvas.ascii_text = !utf8;
    l.loop.canvas.ascii_lines = o->ascii || !utf8;
    l.picker = picker_new(geteuid());
    int err =
        !l.picker || loop_open(&l.loop, t) ? err_set(e, ENOMEM, "no memory for the screen") : 0;
    if (!err) {
        picker_configure(l.picker, config_keys(o->config), doctor_attach);
        err = run(&l, e);
    }
    picker_free(l.picker);
    jvm_tabs_close_all(&l.tabs);
    loop_close(&l.loop);
    return err;
}

int live_run(const struct live_options *o, struct err *e) {
    struct terminal *t = NULL;
    struct theme theme;
    if (o->plain)
        return live_plain(o, e);
    bool utf8 = live_set_locale();
    int err = theme_load(o->config->theme, &theme, e);
    if (err)
        return err;
    err = signals_open(e);
    if (err)
        return err;
    err = terminal_open(&t, &theme, live_is_mono(o), e);
    if (!err)
        err = run_terminal(o, t, utf8, e);
    terminal_close(t);
    signals_close();
    return err;
}
