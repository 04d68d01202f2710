#include "tui/model.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PRUNE_FROM_NODES 50000
#define PRUNE_PPM 100 /* of the total: a hundredth of a percent */

void model_init(struct model *m, const struct model_source *source,
                const struct model_settings *settings) {
    *m = (struct model){
        .source = *source,
        .settings = *settings,
        .style = NAME_DOTTED | NAME_MARKS | (settings->simple ? NAME_SIMPLE : 0u),
        .question.carriers = settings->carriers,
    };
}

void model_free(struct model *m) {
    snapshot_free(m->snapshot);
    snapshot_free(m->other);
    free(m->threads);
    free(m->methods);
    overloads_free(&m->overloads);
    free(m->stats_now.thread);
    free(m->stats_before.thread);
    *m = (struct model){0};
}

static struct query make_query(const struct model *m) {
    const struct model_question *ask = &m->question;
    struct query q = {
        .event = m->settings.event,
        .tid = ask->tid,
        .virtual_id = ask->virtual_id,
        .carriers = ask->carriers,
        .filter = ask->filter,
        .inverted = ask->inverted,
        .by_thread = ask->tree && ask->by_thread,
        .tree = ask->tree,
    };
    if (m->held)
        q.to_second = m->held_second;
    return q;
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

static int ask(struct model *m, bool both_trees) {
    struct query q = make_query(m);
    q.tree = q.tree || both_trees;
    struct profile *p = m->source.lock(m->source.arg);
    /* A refresh of a huge tree, or one of countless virtual threads, leaves out what nobody sees;
     * what is held is kept whole. */
    if (!both_trees && (q.by_thread || profile_node_count(p) > PRUNE_FROM_NODES))
        q.prune_ppm = PRUNE_PPM;
    struct snapshot *s = snapshot_take(p, &q), *other = NULL;
    if (s && both_trees) {
        q.inverted = !q.inverted;
        other = snapshot_take(p, &q);
    }
    int err = copy_methods(m, p);
    uint64_t all = profile_samples(p, m->settings.event);
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
    if (!m->held) /* what is held is a part of what there was then */
        m->all_samples = all;
    m->generation++;
    return 0;
}

static bool same_but_inverted(const struct model_question *a, const struct model_question *b) {
    return a->tid == b->tid && a->virtual_id == b->virtual_id && !strcmp(a->filter, b->filter) &&
           a->by_thread == b->by_thread && a->carriers == b->carriers && a->inverted != b->inverted;
}

int model_ask(struct model *m) {
    if (m->held && m->other && same_but_inverted(&m->question, &m->asked)) {
        struct snapshot *s = m->snapshot;
        m->snapshot = m->other;
        m->other = s;
        m->asked = m->question;
        m->generation++;
        return 0;
    }
    return ask(m, m->held);
}

/* The one before is kept until there is enough time between the two. */
static void look(struct model *m, uint64_t now_ns) {
    if (!m->before.time_ns || m->now.time_ns - m->before.time_ns >= MODEL_RATE_NS)
        m->before = m->now;
    m->now = (struct model_look){.time_ns = now_ns,
                                 .samples = m->status.samples,
                                 .agent_ns = m->status.agent_ns,
                                 .frontend_ns = m->status.frontend_ns};
}

static double per_second(uint64_t before, uint64_t now, uint64_t ns) {
    return now > before && ns ? 1e9 * (double)(now - before) / (double)ns : 0;
}

int model_refresh(struct model *m, uint64_t now_ns) {
    m->source.status(m->source.arg, &m->status);
    m->source.jvm(m->source.arg, &m->jvm);
    look(m, now_ns);
    if (m->before.time_ns && now_ns > m->before.time_ns) {
        uint64_t ns = now_ns - m->before.time_ns;
        m->samples_per_second = per_second(m->before.samples, m->now.samples, ns);
        m->agent_percent = per_second(m->before.agent_ns, m->now.agent_ns, ns) / 1e7;
        m->frontend_percent = per_second(m->before.frontend_ns, m->now.frontend_ns, ns) / 1e7;
    }
    if (m->held)
        return 0;
    model_look_at_threads(m, now_ns);
    return model_ask(m);
}

int model_hold(struct model *m, bool hold) {
    if (hold == m->held)
        return 0;
    if (!hold) {
        m->held = false;
        return model_ask(m);
    }
    /* Everything up to now, both ways round, before time goes on. */
    int err = ask(m, true);
    if (err)
        return err;
    struct profile *p = m->source.lock(m->source.arg);
    uint64_t first, last, oldest;
    profile_span(p, &first, &last, &oldest);
    m->source.unlock(m->source.arg);
    m->held = true;
    m->held_second = last;
    return 0;
}

const struct snapshot *model_picture(const struct model *m, struct profile *p, bool by_thread,
                                     struct snapshot **owned) {
    *owned = NULL;
    /* Only a tree is split by thread. */
    if (m->held && m->other && by_thread == (m->asked.tree && m->asked.by_thread))
        return m->asked.inverted ? m->other : m->snapshot;
    struct query q = make_query(m);
    q.tree = true;
    q.inverted = false;
    q.by_thread = by_thread;
    *owned = snapshot_take(p, &q);
    return *owned;
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
    frame_name(model_method(m, id), m->style | (more ? NAME_SIGNATURE | NAME_LIBRARY : 0u), out,
               size);
    return out;
}

uint64_t model_failed(const struct model *m) {
    uint64_t sum = 0;
    for (uint32_t i = 1; i < WIRE_FAILURES; i++)
        if (wire_failure_is_error(i))
            sum += m->status.failed[i];
    return sum;
}
