#include "tui/live.h"

#include "tui/live_setup.h"
#include "tui/loop.h"
#include "tui/picker.h"
#include "tui/save.h"
#include "tui/screen.h"
#include "tui/signals.h"
#include "tui/source_session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MS UINT64_C(1000000)
#define PICKER_REFRESH_NS (1000 * MS)
/* A little faster than asked for while everything is new. The first samples are shown when they
 * come: the session's descriptor says so. */
#define EARLY_REFRESH_NS (200 * MS)
#define EARLY_NS (1000 * MS)

struct live {
    const struct live_options *o;
    struct loop loop;
    struct session *session;
};

static void show_picker(struct live *l, struct picker *p) {
    struct caret caret;
    picker_draw(p, &l->loop.canvas, &caret);
    loop_show(&l->loop, &caret);
}

static void list_jvms(struct picker *p) {
    struct jvm *jvms = NULL;
    struct err e = {0};
    int n = jvm_list(&jvms, &e);
    if (n < 0)
        picker_say(p, e.message);
    else
        picker_update(p, jvms, (uint32_t)n);
}

/* Attaches to the JVM of the cursor; an error stays in the picker. */
static void attach_chosen(struct live *l, struct picker *p) {
    struct jvm j = *picker_chosen(p);
    char text[400];
    snprintf(text, sizeof text, "attaching to %s (pid %d) ...", j.name, (int)j.pid);
    picker_say(p, text);
    show_picker(l, p);
    struct err e = {0};
    if (session_attach(&j, &l->o->session, &l->session, &e)) {
        l->session = NULL;
        picker_say(p, e.message);
    }
}

/* Until a session is attached (0, l->session set), the person leaves (0, NULL), or -ENOMEM. */
static int run_picker(struct live *l, struct err *e) {
    struct picker *p = picker_new(geteuid());
    if (!p)
        return err_set(e, ENOMEM, "no memory for the list of JVMs");
    uint64_t next = 0;
    for (bool leave = false; !leave && !l->session;) {
        uint64_t now = loop_now_ns();
        if (now >= next) {
            list_jvms(p);
            next = now + PICKER_REFRESH_NS;
        }
        show_picker(l, p);
        unsigned happened = loop_wait(&l->loop, -1, next);
        leave = happened & LOOP_QUIT;
        int32_t press;
        while (!leave && !l->session && (happened & LOOP_PRESS) &&
               (press = loop_press(&l->loop)) >= 0) {
            enum picker_wish wish = picker_press(p, press);
            leave = wish == PICKER_QUIT;
            if (wish == PICKER_CHOSEN)
                attach_chosen(l, p);
            if (wish == PICKER_REDRAW)
                terminal_redraw(l->loop.terminal);
        }
    }
    picker_free(p);
    return 0;
}

static void save(struct screen *s, const struct model *m) {
    char path[512];
    struct err e = {0};
    if (save_svg(m, screen_view(s), time(NULL), path, sizeof path, &e))
        screen_say(s, "not written: %s", e.message);
    else
        screen_say(s, "written: %s", path);
}

static uint64_t next_refresh(const struct live *l, uint64_t begin, uint64_t now) {
    uint64_t period = live_refresh_ms(l->o) * MS;
    if (now - begin < EARLY_NS && period > EARLY_REFRESH_NS)
        period = EARLY_REFRESH_NS;
    return now + period;
}

static void show_screen(struct live *l, struct screen *s) {
    struct caret caret;
    screen_draw(s, &l->loop.canvas, &caret);
    loop_show(&l->loop, &caret);
}

/* True where the person leaves. */
static bool take_presses(struct live *l, struct screen *s, const struct model *m) {
    int32_t press;
    while ((press = loop_press(&l->loop)) >= 0) {
        switch (screen_press(s, press)) {
        case SCREEN_QUIT:
            return true;
        case SCREEN_SAVE:
            save(s, m);
            break;
        case SCREEN_REDRAW:
            terminal_redraw(l->loop.terminal);
            break;
        case SCREEN_NOTHING:
            break;
        }
    }
    return false;
}

static void run_screen(struct live *l, struct screen *s, struct model *m) {
    int fd = session_event_fd(l->session);
    uint64_t begin = loop_now_ns(), next = begin;
    for (;;) {
        uint64_t now = loop_now_ns();
        if (now >= next) {
            if (model_refresh(m, now))
                screen_say(s, "no memory for a new picture: the last one stays");
            screen_update(s);
            next = next_refresh(l, begin, now);
        }
        show_screen(l, s);
        unsigned happened = loop_wait(&l->loop, fd, next);
        if (happened & LOOP_QUIT)
            return;
        if (happened & LOOP_OTHER) {
            live_clear_event(fd);
            next = 0;
        }
        if ((happened & LOOP_PRESS) && take_presses(l, s, m))
            break;
    }
    screen_say(s, "leaving the JVM ...");
    show_screen(l, s);
}

static int run_session(struct live *l, struct err *e) {
    struct model m;
    struct model_source source = source_session(l->session, !l->o->replay);
    const struct model_settings settings = live_settings(l->o);
    model_init(&m, &source, &settings);
    struct screen *s = screen_new(&m, l->o->view);
    if (s)
        run_screen(l, s, &m);
    screen_free(s);
    model_free(&m);
    return s ? 0 : err_set(e, ENOMEM, "no memory for the screen");
}

/* The line one sees until the first screen is there. */
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

static int run(struct live *l, struct err *e) {
    int err = 0;
    if (l->o->replay || l->o->jvm) {
        show_opening(l);
        err = live_open_session(l->o, &l->session, e);
    } else {
        err = run_picker(l, e);
    }
    if (!err && l->session)
        err = run_session(l, e);
    session_close(l->session);
    return err;
}

int live_run(const struct live_options *o, struct err *e) {
    struct live l = {.o = o};
    struct terminal *t = NULL;
    struct theme theme;
    bool utf8 = live_set_locale();
    int err = theme_default(&theme, e);
    if (err)
        return err;
    err = signals_open(e);
    if (err)
        return err;
    err = terminal_open(&t, &theme, live_is_mono(o), e);
    if (!err) {
        l.loop.canvas.ascii_text = !utf8;
        l.loop.canvas.ascii_lines = o->ascii || !utf8;
        err = loop_open(&l.loop, t) ? err_set(e, ENOMEM, "no memory for the screen") : run(&l, e);
    }
    loop_close(&l.loop);
    terminal_close(t);
    signals_close();
    return err;
}
