/* Which part of time is shown, and what it is compared with. */
#include "tui/model/model.h"

#include <errno.h>

#define SECOND_NS UINT64_C(1000000000)
#define SCRUB_SPAN 10u /* seconds shown at once, where nobody chose a window */

void model_look_at_time(struct model *m, struct profile *p) {
    uint64_t last;
    profile_span(p, &m->first_second, &last, &m->oldest_second);
    if (last != m->last_second) {
        m->last_second = last;
        m->last_second_ns = m->now.time_ns;
    }
    m->newest_second = last;
    if (last && m->status.phase == SESSION_RUNNING && m->now.time_ns >= m->last_second_ns)
        m->newest_second = last + (m->now.time_ns - m->last_second_ns) / SECOND_NS;
}

struct model_window model_window(const struct model *m) {
    struct model_window w = {.to = m->held ? m->held_second : 0};
    uint64_t end = m->held ? m->held_second : m->newest_second;
    if (m->span && end)
        w.from = end >= m->span ? end - m->span + 1 : 1;
    /* Who goes back to before the mark wants to see that. */
    if (m->mark_second > w.from && !(m->scrubbed && m->mark_second > w.to))
        w.from = m->mark_second;
    return w;
}

static void let_go(struct model *m) {
    m->held = false;
    if (m->scrubbed && m->span_chosen)
        m->span = 0;
    m->scrubbed = m->span_chosen = false;
}

int model_hold(struct model *m, bool hold) {
    if (hold == m->held)
        return 0;
    if (!hold) {
        let_go(m);
        return model_ask(m);
    }
    /* Everything up to now, both ways round, before time goes on. */
    int err = model_ask_profile(m, true);
    if (err)
        return err;
    m->held = true;
    m->held_second = m->newest_second;
    m->question.to_second = m->asked.to_second = m->held_second;
    return 0;
}

int model_scrub(struct model *m, int64_t seconds) {
    struct profile *p = m->source.lock(m->source.arg);
    model_look_at_time(m, p);
    m->source.unlock(m->source.arg);
    if (!m->newest_second)
        return 0; /* no time has passed */
    uint64_t at = m->held ? m->held_second : m->newest_second, back = (uint64_t)-seconds;
    uint64_t least = m->oldest_second ? m->oldest_second : 1;
    at = at < m->newest_second ? at : m->newest_second; /* which stands still without the JVM */
    if (seconds < 0)
        at = at > least + back ? at - back : least;
    else
        at = m->newest_second - at > (uint64_t)seconds ? at + (uint64_t)seconds : m->newest_second;
    if (!m->span) {
        m->span = SCRUB_SPAN;
        m->span_chosen = true;
    }
    m->held = m->scrubbed = true;
    m->held_second = at;
    return model_ask(m);
}

int model_set_span(struct model *m, uint64_t seconds) {
    m->span = seconds;
    m->span_chosen = false;
    return model_ask(m);
}

int model_mark(struct model *m, bool on) {
    if (on) { /* what goes on is of before the mark in part */
        struct profile *p = m->source.lock(m->source.arg);
        model_look_at_time(m, p);
        m->source.unlock(m->source.arg);
    }
    m->mark_second = on ? m->newest_second + 1 : 0;
    return model_ask(m);
}

static void forget_baseline(struct model *m) {
    diff_free(m->diff);
    m->diff = NULL;
    snapshot_free(m->baseline);
    snapshot_free(m->baseline_inverted);
    m->baseline = m->baseline_inverted = NULL;
}

void model_time_free(struct model *m) {
    forget_baseline(m);
}

int model_compare(struct model *m, bool on) {
    struct snapshot *trees[2] = {NULL, NULL};
    if (on) {
        struct profile *p = m->source.lock(m->source.arg);
        for (int i = 0; i < 2; i++)
            trees[i] = model_take(m, p, i == 1);
        m->source.unlock(m->source.arg);
        if (!trees[0] || !trees[1]) {
            snapshot_free(trees[0]);
            snapshot_free(trees[1]);
            return -ENOMEM;
        }
    }
    forget_baseline(m);
    m->baseline = trees[0];
    m->baseline_inverted = trees[1];
    m->baseline_asked = m->question;
    m->baseline_second = m->held ? m->held_second : m->newest_second;
    model_differ(m);
    m->generation++;
    return 0;
}

/* Trees of another kind have no path in common; rows always have. */
static bool same_trees(const struct model_question *a, const struct model_question *b) {
    return a->by_thread == b->by_thread && a->carriers == b->carriers &&
           a->from_method == b->from_method && (!a->from_method || a->method == b->method);
}

void model_differ(struct model *m) {
    diff_free(m->diff);
    m->diff = NULL;
    if (!m->baseline || !m->snapshot || m->baseline_asked.event != m->asked.event)
        return;
    const struct snapshot *before = m->asked.inverted ? m->baseline_inverted : m->baseline;
    if (!same_trees(&m->baseline_asked, &m->asked)) {
        m->baseline_rows = *before;
        m->baseline_rows.node_count = 0;
        before = &m->baseline_rows;
    }
    m->diff = diff_new(before, m->snapshot); /* without memory: no columns */
}
