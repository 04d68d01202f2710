/* Options about what is sampled, and how they combine. */
#include "tui/cli/option/options.h"

#include "core/event/event.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PIECE_BYTES 400 /* long, because a uprobe contains a path */

static const struct quantity *measure_of(enum wire_event event) {
    switch (event) {
    case WIRE_EVENT_CPU:
    case WIRE_EVENT_WALL:
        return &quantity_interval;
    default:
        break;
    }
    switch (event_measure(event)) {
    case EVENT_BYTES:
        return &quantity_bytes;
    case EVENT_COUNT:
        return &quantity_events;
    case EVENT_TIME:
        break;
    }
    return &quantity_wait;
}

/* Returns the interval for the wire, where 0 is the event's default, which is not always "every
 * one". */
static uint64_t on_the_wire(enum wire_event event, uint64_t interval) {
    return interval == 0 && event_default_interval(event) != 0 ? 1 : interval;
}

static struct wire_engine_request *find_engine(struct options *o, uint32_t event) {
    for (uint32_t i = 0; i < o->session.engines; i++)
        if (o->session.engine[i].event == event)
            return &o->session.engine[i];
    return NULL;
}

/* Adds an event, or finds it in the list. */
static int add_engine(struct options *o, const char *spelled, const struct wire_engine_request *q,
                      struct wire_engine_request **out, struct err *e) {
    if (!o->events_given)
        o->session.engines = 0;
    o->events_given = true;
    *out = find_engine(o, q->event);
    if (*out && q->event == WIRE_EVENT_METHOD)
        return event_method_add(*out, q, e);
    if (*out && strcmp((*out)->name, q->name) != 0 && spelled)
        return err_exit_as(e, ERR_EXIT_ARGUMENT, EINVAL,
                           "%s: %s and %s cannot be sampled together: choose one", spelled,
                           (*out)->name, q->name);
    if (!*out) {
        *out = &o->session.engine[o->session.engines++];
        **out = *q;
    }
    return 0;
}

static int add_event(struct options *o, const char *spelled, const char *name, struct err *e) {
    struct wire_engine_request q, *engine = NULL;
    int r = event_parse(name, &q, e);
    if (r == 0)
        r = add_engine(o, spelled, &q, &engine, e);
    if (r == 0 && q.event == WIRE_EVENT_METHOD && q.interval)
        o->own |= 1u << q.event; /* Class.method:10ms */
    return r;
}

/* Returns the length of an event's name: up to a comma, but not one between the slashes of
 * "cpu/a=1,b=2/". */
static size_t event_length(const char *list) {
    size_t comma = strcspn(list, ","), slash = strcspn(list, "/");
    if (slash >= comma || memchr(list, ':', slash) || memchr(list, '.', slash))
        return comma; /* names of PMUs do not contain these */
    const char *end = strchr(list + slash + 1, '/');
    return end && (end[1] == ',' || !end[1]) ? (size_t)(end + 1 - list) : comma;
}

int option_set_event(struct options *o, const struct option_row *row, const char *spelled,
                     const char *value, struct err *e) {
    (void)row;
    for (const char *p = value;; p++) {
        char piece[PIECE_BYTES];
        size_t n = event_length(p);
        if (n >= sizeof piece)
            return err_exit_as(e, ERR_EXIT_ARGUMENT, EINVAL,
                               "%s: the name of the event is too long", spelled);
        memcpy(piece, p, n);
        piece[n] = '\0';
        int r = add_event(o, spelled, piece, e);
        if (r < 0)
            return r;
        p += n;
        if (!*p)
            return 0;
    }
}

int option_set_trace(struct options *o, const struct option_row *row, const char *spelled,
                     const char *value, struct err *e) {
    struct wire_engine_request q;
    (void)row;
    int r = event_parse(value, &q, e);
    if (r == 0 && q.event != WIRE_EVENT_METHOD)
        r = err_exit_as(
            e, ERR_EXIT_ARGUMENT, EINVAL,
            "%s %.100s: not a Java method, as in pkg.Class.method or pkg.Class.method:1ms", spelled,
            value);
    if (r == 0)
        r = add_event(o, spelled, value, e);
    o->trace |= r == 0;
    return r;
}

int option_set_engine(struct options *o, const struct option_row *row, const char *spelled,
                      const char *value, struct err *e) {
    enum wire_event event = (enum wire_event)row->value;
    struct wire_engine_request q, *engine = NULL;
    uint64_t interval;
    int r = option_number(measure_of(event), ERR_EXIT_ARGUMENT, spelled, value, &interval, e);
    if (r == 0)
        r = event_parse(event_kind_name[event], &q, e);
    if (r == 0)
        r = add_engine(o, NULL, &q, &engine, e);
    if (r < 0 || !engine)
        return r;
    engine->interval = on_the_wire(event, interval);
    o->own |= 1u << event;
    return 0;
}

int option_set_interval(struct options *o, const struct option_row *row, const char *spelled,
                        const char *value, struct err *e) {
    (void)row, (void)e;
    o->interval = value;
    o->interval_spelled = spelled[0] == '-' ? "-i" : "interval"; /* `spelled` itself is temporary */
    return 0;
}

/* Returns the first event without an interval of its own. */
static struct wire_engine_request *without_interval(struct options *o) {
    for (uint32_t i = 0; i < o->session.engines; i++)
        if (!(o->own & 1u << o->session.engine[i].event))
            return &o->session.engine[i];
    return NULL;
}

/* Applies -i to the first event without an interval of its own. For a Java method, a plain number
 * counts calls, and a time is the least duration of a call, which the event itself may also
 * have. */
static int settle_interval(struct options *o, struct err *e) {
    struct wire_engine_request *engine = without_interval(o);
    if (!o->interval)
        return 0;
    bool counts = !o->interval[strspn(o->interval, "0123456789")];
    if (!engine && counts)
        engine = find_engine(o, WIRE_EVENT_METHOD);
    if (!engine)
        return err_exit_as(e, ERR_EXIT_ARGUMENT, EINVAL,
                           "%s %.40s: every event already has its own interval",
                           o->interval_spelled, o->interval);
    enum wire_event event = (enum wire_event)engine->event;
    counts &= event == WIRE_EVENT_METHOD;
    uint64_t interval;
    int r = option_number(counts ? &quantity_events : measure_of(event), ERR_EXIT_ARGUMENT,
                          o->interval_spelled, o->interval, &interval, e);
    if (r == 0 && counts)
        engine->every = interval;
    else if (r == 0)
        engine->interval = on_the_wire(event, interval);
    return r;
}

/* Sets flags on the engines that they are for. */
static int settle_flags(struct options *o, struct err *e) {
    const uint32_t counters = 1u << WIRE_EVENT_CPU | 1u << WIRE_EVENT_PERF;
    const struct {
        bool given;
        const char *option, *events;
        uint32_t about, flag;
    } flags[] = {
        {o->all_user, "--all-user", "cpu or a perf event", counters, WIRE_ENGINE_ALL_USER},
        {o->all_kernel, "--all-kernel", "cpu or a perf event", counters, WIRE_ENGINE_ALL_KERNEL},
        {o->target_cpu != 0, "--target-cpu", "cpu or a perf event", counters,
         WIRE_ENGINE_TARGET_CPU},
        {o->live, "--live", "alloc", 1u << WIRE_EVENT_ALLOC, WIRE_ENGINE_LIVE},
        {o->tlab, "--tlab", "alloc", 1u << WIRE_EVENT_ALLOC, WIRE_ENGINE_TLAB},
        {o->no_free, "--nofree", "nativemem", 1u << WIRE_EVENT_NATIVEMEM, WIRE_ENGINE_NO_FREE},
    };
    for (size_t f = 0; f < sizeof flags / sizeof flags[0]; f++) {
        bool used = false;
        for (uint32_t i = 0; i < o->session.engines && flags[f].given; i++) {
            struct wire_engine_request *engine = &o->session.engine[i];
            if (!(flags[f].about & 1u << engine->event))
                continue;
            engine->flags |= flags[f].flag;
            engine->cpu = (int32_t)o->target_cpu - (o->target_cpu != 0);
            used = true;
        }
        if (flags[f].given && !used) /* as in asprof, but with a remark */
            option_remark(o, "%s does nothing without -e %s", flags[f].option, flags[f].events);
    }
    const char *by_processor = o->target_cpu        ? "--target-cpu"
                               : o->session.tag_cpu ? "--record-cpu"
                                                    : NULL;
    for (uint32_t i = 0; i < o->session.engines && by_processor; i++) {
        const struct wire_engine_request *q = &o->session.engine[i];
        if (q->mechanism == WIRE_MECHANISM_ITIMER || q->mechanism == WIRE_MECHANISM_CTIMER)
            return err_exit_as(e, ERR_EXIT_ARGUMENT, EINVAL,
                               "%s cannot be used with -e %s: use -e cpu", by_processor, q->name);
    }
    if (o->all_user && o->all_kernel)
        return err_exit_as(e, ERR_EXIT_ARGUMENT, EINVAL,
                           "--all-user and --all-kernel exclude each other");
    return 0;
}

/* source: SafepointSynchronize::begin() of HotSpot, JDK 8-28, which calls the second when all
 * threads have stopped. */
static int settle_window(struct options *o, struct err *e) {
    static const char begin[] = "SafepointSynchronize::begin";
    static const char end[] = "RuntimeService::record_safepoint_synchronized";
    struct session_options *s = &o->session;
    if (o->ttsp && ((s->begin && s->begin != begin) || (s->end && s->end != end)))
        return err_exit_as(e, ERR_EXIT_ARGUMENT, EINVAL,
                           "--ttsp sets its own window: omit --begin and --end");
    if (o->ttsp) {
        s->begin = begin;
        s->end = end;
    }
    if (s->end && !s->begin)
        return err_exit_as(e, ERR_EXIT_ARGUMENT, EINVAL, "--end needs --begin");
    if (s->window_marks && !s->begin)
        return err_exit_as(e, ERR_EXIT_ARGUMENT, EINVAL, "--nostop needs --begin or --ttsp");
    return 0;
}

/* Handles options that are accepted for old scripts. */
static void settle_habits(struct options *o) {
    struct export_options unused;
    bool has_jfr = o->formats > 0, writes_jfr = false;
    for (int i = 0; i < o->files; i++) {
        const struct exporter *x = exporter_by_path(o->file[i]);
        writes_jfr |= x && strcmp(x->name, "jfr") == 0;
    }
    has_jfr |= writes_jfr;
    if (o->jfr_sync && !has_jfr)
        o->format[o->formats++] = exporter_by_format("jfr", &unused);
    for (int i = 0; i < o->formats; i++)
        writes_jfr |= strcmp(o->format[i]->name, "jfr") == 0;
    if (o->processes_ms && !writes_jfr && !o->all)
        option_remark(o, "--proc does nothing without a JFR file");
    if (o->log_level && (!strcmp(o->log_level, "none") || !strcmp(o->log_level, "error")))
        o->quiet = true;
    if (o->session.fd_transfer && o->reader_fd >= 0) {
        o->session.fd_transfer = false;
        option_remark(
            o, "fdtransfer: a JVM that is just starting has no process that opens perf_events for "
               "it, and opens them itself; attach with --fdtransfer instead");
    }
}

/* Adds the events of --all. Intervals that were given stay. */
static int settle_all(struct options *o, struct err *e) {
    static const struct {
        const char *event;
        uint64_t interval; /* 0: the event's default */
    } all[] = {
        {"wall", 0}, {"alloc", 0}, {"lock", 0}, {"nativelock", 10000}, {"nativemem", 524287}};
    struct wire_engine_request q, *engine;
    int r = 0;
    if (!o->all)
        return 0;
    if (!o->events_given)
        o->session.engines = 0;
    o->events_given = true;
    if (!find_engine(o, WIRE_EVENT_CPU) && !find_engine(o, WIRE_EVENT_PERF) &&
        !find_engine(o, WIRE_EVENT_METHOD)) {
        r = event_parse("cpu", &q, e);
        memmove(&o->session.engine[1], &o->session.engine[0],
                o->session.engines * sizeof o->session.engine[0]);
        o->session.engine[0] = q;
        o->session.engines++;
    }
    for (size_t i = 0; i < sizeof all / sizeof all[0] && r == 0; i++) {
        r = event_parse(all[i].event, &q, e);
        bool given = r == 0 && find_engine(o, q.event);
        if (r == 0)
            r = add_engine(o, NULL, &q, &engine, e);
        if (r == 0 && !given && all[i].interval)
            engine->interval = all[i].interval;
    }
    o->live = true;
    if (!o->processes_ms)
        o->processes_ms = 30000;
    return r;
}

int options_settle(struct options *o, struct err *e) {
    struct session_options *s = &o->session;
    struct err unused;
    if (s->engines == 0) {
        event_parse("cpu", &s->engine[0], &unused);
        s->engines = 1;
    }
    int r = settle_all(o, e);
    if (r == 0)
        r = settle_interval(o, e);
    if (r == 0)
        r = settle_flags(o, e);
    if (r == 0)
        r = settle_window(o, e);
    settle_habits(o);
    if (s->depth > WIRE_FRAMES_MAX) /* old scripts request more; our limit only cuts */
        s->depth = WIRE_FRAMES_MAX;
    if (s->ring_bytes && s->ring_bytes < WIRE_RING_BYTES_MIN)
        s->ring_bytes = WIRE_RING_BYTES_MIN;
    s->tids = s->tid_ranges ? o->tid : NULL;
    if (o->to_ms && o->from_ms > o->to_ms)
        return err_exit_as(e, ERR_EXIT_ARGUMENT, EINVAL,
                           "--from is later than --to: there is nothing between them");
    s->from_ms = o->from_ms;
    s->to_ms = o->to_ms;
    s->events_given = o->events_given;
    return r;
}
