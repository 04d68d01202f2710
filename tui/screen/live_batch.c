#include "core/base/clock.h"
#include "tui/model/source_session.h"
#include "tui/screen/live.h"
#include "tui/screen/live_setup.h"
#include "tui/screen/screen.h"
#include "tui/terminal/loop.h"
#include "tui/terminal/terminal_signals.h"
#include "tui/view/header.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLS_DEFAULT 120
#define COLS_MIN 80
#define ROWS_DEFAULT 45
#define ROWS_MIN 10
#define SIZE_LIMIT 1000

static int size_from(const char *variable, int least, int otherwise) {
    const char *s = getenv(variable);
    long n = s ? strtol(s, NULL, 10) : 0;
    if (n <= 0 || n > SIZE_LIMIT)
        return otherwise;
    return n < least ? least : (int)n;
}

/* Waits for the time of the next frame. False: asked to stop, or the session has ended. */
static bool wait_frame(const struct live_options *o, struct session *s) {
    uint64_t until = clock_now_ns() + (uint64_t)live_refresh_ms(o) * 1000000u;
    int fd = session_event_fd(s);
    for (;;) {
        uint64_t now = clock_now_ns();
        if (now >= until)
            return true;
        struct timespec left = {.tv_sec = (time_t)((until - now) / 1000000000u),
                                .tv_nsec = (long)((until - now) % 1000000000u)};
        struct pollfd p[] = {{.fd = signals_fd(), .events = POLLIN}, {.fd = fd, .events = POLLIN}};
        ppoll(p, 2, &left, NULL);
        unsigned signals = p[0].revents & POLLIN ? signals_take() : 0;
        if (signals & SIGNAL_QUIT)
            return false;
        if (signals & SIGNAL_SUSPEND)
            signals_stop_self();
        if (p[1].revents) {
            live_clear_event(fd);
            struct session_status status;
            session_status(s, &status);
            if (status.phase != SESSION_RUNNING)
                return false;
        }
    }
}

/* Prints a frame, without empty rows at its end. The notice that the screen would show in its
 * status row comes last. 0 or -errno. */
static int print_frame(const struct canvas *c, const struct model *m, bool first, struct err *e) {
    struct text out = {0};
    char notice[512];
    bool minor;
    canvas_dump(c, &out);
    int err = 0;
    if (out.failed) {
        err = err_set(e, ENOMEM, "no memory for a frame");
    } else {
        while (out.len > 1 && out.data[out.len - 1] == '\n' && out.data[out.len - 2] == '\n')
            out.data[--out.len] = '\0';
        if (header_notice(m, &minor, notice, sizeof notice)[0])
            text_addf(&out, "! %s\n", notice);
        if (printf("%s%s", first ? "" : "\n", out.data) < 0 || fflush(stdout))
            err = errno == EPIPE ? -EPIPE : err_set(e, errno, "stdout: %s", strerror(errno));
    }
    text_free(&out);
    return err;
}

static int print_frames(const struct live_options *o, struct session *session, struct model *m,
                        struct screen *s, struct canvas *c, struct err *e) {
    /* Rates need two polls; this is the first. */
    int err = 0;
    if (model_refresh(m, clock_now_ns()))
        return err_set(e, ENOMEM, "no memory for a frame");
    for (unsigned n = 0; !err && (o->frames == 0 || n < o->frames); n++) {
        bool more = !o->replay && wait_frame(o, session);
        if (model_refresh(m, clock_now_ns()))
            return err_set(e, ENOMEM, "no memory for a frame");
        screen_update(s);
        screen_draw_batch(s, c);
        err = print_frame(c, m, n == 0, e);
        if (!more || m->status.phase != SESSION_RUNNING)
            break;
    }
    /* The reader of our output has ended (| head): that is no error. */
    return err == -EPIPE ? 0 : err;
}

int live_batch(const struct live_options *o, struct err *e) {
    bool utf8 = live_set_locale();
    struct session *session = NULL;
    struct canvas c = {.ascii_text = !utf8, .ascii_lines = o->ascii || !utf8};
    int err = canvas_resize(&c, size_from("LINES", ROWS_MIN, ROWS_DEFAULT),
                            size_from("COLUMNS", COLS_MIN, COLS_DEFAULT));
    if (err)
        return err_set(e, ENOMEM, "no memory for a frame");
    err = signals_open(e);
    if (err) {
        canvas_free(&c);
        return err;
    }
    err = live_open_session(o, &session, e);
    if (!err) {
        struct model m;
        struct model_source source = source_session(session, !o->replay);
        const struct model_settings settings = live_settings(o);
        model_init(&m, &source, &settings);
        struct screen *s = screen_new(&m, o->view);
        err = s ? print_frames(o, session, &m, s, &c, e)
                : err_set(e, ENOMEM, "no memory for a frame");
        screen_free(s);
        model_free(&m);
    }
    session_close(session);
    signals_close();
    canvas_free(&c);
    return err;
}
