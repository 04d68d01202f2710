/* The events of a profile: which ones it has, their seconds, and the rows of the other events. The
 * threads of the model are here too. */
#include "tui/model/model.h"

#include "core/base/format.h"
#include "core/report/event_trouble.h"
#include "core/report/quality.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In a profile with more call paths, rows take milliseconds: each refresh takes those of one
 * event. */
#define ROWS_AT_ONCE_NODES 50000
#define OWNER_FRAMES 64 /* frames searched for the Java method a lock's owner was in */

/* Events whose stacks end in code. Other stacks end in a class or in malloc, with the code below
 * that. */
static const bool ends_in_code[EVENT_KINDS] = {
    [WIRE_EVENT_CPU] = true,
    [WIRE_EVENT_WALL] = true,
    [WIRE_EVENT_PERF] = true,
    [WIRE_EVENT_METHOD] = true,
};

bool model_ends_in_code(int event) {
    return ends_in_code[event];
}

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

/* Takes ownership of the snapshot, and indexes it by method and thread. On error, the snapshot is
 * freed. */
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
           a->carriers == b->carriers && a->fold_natives == b->fold_natives &&
           !strcmp(a->filter, b->filter);
}

static int take_rows(struct model *m, struct profile *p, struct query q, int event) {
    struct model_rows *r = &m->rows[event];
    q.event = event;
    q.tree = q.by_thread = q.inverted = q.locks = q.from_method = q.lines = false;
    q.prune_ppm = q.spark_cells = 0;
    struct snapshot *s = snapshot_take(p, &q);
    int err = s ? index_rows(r, s, event) : -ENOMEM;
    if (err)
        return err;
    r->asked = m->question;
    r->samples = m->held ? UINT64_MAX : profile_samples(p, event); /* held: must not match later */
    r->weight = profile_weight(p, event);
    return 0;
}

bool model_hides_idle(const struct model_question *q) {
    return q->event == WIRE_EVENT_WALL && !q->idle;
}

bool model_same_event(const struct model_question *a, const struct model_question *b) {
    return a->event == b->event && model_hides_idle(a) == model_hides_idle(b) &&
           a->fold_natives == b->fold_natives;
}

double model_idle_percent(const struct model *m) {
    const struct snapshot *all = m->rows[WIRE_EVENT_WALL].snapshot;
    if (!model_hides_idle(&m->asked) || !all || !all->weight || m->snapshot->weight >= all->weight)
        return -1;
    return percent_of(all->weight - m->snapshot->weight, all->weight);
}

int model_ask_others(struct model *m, struct profile *p, const struct query *q) {
    bool all = m->held || profile_node_count(p) <= ROWS_AT_ONCE_NODES;
    int err = 0, turn = m->rows_turn;
    bool taken = false;
    for (int i = 1; i <= EVENT_KINDS; i++) {
        int event = (turn + i) % EVENT_KINDS;
        struct model_rows *r = &m->rows[event];
        bool own =
            event == m->question.event; /* the answer's, of idle threads too if it has none */
        if (!own && !m->question.others)
            continue;
        bool there = (!own || model_hides_idle(&m->question)) && profile_samples(p, event) > 0;
        if (!there || (r->snapshot && !same_rows(&r->asked, &m->question)))
            model_rows_free(r); /* rows of another question would have wrong numbers */
        if (!there || err || (taken && !all && !own))
            continue;
        if (r->snapshot && same_window(&r->asked, &m->question) &&
            (m->held ||
             (r->samples == profile_samples(p, event) && r->weight == profile_weight(p, event))))
            continue;
        err = take_rows(m, p, *q, event);
        if (own) /* in every turn: both are of the same moment */
            continue;
        taken = true;
        m->rows_turn = event;
    }
    return err;
}

/* Reads the weight of the complete seconds: the current one would look like a dip. An idle JVM has
 * no samples, but its time goes on. While held, the seconds stand still. */
static void look_at_seconds(struct model *m, struct profile *p) {
    uint64_t last = m->last_second;
    if (!m->held) {
        /* The current second ends with the newest sample, unless there are no new samples. */
        uint64_t end = m->newest_second > last ? m->newest_second
                                               : last + (m->status.phase != SESSION_RUNNING);
        m->seconds_from =
            end > m->first_second + MODEL_SECONDS ? end - MODEL_SECONDS : m->first_second;
        m->seconds = (uint32_t)(last && end > m->seconds_from ? end - m->seconds_from : 0);
    }
    if (m->held && m->seconds && m->held_second < m->seconds_from)
        m->seconds_from = m->held_second > m->first_second ? m->held_second : m->first_second;
    int event = model_hides_idle(&m->question) ? (int)EVENT_ACTIVE : m->question.event;
    profile_timeline(p, event, m->seconds_from, m->seconds, m->second);
}

void model_look_at_events(struct model *m, struct profile *p) {
    if (!m->held)
        for (int i = 0; i < EVENT_KINDS; i++)
            m->samples[i] = profile_samples(p, i);
    if (!m->held)
        m->active_samples = profile_samples(p, EVENT_ACTIVE);
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
    return quality_event_name(&m->status, event);
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
    if (m->asked.event == WIRE_EVENT_WALL && m->asked.idle)
        return t->states;
    const struct snapshot_thread *found = find_thread(&m->rows[WIRE_EVENT_WALL], key_of(t));
    return found ? found->state : NULL;
}

/* Internal: returns a living thread's name from the other events' rows; "" if they have none. */
static const char *model_other_name(const struct model *m, uint32_t tid) {
    for (int i = 0; i < EVENT_KINDS; i++) {
        const struct snapshot_thread *t =
            find_thread(&m->rows[i], model_thread_key(false, 0, tid, false));
        if (t && t->name && t->name[0])
            return t->name; /* a platform thread's name lives as long as the profile */
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

/* The threads of the model: from the samples and from the kernel. */

void model_look_at_threads(struct model *m, uint64_t now_ns) {
    struct model_stats *now = &m->stats_now, *before = &m->stats_before;
    if (!before->time_ns || now->time_ns - before->time_ns >= MODEL_RATE_NS) {
        free(before->thread);
        *before = *now;
    } else {
        free(now->thread);
    }
    *now = (struct model_stats){.time_ns = now_ns};
    int n = m->source.threads ? m->source.threads(m->source.arg, &now->thread) : 0;
    now->count = n > 0 ? n : 0;
}

void model_look_at_living(struct model *m, const struct profile *p) {
    if (m->held && (m->living || !m->question.living))
        return; /* they stay those of the hold, as the kernel's figures do */
    free(m->living);
    m->living = NULL;
    int n = m->question.living ? profile_living(p, &m->living) : 0;
    m->living_count = n > 0 ? n : 0; /* no memory: names and states are missing */
    for (int i = 0; m->held && i < m->living_count; i++)
        m->living[i].java_state = WIRE_JAVA_UNKNOWN; /* it is not that of the hold */
}

static int compare_living(const void *a, const void *b) {
    const struct profile_living *x = a, *y = b;
    return x->tid < y->tid ? -1 : x->tid > y->tid;
}

/* Adds a living platform thread's name and Java state from the profile. `unsampled`: the
 * thread is known by its number only, and is the one that has it now. */
static void add_living(const struct model *m, struct model_thread *t, bool unsampled) {
    const struct profile_living want = {.tid = t->tid}, *found = NULL;
    if (m->living_count)
        found = bsearch(&want, m->living, (size_t)m->living_count, sizeof want, compare_living);
    if (!found || (!unsampled && found->java_id != t->java_id))
        return;
    if (unsampled) {
        t->java_id = found->java_id;
        t->name = found->name;
    }
    if (m->status.phase == SESSION_RUNNING)
        t->java_state = found->java_state;
}

static const struct thread_stat *find_stat(const struct model_stats *look, uint32_t tid) {
    const struct thread_stat *t = look->thread;
    int low = 0, high = look->count, count = high;
    while (low < high) {
        int middle = (low + high) / 2;
        if (t[middle].tid < tid)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && t[low].tid == tid ? &t[low] : NULL;
}

/* Adds the kernel's figures to a thread. */
static void add_stat(const struct model *m, struct model_thread *t) {
    const struct model_stats *then = &m->stats_before;
    const struct thread_stat *now = find_stat(&m->stats_now, t->tid);
    const struct thread_stat *was = find_stat(then, t->tid);
    if (!now)
        return;
    memcpy(t->comm, now->comm, sizeof t->comm);
    t->comm[sizeof t->comm - 1] = '\0';
    t->state = now->state;
    if (was && m->stats_now.time_ns > then->time_ns && now->cpu_ns >= was->cpu_ns)
        t->cpu_percent = 100.0 * (double)(now->cpu_ns - was->cpu_ns) /
                         (double)(m->stats_now.time_ns - then->time_ns);
}

static int compare_threads(const void *a, const void *b) {
    const struct model_thread *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight < y->weight ? 1 : -1;
    int names = strcmp(x->name[0] ? x->name : x->comm, y->name[0] ? y->name : y->comm);
    if (names)
        return names;
    if (x->java_id != y->java_id)
        return x->java_id < y->java_id ? -1 : 1;
    return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static int compare_tids(const void *a, const void *b) {
    const uint32_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* Adds the kernel's threads that have no row yet, as rows from `n` on. Returns the number of rows.
 * Ended threads may have the number of a living one, and virtual threads have their carrier's, so
 * only the other rows count as known. */
static uint32_t add_unsampled(const struct model *m, struct model_thread *rows, uint32_t n,
                              uint32_t *tids) {
    uint32_t known = 0, at = 0;
    for (uint32_t i = 0; i < n; i++)
        if (!rows[i].is_virtual && rows[i].state != 'X')
            tids[known++] = rows[i].tid;
    qsort(tids, known, sizeof *tids, compare_tids);
    for (int i = 0; i < m->stats_now.count; i++) {
        uint32_t tid = m->stats_now.thread[i].tid;
        while (at < known && tids[at] < tid)
            at++;
        if (at < known && tids[at] == tid)
            continue;
        rows[n] = (struct model_thread){.tid = tid,
                                        .name = "",
                                        .state = '?',
                                        .cpu_percent = -1,
                                        .top_method = METHOD_NONE,
                                        .row = UINT32_MAX};
        rows[n].name = model_other_name(m, tid);
        add_living(m, &rows[n], true);
        add_stat(m, &rows[n++]);
    }
    return n;
}

static struct model_thread thread_of(const struct model *m, const struct snapshot_thread *from) {
    struct model_thread t = {.tid = from->tid,
                             .is_virtual = from->is_virtual,
                             .java_id = from->java_id,
                             .name = from->name ? from->name : "",
                             .state = from->ended        ? 'X'
                                      : from->is_virtual ? 'V'
                                                         : '?',
                             .cpu_percent = -1,
                             .row = UINT32_MAX,
                             .top_method = METHOD_NONE};
    if (t.state == '?') { /* neither has ended nor is virtual */
        add_stat(m, &t);
        add_living(m, &t, false);
    }
    return t;
}

/* Adds the threads whose wall clock samples are all left out because they are idle, as rows from `n`
 * on. Returns the number of rows. Names of virtual threads live only as long as their snapshot, and
 * a virtual thread hardly ever sleeps on a carrier, so these are not added. */
static uint32_t add_idle(const struct model *m, struct model_thread *rows, uint32_t n,
                         const struct snapshot *all, bool *is_row) {
    for (uint32_t i = 0; i < n; i++) {
        const struct snapshot_thread *t = find_thread(&m->rows[WIRE_EVENT_WALL], key_of(&rows[i]));
        if (t)
            is_row[t - all->threads] = true;
    }
    for (uint32_t i = 0; i < all->thread_count; i++)
        if (!is_row[i] && !all->threads[i].is_virtual)
            rows[n++] = thread_of(m, &all->threads[i]);
    return n;
}

/* Merges the threads of the profile with the kernel's. Threads without samples are only included if
 * the question is not narrowed to a thread or filter. */
struct model_thread *model_merge_threads(const struct model *m, const struct snapshot *s,
                                         uint32_t *count) {
    const struct snapshot *all =
        model_hides_idle(&m->question) ? m->rows[WIRE_EVENT_WALL].snapshot : NULL;
    bool everyone = !model_zoomed(&m->question) && !m->question.filter[0];
    size_t sampled = (size_t)s->thread_count + (all ? all->thread_count : 0);
    size_t most = sampled + (everyone ? (size_t)m->stats_now.count : 0);
    struct model_thread *rows = calloc(most + 1, sizeof *rows);
    uint32_t *tids = calloc(sampled + 1, sizeof *tids);
    bool *is_row = calloc(sampled + 1, sizeof *is_row);
    if (!rows || !tids || !is_row) {
        free(rows);
        free(tids);
        free(is_row);
        return NULL;
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->thread_count; i++) {
        const struct snapshot_thread *from = &s->threads[i];
        struct model_thread *t = &rows[n++];
        *t = thread_of(m, from);
        t->weight = from->weight;
        t->samples = from->samples;
        t->states = from->state;
        t->row = i;
        t->top_method = from->top_method;
    }
    if (all)
        n = add_idle(m, rows, n, all, is_row);
    free(is_row);
    if (everyone)
        n = add_unsampled(m, rows, n, tids);
    qsort(rows, n, sizeof *rows, compare_threads);
    free(tids);
    *count = n;
    return rows;
}

uint64_t model_thread_key(bool is_virtual, uint64_t java_id, uint32_t tid, bool ended) {
    if (is_virtual)
        return java_id | UINT64_C(1) << 62;
    return ended ? (java_id << 32 ^ tid) | UINT64_C(1) << 63 : tid;
}

const char *model_thread_name(const struct model_thread *t, char *out, size_t size) {
    if (t->name[0] || t->comm[0])
        snprintf(out, size, "%s", t->name[0] ? t->name : t->comm);
    else
        snprintf(out, size, "[tid=%u]", t->tid);
    return out;
}

bool model_event_trouble(const struct model *m, char *out, size_t size) {
    return event_trouble_find(&m->status, m->question.event, out, size);
}
