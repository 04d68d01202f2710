#include "tui/model.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PRUNE_FROM_NODES 50000
#define PRUNE_PPM 100 /* of the total: a hundredth of a percent */

void model_init(struct model *m, const struct model_source *source, int event, bool simple) {
    *m = (struct model){
        .source = *source,
        .event = event,
        .style = NAME_DOTTED | NAME_MARKS | (simple ? NAME_SIMPLE : 0u),
    };
}

void model_free(struct model *m) {
    snapshot_free(m->snapshot);
    snapshot_free(m->other);
    free(m->threads);
    free(m->methods);
    free(m->now.threads);
    free(m->before.threads);
    *m = (struct model){0};
}

static struct query make_query(const struct model *m) {
    struct query q = {
        .event = m->event,
        .tid = m->question.tid,
        .filter = m->question.filter,
        .inverted = m->question.inverted,
        .tree = m->question.tree,
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

static const struct thread_stat *find_stat(const struct model_look *look, uint32_t tid) {
    const struct thread_stat *t = look->threads;
    int low = 0, high = look->thread_count, count = high;
    while (low < high) {
        int middle = (low + high) / 2;
        if (t[middle].tid < tid)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && t[low].tid == tid ? &t[low] : NULL;
}

/* What the kernel says of a thread. */
static void add_stat(const struct model *m, struct model_thread *t) {
    const struct thread_stat *now = find_stat(&m->now, t->tid);
    const struct thread_stat *was = find_stat(&m->before, t->tid);
    if (!now)
        return;
    memcpy(t->comm, now->comm, sizeof t->comm);
    t->comm[sizeof t->comm - 1] = '\0';
    t->state = now->state;
    if (was && m->now.time_ns > m->before.time_ns && now->cpu_ns >= was->cpu_ns)
        t->cpu_percent = 100.0 * (double)(now->cpu_ns - was->cpu_ns) /
                         (double)(m->now.time_ns - m->before.time_ns);
}

static int compare_threads(const void *a, const void *b) {
    const struct model_thread *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight < y->weight ? 1 : -1;
    int names = strcmp(x->name[0] ? x->name : x->comm, y->name[0] ? y->name : y->comm);
    if (names)
        return names;
    return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static int compare_tids(const void *a, const void *b) {
    const struct model_thread *x = a, *y = b;
    return x->tid < y->tid ? -1 : x->tid > y->tid;
}

/* Threads of the profile, and, where nothing is filtered, those without samples too. */
static int merge_threads(struct model *m) {
    const struct snapshot *s = m->snapshot;
    bool everyone = !m->question.tid && !m->question.filter[0];
    size_t most = s->thread_count + (everyone ? (size_t)m->now.thread_count : 0);
    struct model_thread *rows = calloc(most + 1, sizeof *rows);
    if (!rows)
        return -ENOMEM;
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->thread_count; i++) {
        const struct snapshot_thread *from = &s->threads[i];
        struct model_thread *t = &rows[n++];
        *t = (struct model_thread){.tid = from->tid,
                                   .java_id = from->java_id,
                                   .name = from->name ? from->name : "",
                                   .state = from->ended ? 'X' : '?',
                                   .cpu_percent = -1,
                                   .weight = from->weight,
                                   .samples = from->samples,
                                   .top_method = from->top_method};
        if (!from->ended)
            add_stat(m, t);
    }
    /* Ended threads may have the number of a living one: only the living are looked up. */
    qsort(rows, n, sizeof *rows, compare_tids);
    uint32_t sampled = n, at = 0;
    for (int i = 0; everyone && i < m->now.thread_count; i++) {
        uint32_t tid = m->now.threads[i].tid;
        while (at < sampled && rows[at].tid < tid)
            at++;
        bool known = false;
        for (uint32_t k = at; k < sampled && rows[k].tid == tid; k++)
            known = known || rows[k].state != 'X';
        if (known)
            continue;
        rows[n] = (struct model_thread){
            .tid = tid, .name = "", .state = '?', .cpu_percent = -1, .top_method = METHOD_NONE};
        add_stat(m, &rows[n++]);
    }
    qsort(rows, n, sizeof *rows, compare_threads);
    free(m->threads);
    m->threads = rows;
    m->thread_count = n;
    return 0;
}

static int ask(struct model *m, bool both_trees) {
    struct query q = make_query(m);
    q.tree = q.tree || both_trees;
    struct profile *p = m->source.lock(m->source.arg);
    /* A refresh of a huge tree leaves out what nobody sees; what is held is kept whole. */
    if (!both_trees && profile_node_count(p) > PRUNE_FROM_NODES)
        q.prune_ppm = PRUNE_PPM;
    struct snapshot *s = snapshot_take(p, &q), *other = NULL;
    if (s && both_trees) {
        q.inverted = !q.inverted;
        other = snapshot_take(p, &q);
    }
    int err = copy_methods(m, p);
    uint64_t all = profile_samples(p, m->event);
    m->source.unlock(m->source.arg);
    if (!s || err || (both_trees && !other)) {
        snapshot_free(s);
        snapshot_free(other);
        return -ENOMEM;
    }
    snapshot_free(m->snapshot);
    snapshot_free(m->other);
    m->snapshot = s;
    m->other = other;
    m->asked = m->question;
    if (!m->held) /* what is held is a part of what there was then */
        m->all_samples = all;
    m->generation++;
    return merge_threads(m);
}

static bool same_but_inverted(const struct model_question *a, const struct model_question *b) {
    return a->tid == b->tid && !strcmp(a->filter, b->filter) && a->inverted != b->inverted;
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
    if (!m->before.time_ns || m->now.time_ns - m->before.time_ns >= MODEL_RATE_NS) {
        free(m->before.threads);
        m->before = m->now;
    } else {
        free(m->now.threads);
    }
    m->now = (struct model_look){.time_ns = now_ns,
                                 .samples = m->status.samples,
                                 .agent_ns = m->status.agent_ns,
                                 .frontend_ns = m->status.frontend_ns};
    int n = m->source.threads ? m->source.threads(m->source.arg, &m->now.threads) : 0;
    m->now.thread_count = n > 0 ? n : 0;
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
    return m->held ? 0 : model_ask(m);
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
    if (m->held && m->other && !by_thread)
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
    if (size)
        out[0] = '\0';
    frame_name(model_method(m, id), m->style, out, size);
    return out;
}

const char *model_thread_name(const struct model_thread *t, char *out, size_t size) {
    if (t->name[0] || t->comm[0])
        snprintf(out, size, "%s", t->name[0] ? t->name : t->comm);
    else
        snprintf(out, size, "[tid=%u]", t->tid);
    return out;
}

const struct model_thread *model_find_thread(const struct model *m, uint32_t tid) {
    const struct model_thread *found = NULL;
    for (uint32_t i = 0; i < m->thread_count; i++)
        if (m->threads[i].tid == tid && (!found || found->state == 'X'))
            found = &m->threads[i];
    return found;
}

uint64_t model_failed(const struct model *m) {
    uint64_t sum = 0;
    for (uint32_t i = 1; i < WIRE_FAILURES; i++)
        if (wire_failure_is_error(i))
            sum += m->status.failed[i];
    return sum;
}
