/* Options whose values have a syntax of their own. */
#include "tui/cli/option/options.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Reads up to `digits` decimal digits, and moves *p behind them. False: no digits, or more. */
static bool take_number(const char **p, int digits, uint32_t *out) {
    int n = 0;
    for (*out = 0; (*p)[n] >= '0' && (*p)[n] <= '9'; n++) {
        if (n == digits)
            return false;
        *out = *out * 10 + (uint32_t)((*p)[n] - '0');
    }
    *p += n;
    return n > 0;
}

/* Reads "10", "1m", or "hh:mm:ss", the next time when a clock shows it. */
int option_set_moment(struct options *o, const struct option_row *row, const char *spelled,
                      const char *value, struct err *e) {
    struct options_moment m = {0};
    if (strchr(value, ':')) {
        const char *p = value;
        uint32_t part[3] = {0};
        bool good = take_number(&p, 2, &part[0]) && *p++ == ':' && take_number(&p, 2, &part[1]) &&
                    *p++ == ':' && take_number(&p, 2, &part[2]) && *p == '\0' && part[1] < 60 &&
                    part[2] < 60;
        if (!good)
            return err_exit_as(e, ERR_EXIT_ARGUMENT, EINVAL,
                               "%s %.40s: not a time of day (hh:mm:ss)", spelled, value);
        m = (struct options_moment){.of_day = true,
                                    .hour = (uint8_t)part[0],
                                    .minute = (uint8_t)part[1],
                                    .second = (uint8_t)part[2]};
    } else {
        int r = option_number(&quantity_duration, ERR_EXIT_ARGUMENT, spelled, value, &m.ms, e);
        if (r < 0)
            return r;
    }
    *(struct options_moment *)(void *)((char *)o + row->offset) = m;
    return 0;
}

uint64_t options_moment_ms(const struct options_moment *m, int64_t now) {
    struct tm tm;
    time_t start = (time_t)now;
    if (!m->of_day || !localtime_r(&start, &tm))
        return m->ms;
    tm.tm_sec = m->second;
    tm.tm_min = m->minute;
    if (m->hour < 24)
        tm.tm_hour = m->hour;
    tm.tm_isdst = -1;
    time_t then = mktime(&tm);
    if (then <= start) { /* tomorrow, or in the next hour; the clocks may change in between */
        if (m->hour < 24)
            tm.tm_mday++;
        else
            tm.tm_hour++;
        tm.tm_isdst = -1;
        then = mktime(&tm);
    }
    return then > start ? (uint64_t)(then - start) * 1000 : 1000;
}

/* False for signals that the VM or the agent needs, or that cannot be caught. */
static bool is_free_signal(uint32_t n) {
    static const int taken[] = {SIGILL,  SIGTRAP, SIGBUS,  SIGFPE, SIGKILL,
                                SIGSEGV, SIGCHLD, SIGCONT, SIGSTOP};
    if (n == 0 || n > (uint32_t)SIGRTMAX || (n > 31 && n < (uint32_t)SIGRTMIN))
        return false;
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
        if ((uint32_t)taken[i] == n)
            return false;
    return true;
}

int option_set_signal(struct options *o, const struct option_row *row, const char *spelled,
                      const char *value, struct err *e) {
    (void)row;
    const char *p = value;
    uint32_t cpu = 0, wall = 0;
    bool good = take_number(&p, 2, &cpu) && is_free_signal(cpu);
    if (good && *p == '/') {
        p++;
        good = take_number(&p, 2, &wall) && is_free_signal(wall) && wall != cpu;
    }
    if (!good || *p)
        return err_exit_as(
            e, ERR_EXIT_ARGUMENT, EINVAL,
            "%s %.40s: must be N or N/M, the numbers of signals that nothing else uses "
            "(kill -l lists signals; default: 27/26)",
            spelled, value);
    o->session.signal = cpu;
    o->session.wall_signal = wall;
    return 0;
}

/* Reads "200" or "200/40". */
int option_set_depth(struct options *o, const struct option_row *row, const char *spelled,
                     const char *value, struct err *e) {
    (void)row;
    const char *p = value;
    uint32_t depth = 0, kept = 0;
    bool good = take_number(&p, 9, &depth) && depth > 0;
    kept = depth;
    if (good && *p == '/') {
        p++;
        good = take_number(&p, 9, &kept);
    }
    if (!good || *p)
        return err_exit_as(e, ERR_EXIT_ARGUMENT, EINVAL,
                           "%s %.40s: must be N or N/M; 200/40: of stacks with 200 or more "
                           "frames keep 40",
                           spelled, value);
    o->session.depth = depth;
    o->session.cut = kept < depth ? kept + 1 : 0;
    return 0;
}

/* Reads "vtable,comptask"; in agent form "vtable+comptask". Other features of async-profiler
 * concern its own walker. */
int option_set_features(struct options *o, const struct option_row *row, const char *spelled,
                        const char *value, struct err *e) {
    static const struct {
        const char *name;
        uint32_t feature; /* 0: no effect here */
    } known[] = {{"vtable", WIRE_FEATURE_VTABLE},
                 {"comptask", WIRE_FEATURE_COMPTASK},
                 {"pcaddr", WIRE_FEATURE_PCADDR},
                 {"stats", 0},
                 {"jnienv", 0},
                 {"mixed", 0},
                 {"agct", 0}};
    (void)row;
    for (const char *p = value; *p;) {
        size_t n = strcspn(p, ",+"), i = 0;
        while (i < sizeof known / sizeof known[0] &&
               (strlen(known[i].name) != n || memcmp(known[i].name, p, n) != 0))
            i++;
        if (i == sizeof known / sizeof known[0] && *p >= '0' && *p <= '9')
            return err_exit_as(
                e, ERR_EXIT_ARGUMENT, EINVAL,
                "%s: %.20s is not a feature (vtable, comptask, pcaddr); for a number "
                "of samples per second use -i, as in -i 10ms for 100",
                spelled, p);
        if (i == sizeof known / sizeof known[0])
            return err_exit_as(e, ERR_EXIT_ARGUMENT, EINVAL,
                               "%s: there is no feature %.*s; there are: vtable, comptask, pcaddr",
                               spelled, n < 40 ? (int)n : 40, p);
        o->session.features |= known[i].feature;
        p += n + (p[n] != '\0');
    }
    return 0;
}

/* Reads "cpu:1000,alloc:200"; in agent form separated by ';'. "span" belongs to async-profiler's
 * Java API. */
int option_set_limits(struct options *o, const struct option_row *row, const char *spelled,
                      const char *value, struct err *e) {
    static const char *const category[JFR_CATEGORIES + 1] = {
        "cpu", "alloc", "lock", "wall", "nativemem", "nativelock", "trace", "span"};
    (void)row;
    for (const char *p = value;;) {
        size_t n = strcspn(p, ":"), i = 0;
        uint32_t limit;
        while (i <= JFR_CATEGORIES && (strlen(category[i]) != n || memcmp(category[i], p, n) != 0))
            i++;
        p += n + (p[n] != '\0');
        if (i > JFR_CATEGORIES || !take_number(&p, 9, &limit) || (*p && *p != ',' && *p != ';'))
            return err_exit_as(e, ERR_EXIT_ARGUMENT, EINVAL,
                               "%s %.60s: not events per second, as in cpu:1000,alloc:200; there "
                               "are: cpu, alloc, lock, wall, nativemem, nativelock, trace",
                               spelled, value);
        if (i < JFR_CATEGORIES)
            o->export.limits.of[i] = limit + 1;
        if (!*p)
            return 0;
        p++;
    }
}

/* Both clocks are the same here: the monotonic clock, which the kernel reads from the TSC if that
 * is reliable. */
int option_set_clock(struct options *o, const struct option_row *row, const char *spelled,
                     const char *value, struct err *e) {
    (void)o, (void)row;
    if (strcmp(value, "tsc") == 0 || strcmp(value, "monotonic") == 0)
        return 0;
    return err_exit_as(e, ERR_EXIT_ARGUMENT, EINVAL,
                       "%s: unknown clock \"%.40s\"; there are: tsc, monotonic", spelled, value);
}

/* Reads "120-127,132"; in agent form, where commas have another meaning, "120-127;132". */
int option_set_tids(struct options *o, const struct option_row *row, const char *spelled,
                    const char *value, struct err *e) {
    (void)row;
    for (const char *p = value;; p++) {
        struct tid_range range;
        bool good = take_number(&p, 9, &range.first);
        range.last = range.first;
        if (good && *p == '-') {
            p++;
            good = take_number(&p, 9, &range.last);
        }
        if (!good || (*p && *p != ',' && *p != ';') || range.first == 0 || range.first > range.last)
            return err_exit_as(e, ERR_EXIT_ARGUMENT, EINVAL,
                               "%s %.40s: not thread ids as in 120-127,132", spelled, value);
        if (o->session.tid_ranges == OPTIONS_TIDS_MAX)
            return err_exit_as(e, ERR_EXIT_ARGUMENT, E2BIG, "%s: more than %d ranges", spelled,
                               OPTIONS_TIDS_MAX);
        o->tid[o->session.tid_ranges++] = range;
        if (!*p)
            return 0;
    }
}

/* Checks and adds "team=payments". */
int option_set_label(struct options *o, const struct option_row *row, const char *spelled,
                     const char *value, struct err *e) {
    (void)row;
    size_t n = strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.");
    if (n == 0 || n > 63 || value[n] != '=' || isdigit((unsigned char)*value) || *value == '.')
        return err_set(
            e, EINVAL,
            "%s %.80s: not NAME=VALUE; the name has at most 63 letters, digits, '_' and '.'",
            spelled, value);
    if (o->labels == OPTIONS_LABELS_MAX)
        return err_set(e, E2BIG, "%s: more than %d labels", spelled, OPTIONS_LABELS_MAX);
    o->label[o->labels++] = value;
    return 0;
}

/* Reads "1%" or "0.5". */
int option_set_overhead(struct options *o, const struct option_row *row, const char *spelled,
                        const char *value, struct err *e) {
    char *end;
    double percent = strtod(value, &end);
    bool good = end != value && isfinite(percent) && percent >= 0.001 && percent <= 100;
    if (!good || (*end && strcmp(end, "%") != 0))
        return err_exit_as(e, ERR_EXIT_ARGUMENT, EINVAL,
                           "%s %.40s: not a share of one CPU, from 0.001%% to 100%%", spelled,
                           value);
    *(uint32_t *)(void *)((char *)o + row->offset) = (uint32_t)lround(percent * 10000);
    return 0;
}
