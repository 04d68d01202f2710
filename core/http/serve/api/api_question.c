#include "core/http/serve/api/api_question.h"

#include "core/event/event.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 100
#define NODES 20000
#define SECONDS_MAX UINT64_C(1000000000000)
#define INTERVAL_MAX UINT64_C(1000000000000000)

/* Numbers. */

static bool digits(const char *s, uint64_t most, uint64_t *out, const char **rest) {
    uint64_t n = 0;
    const char *p = s;
    for (; *p >= '0' && *p <= '9'; p++) {
        n = n * 10 + (uint64_t)(*p - '0');
        if (n > most)
            return false;
    }
    *out = n;
    *rest = p;
    return p > s;
}

static int read_second(struct params *p, const char *name, struct api_second *out, struct err *e) {
    const char *value = params_text(p, name), *rest;
    if (!value)
        return 0;
    out->given = true;
    out->back = value[0] == '-';
    if (digits(value + out->back, SECONDS_MAX, &out->second, &rest) && !*rest)
        return 0;
    return err_set(e, EINVAL,
                   "%s: must be the number of a second, as in \"window\" of a view, or a negative "
                   "number: that "
                   "many seconds before the latest one",
                   name);
}

/* "1183-1190" */
static int read_before(struct api_question *q, struct params *p, struct err *e) {
    const char *value = params_text(p, "before"), *rest;
    if (!value)
        return 0;
    q->compare = digits(value, SECONDS_MAX, &q->before_from, &rest) && *rest == '-' &&
                 digits(rest + 1, SECONDS_MAX, &q->before_to, &rest) && !*rest &&
                 q->before_from <= q->before_to && q->before_to > 0;
    if (q->compare)
        return 0;
    return err_set(e, EINVAL,
                   "before: must be the first and the last second to compare with, as in "
                   "\"window\" of a view: 1183-1190");
}

static int read_count(struct params *p, const char *name, uint64_t least, uint64_t most,
                      uint64_t usual, uint64_t *out, struct err *e) {
    int r = params_number(p, name, least, most, out, e);
    if (r == 0)
        *out = usual;
    return r < 0 ? r : 0;
}

/* Events. */

static const struct unit {
    const char *suffix;
    uint64_t factor[3]; /* by enum event_measure; 0: not a unit of that measure */
} units[] = {
    {"", {1, 1, 1}},
    {"ns", {1, 0, 0}},
    {"us", {1000, 0, 0}},
    {"ms", {1000000, 0, 0}},
    {"s", {1000000000, 0, 0}},
    {"k", {0, 1u << 10, 1000}},
    {"m", {0, 1u << 20, 1000000}},
    {"g", {0, 1u << 30, 1000000000}},
};

static int read_interval(struct params *p, struct wire_engine_request *engine, struct err *e) {
    const enum wire_event event = (enum wire_event)engine->event;
    const enum event_measure measure = event_measure(event);
    /* No JVM can bear a shorter interval than a microsecond. */
    const bool clock = event == WIRE_EVENT_CPU || event == WIRE_EVENT_WALL;
    const uint64_t least = clock ? 1000 : 1;
    const char *value = params_text(p, "interval"), *rest;
    uint64_t n = 0, factor = 0;
    if (!value)
        return 0;
    if (digits(value, INTERVAL_MAX, &n, &rest))
        for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
            if (strcmp(rest, units[i].suffix) == 0)
                factor = units[i].factor[measure];
    if (!factor || n > INTERVAL_MAX / factor || (n && n * factor < least))
        return err_set(e, EINVAL, "interval: must be %s",
                       measure == EVENT_TIME
                           ? "a time, like 10ms, of at least 1us; a bare number is nanoseconds"
                       : measure == EVENT_BYTES ? "a number of bytes, like 512k"
                                                : "a number of occurrences, like 1000");
    if (n)
        engine->interval = n * factor;
    return 0;
}

/* Accepts only events in the table. The text of another event may be a path, an address or code for
 * a breakpoint, and a client with a URL must not choose these. */
static bool may_be_asked(const char *name) {
    for (int i = 0; event_names[i]; i++)
        if (strcmp(event_names[i], name) == 0)
            return !strchr(name, ':');
    return false;
}

static int read_event(struct api_question *q, struct params *p, struct err *e) {
    const char *name = params_text(p, "event");
    struct wire_engine_request *engine = &q->want.engine[0];
    const bool live = name && strcmp(name, event_kind_name[EVENT_LIVE]) == 0;
    const bool leak = name && strcmp(name, event_kind_name[EVENT_LEAK]) == 0;
    const char *sampled = live   ? event_kind_name[WIRE_EVENT_ALLOC]
                          : leak ? event_kind_name[WIRE_EVENT_NATIVEMEM]
                          : name ? name
                                 : event_kind_name[WIRE_EVENT_CPU];
    if (!may_be_asked(sampled) || event_parse(sampled, engine, e) < 0)
        return err_set(e, EINVAL,
                       "event: must be cpu, wall, alloc, live, lock, nativemem, leak, nativelock, "
                       "or one that jtop-prof list shows as a plain name");
    q->want.engines = 1;
    q->event = live ? EVENT_LIVE : leak ? EVENT_LEAK : (int)engine->event;
    if (live)
        engine->flags |= WIRE_ENGINE_LIVE;
    return read_interval(p, engine, e);
}

/* Filters. */

/* Checks that a filter is short, and a regular expression that does not take too long (libpcre2
 * keeps to the limits of core/base/expression.h). -EINVAL with the reason. */
static int api_question_check_filter(const char *filter, struct err *e) {
    char why[160];
    if (strlen(filter) > API_FILTER_MAX)
        return err_set(e, EINVAL, "filter: at most 256 bytes");
    if (filter[*filter == '!'] && snapshot_check_filter(filter, why, sizeof why) < 0)
        return err_set(e, EINVAL, "filter: not a regular expression: %s", why);
    return 0;
}

static int read_filter(struct api_question *q, struct params *p, struct err *e) {
    const char *filter = params_text(p, "filter");
    if (!filter)
        return 0;
    int r = api_question_check_filter(filter, e);
    if (r == 0)
        memcpy(q->filter, filter, strlen(filter) + 1);
    return r;
}

static void read_with(struct api_question *q, struct params *p) {
    const char *name = params_text(p, "with");
    if (name)
        (void)snprintf(q->with, sizeof q->with, "%s", name);
}

/* The whole question. */

static int read_threads(struct api_question *q, struct params *p, struct err *e) {
    uint64_t tid = 0;
    int r = read_count(p, "thread", 1, INT32_MAX, QUERY_ALL_THREADS, &tid, e);
    if (r == 0)
        r = read_count(p, "virtual", 1, INT64_MAX, 0, &q->virtual_id, e);
    q->tid = (uint32_t)tid;
    return r;
}

int api_question_read(struct api_question *q, struct params *p, struct err *e) {
    uint64_t rows = 0, nodes = 0;
    *q = (struct api_question){.tree = true};
    int r = read_event(q, p, e);
    if (r == 0)
        r = read_second(p, "from", &q->from, e);
    if (r == 0)
        r = read_second(p, "to", &q->to, e);
    if (r == 0)
        r = read_before(q, p, e);
    if (r == 0)
        r = read_filter(q, p, e);
    if (r == 0)
        r = read_threads(q, p, e);
    read_with(q, p);
    if (r == 0)
        r = read_count(p, "rows", 0, API_ROWS_MAX, ROWS, &rows, e);
    if (r == 0)
        r = read_count(p, "nodes", 0, API_NODES_MAX, NODES, &nodes, e);
    q->tree = !params_text(p, "tree") || params_flag(p, "tree");
    q->inverted = params_flag(p, "inverted");
    q->sites = params_flag(p, "sites");
    q->locks = params_flag(p, "locks");
    q->rows = (uint32_t)rows;
    q->nodes = (uint32_t)nodes;
    return r;
}

int api_question_rest(const struct params *p, struct err *e) {
    const char *name = params_unused(p);
    return name ? err_set(e, EINVAL, "%s: no such parameter here", name) : 0;
}

static bool same_second(const struct api_second *a, const struct api_second *b) {
    return a->given == b->given && a->back == b->back && a->second == b->second;
}

static bool same_engine(const struct wire_engine_request *a, const struct wire_engine_request *b) {
    return a->event == b->event && a->mechanism == b->mechanism && a->interval == b->interval &&
           a->flags == b->flags && strcmp(a->name, b->name) == 0;
}

bool api_question_same(const struct api_question *a, const struct api_question *b) {
    return a->event == b->event && same_engine(&a->want.engine[0], &b->want.engine[0]) &&
           same_second(&a->from, &b->from) && same_second(&a->to, &b->to) &&
           a->compare == b->compare && a->before_from == b->before_from &&
           a->before_to == b->before_to && strcmp(a->filter, b->filter) == 0 &&
           strcmp(a->with, b->with) == 0 && a->tid == b->tid && a->virtual_id == b->virtual_id &&
           a->tree == b->tree && a->inverted == b->inverted && a->sites == b->sites &&
           a->locks == b->locks && a->rows == b->rows && a->nodes == b->nodes;
}

static uint64_t second_of(const struct api_second *s, uint64_t latest) {
    if (!s->back)
        return s->second;
    return s->second < latest ? latest - s->second : 0;
}

bool api_question_window(const struct api_question *q, uint64_t latest, uint64_t *from,
                         uint64_t *to) {
    *from = q->from.given ? second_of(&q->from, latest) : 0;
    *to = q->to.given ? second_of(&q->to, latest) : latest;
    return q->from.given || q->to.given;
}

struct query api_question_before(const struct api_question *q) {
    struct query query = api_question_query(q, 0);
    query.locks = false;
    query.from_second = q->before_from;
    query.to_second = q->before_to;
    return query;
}

struct query api_question_query(const struct api_question *q, uint64_t latest) {
    struct query query = {.event = q->event,
                          .tid = q->tid,
                          .virtual_id = q->virtual_id,
                          .filter = q->filter[0] ? q->filter : NULL,
                          .inverted = q->inverted || q->sites,
                          .sites = q->sites,
                          .locks = q->locks,
                          .locks_event = WIRE_EVENT_LOCK,
                          .tree = q->tree};
    if (q->from.given)
        query.from_second = second_of(&q->from, latest);
    /* 0 would mean "no limit"; the clock's first second has no samples. */
    if (q->to.given) {
        query.to_second = second_of(&q->to, latest);
        query.to_second += query.to_second == 0;
    }
    return query;
}
