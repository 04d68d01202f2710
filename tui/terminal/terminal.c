#include "tui/terminal/terminal.h"

#include "core/base/clock.h"
#include "core/base/text.h"
#include "tui/terminal/escapes.h"
#include "tui/terminal/input.h"
#include "tui/terminal/terminal_signals.h"
#include "tui/terminal/terminfo.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#define MS UINT64_C(1000000)
/* A terminal that does not answer within this time never does. */
#define SILENT_NS (8000 * MS)
/* Time to wait for an answer before the terminal is given back: it would become the shell's
 * input. */
#define LAST_ANSWER_NS (1000 * MS)
/* Smaller frames arrive in one piece anyway. */
#define SYNCHRONIZE_LEAST 512
#define CHUNK 64 /* bytes per write that may block: a writable terminal always accepts this many */

#define MOUSE_OFF "\033[?1006l\033[?1003l\033[?1002l\033[?1000l"
#define PASTE_ON "\033[?2004h"
#define PASTE_OFF "\033[?2004l"
#define SYNCHRONIZE_OFF "\033[?2026l"

struct terminal {
    struct terminfo ti;
    struct emit *emit;
    struct termios before, ours;
    int out_fd;
    bool out_blocks; /* out_fd is not our own descriptor, so a write may block */
    bool out_gone;
    struct text out; /* to be sent, from `sent` on */
    size_t sent;
    uint64_t bytes;
    struct input input;
    int32_t next; /* a press that was decoded but not taken yet; -1 */
    bool mouse, hover;
    /* status requests after frames: number sent, number of delays measured */
    unsigned asked, delays;
    uint64_t asked_ns, delay_ns;
    bool silent; /* it never answers */
};

/* ---- modes ---- */

static void add(char *out, size_t size, const char *s) {
    size_t n = strlen(out);
    snprintf(out + n, size - n, "%s", s);
}

/* Writes the bytes that restore the terminal, whatever was sent and however much of that
 * arrived. */
static void parting_bytes(const struct terminal *t, char *out, size_t size) {
    out[0] = '\0';
    if (t->ti.modern)
        add(out, size, "\033\\" SYNCHRONIZE_OFF MOUSE_OFF PASTE_OFF);
    add(out, size, t->ti.reset);
    if (t->ti.colours)
        add(out, size, "\033[39;49m");
    add(out, size, t->ti.show);
    add(out, size, t->ti.leave);
    add(out, size, "\r");
}

static void send(struct terminal *t, const char *s) {
    text_add(&t->out, s);
}

static void send_mouse(struct terminal *t) {
    if (!t->ti.modern)
        return;
    send(t, MOUSE_OFF);
    if (t->mouse)
        send(t,
             t->hover ? "\033[?1000h\033[?1003h\033[?1006h" : "\033[?1000h\033[?1002h\033[?1006h");
}

static void drop_output(struct terminal *t) {
    text_free(&t->out);
    t->sent = 0;
}

/* Takes the terminal: sets its modes, and switches to the second screen. */
static void take(struct terminal *t) {
    tcsetattr(STDIN_FILENO, TCSANOW, &t->ours);
    drop_output(t);
    send(t, t->ti.enter);
    /* Some terminals show the last letter of an unknown sequence. The first frame clears it. */
    if (t->ti.modern)
        send(t, "\033[?2026$p" PASTE_ON);
    if (t->mouse)
        send_mouse(t);
    emit_forget(t->emit);
}

/* Waits until the terminal is writable. False if that takes longer. */
static bool wait_writable(const struct terminal *t, int ms) {
    struct pollfd p = {.fd = t->out_fd, .events = POLLOUT};
    return poll(&p, 1, ms) == 1 && (p.revents & POLLOUT);
}

/* True if an answer is pending. */
static bool is_asked(const struct terminal *t) {
    return t->asked != t->input.alive && !t->silent;
}

/* Waits for a pending answer. It may have come long ago without being read, because leaving a JVM
 * takes time. */
static void wait_for_answer(struct terminal *t) {
    uint64_t end = t->asked_ns + LAST_ANSWER_NS;
    while (is_asked(t)) {
        uint64_t now = clock_now_ns();
        int ms = now < end ? (int)((end - now) / MS) + 1 : 0;
        struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
        if (t->input.length == sizeof t->input.bytes || poll(&p, 1, ms) != 1 || !terminal_read(t))
            return;
        while (terminal_press(t) >= 0) /* drop keys typed after the program was asked to end */
            ;
    }
}

/* Gives the terminal back. A stopped terminal would block us forever, so output has a timeout. The
 * modes can be restored anyway. */
static void give_back(struct terminal *t) {
    char parting[SIGNALS_GUARD_BYTES];
    parting_bytes(t, parting, sizeof parting);
    for (int i = 0; i < 8 && terminal_pending(t) && wait_writable(t, 125); i++)
        terminal_flush(t);
    wait_for_answer(t);
    drop_output(t);
    send(t, parting);
    for (int i = 0; i < 8 && terminal_pending(t) && wait_writable(t, 125); i++)
        terminal_flush(t);
    drop_output(t);
    if (t->asked != t->input.alive) /* drop what came of an answer after the timeout */
        tcflush(STDIN_FILENO, TCIFLUSH);
    tcsetattr(STDIN_FILENO, TCSANOW, &t->before);
}

/* ---- opening ---- */

/* True if 24-bit colours reach the terminal, which its entry or COLORTERM reports. GNU screen
 * passes that variable on, but not such colours. */
static bool has_rgb(const struct terminfo *ti) {
    if (ti->direct && ti->colours)
        return true;
    const char *said = getenv("COLORTERM"), *term = getenv("TERM");
    if (!said || (strcmp(said, "truecolor") != 0 && strcmp(said, "24bit") != 0))
        return false;
    bool in_screen = term && !strncmp(term, "screen", 6) && !getenv("TMUX");
    return ti->colours >= 8 && ti->modern && !in_screen;
}

/* Opens the terminal again, so that O_NONBLOCK does not affect other processes that use the
 * terminal (the shell). -1: not possible. */
static int open_output(void) {
    char name[128];
    int flags = O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC, fd = -1;
    if (ttyname_r(STDOUT_FILENO, name, sizeof name) == 0)
        fd = open(name, flags);
    return fd >= 0 ? fd : open("/proc/self/fd/1", flags);
}

static struct termios our_modes(struct termios m) {
    m.c_iflag &= ~(tcflag_t)(ICRNL | INLCR | IGNCR | ISTRIP);
    m.c_oflag &= ~(tcflag_t)OPOST;
    m.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ECHONL | IEXTEN);
    m.c_cc[VMIN] = 1;
    m.c_cc[VTIME] = 0;
    return m;
}

int terminal_open(struct terminal **out, const struct theme *theme, bool mono, struct err *e) {
    struct termios modes;
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, &modes))
        return err_set(e, ENOTTY,
                       "%s is not a terminal: the live screen needs one; try --batch, or -d N for "
                       "a profile of N seconds",
                       isatty(STDOUT_FILENO) ? "stdin" : "stdout");
    struct terminal *t = calloc(1, sizeof *t);
    if (!t)
        return err_set(e, ENOMEM, "no memory for the screen");
    int err = terminfo_open(&t->ti, NULL, STDOUT_FILENO, e);
    if (err) {
        free(t);
        return err;
    }
    struct emit_options o = {.mono = mono, .rgb = has_rgb(&t->ti)};
    t->emit = emit_new(&t->ti, theme, &o);
    if (!t->emit) {
        terminfo_close();
        free(t);
        return err_set(e, ENOMEM, "no memory for the screen");
    }
    t->next = -1;
    t->input.key = t->ti.key;
    t->input.keys = t->ti.keys;
    t->before = modes;
    t->ours = our_modes(modes);
    t->out_fd = open_output();
    t->out_blocks = t->out_fd < 0;
    if (t->out_blocks)
        t->out_fd = STDOUT_FILENO;
    char parting[SIGNALS_GUARD_BYTES];
    parting_bytes(t, parting, sizeof parting);
    signals_guard(t->out_fd, &modes, parting, strlen(parting));
    take(t);
    *out = t;
    return 0;
}

void terminal_close(struct terminal *t) {
    if (!t)
        return;
    give_back(t);
    signals_unguard();
    if (!t->out_blocks)
        close(t->out_fd);
    emit_free(t->emit);
    terminfo_close();
    text_free(&t->out);
    free(t);
}

void terminal_leave(struct terminal *t) {
    give_back(t);
}

void terminal_suspend(struct terminal *t) {
    give_back(t);
    signals_stop_self();
}

void terminal_resume(struct terminal *t) {
    take(t);
}

static int from_environment(const char *name, int otherwise) {
    const char *s = getenv(name);
    long n = s ? strtol(s, NULL, 10) : 0;
    return n > 0 && n < 10000 ? (int)n : otherwise;
}

void terminal_size(struct terminal *t, int *rows, int *cols) {
    struct winsize w;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_row > 0 && w.ws_col > 0) {
        *rows = w.ws_row;
        *cols = w.ws_col;
        return;
    }
    *rows = from_environment("LINES", t->ti.rows ? t->ti.rows : 24);
    *cols = from_environment("COLUMNS", t->ti.cols ? t->ti.cols : 80);
}

/* ---- output ---- */

bool terminal_pending(const struct terminal *t) {
    return t->sent < t->out.len;
}

void terminal_flush(struct terminal *t) {
    while (terminal_pending(t)) {
        size_t n = t->out.len - t->sent;
        if (t->out_blocks && !wait_writable(t, 0))
            return;
        if (t->out_blocks && n > CHUNK)
            n = CHUNK;
        ssize_t written = write(t->out_fd, t->out.data + t->sent, n);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0 && errno == EAGAIN)
            return;
        if (written <= 0) { /* the terminal is gone; the next read finds that out */
            t->out_gone = true;
            break;
        }
        t->sent += (size_t)written;
        t->bytes += (uint64_t)written;
    }
    text_clear(&t->out);
    t->sent = 0;
}

/* Sends a status request, but only one at a time. So an answer is to the last frame or to an
 * earlier one. */
static void ask(struct terminal *t) {
    if (t->silent || is_asked(t) || !t->ti.ansi)
        return;
    send(t, "\033[5n");
    t->asked++;
    t->asked_ns = clock_now_ns();
}

void terminal_show(struct terminal *t, const struct canvas *c, const struct caret *at) {
    static const char begin[] = "\033[?2026h";
    if (t->out_gone)
        return;
    bool synchronize = t->input.synchronizes;
    size_t before = t->out.len, head = synchronize ? sizeof begin - 1 : 0;
    if (synchronize)
        send(t, begin);
    emit_frame(t->emit, c, at, &t->out);
    size_t frame = t->out.len - before - head;
    if (t->out.failed) {
        drop_output(t);
        return;
    }
    if (synchronize && frame >= SYNCHRONIZE_LEAST) {
        send(t, SYNCHRONIZE_OFF);
    } else if (synchronize) {
        memmove(t->out.data + before, t->out.data + before + head, frame);
        t->out.len -= head;
    }
    if (frame)
        ask(t);
    terminal_flush(t);
}

void terminal_redraw(struct terminal *t) {
    emit_forget(t->emit);
}

uint64_t terminal_bytes(const struct terminal *t) {
    return t->bytes;
}

bool terminal_behind(struct terminal *t) {
    if (!is_asked(t))
        return false;
    /* More answers than requests: they are not genuine. */
    bool made_up = (int)(t->input.alive - t->asked) > 0;
    if (made_up || clock_now_ns() - t->asked_ns > SILENT_NS) {
        t->silent = made_up || t->delays == 0;
        t->asked = t->input.alive;
    }
    return is_asked(t) && t->delays > 0; /* a terminal that has not answered yet may never answer */
}

uint64_t terminal_delay_ns(const struct terminal *t, unsigned *frames) {
    *frames = t->delays;
    return t->delay_ns;
}

uint64_t terminal_behind_ns(const struct terminal *t) {
    return is_asked(t) && t->delays > 0 ? clock_now_ns() - t->asked_ns : 0;
}

/* ---- the clipboard ---- */

static void add_base64(struct text *out, const char *data, size_t length) {
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < length; i += 3) {
        uint32_t bits = 0;
        size_t n = length - i < 3 ? length - i : 3;
        for (size_t k = 0; k < 3; k++)
            bits = bits << 8 | (k < n ? (unsigned char)data[i + k] : 0);
        char four[4] = {letters[bits >> 18], letters[bits >> 12 & 63],
                        n > 1 ? letters[bits >> 6 & 63] : '=', n > 2 ? letters[bits & 63] : '='};
        text_add_n(out, four, sizeof four);
    }
}

/* Sends the text again for terminal multiplexers. GNU screen passes strings on if they are packed
 * into its own strings, in small pieces. tmux takes the text itself or passes it on, as it is
 * configured. */
static void send_packed(struct terminal *t, const char *base64, size_t length) {
    const char *term = getenv("TERM");
    if (getenv("TMUX")) {
        send(t, "\033Ptmux;\033\033]52;c;");
        text_add_n(&t->out, base64, length);
        send(t, "\a\033\\");
    } else if (term && !strncmp(term, "screen", 6)) {
        send(t, "\033P\033]52;c;");
        for (size_t i = 0; i < length; i += 256) {
            text_add_n(&t->out, base64 + i, length - i < 256 ? length - i : 256);
            send(t, "\033\\\033P");
        }
        send(t, "\a\033\\");
    }
}

bool terminal_copy(struct terminal *t, const char *text, size_t length) {
    struct text base64 = {0};
    if (!t->ti.modern || length > TERMINAL_COPY_MOST || t->out_gone)
        return false;
    add_base64(&base64, text, length);
    if (base64.failed) {
        text_free(&base64);
        return false;
    }
    send(t, "\033]52;c;");
    text_add_n(&t->out, base64.data ? base64.data : "", base64.len);
    send(t, "\a");
    send_packed(t, base64.data ? base64.data : "", base64.len);
    text_free(&base64);
    bool failed = t->out.failed;
    if (failed) { /* part of a frame may be lost too */
        drop_output(t);
        emit_forget(t->emit);
    }
    terminal_flush(t);
    return !failed;
}

/* ---- input ---- */

void terminal_use_mouse(struct terminal *t, bool on, bool hover) {
    if (t->mouse == on && (!on || t->hover == hover))
        return;
    t->mouse = on;
    t->hover = hover;
    send_mouse(t);
    terminal_flush(t);
}

struct mouse terminal_mouse(const struct terminal *t) {
    return t->input.mouse;
}

bool terminal_read(struct terminal *t) {
    struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
    unsigned char bytes[1024];
    size_t room = sizeof t->input.bytes - t->input.length;
    bool any = false;
    while (room && poll(&p, 1, 0) == 1 && (p.revents & POLLIN)) {
        ssize_t n = read(STDIN_FILENO, bytes, room < sizeof bytes ? room : sizeof bytes);
        if (n <= 0)
            break;
        input_feed(&t->input, bytes, (size_t)n, clock_now_ns());
        room -= (size_t)n;
        any = true;
    }
    return any;
}

bool terminal_pressed(struct terminal *t) {
    if (t->next >= 0)
        return true;
    unsigned alive = t->input.alive;
    t->next = input_next(&t->input, clock_now_ns());
    if (t->input.alive != alive && t->input.alive == t->asked) {
        t->delay_ns = clock_now_ns() - t->asked_ns;
        t->delays++;
    }
    return t->next >= 0;
}

int32_t terminal_press(struct terminal *t) {
    if (!terminal_pressed(t))
        return -1;
    int32_t press = t->next;
    t->next = -1;
    return press;
}

uint64_t terminal_press_due(const struct terminal *t) {
    return input_deadline(&t->input);
}

int terminal_fd(const struct terminal *t) {
    (void)t;
    return STDIN_FILENO;
}

int terminal_out_fd(const struct terminal *t) {
    return t->out_fd;
}
