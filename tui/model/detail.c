#include "tui/model/detail.h"

#include "core/source/source_finder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_PPM 1000 /* of the method: callers below this are left out */
#define RETRY_NS UINT64_C(1000000000)
#define SLOW_NS UINT64_C(10000000) /* longer than this is not done between a press and its answer */

/* The samples that an answer is of. */
struct scope {
    struct model_question question;
    uint64_t span, mark_second, held_second;
    bool held;
};

struct detail {
    struct source_finder *finder;
    struct detail_answer *answer; /* NULL: none yet */
    struct scope scope;           /* of `answer` */
    unsigned generation;          /* of the model's answer when it was taken */
    struct detail_subject wanted;
    bool wants;
    uint64_t wanted_ns;    /* the row was reached */
    uint64_t disturbed_ns; /* the last press, or answer of the model */
    unsigned seen;         /* generation of the model at the last call */
    uint64_t began_ns, took_ns;
    bool taken; /* once, so that its time is known */
};

struct detail *detail_new(void) {
    struct detail *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    d->finder = source_finder_new();
    if (!d->finder) {
        free(d);
        return NULL;
    }
    return d;
}

void detail_free(struct detail *d) {
    if (!d)
        return;
    source_finder_free(d->finder);
    free(d->answer);
    free(d);
}

static bool same_subject(const struct detail_subject *a, const struct detail_subject *b) {
    return a->method == b->method &&
           (a->method != METHOD_NONE ||
            (a->is_virtual == b->is_virtual && a->java_id == b->java_id &&
             (a->is_virtual || a->tid == b->tid))); /* its carrier changes */
}

static struct scope scope_of(const struct model *m) {
    return (struct scope){.question = m->asked,
                          .span = m->span,
                          .mark_second = m->mark_second,
                          .held = m->held,
                          .held_second = m->held_second};
}

static bool same_scope(const struct scope *a, const struct scope *b) {
    const struct model_question *x = &a->question, *y = &b->question;
    return model_same_event(x, y) && x->tid == y->tid && x->virtual_id == y->virtual_id &&
           x->carriers == y->carriers && x->with_method == y->with_method &&
           (!x->with_method || x->method == y->method) && !strcmp(x->package, y->package) &&
           !strcmp(x->filter, y->filter) && a->span == b->span &&
           a->mark_second == b->mark_second && a->held == b->held &&
           (!a->held || a->held_second == b->held_second);
}

const struct detail_answer *detail_answer(const struct detail *d, const struct model *m,
                                          const struct detail_subject *s) {
    const struct scope now = scope_of(m);
    return d->answer && same_subject(&d->answer->of, s) && same_scope(&d->scope, &now) ? d->answer
                                                                                       : NULL;
}

static uint64_t later(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

uint64_t detail_want(struct detail *d, const struct model *m, const struct detail_subject *s,
                     bool pressed, uint64_t now_ns) {
    if (s && (!d->wants || !same_subject(s, &d->wanted))) {
        d->wanted = *s;
        d->wanted_ns = now_ns;
    }
    d->wants = s != NULL;
    if (pressed || d->seen != m->generation)
        d->disturbed_ns = now_ns;
    d->seen = m->generation;
    if (!s || !m->snapshot)
        return UINT64_MAX;
    bool answered = detail_answer(d, m, s) != NULL;
    if (answered && d->generation == m->generation)
        return UINT64_MAX;
    uint64_t due = d->taken ? d->began_ns + DETAIL_PART * d->took_ns : 0;
    if (answered)
        due = later(due, d->began_ns + DETAIL_RENEW_NS);
    else if (d->taken)
        due = later(due, d->wanted_ns + DETAIL_REST_NS);
    if (d->took_ns >= SLOW_NS)
        due = later(due, d->disturbed_ns + DETAIL_REST_NS);
    return due;
}

/* Adds a row, if it is one of the heaviest. Equal rows keep their order. */
static void add_method(struct detail_methods *l, const struct detail_method *row) {
    uint32_t at = l->count;
    l->all++;
    while (at > 0 && l->row[at - 1].weight < row->weight)
        at--;
    if (at == DETAIL_ROWS)
        return;
    l->count += l->count < DETAIL_ROWS;
    memmove(&l->row[at + 1], &l->row[at], (l->count - 1 - at) * sizeof l->row[0]);
    l->row[at] = *row;
}

/* Lists what is directly below the root of a tree from a method. */
static void take_branches(struct detail_methods *l, const struct snapshot *s,
                          enum detail_kind end) {
    if (!s->node_count)
        return;
    const struct snapshot_node *root = &s->nodes[0];
    if (root->self)
        add_method(l, &(struct detail_method){
                          .kind = end, .weight = root->self, .samples = root->self_samples});
    for (uint32_t i = snapshot_child(s, 0); i != SNAPSHOT_ROOT && i < root->next;
         i = s->nodes[i].next)
        add_method(l, &(struct detail_method){.method = s->nodes[i].method,
                                              .tier = snapshot_main_tier(s->nodes[i].tier),
                                              .weight = s->nodes[i].total,
                                              .samples = s->nodes[i].total_samples});
}

static void take_lines(struct detail_answer *a, const struct snapshot *s) {
    a->all_lines = s->line_count;
    for (uint32_t i = 0; i < s->line_count; i++) {
        const struct snapshot_line *l = &s->lines[i];
        uint32_t at = a->lines;
        while (at > 0 && a->line[at - 1].weight < l->total)
            at--;
        if (at == DETAIL_ROWS)
            continue;
        a->lines += a->lines < DETAIL_ROWS;
        memmove(&a->line[at + 1], &a->line[at], (a->lines - 1 - at) * sizeof a->line[0]);
        a->line[at] =
            (struct detail_line){.line = l->line, .weight = l->total, .samples = l->total_samples};
    }
}

static void take_source(struct detail *d, struct detail_answer *a, const struct model *m) {
    const struct method *method = model_method(m, a->of.method);
    const char *path = m->settings.source_path ? m->settings.source_path : "";
    const pid_t pid = m->status.phase == SESSION_REPLAYED ? 0 : m->jvm.pid;
    if (method->kind != METHOD_JAVA || !a->lines || (a->lines == 1 && !a->line[0].line))
        return;
    const struct source_file *f = source_finder_find(d->finder, path, pid, method->class_name);
    for (uint32_t i = 0; f && i < a->lines; i++) {
        const char *text = source_file_line(f, a->line[i].line);
        if (text)
            snprintf(a->line[i].source, sizeof a->line[i].source, "%s", text + strspn(text, " "));
    }
}

/* Writes the name that the model has for the thread, else the profile's. */
static void name_thread(struct detail_thread *t, const struct snapshot_thread *row,
                        const struct model *m) {
    const struct model_thread bare = {.tid = row->tid, .name = row->name ? row->name : ""};
    const struct model_thread *best = &bare;
    uint64_t key = model_thread_key(row->is_virtual, row->java_id, row->tid, row->ended);
    for (uint32_t i = 0; i < m->thread_count && !bare.name[0]; i++) {
        const struct model_thread *o = &m->threads[i];
        if (model_thread_key(o->is_virtual, o->java_id, o->tid, o->state == 'X') == key)
            best = o;
    }
    model_thread_name(best, t->name, sizeof t->name);
}

static void take_threads(struct detail_answer *a, const struct snapshot *s, const struct model *m) {
    a->all_threads = s->thread_count;
    for (uint32_t i = 0; i < s->thread_count && i < DETAIL_ROWS; i++) {
        const struct snapshot_thread *row = &s->threads[i];
        struct detail_thread *t = &a->thread[a->threads++];
        *t = (struct detail_thread){.thread = {.method = METHOD_NONE,
                                               .is_virtual = row->is_virtual,
                                               .tid = row->tid,
                                               .java_id = row->java_id},
                                    .weight = row->weight,
                                    .samples = row->samples};
        name_thread(t, row, m);
    }
}

static void take_spark(struct detail_answer *a, const struct snapshot *s) {
    for (uint32_t i = 0; s->thread_spark && i < s->thread_count; i++)
        for (uint32_t k = 0; k < MODEL_SPARKS; k++)
            a->spark[k] += s->thread_spark[(size_t)i * MODEL_SPARKS + k];
}

static struct query base_query(const struct model *m) {
    struct query q = model_query(m);
    q.tree = q.by_thread = q.inverted = q.from_method = q.locks = q.lines = false;
    q.spark_cells = MODEL_SPARKS;
    q.spark_seconds = MODEL_SPARK_SECONDS;
    q.prune_ppm = LEAST_PPM;
    return q;
}

static int take_method(struct detail_answer *a, const struct model *m, struct profile *p) {
    struct query q = base_query(m);
    if (q.with_method) {
        q.with_also = true;
        q.also = q.method;
    }
    q.with_method = q.from_method = q.tree = true;
    q.method = q.lines_of = a->of.method;
    q.lines = model_method(m, q.method)->kind == METHOD_JAVA;
    struct snapshot *down = snapshot_take(p, &q);
    q.inverted = true;
    q.lines = false;
    q.spark_cells = 0;
    struct snapshot *up = down ? snapshot_take(p, &q) : NULL;
    if (up) {
        a->weight = down->weight;
        a->samples = down->samples;
        take_branches(&a->callees, down, DETAIL_ITSELF);
        take_branches(&a->callers, up, DETAIL_NOBODY);
        take_lines(a, down);
        take_threads(a, down, m);
        take_spark(a, down);
    }
    snapshot_free(down);
    snapshot_free(up);
    return up ? 0 : -ENOMEM;
}

static int take_thread(struct detail_answer *a, const struct model *m, struct profile *p) {
    struct query q = base_query(m);
    q.tid = a->of.is_virtual ? QUERY_ALL_THREADS : a->of.tid;
    q.virtual_id = a->of.is_virtual ? a->of.java_id : 0;
    struct snapshot *s = snapshot_take(p, &q);
    if (!s)
        return -ENOMEM;
    a->weight = s->weight;
    a->samples = s->samples;
    for (uint32_t i = 0; i < s->method_count && s->methods[i].self; i++) {
        const struct snapshot_method *r = &s->methods[i];
        add_method(&a->methods, &(struct detail_method){.method = r->method,
                                                        .tier = snapshot_main_tier(r->tier),
                                                        .weight = r->self,
                                                        .samples = r->self_samples});
    }
    take_spark(a, s);
    snapshot_free(s);
    return 0;
}

int detail_take(struct detail *d, struct model *m, uint64_t (*clock)(void)) {
    struct detail_answer *a = d->wants ? calloc(1, sizeof *a) : NULL;
    d->began_ns = clock();
    int err = a ? 0 : -ENOMEM;
    if (a) {
        a->of = d->wanted;
        struct profile *p = m->source.lock(m->source.arg);
        err = a->of.method == METHOD_NONE ? take_thread(a, m, p) : take_method(a, m, p);
        err = err ? err : model_look_at_methods(m, p); /* there may be new ones */
        m->source.unlock(m->source.arg);
    }
    if (!err)
        take_source(d, a, m);
    d->taken = true;
    d->took_ns = clock() - d->began_ns;
    d->generation = m->generation;
    if (err) {
        d->wanted_ns = d->began_ns + RETRY_NS;
        free(a);
        return err;
    }
    free(d->answer);
    d->answer = a;
    d->scope = scope_of(m);
    return 0;
}
