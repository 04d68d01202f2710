#include "core/agent/engine/alloc_weight.h"

#include <stdbool.h>
#include <stddef.h>

#define FIRST_SAMPLES 16 /* of a thread (its `handle`): those of many short-lived ones are short */
#define PRIOR 32u        /* intervals that went as they should, before anything is known */
#define MEMORY 4096u     /* intervals; then what is older counts half */
#define GAP_MAX 32u      /* intervals: more is no distance but a wrong number */

/* 1 - exp(-x) for x >= 0, without libm. */
static double hit_probability(double x) {
    double t = x / 64;
    double term = t;
    double p = 0;
    if (x > 40)
        return 1;
    for (int n = 2; n < 14; n++) { /* t - t^2/2! + t^3/3! … */
        p += term;
        term *= -t / n;
    }
    for (int doubled = 0; doubled < 6; doubled++)
        p *= 2 - p;
    return p;
}

static void add(_Atomic uint64_t *sum, uint64_t bytes, bool halve) {
    uint64_t now = atomic_fetch_add_explicit(sum, bytes, memory_order_relaxed) + bytes;
    if (halve)
        atomic_fetch_sub_explicit(sum, now / 2, memory_order_relaxed);
}

static double scale(const struct alloc_weight *w) {
    double prior = (double)w->interval * PRIOR;
    double r = (prior + (double)atomic_load_explicit(&w->missed, memory_order_relaxed)) /
               (prior + (double)atomic_load_explicit(&w->expected, memory_order_relaxed));
    return r < 0.1 ? 0.1 : r > 2 ? 2 : r;
}

/* Learns from the distance to the thread's last sample. */
static void learn(struct alloc_weight *w, struct engine_thread *t, uint64_t size, uint64_t counted,
                  uint64_t expected) {
    uint64_t before = t->counted;
    t->counted = counted;
    if (!before || counted < before + size || counted - before - size > GAP_MAX * w->interval)
        return;
    if (t->handle < FIRST_SAMPLES) {
        t->handle++;
        return;
    }
    bool halve = atomic_load_explicit(&w->expected, memory_order_relaxed) > MEMORY * w->interval;
    add(&w->missed, counted - before - size, halve);
    add(&w->expected, expected, halve);
}

uint64_t alloc_weight_of(struct alloc_weight *w, struct engine_thread *t, uint64_t size,
                         uint64_t counted) {
    double p = hit_probability((double)size / (double)w->interval);
    double missed = (double)size * (1 - p) / p;
    if (t && counted)
        learn(w, t, size, counted, (uint64_t)missed);
    return size + (uint64_t)(missed * scale(w) + 0.5);
}
