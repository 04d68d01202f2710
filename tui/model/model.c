#include "tui/model/model.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PRUNE_FROM_NODES 50000
#define PRUNE_PPM 100 /* of the total: a hundredth of a percent */
#define STANDSTILL_NS UINT64_C(1000000000)

void model_init(struct model *m, const struct model_source *source,
                const struct model_settings *settings) {
    *m = (struct model){
        .source = *source,
        .settings = *settings,
        .style = NAME_DOTTED | NAME_MARKS | (settings->simple ? NAME_SIMPLE : 0u),
        .question = {.event = settings->event, .carriers = settings->carriers},
    };
}

void model_free(struct model *m) {
    snapshot_free(m->snapshot);
    snapshot_free(m->other);
    model_time_free(m);
    free(m->threads);
    free(m->methods);
    overloads_free(&m->overloads);
    free(m->stats_now.thread);
    free(m->stats_before.thread);
    for (int i = 0; i < EVENT_KINDS; i++)
        model_rows_free(&m->rows[i]);
    *m = (struct model){0};
}

static struct query make_query(const struct model *m) {
    const struct model_question *ask = &m->question;
    const struct model_window w = model_window(m);
    struct query q = {
        .event = ask->event,
        .tid = ask->tid,
        .virtual_id = ask->virtual_id,
        .carriers = ask->carriers,
        .filter = ask->filter,
        .with_method = ask->with_method,
        .method = ask->method,
        .package = ask->package,
        .from_method = ask->from_method && ask->with_method,
        .from_second = w.from,
        .to_second = w.to,
        .inverted = ask->inverted,
        .by_thread = ask->tree && ask->by_thread,
        .tree = ask->tree,
        .locks = ask->locks,
        .lines = ask->lines,
        .lines_of = ask->lines_of,
        .spark_cells = ask->sparks ? MODEL_SPARKS : 0,
        .spark_seconds = ask->sparks ? MODEL_SPARK_SECONDS : 0,
    };
    return q;
}

struct query model_query(const struct model *m) {
    return make_query(m);
}

/* The strings live as long as the profile, the table's rows do not. */
static int copy_methods(struct model *m, struct profile *p) {
    const struct method_table *t = profile_methods(p);
    uint32_t count = method_table_count(t);
    if (count <= m->method_count)
        return 0;
    struct method *methods = realloc(m->methods, count * sizeof *methods);
    if (!methods)
        return -ENOMEM;
    for (uint32_t i = m->method_count; i < count; i++)
        methods[i] = *method_table_get(t, i);
    m->methods = methods;
    m->method_count = count;
    return 0;
}

int model_ask_profile(struct model *m, bool both_trees) {
    struct profile *p = m->source.lock(m->source.arg);
    model_look_at_time(m, p);
    struct query q = make_query(m);
    m->question.from_second = q.from_second;
    m->question.to_second = q.to_second;
    q.tree = q.tree || both_trees;
    q.locks = q.locks || both_trees;
    /* A huge tree, or one of countless virtual threads, leaves out what nobody sees: keys are to be
     * answered at once. What is held is kept whole where that is quick. */
    m->pruned = (!both_trees && q.by_thread) || profile_node_count(p) > PRUNE_FROM_NODES;
    if (m->pruned)
        q.prune_ppm = PRUNE_PPM;
    struct snapshot *s = snapshot_take(p, &q), *other = NULL;
    if (s && both_trees) {
        q.inverted = !q.inverted;
        other = snapshot_take(p, &q);
    }
    int err = copy_methods(m, p);
    model_look_at_events(m, p);
    if (s && m->question.others)
        (void)model_ask_others(m, p, &q); /* columns stay empty where there is no memory */
    m->source.unlock(m->source.arg);
    if (!err)
        err = overloads_add(&m->overloads, m->methods, m->method_count);
    uint32_t threads = 0;
    struct model_thread *rows = s ? model_merge_threads(m, s, &threads) : NULL;
    if (!rows || err || (both_trees && !other)) {
        snapshot_free(s);
        snapshot_free(other);
        free(rows);
        return -ENOMEM;
    }
    snapshot_free(m->snapshot);
    snapshot_free(m->other);
    free(m->threads); /* with names of the answer */
    m->snapshot = s;
    m->other = other;
    m->threads = rows;
    m->thread_count = threads;
    m->asked = m->question;
    model_differ(m);
    m->generation++;
    return 0;
}

static bool same_but_inverted(const struct model_question *a, const struct model_question *b) {
    return a->event == b->event && a->tid == b->tid && a->virtual_id == b->virtual_id &&
           !strcmp(a->filter, b->filter) && !strcmp(a->package, b->package) &&
           a->with_method == b->with_method && a->method == b->method &&
           a->from_method == b->from_method && a->by_thread == b->by_thread &&
           a->from_second == b->from_second && a->to_second == b->to_second &&
           a->lines == b->lines && a->lines_of == b->lines_of && a->sparks == b->sparks &&
           a->carriers == b->carriers && a->inverted != b->inverted;
}

int model_ask(struct model *m) {
    const struct model_window w = model_window(m);
    m->question.from_second = w.from;
    m->question.to_second = w.to;
    if (m->held && m->other && same_but_inverted(&m->question, &m->asked)) {
        struct snapshot *s = m->snapshot;
        m->snapshot = m->other;
        m->other = s;
        m->asked = m->question;
        model_differ(m);
        m->generation++;
        return 0;
    }
    return model_ask_profile(m, m->held && !m->scrubbed);
}

/* The one before is kept until there is enough time between the two. */
static void look(struct model *m, uint64_t now_ns) {
    if (!m->before.time_ns || m->now.time_ns - m->before.time_ns >= MODEL_RATE_NS)
        m->before = m->now;
    m->now = (struct model_look){
        .time_ns = now_ns, .agent_ns = m->status.agent_ns, .frontend_ns = m->status.frontend_ns};
    memcpy(m->now.samples, m->counted, sizeof m->now.samples);
}

static double per_second(uint64_t before, uint64_t now, uint64_t ns) {
    return now > before && ns ? 1e9 * (double)(now - before) / (double)ns : 0;
}

/* A recording may be of another event than the one to begin with. */
static void settle_event(struct model *m) {
    if (!m->question.fixed && !model_has_event(m, m->question.event))
        m->question.event = model_next_event(m, m->question.event, 1);
}

static void count_samples(struct model *m) {
    const struct profile *p = m->source.lock(m->source.arg);
    for (int i = 0; i < EVENT_KINDS; i++)
        m->counted[i] = profile_samples(p, i);
    m->source.unlock(m->source.arg);
}

/* A JVM that somebody stopped looks like one that is idle. */
static void look_at_standstill(struct model *m, uint64_t now_ns) {
    if (!m->source.standstill || m->status.phase != SESSION_RUNNING) {
        m->standstill = STANDSTILL_NONE;
    } else if (!m->standstill_ns || now_ns - m->standstill_ns >= STANDSTILL_NS) {
        m->standstill = m->source.standstill(m->source.arg, &m->tracer);
        m->standstill_ns = now_ns;
    }
}

int model_refresh(struct model *m, uint64_t now_ns) {
    m->source.status(m->source.arg, &m->status);
    m->source.jvm(m->source.arg, &m->jvm);
    if (m->source.cpu)
        m->source.cpu(m->source.arg, &m->cpu);
    look_at_standstill(m, now_ns);
    count_samples(m);
    look(m, now_ns);
    if (m->before.time_ns && now_ns > m->before.time_ns) {
        uint64_t ns = now_ns - m->before.time_ns;
        for (int i = 0; i < EVENT_KINDS; i++)
            m->samples_per_second[i] = per_second(m->before.samples[i], m->now.samples[i], ns);
        m->agent_percent = per_second(m->before.agent_ns, m->now.agent_ns, ns) / 1e7;
        m->frontend_percent = per_second(m->before.frontend_ns, m->now.frontend_ns, ns) / 1e7;
    }
    if (m->held)
        return 0;
    model_look_at_threads(m, now_ns);
    if (!m->generation)
        settle_event(m);
    return model_ask(m);
}

const struct snapshot *model_picture(const struct model *m, struct profile *p, bool by_thread,
                                     struct snapshot **owned) {
    *owned = NULL;
    /* Only a tree is split by thread. */
    if (m->held && m->other && !m->pruned && !m->asked.from_method &&
        by_thread == (m->asked.tree && m->asked.by_thread))
        return m->asked.inverted ? m->other : m->snapshot;
    struct query q = make_query(m);
    q.tree = true;
    q.locks = false;
    q.inverted = false;
    q.by_thread = by_thread;
    q.from_method = false;
    q.lines = false;
    q.spark_cells = 0;
    *owned = snapshot_take(p, &q);
    return *owned;
}

struct snapshot *model_take(const struct model *m, struct profile *p, bool inverted) {
    struct query q = make_query(m);
    q.tree = true;
    q.locks = q.lines = false;
    q.spark_cells = 0;
    q.inverted = inverted;
    if (q.by_thread || profile_node_count(p) > PRUNE_FROM_NODES)
        q.prune_ppm = PRUNE_PPM;
    q.from_method = m->question.from_method && m->question.with_method;
    return snapshot_take(p, &q);
}

const struct method *model_method(const struct model *m, uint32_t id) {
    static const struct method unknown = {
        .kind = METHOD_ERROR, .class_name = "", .name = "[unknown]", .signature = "", .module = ""};
    return id < m->method_count ? &m->methods[id] : &unknown;
}

const char *model_method_name(const struct model *m, uint32_t id, char *out, size_t size) {
    bool more = overloads_has(&m->overloads, id);
    if (size)
        out[0] = '\0';
    const struct method *method = model_method(m, id);
    unsigned style = method->kind == METHOD_CLASS ? m->style & ~(unsigned)NAME_MARKS : m->style;
    frame_name(method, style | (more ? NAME_SIGNATURE | NAME_LIBRARY : 0u), out, size);
    return out;
}

uint64_t model_failed(const struct model *m) {
    uint64_t sum = 0;
    for (uint32_t i = 1; i < WIRE_FAILURES; i++)
        if (wire_failure_is_error(i))
            sum += m->status.failed[i];
    return sum;
}
