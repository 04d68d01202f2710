#include "tui/loop.h"

#include "tui/signals.h"

#include <errno.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

/* A terminal that is gone without a hang-up announces input for ever. */
#define IDLE_READS_MAX 100

uint64_t loop_now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int fit(struct loop *l) {
    int rows, cols;
    terminal_size(l->terminal, &rows, &cols);
    if (rows == l->canvas.rows && cols == l->canvas.cols)
        return 0;
    return canvas_resize(&l->canvas, rows, cols);
}

int loop_open(struct loop *l, struct terminal *t) {
    l->terminal = t;
    return fit(l);
}

void loop_close(struct loop *l) {
    canvas_free(&l->canvas);
}

static unsigned on_signals(struct loop *l) {
    unsigned flags = signals_take(), happened = 0;
    if (flags & SIGNAL_QUIT)
        return LOOP_QUIT;
    if (flags & SIGNAL_SUSPEND)
        terminal_suspend(l->terminal);
    if (flags & (SIGNAL_SUSPEND | SIGNAL_CONTINUE))
        terminal_resume(l->terminal);
    if (flags & (SIGNAL_SUSPEND | SIGNAL_CONTINUE | SIGNAL_RESIZE)) {
        fit(l);
        happened |= LOOP_DRAW;
    }
    return happened;
}

unsigned loop_wait(struct loop *l, int fd, uint64_t until_ns) {
    uint64_t now = loop_now_ns();
    uint64_t ns = until_ns > now ? until_ns - now : 0;
    struct timespec timeout = {.tv_sec = (time_t)(ns / 1000000000u),
                               .tv_nsec = (long)(ns % 1000000000u)};
    struct pollfd p[] = {
        {.fd = signals_fd(), .events = POLLIN},
        {.fd = terminal_fd(l->terminal), .events = POLLIN},
        {.fd = fd, .events = POLLIN},
        {.fd = l->held_back ? STDOUT_FILENO : -1, .events = POLLOUT},
    };
    if (ppoll(p, sizeof p / sizeof p[0], &timeout, NULL) < 0 && errno != EINTR)
        return LOOP_QUIT;
    unsigned happened = 0;
    if (p[0].revents & POLLIN)
        happened |= on_signals(l);
    if (p[1].revents & (POLLHUP | POLLERR | POLLNVAL))
        return LOOP_QUIT;
    if (p[1].revents & POLLIN) {
        happened |= LOOP_PRESS;
        if (++l->idle_reads > IDLE_READS_MAX)
            return LOOP_QUIT;
    }
    if (p[2].revents)
        happened |= LOOP_OTHER;
    if (p[3].revents)
        happened |= LOOP_DRAW;
    return happened;
}

int32_t loop_press(struct loop *l) {
    int32_t press = terminal_press(l->terminal);
    if (press >= 0)
        l->idle_reads = 0;
    return press;
}

void loop_show(struct loop *l, const struct caret *at) {
    l->held_back = !terminal_writable(l->terminal);
    if (!l->held_back)
        terminal_show(l->terminal, &l->canvas, at);
}
