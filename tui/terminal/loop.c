#include "tui/terminal/loop.h"

#include "core/base/clock.h"
#include "tui/terminal/terminal_signals.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)
/* After this many reads without input, the terminal is gone: without a hang-up, poll reports input
 * forever. */
#define IDLE_READS_MAX 100
#define PERIOD_MAX (8 * SECOND)
/* Fast frames needed before the period gets shorter again. */
#define FAST_FRAMES 4
#define STUCK_NS SECOND

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

/* ---- the line ---- */

/* Handles the answer to a frame. Its delay beyond the line's own delay is the time its bytes took.
 * Frames that answer presses do not count: a whole new screen is no reason to slow down. */
static void note_delay(struct loop *l) {
    unsigned frames;
    uint64_t delay = terminal_delay_ns(l->terminal, &frames);
    if (frames == l->frames)
        return;
    l->frames = frames;
    if (!l->least_ns || delay < l->least_ns)
        l->least_ns = delay;
    if (!l->frame_of_time || !l->period_ns)
        return;
    uint64_t busy = delay - l->least_ns;
    if (busy > l->period_ns / 4) {
        if (l->period_ns < PERIOD_MAX)
            l->factor_log2++;
        l->fast_frames = 0;
    } else if (busy < l->period_ns / 16 && l->factor_log2 && ++l->fast_frames >= FAST_FRAMES) {
        l->factor_log2--;
        l->fast_frames = 0;
    }
}

/* Also slows down while output still waits, or while a frame has no answer yet. */
static void note_waiting(struct loop *l, uint64_t now) {
    if (!terminal_pending(l->terminal))
        l->pending_ns = 0;
    else if (!l->pending_ns)
        l->pending_ns = now;
    uint64_t waits = l->pending_ns ? now - l->pending_ns : 0;
    uint64_t behind = terminal_behind_ns(l->terminal);
    behind = behind > l->least_ns ? behind - l->least_ns : 0;
    if (l->period_ns && (waits > l->period_ns || behind > l->period_ns) &&
        l->period_ns < PERIOD_MAX) {
        l->factor_log2++;
        l->period_ns *= 2;
        l->fast_frames = 0;
    }
}

static void note_bytes(struct loop *l, uint64_t now) {
    uint64_t second = now / SECOND;
    if (l->sent_count && second == l->sent_second)
        return;
    uint64_t passed = l->sent_count ? second - l->sent_second : 1;
    if (passed > LOOP_RATE_SECONDS)
        passed = LOOP_RATE_SECONDS + 1;
    for (uint64_t i = 0; i < passed; i++) {
        memmove(&l->sent[1], &l->sent[0], sizeof l->sent - sizeof l->sent[0]);
        l->sent[0] = terminal_bytes(l->terminal);
        if (l->sent_count <= LOOP_RATE_SECONDS)
            l->sent_count++;
    }
    l->sent_second = second;
}

uint64_t loop_bytes_per_second(const struct loop *l) {
    if (l->sent_count < 2)
        return 0;
    return (l->sent[0] - l->sent[l->sent_count - 1]) / (l->sent_count - 1);
}

/* Updates the running mean of the frames that are not answers to presses. */
static void note_frame(struct loop *l, uint64_t bytes) {
    l->frame_bytes = l->frame_bytes ? (l->frame_bytes * 7 + bytes) / 8 : bytes;
}

static uint64_t steady_ns(const struct loop *l, uint64_t wanted_ns) {
    uint64_t most = wanted_ns + wanted_ns / 4;
    uint64_t steady = l->frame_bytes * SECOND / LOOP_STEADY_BYTES;
    if (wanted_ns < SECOND || steady < wanted_ns)
        return wanted_ns;
    return steady < most ? steady : most;
}

uint64_t loop_period_ns(struct loop *l, uint64_t wanted_ns) {
    uint64_t most = wanted_ns > PERIOD_MAX ? wanted_ns : PERIOD_MAX, period = wanted_ns;
    unsigned doubled = 0;
    for (; doubled < l->factor_log2 && period < most; doubled++)
        period *= 2;
    l->factor_log2 = doubled; /* not larger than needed */
    if (!doubled)
        period = steady_ns(l, wanted_ns);
    l->period_ns = period < most ? period : most;
    return l->period_ns;
}

bool loop_is_slow(const struct loop *l) {
    return l->factor_log2 || (l->pending_ns && clock_now_ns() - l->pending_ns > STUCK_NS);
}

/* ---- waiting ---- */

static unsigned on_signals(struct loop *l) {
    unsigned flags = signals_take(), happened = 0;
    if (flags & SIGNAL_QUIT)
        return LOOP_QUIT;
    if (flags & SIGNAL_SUSPEND)
        terminal_suspend(l->terminal);
    if (flags & (SIGNAL_SUSPEND | SIGNAL_CONTINUE))
        terminal_resume(l->terminal);
    if (flags & (SIGNAL_SUSPEND | SIGNAL_CONTINUE | SIGNAL_RESIZE)) {
        terminal_redraw(l->terminal);
        fit(l);
        l->answering = true; /* the user did that */
        happened |= LOOP_DRAW;
    }
    return happened;
}

static bool may_show(struct loop *l) {
    return !terminal_pending(l->terminal) && (l->answering || !terminal_behind(l->terminal));
}

static unsigned on_input(struct loop *l, short revents) {
    if (revents & (POLLHUP | POLLERR | POLLNVAL))
        return LOOP_QUIT;
    if (revents & POLLIN) {
        if (terminal_read(l->terminal))
            l->idle_reads = 0;
        else if (++l->idle_reads > IDLE_READS_MAX)
            return LOOP_QUIT;
    }
    unsigned happened = terminal_pressed(l->terminal) ? LOOP_PRESS : 0;
    note_delay(l);
    return happened;
}

/* Returns the time until something may happen without input. */
static uint64_t next_moment(const struct loop *l, uint64_t now, uint64_t until_ns) {
    uint64_t due = terminal_press_due(l->terminal);
    if (due && due < until_ns)
        until_ns = due;
    /* Do not wait for a terminal that no longer answers (terminal_behind). */
    if (l->held_back && until_ns > now + SECOND)
        until_ns = now + SECOND;
    return until_ns > now ? until_ns - now : 0;
}

/* Polls once, and handles the results. */
static unsigned wait_once(struct loop *l, int fd, uint64_t until_ns) {
    uint64_t ns = next_moment(l, clock_now_ns(), until_ns);
    struct timespec timeout = {.tv_sec = (time_t)(ns / SECOND), .tv_nsec = (long)(ns % SECOND)};
    bool pending = terminal_pending(l->terminal);
    struct pollfd p[] = {
        {.fd = signals_fd(), .events = POLLIN},
        {.fd = terminal_fd(l->terminal), .events = POLLIN},
        {.fd = fd, .events = POLLIN},
        {.fd = pending ? terminal_out_fd(l->terminal) : -1, .events = POLLOUT},
    };
    if (ppoll(p, sizeof p / sizeof p[0], &timeout, NULL) < 0 && errno != EINTR)
        return LOOP_QUIT;
    unsigned happened = p[0].revents & POLLIN ? on_signals(l) : 0;
    happened |= on_input(l, p[1].revents);
    if (p[2].revents)
        happened |= LOOP_OTHER;
    if (p[3].revents)
        terminal_flush(l->terminal);
    if (l->held_back && may_show(l))
        happened |= LOOP_DRAW;
    return happened;
}

unsigned loop_wait(struct loop *l, int fd, uint64_t until_ns) {
    for (;;) {
        unsigned happened = wait_once(l, fd, until_ns);
        uint64_t now = clock_now_ns();
        note_waiting(l, now);
        note_bytes(l, now);
        if (happened || now >= until_ns)
            return happened;
    }
}

int32_t loop_press(struct loop *l) {
    int32_t press = terminal_press(l->terminal);
    if (press >= 0)
        l->answering = true;
    return press;
}

void loop_show(struct loop *l, const struct caret *at) {
    terminal_flush(l->terminal);
    l->held_back = !may_show(l);
    if (l->held_back)
        return;
    l->frame_of_time = !l->answering;
    uint64_t before = terminal_bytes(l->terminal);
    terminal_show(l->terminal, &l->canvas, at);
    if (l->frame_of_time)
        note_frame(l, terminal_bytes(l->terminal) - before);
    l->answering = false;
}
