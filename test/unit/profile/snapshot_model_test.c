/* Random samples through the profile and through the model in sample_model.h. */
#include "core/profile/profile_state.h"
#include "test/unit/profile/sample_model.h"
#include "test/unit/tier.h"

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
        levels = n->depth >= levels ? n->depth + 1u : levels;
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
        const struct model_sample *x = model_take(m, i, q);
        bool seen[METHODS] = {false};
        if (!x)
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
        const struct model_sample *x = model_take(m, i, q);
        if (!x)
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
        const struct model_sample *x = model_take(m, i, q);
        bool seen[LINES + 1] = {false};
        for (uint32_t j = 0; x && j < x->frames; j++) {
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
        const struct model_sample *x = model_take(m, i, &all);
        uint64_t cell = m->sample[i].second / q->spark_seconds - from; /* wraps below 0 */
        if (!x || cell >= CELLS || m->newest - x->second >= HISTORY)
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
            levels = n->depth >= levels ? n->depth + 1u : levels;
        }
        i = kept ? i + 1 : n->next;
    }
    assert_int_equal(next, pruned->node_count);
    assert_int_equal(levels, pruned->max_depth);
    snapshot_free(pruned);
}

/* With closed roots: open are the heaviest, those on the list, and those that weigh enough; of
 * these all is there, and of the others the root. */
static void check_closed(struct model *m, const struct snapshot *s, const struct query *q) {
    uint32_t list[8], listed = 0, next = 0, open_ones = 0;
    struct query ask = *q;
    for (uint32_t i = 0; i < s->node_count && listed < 8; i = s->nodes[i].next)
        if (roll(3) == 0)
            list[listed++] = s->nodes[i].method;
    ask.close_roots = true;
    ask.open_root = list;
    ask.open_roots = listed;
    ask.open_ppm = roll(2) ? 0 : 1 + roll(300000);
    struct snapshot *closed = snapshot_take(m->p, &ask);
    assert_non_null(closed);
    assert_false(s->has_closed);
    for (uint32_t i = 0; i < s->node_count; i = s->nodes[i].next) {
        const struct snapshot_node *n = &s->nodes[i], *c = &closed->nodes[next];
        uint32_t nodes = n->next - i;
        bool must = ask.open_ppm && (double)n->total * 1e6 >= (double)s->weight * ask.open_ppm;
        for (uint32_t k = 0; k < listed; k++)
            must |= list[k] == n->method;
        assert_in_range(next, 0, closed->node_count - 1);
        assert_int_equal(c->method, n->method);
        assert_int_equal(c->total, n->total);
        assert_memory_equal(c->tier, n->tier, sizeof n->tier);
        assert_true(!must || !c->closed);
        assert_int_equal(c->next - next, c->closed ? 1 : nodes);
        assert_int_equal(c->self, c->closed ? 0 : n->self);
        for (uint32_t k = 1; !c->closed && k < nodes; k++) {
            assert_int_equal(c[k].method, n[k].method);
            assert_int_equal(c[k].self, n[k].self);
            assert_int_equal(c[k].total, n[k].total);
        }
        open_ones += !c->closed;
        next = c->next;
    }
    assert_int_equal(next, closed->node_count);
    assert_true(!s->node_count || open_ones > 0);
    snapshot_free(closed);
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
    if (q->tree && q->by_thread)
        check_closed(m, s, q);
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
                                  .fold_natives = roll(2),
                                  .lines = true,
                                  .lines_of = roll(GC_ROW),
                                  .with_method = roll(3) == 0,
                                  .method = roll(GC_ROW),
                                  .with_also = roll(4) == 0,
                                  .also = roll(GC_ROW),
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
        check(m, &(struct query){.event = 1, .fold_natives = true});
        check(m, &(struct query){.event = 1, .with_method = true, .method = GC_ROW, .tree = true});
        check(m, &(struct query){.event = 1, .with_also = true, .also = GC_ROW, .tree = true});
        check(m, &(struct query){.event = 1,
                                 .fold_natives = true,
                                 .with_method = true,
                                 .method = GC_ROW,
                                 .with_also = true,
                                 .also = GC_ROW});
        check(m, &(struct query){.event = 1, .fold_natives = true, .tree = true});
        check(m, &(struct query){.event = 1,
                                 .fold_natives = true,
                                 .tree = true,
                                 .with_method = true,
                                 .method = GC_ROW,
                                 .from_method = true});
        check(m, &(struct query){.event = 7, .tree = true});
        check(m, &(struct query){.event = 1, .from_second = 1, .to_second = UINT64_MAX});
        check(m, &(struct query){.event = 1, .from_second = 5000, .to_second = 5, .tree = true});
        model_free(m);
    }
}

/* `states`: of what the query keeps, so both have the same. */
static void expect_same(const struct snapshot *a, const struct snapshot *b, bool states) {
    assert_int_equal(a->weight, b->weight);
    assert_int_equal(a->samples, b->samples);
    assert_int_equal(a->failed, b->failed);
    assert_int_equal(a->method_count, b->method_count);
    assert_int_equal(a->node_count, b->node_count);
    assert_int_equal(a->thread_count, b->thread_count);
    same_methods(a->methods, b->methods, a->method_count);
    assert_memory_equal(a->nodes, b->nodes, a->node_count * sizeof *a->nodes);
    for (uint32_t i = 0; i < a->thread_count; i++) {
        const struct snapshot_thread *x = &a->threads[i], *y = &b->threads[i];
        assert_int_equal(x->tid, y->tid);
        assert_int_equal(x->java_id, y->java_id);
        assert_int_equal(x->weight, y->weight);
        assert_int_equal(x->samples, y->samples);
        assert_int_equal(x->top_method, y->top_method);
        if (states)
            assert_memory_equal(x->state, y->state, sizeof x->state);
    }
    assert_int_equal(a->spark_from, b->spark_from);
    assert_memory_equal(a->method_spark, b->method_spark,
                        (size_t)a->method_count * CELLS * sizeof *a->method_spark);
    assert_memory_equal(a->thread_spark, b->thread_spark,
                        (size_t)a->thread_count * CELLS * sizeof *a->thread_spark);
    assert_int_equal(a->line_count, b->line_count);
    if (a->line_count)
        assert_memory_equal(a->lines, b->lines, a->line_count * sizeof *a->lines);
}

/* Filters and cells that are kept from earlier questions are those made anew. */
static void expect_filters(struct profile *p, struct query q) {
    static const char *const filters[] = {"methodc", "!methodc", "d[a-c]$"};
    q.filter = filters[roll(3)];
    snapshot_free(snapshot_take(p, &q));
    q.filter = filters[roll(3)];
    struct snapshot *kept = snapshot_take(p, &q);
    for (int i = 0; i < SPARKS; i++)
        sparks_free(&p->sparks[i]);
    for (int i = 0; i < FILTERS && roll(2); i++)
        filter_free(&p->filter[i]);
    struct snapshot *fresh = snapshot_take(p, &q);
    assert_non_null(kept);
    assert_non_null(fresh);
    expect_same(kept, fresh, true);
    snapshot_free(kept);
    snapshot_free(fresh);
}

/* What is summed up between two questions, sample by sample, is what summing up anew says: with
 * samples that come and go, and events that are asked for in turns or forgotten. A filter that
 * keeps everything is asked for in the slow way. Folds too are as if made anew. */
static void test_between_two_questions(void **state) {
    (void)state;
    enum { ROUNDS = 400, PLACES = 64 };
    struct profile_place at[PLACES] = {{0}};
    struct model *m = model_new(4);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        if (i == ROUNDS / 2)
            m->p->threads.max_virtual = 3; /* fewer than there are: threads get other rows */
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
                                         .virtual_id = roll(2) ? s.virtual_id : 0,
                                         .failed = s.failed,
                                         .state = (uint8_t)roll(PROFILE_STATES + 1),
                                         .frames = (uint16_t)s.frames,
                                         .frame = s.frame};
            profile_retract(m->p, place, roll(60), roll(3));
            assert_int_equal(profile_add_at(m->p, &add, place), 0);
            if (roll(3) == 0)
                assert_int_equal(profile_repeat(m->p, place, add.time_ns, 7, 1, (uint8_t)roll(3)),
                                 0);
        }
        if (roll(20) == 0)
            profile_forget(m->p, roll(4));
        struct query q = {.event = (int)roll(1 + roll(4)), .tree = roll(2), .inverted = roll(2)};
        uint64_t now = m->p->last_second;
        q.by_thread = roll(8) == 0;
        q.from_second = roll(3) == 0 ? 0 : now - roll(i % 3 ? 3 : HISTORY + 4); /* and until now */
        m->p->history.limit = roll(60) ? (size_t)64 << 20 : 1000; /* drops the oldest seconds */
        q.prune_ppm = 1 + roll(2) * roll(roll(2) ? 20000 : 400000);
        q.lines = roll(2);
        q.lines_of = roll(GC_ROW);
        q.fold_natives = roll(4) == 0;
        if (i / 20 % 2) { /* one question again and again, of a window that moves on */
            q = (struct query){.event = 0, .tree = true, .prune_ppm = 1, .from_second = now - 4};
            q.inverted = i / 40 % 2;
            q.prune_ppm = i / 80 % 2 ? 1 : 200000;
            m->p->history.limit = (size_t)64 << 20;
        }
        q.spark_cells = CELLS;
        q.spark_seconds = i / 10 % 2 ? 8 : 1;
        q.carriers = i / 16 % 2;
        struct snapshot *quick = snapshot_take(m->p, &q);
        q.filter = "!no such frame";
        for (int k = 0; k < SPARKS && roll(2); k++)
            sparks_free(&m->p->sparks[k]);
        if (roll(4) == 0) { /* what is left of each stack is found anew */
            native_fold_free(&m->p->native_fold);
            m->p->native_fold = (struct native_fold){0};
        }
        struct snapshot *slow = snapshot_take(m->p, &q);
        assert_non_null(quick);
        assert_non_null(slow);
        expect_same(quick, slow, q.from_second > 0);
        snapshot_free(quick);
        snapshot_free(slow);
        expect_filters(m->p, q);
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
