#include "core/agent/window.h"

#include "core/agent/patch/trap.h"
#include "core/base/clock.h"

#include <errno.h>
#include <stdio.h>

enum { BEGIN, END };

/* Copies the state of since_ns to the sampler, even while other threads change since_ns. */
static void tell_sampler(struct window *w) {
    uint32_t outside = w->marks ? SAMPLER_MARKED_OUTSIDE : SAMPLER_OUTSIDE;
    bool inside;
    do {
        inside = atomic_load(&w->since_ns) != 0;
        atomic_store(&w->sampler->window, inside ? SAMPLER_INSIDE : outside);
    } while (inside != (atomic_load(&w->since_ns) != 0));
}

static void enter(struct window *w) {
    uint64_t outside = 0;
    if (!atomic_compare_exchange_strong(&w->since_ns, &outside, clock_now_ns()))
        return;
    tell_sampler(w);
    atomic_fetch_add_explicit(&w->sampler->status->windows, 1, memory_order_relaxed);
}

static void leave(struct window *w) {
    uint64_t since = atomic_exchange(&w->since_ns, 0);
    if (!since)
        return;
    tell_sampler(w);
    uint64_t now = clock_now_ns(); /* samples inside the window are not later than this */
    struct wire_window *r = ring_reserve(&w->sampler->ring, WIRE_WINDOW, sizeof *r);
    if (!r)
        return;
    r->begin_ns = since;
    r->end_ns = now > since ? now : since;
    ring_commit(r, WIRE_WINDOW);
}

/* Threads that hit the breakpoint before it was removed come here late. At the end, the breakpoint
 * that since_ns waits for is set. */
static void take_turns(struct window *w, int met) {
    int other = met == BEGIN ? END : BEGIN;
    if (!w->in_turns)
        return;
    trap_lift(w->trap[met]);
    trap_set(w->trap[other]);
    bool inside = atomic_load(&w->since_ns) != 0;
    if (inside != (met == BEGIN))
        trap_set(w->trap[met]);
}

static enum trap_then on_begin(void *arg, void *context) {
    struct window *w = arg;
    (void)context;
    if (w->begin == w->end)
        leave(w);
    enter(w);
    take_turns(w, BEGIN);
    return TRAP_GO_ON;
}

static enum trap_then on_end(void *arg, void *context) {
    (void)context;
    leave(arg);
    take_turns(arg, END);
    return TRAP_GO_ON;
}

static int set_traps(struct window *w, char *why, size_t why_bytes) {
    bool two = w->end && w->end != w->begin;
    w->in_turns = !trap_goes_on(w->begin) || (two && !trap_goes_on(w->end));
    if (w->in_turns && w->end == w->begin) {
        snprintf(why, why_bytes, "the function at 0x%lx cannot both begin and end a window",
                 (unsigned long)w->begin);
        return -ENOTSUP;
    }
    int r = 0;
    if (two)
        r = w->trap[END] = trap_install(w->end, on_end, w, w->in_turns, why, why_bytes);
    if (r < 0)
        return r;
    if (w->in_turns && two)
        trap_lift(w->trap[END]);
    r = w->trap[BEGIN] = trap_install(w->begin, on_begin, w, w->in_turns, why, why_bytes);
    return r < 0 ? r : 0;
}

int window_open(struct window *w, struct sampler *s, const struct wire_request *request, char *why,
                size_t why_bytes) {
    w->sampler = NULL;
    s->window = SAMPLER_ALWAYS;
    if (!request->window_begin)
        return 0;
    w->begin = request->window_begin;
    w->end = request->window_end;
    w->marks = request->window_marks;
    w->trap[BEGIN] = w->trap[END] = -1;
    w->sampler = s;
    w->since_ns = 0;
    s->window = w->marks ? SAMPLER_MARKED_OUTSIDE : SAMPLER_OUTSIDE;
    int r = set_traps(w, why, why_bytes);
    if (r < 0)
        window_close(w);
    return r;
}

void window_close(struct window *w) {
    if (!w->sampler)
        return;
    trap_remove(w->trap, 2);
    leave(w);
    w->sampler->window = SAMPLER_ALWAYS;
    w->sampler = NULL;
}
