#include "tui/model/model.h"

#include "core/report/quality.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The narrowings of the question, as a stack. */

static void remove_narrowing(struct model_question *q, enum model_narrowing what) {
    uint8_t n = 0;
    for (uint8_t i = 0; i < q->narrowings; i++)
        if (q->order[i] != what)
            q->order[n++] = q->order[i];
    q->narrowings = n;
}

/* Makes this narrowing the newest, whether or not it is already there. */
static void push(struct model_question *q, enum model_narrowing what) {
    remove_narrowing(q, what);
    q->order[q->narrowings++] = (uint8_t)what;
}

bool model_zoom(struct model *m, const struct model_thread *t) {
    struct model_question *q = &m->question;
    if (t->is_virtual ? !t->java_id : !t->tid)
        return false;
    q->tid = t->is_virtual ? QUERY_ALL_THREADS : t->tid;
    q->virtual_id = t->is_virtual ? t->java_id : 0;
    model_thread_name(t, q->thread, sizeof q->thread);
    push(q, NARROW_THREAD);
    return true;
}

static void model_zoom_out(struct model *m) {
    m->question.tid = QUERY_ALL_THREADS;
    m->question.virtual_id = 0;
    remove_narrowing(&m->question, NARROW_THREAD);
}

bool model_zoomed(const struct model_question *q) {
    return q->tid || q->virtual_id;
}

const char *model_zoom_name(const struct model *m, char *out, size_t size) {
    const struct model_question *q = &m->question;
    const struct model_thread *found = NULL;
    for (uint32_t i = 0; i < m->thread_count; i++) {
        const struct model_thread *t = &m->threads[i];
        bool is = q->virtual_id ? t->is_virtual && t->java_id == q->virtual_id
                                : !t->is_virtual && t->tid == q->tid;
        if (is && (!found || found->state == 'X'))
            found = t;
    }
    if (found)
        return model_thread_name(found, out, size);
    snprintf(out, size, "%s", q->thread); /* no row: no samples, or counted for its carriers */
    return out;
}

void model_narrow_method(struct model *m, uint32_t method) {
    m->question.with_method = true;
    m->question.method = method;
    push(&m->question, NARROW_METHOD);
}

void model_narrow_package(struct model *m, const char *package) {
    snprintf(m->question.package, sizeof m->question.package, "%s", package);
    if (package[0])
        push(&m->question, NARROW_PACKAGE);
    else
        remove_narrowing(&m->question, NARROW_PACKAGE);
}

void model_narrow_filter(struct model *m, const char *filter) {
    struct model_question *q = &m->question;
    bool had = q->filter[0];
    snprintf(q->filter, sizeof q->filter, "%s", filter);
    if (!filter[0])
        remove_narrowing(q, NARROW_FILTER);
    else if (!had) /* a changed filter keeps its place in the order */
        push(q, NARROW_FILTER);
}

bool model_widen(struct model *m) {
    struct model_question *q = &m->question;
    if (!q->narrowings)
        return false;
    switch ((enum model_narrowing)q->order[q->narrowings - 1]) {
    case NARROW_THREAD:
        model_zoom_out(m);
        break;
    case NARROW_METHOD:
        q->with_method = false;
        remove_narrowing(q, NARROW_METHOD);
        break;
    case NARROW_PACKAGE:
        model_narrow_package(m, "");
        break;
    default:
        model_narrow_filter(m, "");
    }
    return true;
}

const char *model_package(const struct model *m, uint32_t method, char *out, size_t size) {
    const struct method *f = model_method(m, method);
    const char *end = f->kind == METHOD_JAVA ? strrchr(f->class_name, '/') : NULL;
    size_t n = end ? (size_t)(end - f->class_name) : 0;
    if (n >= size)
        n = size - 1;
    memcpy(out, f->class_name, n);
    out[n] = '\0';
    for (char *s = out; *s; s++)
        if (*s == '/')
            *s = '.';
    return out;
}

/* The window of time that is shown, and the baseline. */

#define SECOND_NS UINT64_C(1000000000)
#define SCRUB_SPAN 10u /* length of the window while scrubbing, unless the user chose another */

/* Internal: finds out the current time; call between source.lock and source.unlock. */
static void model_look_at_time(struct model *m, struct profile *p) {
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
    bool marked = m->mark_second && m->span_is_default && !m->scrubbed;
    if (m->span && end && !marked)
        w.from = end >= m->span ? end - m->span + 1 : 1;
    /* A user who goes back to before the mark wants to see that time. */
    if (m->mark_second > w.from && !(m->scrubbed && m->mark_second > w.to))
        w.from = m->mark_second;
    return w;
}

static void let_go(struct model *m) {
    m->held = false;
    if (m->span_is_brief)
        m->span = m->span_before;
    m->span_is_default = m->span == m->settings.span;
    m->scrubbed = m->span_is_brief = false;
}

/* Internal: asks the profile even while held; -ENOMEM as model_ask. */
static int model_ask_profile(struct model *m, bool both_trees);

int model_hold(struct model *m, bool hold) {
    if (hold == m->held)
        return 0;
    if (!hold) {
        let_go(m);
        return model_ask(m);
    }
    /* Take everything up to now, with the trees of both directions, before time goes on. */
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
        return 0; /* no time has passed yet */
    uint64_t at = m->held ? m->held_second : m->newest_second, back = (uint64_t)-seconds;
    uint64_t least = m->oldest_second ? m->oldest_second : 1;
    at = at < m->newest_second ? at : m->newest_second; /* it stands still once the JVM is gone */
    if (seconds < 0)
        at = at > least + back ? at - back : least;
    else
        at = m->newest_second - at > (uint64_t)seconds ? at + (uint64_t)seconds : m->newest_second;
    if (!m->span_is_brief && (!m->span || m->span_is_default)) {
        m->span_before = m->span;
        m->span = SCRUB_SPAN;
        m->span_is_brief = true;
    }
    m->held = m->scrubbed = true;
    m->held_second = at;
    return model_ask(m);
}

void model_select(struct model *m, uint64_t from, uint64_t to) {
    if (!m->span_is_brief)
        m->span_before = m->span;
    m->span = to >= from ? to - from + 1 : 1;
    m->held = m->scrubbed = m->span_is_brief = true;
    m->held_second = to;
}

int model_set_span(struct model *m, uint64_t seconds) {
    m->span = seconds;
    m->span_is_default = seconds == m->settings.span && !m->scrubbed;
    m->span_is_brief = false;
    return model_ask(m);
}

int model_reset_time(struct model *m) {
    let_go(m);
    m->span = m->settings.span;
    m->span_is_default = true;
    m->mark_second = 0;
    return model_ask(m);
}

int model_mark(struct model *m, bool on) {
    if (on) { /* count from the next second: the current one is partly before the mark */
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

static void model_time_free(struct model *m) {
    forget_baseline(m);
}

/* Internal: computes the difference between the answer and the baseline, if there is one. */
static void model_differ(struct model *m);

/* Internal: takes rows and a tree of the question. NULL: no memory. */
static struct snapshot *model_take(const struct model *m, struct profile *p, bool inverted);

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

/* Trees of different kinds have no paths in common. Rows can always be compared. */
static bool same_trees(const struct model_question *a, const struct model_question *b) {
    return a->by_thread == b->by_thread && a->carriers == b->carriers &&
           a->from_method == b->from_method && (!a->from_method || a->method == b->method);
}

static void model_differ(struct model *m) {
    diff_free(m->diff);
    m->diff = NULL;
    if (!m->baseline || !m->snapshot || !model_same_event(&m->baseline_asked, &m->asked))
        return;
    const struct snapshot *before = m->asked.inverted ? m->baseline_inverted : m->baseline;
    if (!same_trees(&m->baseline_asked, &m->asked)) {
        m->baseline_rows = *before;
        m->baseline_rows.node_count = 0;
        before = &m->baseline_rows;
    }
    m->diff = diff_new(before, m->snapshot); /* no memory: the columns are missing */
}

#define PRUNE_FROM_NODES 50000
#define PRUNE_PPM 100 /* of the total: a hundredth of a percent */
#define STANDSTILL_NS UINT64_C(1000000000)
#define STATES_MS 10000u /* longer than two refreshes are ever apart on a slow terminal */

void model_init(struct model *m, const struct model_source *source,
                const struct model_settings *settings) {
    *m = (struct model){
        .source = *source,
        .settings = *settings,
        .style = NAME_DOTTED | NAME_MARKS | (settings->simple ? NAME_SIMPLE : 0u),
        .question = {.event = settings->event,
                     .carriers = settings->carriers,
                     .idle = settings->idle,
                     .fold_natives = settings->fold_natives},
        .span = settings->span,
        .span_is_default = true,
    };
}

void model_free(struct model *m) {
    snapshot_free(m->snapshot);
    snapshot_free(m->other);
    model_time_free(m);
    free(m->threads);
    free(m->living);
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
        .event = model_hides_idle(ask) ? (int)EVENT_ACTIVE : ask->event,
        .tid = ask->tid,
        .virtual_id = ask->virtual_id,
        .carriers = ask->carriers,
        .fold_natives = ask->fold_natives,
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
        .locks_event = WIRE_EVENT_LOCK,
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

/* Copies new methods: the table's rows may move, but their strings live as long as the profile. */
int model_look_at_methods(struct model *m, struct profile *p) {
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
    return overloads_add(&m->overloads, m->methods, m->method_count);
}

/* A search may find something below any root, and a comparison is of the whole tree. */
static bool needs_all_roots(const struct model *m) {
    return m->search[0] || m->baseline;
}

static bool is_to_be_open(const struct model_question *q, uint32_t root) {
    for (uint32_t i = 0; i < q->open_roots; i++)
        if (q->open_root[i] == root)
            return true;
    return false;
}

bool model_lacks_roots(const struct model *m) {
    const struct model_question *q = &m->question;
    const struct snapshot *s = m->snapshot;
    if (!s || !s->has_closed)
        return false;
    if (!q->close_roots || needs_all_roots(m) || (q->open_ppm && q->open_ppm < m->asked.open_ppm))
        return true;
    for (uint32_t i = 0; q->open_roots && i < s->node_count; i = s->nodes[i].next)
        if (s->nodes[i].closed && is_to_be_open(q, s->nodes[i].method))
            return true;
    return false;
}

static int model_ask_profile(struct model *m, bool both_trees) {
    struct profile *p = m->source.lock(m->source.arg);
    model_look_at_time(m, p);
    struct query q = make_query(m);
    m->question.from_second = q.from_second;
    m->question.to_second = q.to_second;
    q.tree = q.tree || both_trees;
    q.locks = q.locks || both_trees;
    /* A huge tree, or one by thread with countless virtual threads, leaves out nodes too small to
     * be seen, so that keys are answered at once. A held answer is kept whole if it is not huge. */
    m->pruned = (!both_trees && q.by_thread) || profile_node_count(p) > PRUNE_FROM_NODES;
    if (m->pruned)
        q.prune_ppm = PRUNE_PPM;
    q.close_roots = q.by_thread && m->question.close_roots && !both_trees && !needs_all_roots(m);
    q.open_ppm = m->question.open_ppm;
    q.open_root = m->question.open_root;
    q.open_roots = m->question.open_roots;
    struct snapshot *s = snapshot_take(p, &q), *other = NULL;
    if (s && both_trees) {
        q.inverted = !q.inverted;
        other = snapshot_take(p, &q);
    }
    int err = model_look_at_methods(m, p);
    model_look_at_events(m, p);
    model_look_at_living(m, p);
    if (s && (m->question.others || model_hides_idle(&m->question)))
        (void)model_ask_others(m, p, &q); /* no memory: columns stay empty */
    m->source.unlock(m->source.arg);
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
    free(m->threads); /* they have names of the old answer */
    m->snapshot = s;
    m->other = other;
    m->threads = rows;
    m->thread_count = threads;
    m->java_states = false;
    for (uint32_t i = 0; i < threads; i++)
        m->java_states |= rows[i].java_state != WIRE_JAVA_UNKNOWN;
    m->asked = m->question;
    model_differ(m);
    m->generation++;
    return 0;
}

static bool same_but_inverted(const struct model_question *a, const struct model_question *b) {
    return model_same_event(a, b) && a->tid == b->tid && a->virtual_id == b->virtual_id &&
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
    if (m->question.living && !m->held && !m->hidden && m->status.phase == SESSION_RUNNING &&
        m->source.ask_java_states)
        m->source.ask_java_states(m->source.arg, STATES_MS + 2 * m->settings.refresh_ms);
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

/* Takes a new poll. The previous poll is kept until there is enough time between the two. */
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

/* The recording may not have the event of the first question. */
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

/* Polls whether the JVM is stopped. A stopped JVM looks like an idle one. */
static void look_at_standstill(struct model *m, uint64_t now_ns) {
    if (!m->source.standstill || m->status.phase != SESSION_RUNNING) {
        m->standstill = STANDSTILL_NONE;
    } else if (!m->standstill_ns || now_ns - m->standstill_ns >= STANDSTILL_NS) {
        m->standstill = m->source.standstill(m->source.arg, &m->tracer);
        m->standstill_ns = now_ns;
    }
}

/* While held, the figures stay as they were. What happens to the session is shown at once. */
static void refresh_held(struct model *m, uint64_t now_ns) {
    struct session_status now, *s = &m->status;
    m->source.status(m->source.arg, &now);
    for (int i = 0; i < EVENT_KINDS; i++) {
        now.engine[i].samples = s->engine[i].samples;
        now.engine[i].dropped = s->engine[i].dropped;
        now.engine[i].coverage = s->engine[i].coverage;
        now.engine[i].threads = s->engine[i].threads;
    }
    memcpy(now.failed, s->failed, sizeof now.failed);
    now.samples = s->samples;
    now.dropped = s->dropped;
    now.elapsed_ns = s->elapsed_ns;
    now.agent_ns = s->agent_ns;
    now.frontend_ns = s->frontend_ns;
    *s = now;
    m->now.time_ns = now_ns; /* scrubbing can go on to the present */
    look_at_standstill(m, now_ns);
}

int model_refresh(struct model *m, uint64_t now_ns) {
    if (m->held) {
        refresh_held(m, now_ns);
        return 0;
    }
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
    model_look_at_threads(m, now_ns);
    if (!m->generation)
        settle_event(m);
    return model_ask(m);
}

static struct snapshot *model_take(const struct model *m, struct profile *p, bool inverted) {
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
    return quality_failed(&m->status);
}
