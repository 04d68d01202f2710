/* What is open in a tree, compared with a list; and how much may be. */
#include "tui/widget/tree_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#define SEED 3u

static uint32_t next_random(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static struct snapshot *random_tree(struct profile **p, uint32_t stacks, uint32_t methods,
                                    uint32_t depth) {
    struct profile_frame frame[64];
    uint32_t random = 11;
    *p = profile_new(0);
    assert_non_null(*p);
    for (uint32_t i = 0; i < methods; i++) {
        char name[16];
        snprintf(name, sizeof name, "m%u", i);
        method_table_intern(profile_methods(*p), METHOD_NATIVE, "", name, "", "");
    }
    for (uint32_t n = 0; n < stacks; n++) {
        uint16_t frames = (uint16_t)(1 + next_random(&random) % depth);
        for (uint16_t i = 0; i < frames; i++)
            frame[i].method = next_random(&random) % methods;
        const struct profile_sample sample = {.time_ns = 1000000000,
                                              .weight = 1 + next_random(&random) % 9,
                                              .count = 1,
                                              .tid = 1,
                                              .frames = frames,
                                              .frame = frame};
        assert_int_equal(profile_add(*p, &sample), 0);
    }
    const struct query q = {.tree = true};
    struct snapshot *s = snapshot_take(*p, &q);
    assert_non_null(s);
    return s;
}

/* The rows by the definition: nodes all of whose ancestors are open. `open` by node. */
static void check(const struct tree_rows *t, const struct snapshot *s, const bool *open) {
    uint32_t row = 0;
    for (uint32_t i = 0; i < s->node_count; i++) {
        bool seen = true;
        for (uint32_t up = s->nodes[i].parent; up != SNAPSHOT_ROOT; up = s->nodes[up].parent)
            seen = seen && open[up];
        if (!seen)
            continue;
        assert_true(row < t->count);
        assert_int_equal(t->row[row].node, i);
        assert_int_equal(t->row[row].open, open[i]);
        row++;
    }
    assert_int_equal(row, t->count);
}

static void opened_and_closed(void **unused) {
    (void)unused;
    struct profile *p;
    struct snapshot *s = random_tree(&p, 3000, 6, 6);
    bool *open = calloc(s->node_count, sizeof *open);
    assert_non_null(open);
    struct tree_rows t = {0};
    uint32_t random = 1;
    tree_rows_build(&t, s, SEED);
    for (int i = 0; i < 3000; i++) {
        uint32_t at = next_random(&random) % t.count, node = t.row[at].node;
        uint32_t what = next_random(&random) % 40;
        if (what == 0) { /* now and then everything below one */
            assert_true(tree_rows_open_below(&t, s, SEED, at));
            for (uint32_t k = node; k < s->nodes[node].next; k++)
                open[k] = s->nodes[k].next > k + 1;
        } else if (what == 1) {
            uint32_t to = next_random(&random) % s->node_count;
            tree_rows_reveal(&t, s, SEED, to);
            for (uint32_t up = s->nodes[to].parent; up != SNAPSHOT_ROOT; up = s->nodes[up].parent)
                open[up] = true;
        } else if (what < 24) {
            tree_rows_close(&t, t.row[at].path);
            open[node] = false;
        } else if (!t.row[at].leaf) {
            tree_rows_open(&t, s, at);
            /* … down to the next fork: as long as one child has 90 % */
            for (uint32_t k = node;;) {
                uint32_t child = snapshot_child(s, k);
                if (child == SNAPSHOT_ROOT)
                    break;
                open[k] = true;
                if (s->nodes[child].total < s->nodes[k].total / 100 * 90)
                    break;
                k = child;
            }
        }
        tree_rows_build(&t, s, SEED);
        if (i % 50 == 0)
            check(&t, s, open);
    }
    check(&t, s, open);
    tree_rows_close_all(&t);
    tree_rows_build(&t, s, SEED);
    memset(open, 0, s->node_count * sizeof *open);
    check(&t, s, open);
    free(open);
    tree_rows_free(&t);
    snapshot_free(s);
    profile_free(p);
}

/* There is an end to it, it is told, and what is hottest is open. The time is printed only. */
static void too_much(void **unused) {
    (void)unused;
    struct profile *p;
    struct snapshot *s = random_tree(&p, 100000, 3000, 20);
    struct tree_rows t = {0};
    tree_rows_build(&t, s, SEED);
    struct timespec from, opened, built;
    clock_gettime(CLOCK_MONOTONIC, &from);
    assert_false(tree_rows_open_below(&t, s, SEED, SNAPSHOT_ROOT));
    clock_gettime(CLOCK_MONOTONIC, &opened);
    tree_rows_build(&t, s, SEED);
    clock_gettime(CLOCK_MONOTONIC, &built);
    assert_int_equal(t.open.count, TREE_OPEN_MAX);
    assert_true(t.row[0].open && t.row[1].node == 1);
    assert_in_range(t.count, TREE_OPEN_MAX, s->node_count);
    print_message("%u nodes: opened in %.1f ms, %u rows in %.1f ms\n", s->node_count,
                  (double)(opened.tv_sec - from.tv_sec) * 1e3 +
                      (double)(opened.tv_nsec - from.tv_nsec) / 1e6,
                  t.count,
                  (double)(built.tv_sec - opened.tv_sec) * 1e3 +
                      (double)(built.tv_nsec - opened.tv_nsec) / 1e6);
    tree_rows_free(&t);
    snapshot_free(s);
    profile_free(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opened_and_closed),
        cmocka_unit_test(too_much),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
