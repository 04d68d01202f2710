#include "tui/screen/live_plain.h"

#include "attach/doctor/doctor.h"
#include "core/base/clock.h"
#include "core/base/utf8.h"
#include "core/session/share/share.h"
#include "tui/screen/jvm_tabs.h"
#include "tui/screen/live_setup.h"
#include "tui/screen/plain_page.h"
#include "tui/terminal/loop.h"
#include "tui/terminal/pipe.h"
#include "tui/terminal/terminal_signals.h"
#include "core/base/format.h"

#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The size of a page; PgUp and PgDn move by its rows. */
#define PAGE_ROWS 29
#define PAGE_COLS 200
#define LINE_BYTES 1024
#define STACKS_NS UINT64_C(2000000000)
#define STACKS_LOOK_MS 20
#define STATES_NS UINT64_C(1500000000)
#define STATES_LOOK_MS 50
#define FIRST_NS UINT64_C(1500000000) /* how long the first page waits for samples */

struct plain {
    const struct live_options *o;
    struct jvm_tabs tabs;
    struct canvas canvas;
    bool utf8;
    bool over; /* asked to end, or nobody reads the output any more */
    char input[LINE_BYTES];
    size_t length; /* number of bytes in `input` */
};

static const struct {
    const char *word;
    int32_t press;
} words[] = {
    {"up", PRESS_UP},       {"down", PRESS_DOWN},    {"left", PRESS_LEFT},
    {"right", PRESS_RIGHT}, {"pgup", PRESS_PAGE_UP}, {"pgdn", PRESS_PAGE_DOWN},
    {"home", PRESS_HOME},   {"end", PRESS_END},      {"enter", PRESS_ENTER},
    {"esc", PRESS_ESCAPE},  {"tab", PRESS_TAB},      {"space", ' '},
    {"f1", PRESS_F1},
};

/* ---- lines out ---- */

static void say(struct plain *p, const char *text) {
    for (const char *s = text; *s && !p->utf8; s++) {
        if ((unsigned char)*s < 0x80)
            putchar(*s);
        else if (((unsigned char)*s & 0xc0) != 0x80)
            putchar('?');
    }
    if (p->utf8)
        fputs(text, stdout);
    if (fflush(stdout) || ferror(stdout))
        p->over = true;
}

static void say_text(struct plain *p, struct text *t) {
    say(p, t->failed ? "no memory for this page\n" : t->data ? t->data : "");
    text_free(t);
}

/* ---- lines in ---- */

/* Waits for `fd` (may be -1), a signal or the timeout. True if `fd` is readable. */
static bool wait_for(struct plain *p, int fd, int timeout_ms) {
    struct pollfd f[] = {{.fd = signals_fd(), .events = POLLIN}, {.fd = fd, .events = POLLIN}};
    if (poll(f, 2, timeout_ms) < 0)
        return false;
    unsigned signals = f[0].revents & POLLIN ? signals_take() : 0;
    if (signals & SIGNAL_QUIT)
        p->over = true;
    if (signals & SIGNAL_SUSPEND)
        signals_stop_self();
    return f[1].revents;
}

/* Takes the first line out of the input read so far. The last line needs no newline. */
static bool take_line(struct plain *p, bool ended, char line[LINE_BYTES]) {
    char *end = memchr(p->input, '\n', p->length);
    size_t n = end ? (size_t)(end - p->input) : p->length, used = end ? n + 1 : n;
    if (!end && !(ended && n) && n < sizeof p->input - 1)
        return false;
    memcpy(line, p->input, n);
    line[n] = '\0';
    if (n && line[n - 1] == '\r')
        line[n - 1] = '\0';
    memmove(p->input, p->input + used, p->length - used);
    p->length -= used;
    return true;
}

/* Reads a line. False at the end of the input, or if asked to end. */
static bool read_line(struct plain *p, const char *prompt, char line[LINE_BYTES]) {
    say(p, prompt);
    bool ended = false;
    while (!p->over) {
        if (take_line(p, ended, line))
            return true;
        if (ended)
            break;
        if (!wait_for(p, STDIN_FILENO, -1))
            continue;
        ssize_t n = read(STDIN_FILENO, p->input + p->length, sizeof p->input - 1 - p->length);
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        ended = n <= 0;
        p->length += n > 0 ? (size_t)n : 0;
    }
    p->over = true;
    return false;
}

/* ---- choosing a JVM ---- */

static void say_jvm(struct plain *p, int number, const struct jvm *j) {
    struct text t = {0};
    struct format used, most, up;
    struct err e = {0};
    text_addf(&t, "%d. %s, pid %d, user %s, up %s, CPU %.1f %%", number, j->name, (int)j->pid,
              j->user, format_age(&up, j->uptime_ms), j->cpu_percent);
    if (j->heap_max_bytes)
        text_addf(&t, ", heap %s of %s", format_bytes(&used, j->heap_used_bytes),
                  format_bytes(&most, j->heap_max_bytes));
    if (j->version[0])
        text_addf(&t, ", VM %s", j->version);
    if (doctor_attach(j, geteuid(), NULL, &e))
        text_addf(&t, "; cannot be attached to: %s", e.message);
    text_add(&t, "\n");
    say_text(p, &t);
}

/* Finds a JVM by its number in the list, or by a name as jvm_find takes it. */
static int find_jvm(const char *what, const struct jvm *jvms, int count, struct jvm *out,
                    struct err *e) {
    long n = strtol(what, NULL, 10);
    if (n > 0 && n <= count && strspn(what, "0123456789") == strlen(what)) {
        *out = jvms[n - 1];
        return 0;
    }
    return jvm_find(what, out, e);
}

static int open_jvm(struct plain *p, const struct jvm *j, struct err *e) {
    struct session *s = NULL;
    int open = jvm_tabs_find(&p->tabs, j), err;
    if (open >= 0) {
        jvm_tabs_go(&p->tabs, open);
        return 0;
    }
    err = doctor_attach(j, geteuid(), NULL, e);
    if (!err) {
        signals_impatient(p->tabs.count ? 0 : SIGNALS_PATIENCE_S);
        err = share_attach_alone(j, &p->o->session, &s, e);
        signals_patient();
    }
    if (!err)
        err = jvm_tabs_open(&p->tabs, s, p->o, NULL, clock_now_ns(), e);
    if (!err)
        config_remember(j->name);
    return err;
}

/* Lists JVMs until one is chosen, or the user leaves. True if a JVM is open. */
static bool choose(struct plain *p) {
    char line[LINE_BYTES], text[LINE_BYTES];
    for (;;) {
        struct jvm *jvms = NULL, j;
        struct err e = {0};
        int count = jvm_list_all(&jvms, &e);
        snprintf(text, sizeof text, "%d JVM%s\n", count > 0 ? count : 0, count == 1 ? "" : "s");
        say(p, text);
        for (int i = 0; i < count; i++)
            say_jvm(p, i + 1, &jvms[i]);
        bool got =
            read_line(p, "number or name to attach to, Enter for the list, q to quit: ", line);
        if (got && !strcmp(line, "q"))
            p->over = p->tabs.count == 0;
        if (!got || !strcmp(line, "q")) {
            free(jvms);
            return !p->over;
        }
        bool open = line[0] && !find_jvm(line, jvms, count, &j, &e) && !open_jvm(p, &j, &e);
        free(jvms);
        if (open)
            return true;
        if (e.message[0]) {
            snprintf(text, sizeof text, "%s\n", e.message);
            say(p, text);
        }
    }
}

/* ---- a JVM's pages ---- */

static void say_keys(struct plain *p) {
    struct text t = {0};
    const struct keymap *keys = config_keys(p->o->config);
    text_add(&t, "Type keys, one after the other, then Enter; Enter alone refreshes. Type other "
                 "keys as words: ");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        text_addf(&t, "%s%s", i ? ", " : "", words[i].word);
    text_add(&t, "; ^T is typed as two characters.\n");
    for (const struct key_binding *b = key_bindings; b->help; b++)
        if ((b->scope & (SCOPE_VIEWS | SCOPE_EVENTS | SCOPE_STACKS)) &&
            b->command != COMMAND_MOUSE && b->command != COMMAND_REDRAW)
            text_addf(&t, "%s: %s\n", keymap_keys(keys, b), b->help);
    say_text(p, &t);
}

/* Draws the screen. True if a line of text is being typed. */
static bool draw(struct plain *p, const struct jvm_tab *t, struct caret *caret) {
    screen_draw(t->screen, &p->canvas, caret);
    return caret->visible;
}

/* Waits for the stacks that were requested; not for long, so that the user can cancel. */
static void await_stacks(struct plain *p, struct jvm_tab *t) {
    uint64_t end = clock_now_ns() + STACKS_NS;
    struct caret caret;
    while (screen_waits(t->screen) && !p->over && clock_now_ns() < end) {
        wait_for(p, -1, STACKS_LOOK_MS);
        draw(p, t, &caret);
    }
}

/* The JVM reports Java states only while a page needs them. Waits for the first report, so that the
 * page has them. */
static void await_java_states(struct plain *p, struct jvm_tab *t) {
    uint64_t end = clock_now_ns() + STATES_NS;
    model_refresh(&t->model, clock_now_ns());
    while (screen_view(t->screen) == LIVE_THREADS && !p->over && clock_now_ns() < end &&
           t->model.status.phase == SESSION_RUNNING && !t->model.java_states &&
           t->model.status.java_states <= WIRE_JAVA_REPORT_ON) {
        wait_for(p, -1, STATES_LOOK_MS);
        model_refresh(&t->model, clock_now_ns());
    }
}

static void say_page(struct plain *p, struct jvm_tab *t, bool head) {
    struct text out = {0};
    struct caret caret;
    await_java_states(p, t);
    screen_update(t->screen);
    draw(p, t, &caret);
    await_stacks(p, t);
    if (screen_stacks_page(t->screen, &out)) {
        say_text(p, &out);
        return;
    }
    if (screen_view(t->screen) == LIVE_FLAME)
        text_add(&out, "The flame graph is a picture: the call tree, key 3, shows the same.\n");
    else
        plain_page(&p->canvas, caret.row, head, &out);
    say_text(p, &out);
}

static void pipe_table(struct plain *p, struct jvm_tab *t) {
    struct text table = {0};
    struct err e = {0};
    int status;
    screen_table(t->screen, &table);
    if (table.failed) {
        say(p, "no memory for the table\n");
    } else if (pipe_run(screen_text(t->screen), table.data ? table.data : "", table.len, &status,
                        &e)) {
        say(p, e.message);
        say(p, "\n");
    }
    text_free(&table);
}

static void step_tab(struct plain *p, int by) {
    struct jvm_tabs *t = &p->tabs;
    jvm_tabs_go(t, (t->on + by + t->count) % t->count);
}

/* Carries out a wish. False if the program ends, or this JVM is no longer on screen. */
static bool carry_out(struct plain *p, struct jvm_tab *t, enum screen_wish wish) {
    switch (wish) {
    case SCREEN_QUIT:
        p->over = true;
        break;
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
        say(p, screen_text(t->screen));
        break;
    case SCREEN_PIPE:
        pipe_table(p, t);
        break;
    case SCREEN_NEW_TAB:
        choose(p);
        break;
    case SCREEN_NEXT_TAB:
        step_tab(p, 1);
        break;
    case SCREEN_PREVIOUS_TAB:
        step_tab(p, -1);
        break;
    case SCREEN_CLOSE_TAB:
        if (p->tabs.count > 1)
            jvm_tabs_close(&p->tabs);
        else
            screen_say(t->screen, "this is the only JVM: q detaches and quits");
        break;
    default:
        break;
    }
    return !p->over && t == jvm_tabs_on(&p->tabs);
}

/* Returns the next press of a line, "^T" included; 0 at its end. */
static int32_t next_press(const char **s) {
    const unsigned char *at = (const unsigned char *)*s;
    if (at[0] == '^' && at[1] >= '?' && at[1] <= '_') {
        *s += 2;
        return PRESS_CTRL(at[1]);
    }
    if (!at[0])
        return 0;
    uint32_t code;
    size_t bytes = utf8_decode(*s, SIZE_MAX, &code);
    *s += bytes ? bytes : 1;
    return bytes ? (int32_t)code : 0xfffd; /* the replacement character: it is no key */
}

/* Takes a line as keys. The caller prints a page afterwards. */
static void take_keys(struct plain *p, const char *line) {
    struct caret caret;
    const struct keymap *keys = config_keys(p->o->config);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!strcmp(line, words[i].word)) {
            struct jvm_tab *t = jvm_tabs_on(&p->tabs);
            carry_out(p, t, screen_press(t->screen, words[i].press));
            return;
        }
    }
    for (int32_t press; (press = next_press(&line));) {
        struct jvm_tab *t = jvm_tabs_on(&p->tabs);
        await_stacks(p, t);
        bool typing = draw(p, t, &caret);
        if (!typing && keymap_command(keys, press, SCOPE_VIEWS) == COMMAND_HELP)
            say_keys(p);
        else if (!carry_out(p, t, screen_press(t->screen, press)))
            return;
    }
    struct jvm_tab *t = jvm_tabs_on(&p->tabs);
    if (draw(p, t, &caret)) /* the end of the line is Enter */
        carry_out(p, t, screen_press(t->screen, PRESS_ENTER));
}

/* Waits for the first samples, so that the first page shows some; after a while it shows none. */
static void await_samples(struct plain *p, struct jvm_tab *t) {
    uint64_t end = clock_now_ns() + FIRST_NS, now;
    int fd = session_event_fd(t->session);
    while (!t->replay && !p->over && (now = clock_now_ns()) < end) {
        if (wait_for(p, fd, (int)((end - now) / 1000000) + 1)) {
            live_clear_event(fd);
            break;
        }
    }
    model_refresh(&t->model, clock_now_ns());
}

static void run(struct plain *p) {
    char line[LINE_BYTES];
    bool head = true;
    if (!p->tabs.count && !choose(p))
        return;
    for (struct jvm_tab *said = NULL, *t; !p->over && (t = jvm_tabs_on(&p->tabs)); said = t) {
        if (t != said) {
            await_samples(p, t);
            head = true;
        }
        if (p->over)
            break;
        if (screen_wants_switch(t->screen))
            screen_switch(t->screen);
        jvm_tabs_look(&p->tabs, false, clock_now_ns());
        say_page(p, t, head);
        if (!read_line(p, "keys, ? for help: ", line))
            break;
        head = !line[0];
        take_keys(p, line);
    }
}

int live_plain(const struct live_options *o, struct err *e) {
    struct plain p = {.o = o, .utf8 = live_set_locale()};
    setlocale(LC_CTYPE, "C.UTF-8"); /* for the canvas; say() replaces what cannot be printed */
    int err = canvas_resize(&p.canvas, PAGE_ROWS, PAGE_COLS)
                  ? err_set(e, ENOMEM, "no memory for a page")
                  : signals_open(e);
    if (err)
        return err;
    struct session *s = NULL;
    if (o->jvm || o->replay) {
        err = live_open_session(o, &s, e);
        if (!err)
            err = jvm_tabs_open(&p.tabs, s, o, o->replay, clock_now_ns(), e);
    }
    if (!err)
        run(&p);
    jvm_tabs_close_all(&p.tabs);
    signals_close();
    canvas_free(&p.canvas);
    return err;
}
