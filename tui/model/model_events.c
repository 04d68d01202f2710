/* The events of a profile: which there are, their seconds, and rows of those not in question. */
#include "tui/model/model.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In a profile of that many call paths rows take milliseconds: one event's a refresh. */
#define ROWS_AT_ONCE_NODES 50000
#define OWNER_FRAMES 64 /* looked at for the Java method a lock's owner was in */

/* The other stacks end in a class, or in malloc: which code it was for is below that. */
static const bool ends_in_code[EVENT_KINDS] = {
    [WIRE_EVENT_CPU] = true,
    [WIRE_EVENT_WALL] = true,
    [WIRE_EVENT_PERF] = true,
    [WIRE_EVENT_METHOD] = true,
};

void model_rows_free(struct model_rows *r) {
    snapshot_free(r->snapshot);
    free(r->part);
    free(r->thread);
    *r = (struct model_rows){0};
}

static int compare_keys(const void *a, const void *b) {
    const struct model_rows_key *x = a, *y = b;
    return x->key < y->key ? -1 : x->key > y->key;
}

/* Takes the snapshot over, and makes it quick to look up. */
static int index_rows(struct model_rows *r, struct snapshot *s, int event) {
    uint32_t methods = 0;
    for (uint32_t i = 0; i < s->method_count; i++)
        if (s->methods[i].method >= methods)
            methods = s->methods[i].method + 1;
    uint64_t *part = calloc(methods + (size_t)1, sizeof *part);
    struct model_rows_key *thread = calloc(s->thread_count + (size_t)1, sizeof *thread);
    if (!part || !thread) {
        free(part);
        free(thread);
        snapshot_free(s);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < s->method_count; i++)
        part[s->methods[i].method] = ends_in_code[event] ? s->methods[i].self : s->methods[i].total;
    for (uint32_t i = 0; i < s->thread_count; i++) {
        const struct snapshot_thread *t = &s->threads[i];
        thread[i] = (struct model_rows_key){
            .key = model_thread_key(t->is_virtual, t->java_id, t->tid, t->ended), .row = i};
    }
    qsort(thread, s->thread_count, sizeof *thread, compare_keys);
    model_rows_free(r);
    *r = (struct model_rows){.snapshot = s, .part = part, .methods = methods, .thread = thread};
    return 0;
}

static bool same_window(const struct model_question *a, const struct model_question *b) {
    return a->from_second == b->from_second && a->to_second == b->to_second;
}

static bool same_rows(const struct model_question *a, const struct model_question *b) {
    return a->with_method == b->with_method && a->method == b->method &&
           !strcmp(a->package, b->package) && a->tid == b->tid && a->virtual_id == b->virtual_id &&
           a->carriers == b->carriers && !strcmp(a->filter, b->filter);
}

static int take_rows(struct model *m, struct profile *p, struct query q, int event) {
    struct model_rows *r = &m->rows[event];
    q.event = event;
    q.tree = q.by_thread = q.inverted = q.locks = q.from_method = q.lines = false;
    q.prune_ppm = 0;
    struct snapshot *s = snapshot_take(p, &q);
    int err = s ? index_rows(r, s, event) : -ENOMEM;
    if (err)
        return err;
    r->asked = m->question;
    r->samples = m->held ? UINT64_MAX : profile_samples(p, event); /* held: not the newest */
    r->weight = profile_weight(p, event);
    return 0;
}

int model_ask_others(struct model *m, struct profile *p, const struct query *q) {
    bool all = m->held || profile_node_count(p) <= ROWS_AT_ONCE_NODES;
    int err = 0, turn = m->rows_turn;
    bool taken = false;
    for (int i = 1; i <= EVENT_KINDS; i++) {
        int event = (turn + i) % EVENT_KINDS;
        struct model_rows *r = &m->rows[event];
        bool there = event != m->question.event && profile_samples(p, event) > 0;
        if (!there || (r->snapshot && !same_rows(&r->asked, &m->question)))
            model_rows_free(r); /* numbers of another question would be wrong ones */
        if (!there || err || (taken && !all))
            continue;
        if (r->snapshot && same_window(&r->asked, &m->question) &&
            (m->held ||
             (r->samples == profile_samples(p, event) && r->weight == profile_weight(p, event))))
            continue;
        err = take_rows(m, p, *q, event);
        taken = true;
        m->rows_turn = event;
    }
    return err;
}

/* Seconds that are over: the one that goes on would look like a dip. A JVM that idles has no
 * samples, and time goes on all the same. What is held stands still. */
static void look_at_seconds(struct model *m, struct profile *p) {
    uint64_t last = m->last_second;
    if (!m->held) {
        /* The one that goes on ends with the newest sample, unless those stay away. */
        uint64_t end = m->newest_second > last ? m->newest_second
                                               : last + (m->status.phase != SESSION_RUNNING);
        m->seconds_from =
            end > m->first_second + MODEL_SECONDS ? end - MODEL_SECONDS : m->first_second;
        m->seconds = (uint32_t)(last && end > m->seconds_from ? end - m->seconds_from : 0);
    }
    if (m->held && m->seconds && m->held_second < m->seconds_from)
        m->seconds_from = m->held_second > m->first_second ? m->held_second : m->first_second;
    profile_timeline(p, m->question.event, m->seconds_from, m->seconds, m->second);
}

void model_look_at_events(struct model *m, struct profile *p) {
    if (!m->held)
        for (int i = 0; i < EVENT_KINDS; i++)
            m->samples[i] = profile_samples(p, i);
    look_at_seconds(m, p);
}

bool model_has_event(const struct model *m, int event) {
    const struct session_engine *e = &m->status.engine[event];
    return m->counted[event] || e->asked || e->runs;
}

int model_next_event(const struct model *m, int event, int by) {
    for (int i = 1; i < EVENT_KINDS; i++) {
        int other = (event + by * i + EVENT_KINDS * 2) % EVENT_KINDS;
        if (model_has_event(m, other))
            return other;
    }
    return event;
}

const char *model_event_name(const struct model *m, int event) {
    const char *name = m->status.engine[event].name;
    bool made = event == EVENT_LIVE || event == EVENT_LEAK;
    return name[0] && !made ? name : event_kind_name[event];
}

int model_other_events(const struct model *m, int *event, int most) {
    int n = 0;
    for (int i = 0; i < EVENT_KINDS && n < most; i++)
        if (i != m->question.event && m->rows[i].snapshot)
            event[n++] = i;
    return n;
}

static double share(uint64_t part, const struct model_rows *r) {
    uint64_t whole = r->snapshot->weight;
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

double model_method_share(const struct model *m, int event, uint32_t method) {
    const struct model_rows *r = &m->rows[event];
    if (!r->snapshot)
        return -1;
    return share(method < r->methods ? r->part[method] : 0, r);
}

static const struct snapshot_thread *find_thread(const struct model_rows *r, uint64_t key) {
    struct model_rows_key want = {.key = key}, *found = NULL;
    if (r->snapshot)
        found = bsearch(&want, r->thread, r->snapshot->thread_count, sizeof want, compare_keys);
    return found ? &r->snapshot->threads[found->row] : NULL;
}

static uint64_t key_of(const struct model_thread *t) {
    return model_thread_key(t->is_virtual, t->java_id, t->tid, t->state == 'X');
}

double model_thread_share(const struct model *m, int event, const struct model_thread *t) {
    const struct model_rows *r = &m->rows[event];
    if (!r->snapshot)
        return -1;
    const struct snapshot_thread *found = find_thread(r, key_of(t));
    return share(found ? found->weight : 0, r);
}

const uint64_t *model_thread_states(const struct model *m, const struct model_thread *t) {
    if (m->asked.event == WIRE_EVENT_WALL)
        return t->states;
    const struct snapshot_thread *found = find_thread(&m->rows[WIRE_EVENT_WALL], key_of(t));
    return found ? found->state : NULL;
}

const char *model_other_name(const struct model *m, uint32_t tid) {
    for (int i = 0; i < EVENT_KINDS; i++) {
        const struct snapshot_thread *t =
            find_thread(&m->rows[i], model_thread_key(false, 0, tid, false));
        if (t && t->name && t->name[0])
            return t->name; /* of a platform thread: it lives as long as the profile */
    }
    return "";
}

void model_owner_methods(const struct model *m, uint32_t *method) {
    uint32_t stack[OWNER_FRAMES];
    const struct profile *p = m->source.lock(m->source.arg);
    for (uint32_t i = 0; i < m->snapshot->lock_count; i++) {
        const struct snapshot_lock *l = &m->snapshot->locks[i];
        uint32_t n = snapshot_owner_stack(p, l->owner_node, stack, OWNER_FRAMES);
        method[i] = l->owner_method;
        for (uint32_t k = 0; k < n; k++) {
            if (model_method(m, stack[k])->kind == METHOD_JAVA) {
                method[i] = stack[k];
                break;
            }
        }
    }
    m->source.unlock(m->source.arg);
}

uint32_t model_owner_stack(const struct model *m, uint32_t node, uint32_t *method, uint32_t max) {
    const struct profile *p = m->source.lock(m->source.arg);
    uint32_t n = snapshot_owner_stack(p, node, method, max);
    m->source.unlock(m->source.arg);
    return n;
}
