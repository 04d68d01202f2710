/* Random samples through the profile and through a model too simple to be wrong: a list of all
 * samples, summed up anew for every question. */
#include "core/profile/snapshot/snapshot.h"
#include "core/profile/table/frame_name.h"
#include "test/unit/tier.h"

#include <regex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { SAMPLES = 2500, DEPTH = 12, METHODS = 9, SECONDS = 20, HISTORY = 8, LINES = 4 };

/* Threads are 1 to THREADS by their tid, then virtual threads by their id behind VIRTUAL. */
enum { THREADS = 5, VIRTUALS = 4, ALL_THREADS = THREADS + VIRTUALS, VIRTUAL = 1000 };

struct model_sample {
    uint64_t second, weight, virtual_id;
    uint32_t tid, count, frames;
    int event;
    bool failed;
    struct profile_frame frame[DEPTH];
};

/* A tree with everything by linear search. */
struct model_node {
    uint32_t parent, method;
    uint8_t kept_tier; /* where tiers are told apart */
    uint64_t self, total, self_samples, total_samples, tier[TIERS];
};

struct model {
    struct model_sample sample[SAMPLES];
    uint64_t newest; /* second */
    struct model_node node[SAMPLES * (DEPTH + 1)];
    uint32_t nodes;
    struct profile *p;
    bool matches[METHODS]; /* the filter at hand */
    uint32_t thread_method[ALL_THREADS + 1];
    uint32_t last_carrier[ALL_THREADS + 1];
};

static uint64_t seed;

static const char *const classes[] = {"org/x/Y", "org/x/z/W", "org/xy/V"};

static uint32_t roll(uint32_t sides) {
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 33) % sides;
}

static void roll_sample(struct model_sample *s, uint64_t second) {
    *s = (struct model_sample){
        .second = second - roll(3) % (second < 3 ? 1 : 3),
        .weight = roll(8) ? 1 + roll(50) : 0,
        .count = 1 + roll(3),
        .tid = 1 + roll(THREADS),
        .virtual_id = roll(3) ? 0 : VIRTUAL + 1 + roll(VIRTUALS),
        .event = (int)roll(2),
        .failed = roll(10) == 0,
        .frames = 1 + roll(DEPTH),
    };
    for (uint32_t i = 0; i < s->frames; i++)
        s->frame[i] = (struct profile_frame){.method = i % 3 ? roll(METHODS) : roll(3),
                                             .line = (uint16_t)(roll(2) ? roll(LINES) : 65535),
                                             .tier = (uint8_t)roll(3)};
}

/* The first has no name. */
static void name_virtual_threads(struct model *m) {
    for (uint32_t v = 1; v <= VIRTUALS; v++) {
        char name[32], root[64];
        snprintf(name, sizeof name, v > 1 ? "task %u" : "VirtualThread[#%u]", VIRTUAL + v);
        snprintf(root, sizeof root, "[%s virtual=%u]", name, VIRTUAL + v);
        m->thread_method[THREADS + v] =
            method_table_intern(profile_methods(m->p), METHOD_THREAD, "", root, "", "");
        assert_int_equal(profile_virtual_name(m->p, VIRTUAL + v, v > 1 ? name : ""), 0);
    }
}

static struct model *model_new(uint64_t start) {
    struct model *m = calloc(1, sizeof *m);
    char name[32];
    seed = start;
    m->p = profile_new(HISTORY);
    for (uint32_t i = 0; i < METHODS; i++) {
        snprintf(name, sizeof name, "Method%c", 'A' + (int)(i * 5 % METHODS));
        assert_int_equal(
            method_table_intern(profile_methods(m->p), METHOD_JAVA, classes[i % 3], name, "", ""),
            i);
    }
    for (uint32_t t = 1; t <= THREADS; t++) {
        snprintf(name, sizeof name, "[worker-%u tid=%u]", t % 2, t);
        m->thread_method[t] =
            method_table_intern(profile_methods(m->p), METHOD_THREAD, "", name, "", "");
        snprintf(name, sizeof name, "worker-%u", t % 2);
        assert_int_equal(profile_thread_name(m->p, t, t, name), 0);
    }
    name_virtual_threads(m);
    for (uint32_t i = 0; i < SAMPLES; i++) {
        struct model_sample *s = &m->sample[i];
        roll_sample(s, 100 + (uint64_t)i * SECONDS / SAMPLES);
        struct profile_sample add = {.time_ns = s->second * 1000000000 + roll(1000000000),
                                     .weight = s->weight,
                                     .count = s->count,
                                     .tid = s->tid,
                                     .virtual_id = s->virtual_id,
                                     .event = (uint8_t)s->event,
                                     .failed = s->failed,
                                     .frames = (uint16_t)s->frames,
                                     .frame = s->frame};
        assert_int_equal(profile_add(m->p, &add), 0);
        if (s->virtual_id)
            m->last_carrier[THREADS + s->virtual_id - VIRTUAL] = s->tid;
        if (s->second > m->newest)
            m->newest = s->second;
    }
    return m;
}

static void model_free(struct model *m) {
    profile_free(m->p);
    free(m);
}

static void model_set_filter(struct model *m, const char *text) {
    regex_t regex;
    text += text[0] == '!';
    bool is_regex = regcomp(&regex, text, REG_EXTENDED | REG_ICASE) == 0;
    for (uint32_t i = 0; i < METHODS; i++) {
        char name[64];
        frame_name(method_table_get(profile_methods_const(m->p), i), NAME_DOTTED, name,
                   sizeof name);
        m->matches[i] =
            is_regex ? regexec(&regex, name, 0, NULL, 0) == 0 : strcasestr(name, text) != NULL;
    }
    if (is_regex)
        regfree(&regex);
}

static bool model_matches(const struct model *m, const struct model_sample *s) {
    for (uint32_t i = 0; i < s->frames; i++)
        if (m->matches[s->frame[i].method])
            return true;
    return false;
}

/* Where the method is nearest to the root; UINT32_MAX: nowhere. */
static uint32_t model_outermost(const struct model_sample *s, uint32_t method) {
    uint32_t i = s->frames;
    while (i-- > 0)
        if (s->frame[i].method == method)
            return i;
    return UINT32_MAX;
}

/* As classes have it, with slashes. */
static bool model_in_package(const struct model_sample *s, const char *package) {
    for (uint32_t i = 0; i < s->frames; i++) {
        const char *class = classes[s->frame[i].method % 3];
        size_t n = strlen(package);
        if (strncmp(class, package, n) == 0 && class[n] == '/')
            return true;
    }
    return false;
}

/* Whose sample it is. */
static uint32_t model_owner(const struct model_sample *s, const struct query *q) {
    bool by_carrier = !s->virtual_id || (q->carriers && !q->virtual_id);
    return by_carrier ? s->tid : THREADS + (uint32_t)(s->virtual_id - VIRTUAL);
}

static bool model_keeps(const struct model *m, const struct model_sample *s,
                        const struct query *q) {
    if (s->event != q->event)
        return false;
    if (q->virtual_id ? s->virtual_id != q->virtual_id : q->tid && model_owner(s, q) != q->tid)
        return false;
    uint64_t to = q->to_second ? q->to_second : UINT64_MAX;
    if ((q->from_second || q->to_second) &&
        (s->second < q->from_second || s->second > to || m->newest - s->second >= HISTORY))
        return false;
    if (q->with_method && model_outermost(s, q->method) == UINT32_MAX)
        return false;
    if (q->package && !model_in_package(s, strchr(q->package, 'z') ? "org/x/z" : "org/x"))
        return false;
    if (!q->filter)
        return true;
    return model_matches(m, s) == (q->filter[0] != '!');
}

static uint32_t model_child(struct model *m, uint32_t parent, uint32_t method, uint8_t tier) {
    for (uint32_t i = 0; i < m->nodes; i++)
        if (m->node[i].parent == parent && m->node[i].method == method &&
            m->node[i].kept_tier == tier)
            return i;
    m->node[m->nodes] = (struct model_node){.parent = parent, .method = method, .kept_tier = tier};
    return m->nodes++;
}

static uint32_t model_step(struct model *m, const struct model_sample *s, const struct query *q,
                           uint32_t parent, uint32_t method, uint8_t tier) {
    uint32_t at = model_child(m, parent, method, q->tiers ? tier : 0);
    m->node[at].total += s->weight;
    m->node[at].total_samples += s->count;
    m->node[at].tier[tier] += s->count;
    return at;
}

static void model_build(struct model *m, const struct query *q) {
    m->nodes = 0;
    for (uint32_t i = 0; i < SAMPLES; i++) {
        const struct model_sample *s = &m->sample[i];
        if (!model_keeps(m, s, q))
            continue;
        uint32_t at = SNAPSHOT_ROOT;
        if (q->by_thread)
            at = model_step(m, s, q, at, m->thread_method[model_owner(s, q)], TIER_NONE);
        uint32_t outermost = q->from_method ? model_outermost(s, q->method) : UINT32_MAX;
        uint32_t leaf = q->inverted && q->from_method ? outermost : 0;
        uint32_t root = !q->inverted && q->from_method ? outermost : s->frames - 1;
        for (uint32_t j = 0; j <= root - leaf; j++) {
            const struct profile_frame *f = &s->frame[q->inverted ? leaf + j : root - j];
            at = model_step(m, s, q, at, f->method, f->tier);
        }
        m->node[at].self += s->weight;
        m->node[at].self_samples += s->count;
    }
}

static int compare_names(const struct model *m, uint32_t a, uint32_t b) {
    const struct method_table *t = profile_methods_const(m->p);
    int c = strcmp(method_table_get(t, a)->class_name, method_table_get(t, b)->class_name);
    return c ? c : strcmp(method_table_get(t, a)->name, method_table_get(t, b)->name);
}

static void check_tree(struct model *m, const struct snapshot *s, const struct query *q) {
    uint32_t *where = calloc(s->node_count + 1, sizeof *where), levels = 0;
    uint64_t roots = 0;
    model_build(m, q);
    assert_int_equal(s->node_count, m->nodes);
    for (uint32_t i = 0; i < s->node_count; i++) {
        const struct snapshot_node *n = &s->nodes[i];
        uint32_t parent = n->parent == SNAPSHOT_ROOT ? SNAPSHOT_ROOT : where[n->parent];
        where[i] =
            model_child(m, parent, n->method, q->tiers ? (uint8_t)snapshot_main_tier(n->tier) : 0);
        assert_true(where[i] < s->node_count); /* else the model did not have it */
        const struct model_node *want = &m->node[where[i]];
        assert_int_equal(n->self, want->self);
        assert_int_equal(n->total, want->total);
        assert_int_equal(n->self_samples, want->self_samples);
        assert_int_equal(n->total_samples, want->total_samples);
        assert_memory_equal(n->tier, want->tier, sizeof n->tier);
        assert_int_equal(n->depth, parent == SNAPSHOT_ROOT ? 0 : s->nodes[n->parent].depth + 1);
        uint32_t end = parent == SNAPSHOT_ROOT ? s->node_count : s->nodes[n->parent].next;
        assert_in_range(n->next, i + 1, end);
        levels = n->depth >= levels ? n->depth + 1 : levels;
        roots += parent == SNAPSHOT_ROOT ? n->total : 0;
        if (n->next == end)
            continue;
        const struct snapshot_node *sibling = &s->nodes[n->next];
        assert_int_equal(sibling->parent, n->parent);
        assert_true(
            n->total > sibling->total ||
            (n->total == sibling->total &&
             (compare_names(m, n->method, sibling->method) < 0 || n->method == sibling->method)));
    }
    assert_int_equal(s->max_depth, levels);
    assert_int_equal(roots, s->weight);
    free(where);
}

/* Field by field: between `method` and the rest there are four bytes that mean nothing. */
static void same_methods(const struct snapshot_method *a, const struct snapshot_method *b,
                         uint32_t n) {
    const size_t rest = offsetof(struct snapshot_method, self);
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(a[i].method, b[i].method);
        assert_memory_equal((const char *)&a[i] + rest, (const char *)&b[i] + rest,
                            sizeof a[i] - rest);
    }
}

static void check_methods(struct model *m, const struct snapshot *s, const struct query *q) {
    struct snapshot_method want[METHODS] = {{0}};
    uint32_t rows = 0;
    uint64_t self = 0;
    for (uint32_t i = 0; i < SAMPLES; i++) {
        const struct model_sample *x = &m->sample[i];
        bool seen[METHODS] = {false};
        if (!model_keeps(m, x, q))
            continue;
        want[x->frame[0].method].self += x->weight;
        want[x->frame[0].method].self_samples += x->count;
        for (uint32_t j = x->frames; j-- > 0;) {
            struct snapshot_method *w = &want[x->frame[j].method];
            if (seen[x->frame[j].method])
                continue;
            seen[x->frame[j].method] = true;
            w->total += x->weight;
            w->total_samples += x->count;
            w->tier[x->frame[j].tier] += x->count;
        }
    }
    for (uint32_t i = 0; i < METHODS; i++)
        rows += want[i].total_samples > 0;
    assert_int_equal(s->method_count, rows);
    for (uint32_t i = 0; i < rows; i++) {
        const struct snapshot_method *r = &s->methods[i], *last = i ? r - 1 : NULL;
        want[r->method].method = r->method;
        same_methods(r, &want[r->method], 1);
        self += r->self;
        if (last)
            assert_true(last->self > r->self || (last->self == r->self && last->total > r->total) ||
                        (last->self == r->self && last->total == r->total &&
                         compare_names(m, last->method, r->method) < 0));
    }
    assert_int_equal(self, s->weight);
}

static void check_threads(struct model *m, const struct snapshot *s, const struct query *q) {
    uint64_t weight[ALL_THREADS + 1] = {0}, samples[ALL_THREADS + 1] = {0};
    uint64_t self[ALL_THREADS + 1][METHODS] = {{0}};
    uint64_t sum = 0, failed = 0, all = 0;
    uint32_t rows = 0;
    for (uint32_t i = 0; i < SAMPLES; i++) {
        const struct model_sample *x = &m->sample[i];
        if (!model_keeps(m, x, q))
            continue;
        uint32_t owner = model_owner(x, q);
        weight[owner] += x->weight;
        samples[owner] += x->count;
        self[owner][x->frame[0].method] += x->weight;
        failed += x->failed ? x->count : 0;
        all += x->count;
    }
    for (uint32_t t = 1; t <= ALL_THREADS; t++)
        rows += samples[t] > 0;
    assert_int_equal(s->thread_count, rows);
    for (uint32_t i = 0; i < rows; i++) {
        const struct snapshot_thread *r = &s->threads[i];
        uint32_t t = r->is_virtual ? THREADS + (uint32_t)(r->java_id - VIRTUAL) : r->tid;
        assert_in_range(t, 1, ALL_THREADS);
        assert_int_equal(r->weight, weight[t]);
        assert_int_equal(r->samples, samples[t]);
        if (r->is_virtual)
            assert_int_equal(r->tid, m->last_carrier[t]);
        else
            assert_int_equal(r->java_id, r->tid);
        assert_true(i == 0 || s->threads[i - 1].weight >= r->weight);
        for (uint32_t j = 0; j < METHODS; j++)
            assert_true(self[t][j] <= self[t][r->top_method]);
        sum += r->weight;
    }
    assert_int_equal(sum, s->weight);
    assert_int_equal(failed, s->failed);
    assert_int_equal(all, s->samples);
}

/* Lines 0 to LINES - 1, and 65535 in the last place. */
static void check_lines(struct model *m, const struct snapshot *s, const struct query *q) {
    struct snapshot_line want[LINES + 1] = {{0}};
    uint32_t rows = 0;
    for (uint32_t i = 0; i < SAMPLES; i++) {
        const struct model_sample *x = &m->sample[i];
        bool seen[LINES + 1] = {false};
        for (uint32_t j = 0; model_keeps(m, x, q) && j < x->frames; j++) {
            uint32_t line = x->frame[j].line < LINES ? x->frame[j].line : LINES;
            struct snapshot_line *w = &want[line];
            if (x->frame[j].method != q->lines_of)
                continue;
            w->line = x->frame[j].line;
            w->self += j == 0 ? x->weight : 0;
            w->self_samples += j == 0 ? x->count : 0;
            w->total += seen[line] ? 0 : x->weight;
            w->total_samples += seen[line] ? 0 : x->count;
            seen[line] = true;
        }
    }
    for (uint32_t i = 0; i <= LINES; i++)
        if (want[i].total_samples)
            assert_memory_equal(&s->lines[rows++], &want[i], sizeof want[i]);
    assert_int_equal(s->line_count, rows);
}

enum { CELLS = 3 };

/* Whole cells only: those before the one that the newest second, or the window's last, is in. */
static void check_sparks(struct model *m, const struct snapshot *s, const struct query *q) {
    uint64_t method[METHODS][CELLS] = {{0}}, thread[ALL_THREADS + 1][CELLS] = {{0}};
    uint64_t to = q->to_second && q->to_second < m->newest ? q->to_second : m->newest;
    uint64_t from = to / q->spark_seconds - CELLS;
    struct query all = *q;
    all.from_second = all.to_second = 0;
    assert_int_equal(s->spark_from, from);
    for (uint32_t i = 0; i < SAMPLES; i++) {
        const struct model_sample *x = &m->sample[i];
        uint64_t cell = x->second / q->spark_seconds - from; /* wraps below 0 */
        if (cell >= CELLS || m->newest - x->second >= HISTORY || !model_keeps(m, x, &all))
            continue;
        method[x->frame[0].method][cell] += x->weight;
        thread[model_owner(x, q)][cell] += x->weight;
    }
    for (uint32_t i = 0; i < s->method_count; i++)
        assert_memory_equal(s->method_spark + (size_t)i * CELLS, method[s->methods[i].method],
                            sizeof *method);
    for (uint32_t i = 0; i < s->thread_count; i++) {
        const struct snapshot_thread *r = &s->threads[i];
        uint32_t t = r->is_virtual ? THREADS + (uint32_t)(r->java_id - VIRTUAL) : r->tid;
        assert_memory_equal(s->thread_spark + (size_t)i * CELLS, thread[t], sizeof *thread);
    }
}

/* The same question with the light left out of the tree says the same of what is left. */
static void check_pruned(struct model *m, const struct snapshot *s, const struct query *q) {
    struct query ask = *q;
    ask.prune_ppm = 1 + roll(30000);
    struct snapshot *pruned = snapshot_take(m->p, &ask);
    assert_non_null(pruned);
    assert_int_equal(pruned->method_count, s->method_count);
    same_methods(pruned->methods, s->methods, s->method_count);
    assert_int_equal(pruned->thread_count, s->thread_count);
    uint64_t least = (s->weight * ask.prune_ppm + 999999) / 1000000;
    uint32_t next = 0, levels = 0;
    least = least ? least : 1;
    for (uint32_t i = 0; i < s->node_count;) {
        const struct snapshot_node *n = &s->nodes[i];
        /* Light virtual threads share a root: then only sums can be compared. */
        bool kept = n->depth == 0 || n->total >= least;
        if (kept) {
            assert_in_range(next, 0, pruned->node_count - 1);
            const struct snapshot_node *p = &pruned->nodes[next++];
            assert_int_equal(p->method, n->method);
            assert_int_equal(p->depth, n->depth);
            assert_int_equal(p->self, n->self);
            assert_int_equal(p->total, n->total);
            assert_int_equal(p->self_samples, n->self_samples);
            assert_int_equal(p->total_samples, n->total_samples);
            assert_memory_equal(p->tier, n->tier, sizeof p->tier);
            levels = n->depth >= levels ? n->depth + 1 : levels;
        }
        i = kept ? i + 1 : n->next;
    }
    assert_int_equal(next, pruned->node_count);
    assert_int_equal(levels, pruned->max_depth);
    snapshot_free(pruned);
}

static void check(struct model *m, const struct query *q) {
    struct snapshot *s = snapshot_take(m->p, q);
    assert_non_null(s);
    model_set_filter(m, q->filter ? q->filter : "");
    check_methods(m, s, q);
    check_threads(m, s, q);
    if (q->lines)
        check_lines(m, s, q);
    if (q->spark_cells)
        check_sparks(m, s, q);
    if (q->tree && !q->by_thread)
        check_pruned(m, s, q);
    if (q->tree)
        check_tree(m, s, q);
    else
        assert_int_equal(s->node_count, 0);
    snapshot_free(s);
}

static void test_all_questions(void **state) {
    (void)state;
    static const char *const filters[] = {NULL,      "methodc",       "!Y.METHODB",   "!org",
                                          "nowhere", "d[a-c]$",       "(y|w)\\.m.*d", "!^org\\.xy",
                                          "y[",      "!Y|[[:digit:]]"};
    const uint32_t by = tier_is_fast() ? 4 : 2;
    for (uint64_t start = 1; start <= (tier_is_fast() ? 1 : 3); start++) { /* 13 s each */
        struct model *m = model_new(start);
        for (uint32_t bits = 0; bits < 64; bits++) {
            for (size_t f = roll(by); f < sizeof filters / sizeof *filters; f += by) {
                struct query q = {.filter = filters[f],
                                  .event = (int)(f + start) % 2,
                                  .inverted = bits & 1,
                                  .by_thread = bits & 2,
                                  .carriers = bits & 16,
                                  .tiers = bits & 32,
                                  .lines = true,
                                  .lines_of = roll(METHODS),
                                  .with_method = roll(3) == 0,
                                  .method = roll(METHODS),
                                  .package = roll(4)   ? NULL
                                             : roll(2) ? "org.x"
                                                       : "org/x/z/",
                                  .spark_cells = CELLS,
                                  .spark_seconds = 2,
                                  .tree = true};
                q.from_method = q.with_method && roll(2);
                q.tid = bits & 4 ? 3 : QUERY_ALL_THREADS;
                q.virtual_id = roll(4) ? 0 : VIRTUAL + 1 + roll(VIRTUALS);
                q.to_second = bits & 8 ? m->newest - 1 : 0;
                q.from_second = bits & 8 ? m->newest - 1 - roll(HISTORY) : 0;
                if (q.to_second && roll(3) == 0)
                    q.to_second = 0; /* up to now */
                check(m, &q);
            }
        }
        check(m, &(struct query){.event = 0});
        check(m, &(struct query){.event = 0, .carriers = true});
        check(m, &(struct query){.event = 0, .lines = true, .lines_of = METHOD_NONE});
        check(m, &(struct query){.event = 7, .tree = true});
        check(m, &(struct query){.event = 1, .from_second = 1, .to_second = UINT64_MAX});
        check(m, &(struct query){.event = 1, .from_second = 5000, .to_second = 5, .tree = true});
        model_free(m);
    }
}

static void expect_same(const struct snapshot *a, const struct snapshot *b) {
    assert_int_equal(a->weight, b->weight);
    assert_int_equal(a->samples, b->samples);
    assert_int_equal(a->failed, b->failed);
    assert_int_equal(a->method_count, b->method_count);
    assert_int_equal(a->node_count, b->node_count);
    assert_int_equal(a->thread_count, b->thread_count);
    same_methods(a->methods, b->methods, a->method_count);
    assert_memory_equal(a->nodes, b->nodes, a->node_count * sizeof *a->nodes);
    for (uint32_t i = 0; i < a->thread_count; i++)
        assert_int_equal(a->threads[i].weight, b->threads[i].weight);
    assert_int_equal(a->line_count, b->line_count);
    if (a->line_count)
        assert_memory_equal(a->lines, b->lines, a->line_count * sizeof *a->lines);
}

/* What is summed up between two questions, sample by sample, is what summing up anew says: with
 * samples that come and go, and events that are asked for in turns or forgotten. A filter that
 * keeps everything is asked for in the slow way. */
static void test_between_two_questions(void **state) {
    (void)state;
    enum { ROUNDS = 400, PLACES = 64 };
    struct profile_place at[PLACES] = {{0}};
    struct model *m = model_new(4);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        for (uint32_t j = roll(i % 50 == 49 ? 6000 : 40); j > 0; j--) {
            struct model_sample s;
            struct profile_place *place = &at[roll(PLACES)];
            roll_sample(&s, 200 + i);
            s.frame[roll(s.frames)].line = (uint16_t)roll(i + 1); /* new nodes */
            struct profile_sample add = {.time_ns = s.second * 1000000000,
                                         .weight = s.weight,
                                         .count = s.count,
                                         .tid = s.tid,
                                         .event = (uint8_t)roll(4),
                                         .frames = (uint16_t)s.frames,
                                         .frame = s.frame};
            profile_retract(m->p, place, roll(60), roll(3));
            assert_int_equal(profile_add_at(m->p, &add, place), 0);
            if (roll(3) == 0)
                assert_int_equal(profile_repeat(m->p, place, add.time_ns, 7, 1, 0), 0);
        }
        if (roll(20) == 0)
            profile_forget(m->p, roll(4));
        struct query q = {.event = (int)roll(4), .tree = roll(2), .inverted = roll(2)};
        q.prune_ppm = 1 + roll(2) * roll(20000);
        q.lines = roll(2);
        q.lines_of = roll(METHODS);
        struct snapshot *quick = snapshot_take(m->p, &q);
        q.filter = "!no such frame";
        struct snapshot *slow = snapshot_take(m->p, &q);
        assert_non_null(quick);
        assert_non_null(slow);
        expect_same(quick, slow);
        snapshot_free(quick);
        snapshot_free(slow);
    }
    model_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_questions),
        cmocka_unit_test(test_between_two_questions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
