/*
 * Reads the time of a system clock as a number: ns or ms since that clock's beginning.
 *
 * Context: any thread and any signal handler, in the JVM too. Only clock_gettime is called. For
 * CLOCK_MONOTONIC and CLOCK_REALTIME that is a function of the vdso, not a system call.
 */
#ifndef JTOP_BASE_CLOCK_H
#define JTOP_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* 0: there is no such clock, for example because its thread has ended. */
static inline uint64_t clock_ns(clockid_t id) {
    struct timespec t;
    return clock_gettime(id, &t) == 0 ? (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec : 0;
}

/* The CPU clock of a thread of this process (source: CPU clocks in the kernel's posix-timers.h). */
static inline clockid_t clock_of_thread(uint32_t tid) {
    return (clockid_t)(~tid << 3 | 6);
}

/* CLOCK_MONOTONIC */
static inline uint64_t clock_now_ns(void) {
    return clock_ns(CLOCK_MONOTONIC);
}

static inline uint64_t clock_now_ms(void) {
    return clock_now_ns() / 1000000u;
}

static inline struct timespec clock_timespec(uint64_t ns) {
    return (struct timespec){.tv_sec = (time_t)(ns / 1000000000u),
                             .tv_nsec = (long)(ns % 1000000000u)};
}

/* The time `ms` from now, for functions that wait until a deadline. */
static inline struct timespec clock_after_ms(clockid_t id, uint64_t ms) {
    return clock_timespec(clock_ns(id) + ms * 1000000u);
}

#endif
