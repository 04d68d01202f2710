/* Where frames stand: true to a unit, in order, and in the same place while numbers change. */
#include "test/unit/tier.h"
#include "tui/model/flame.h"

#include "tui/widget/tree_rows.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#define SEED 7u

/* Method numbers are their names here. */
static int by_number(const void *arg, uint32_t method, uint32_t other) {
    (void)arg;
    return (method > other) - (method < other);
}

static struct snapshot *tree_of(struct profile *p, bool inverted) {
    const struct query q = {.tree = true, .inverted = inverted};
    struct snapshot *s = snapshot_take(p, &q);
    assert_non_null(s);
    return s;
}

static void add(struct profile *p, const uint32_t *root_first, uint16_t depth, uint64_t weight) {
    struct profile_frame frame[64];
    for (uint16_t i = 0; i < depth; i++) {
        char name[16];
        snprintf(name, sizeof name, "m%u", root_first[depth - 1 - i]);
        /* Interned in order once, so that the id is the number. */
        frame[i] = (struct profile_frame){.method = root_first[depth - 1 - i]};
    }
    const struct profile_sample sample = {.time_ns = 1000000000,
                                          .weight = weight,
                                          .count = 1,
                                          .tid = 1,
                                          .frames = depth,
                                          .frame = frame};
    assert_int_equal(profile_add(p, &sample), 0);
}

static struct profile *profile_of(uint32_t methods) {
    struct profile *p = profile_new(0);
    assert_non_null(p);
    for (uint32_t i = 0; i < methods; i++) {
        char name[16];
        snprintf(name, sizeof name, "m%u", i);
        assert_int_equal(method_table_intern(profile_methods(p), METHOD_NATIVE, "", name, "", ""),
                         i);
    }
    return p;
}

static struct flame_ask ask_of(const struct snapshot *s, const struct flame_path *zoom,
                               uint32_t units, uint32_t rows) {
    return (struct flame_ask){.snapshot = s,
                              .seed = SEED,
                              .zoom = zoom,
                              .units = units,
                              .rows = rows,
                              .order = by_number};
}

/* What is true of every picture. `loose`: edges may be kept for less than a unit. */
static void check(const struct flame *f, const struct snapshot *s, double loose) {
    for (uint32_t depth = 0; depth < f->rows; depth++) {
        for (uint32_t i = f->row[depth]; i < f->row[depth + 1]; i++) {
            const struct flame_box *b = &f->box[i];
            assert_int_equal(b->depth, depth);
            assert_true(b->from < b->to && b->to <= f->units);
            assert_int_equal(flame_find(f, b->path), i);
            assert_int_equal(flame_at(f, depth, b->from), i);
            assert_int_equal(flame_at(f, depth, b->to - 1), i);
            if (i > f->row[depth]) /* side by side, siblings by name */
                assert_true(f->box[i - 1].to <= b->from);
            if (b->parent == FLAME_NONE)
                continue;
            const struct flame_box *up = &f->box[b->parent];
            assert_true(up->from <= b->from && b->to <= up->to);
            if (b->outer || depth <= f->zoom_depth) {
                assert_true(b->from == 0 && b->to == f->units);
                continue;
            }
            double exact = (double)(b->offset + b->total) * f->units / (double)f->zoom_total;
            assert_true(fabs(exact - b->to) <= loose);
            if (!b->rest)
                assert_true(s->nodes[b->node].total == b->total);
            if (i > f->row[depth] && f->box[i - 1].parent == b->parent && !b->rest)
                assert_true(s->nodes[f->box[i - 1].node].method < s->nodes[b->node].method);
        }
    }
}

static void exact_widths(void **unused) {
    (void)unused;
    struct profile *p = profile_of(8);
    add(p, (const uint32_t[]){0, 3, 4}, 3, 30);
    add(p, (const uint32_t[]){0, 1}, 2, 45);
    add(p, (const uint32_t[]){0}, 1, 20);
    add(p, (const uint32_t[]){5}, 1, 5);
    struct snapshot *s = tree_of(p, false);
    const struct flame_path all = {0};
    struct flame f = {0};
    struct flame_ask ask = ask_of(s, &all, 40, 10);
    assert_int_equal(flame_layout(&f, &ask), 0);
    check(&f, s, 0.5);
    static const struct {
        uint32_t depth, from, to;
    } box[] = {{0, 0, 40}, {1, 0, 38}, {1, 38, 40}, {2, 0, 18}, {2, 18, 30}, {3, 18, 30}};
    assert_int_equal(f.count, 6);
    assert_int_equal(f.rows, 4);
    for (uint32_t i = 0; i < 6; i++) {
        assert_int_equal(f.box[i].depth, box[i].depth);
        assert_int_equal(f.box[i].from, box[i].from);
        assert_int_equal(f.box[i].to, box[i].to);
    }
    assert_int_equal(flame_at(&f, 2, 30), FLAME_NONE); /* self time */
    assert_int_equal(flame_hottest_child(&f, 1), 3);
    assert_int_equal(flame_beside(&f, 3, 1), 4);
    assert_int_equal(flame_beside(&f, 4, 1), 4);

    /* The frame zoomed into has all the width, and so have those it stands on. */
    struct flame_path zoom = {0};
    assert_int_equal(flame_path_to_box(&zoom, &f, 4), 0);
    ask.zoom = &zoom;
    assert_int_equal(flame_layout(&f, &ask), 0);
    check(&f, s, 0.5);
    assert_int_equal(f.zoom_depth, 2);
    assert_int_equal(f.count, 4);
    assert_true(f.box[0].outer && f.box[1].outer && !f.box[2].outer);
    assert_int_equal(f.box[3].to, 40);
    /* A way that leads nowhere any more is gone as far as it leads. */
    assert_int_equal(flame_path_add(&zoom, 99), 0);
    assert_int_equal(flame_layout(&f, &ask), 0);
    assert_int_equal(f.zoom_depth, 2);
    flame_path_free(&zoom);
    flame_free(&f);
    snapshot_free(s);
    profile_free(p);
}

/* Many that are too narrow are one rest, that fills what they would. */
static void rest(void **unused) {
    (void)unused;
    struct profile *p = profile_of(1001);
    add(p, (const uint32_t[]){1000}, 1, 500);
    for (uint32_t i = 0; i < 1000; i++)
        add(p, (const uint32_t[]){i}, 1, 1);
    struct snapshot *s = tree_of(p, false);
    const struct flame_path all = {0};
    struct flame f = {0};
    struct flame_ask ask = ask_of(s, &all, 300, 10);
    assert_int_equal(flame_layout(&f, &ask), 0);
    check(&f, s, 0.5);
    assert_int_equal(f.count, 3);
    assert_true(f.box[2].rest && !f.box[1].rest);
    assert_int_equal(f.box[2].from, 100);
    assert_int_equal(f.box[2].to, 300);
    assert_int_equal(f.box[2].total, 1000);
    assert_int_equal(flame_beside(&f, 1, 1), 1); /* nothing to go to */
    flame_free(&f);
    snapshot_free(s);
    profile_free(p);
}

static uint32_t next_random(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Edges move only when they must: with each sample added, fewer do than would by rounding. */
static void stands_still(void **unused) {
    (void)unused;
    struct profile *p = profile_of(40);
    const struct flame_path all = {0};
    struct flame still = {0};
    uint32_t random = 1, moved = 0, would = 0;
    for (int round = 0; round < 300; round++) {
        uint32_t path[12];
        for (int n = 0; n < 20; n++) {
            uint16_t depth = (uint16_t)(1 + next_random(&random) % 12);
            for (uint16_t i = 0; i < depth; i++) /* few are frequent */
                path[i] = next_random(&random) % (1 + next_random(&random) % 40);
            add(p, path, depth, 1);
        }
        struct snapshot *s = tree_of(p, true); /* a picture of its own: true to half a unit */
        struct flame fresh = {0};
        struct flame_ask ask = ask_of(s, &all, 320, 20);
        assert_int_equal(flame_layout(&fresh, &ask), 0);
        check(&fresh, s, 0.5 + 1e-9);
        snapshot_free(s);
        s = tree_of(p, false);
        ask.snapshot = s;
        flame_free(&fresh);
        struct flame_box *old = calloc(still.count + 1u, sizeof *old);
        uint32_t count = still.count;
        assert_non_null(old);
        if (count)
            memcpy(old, still.box, count * sizeof *old);
        assert_int_equal(flame_layout(&still, &ask), 0);
        check(&still, s, 1);
        assert_int_equal(flame_layout(&fresh, &ask), 0);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t now = flame_find(&still, old[i].path), other = flame_find(&fresh, old[i].path);
            if (now == FLAME_NONE || other == FLAME_NONE)
                continue;
            moved += still.box[now].to != old[i].to;
            would += fresh.box[other].to != old[i].to;
        }
        free(old);
        flame_free(&fresh);
        snapshot_free(s);
    }
    assert_true(would > 100);
    if (moved * 2 > would)
        fail_msg("%u edges moved, of %u that would without a memory", moved, would);
    flame_free(&still);
    profile_free(p);
}

/* Many stacks; the time is printed, not judged. */
static void large(void **unused) {
    (void)unused;
    struct profile *p = profile_of(3000);
    uint32_t random = 5, path[40];
    for (int n = 0; n < (tier_is_fast() ? 20000 : 100000); n++) {
        uint16_t depth = (uint16_t)(10 + next_random(&random) % 30);
        for (uint16_t i = 0; i < depth; i++)
            path[i] = i < 8 ? i * 4 + next_random(&random) % 4 : next_random(&random) % 3000;
        add(p, path, depth, 1 + next_random(&random) % 50);
    }
    struct snapshot *s = tree_of(p, false);
    const struct flame_path all = {0};
    struct flame f = {0};
    struct flame_ask ask = ask_of(s, &all, 320, 46);
    struct timespec from, to;
    double best = 1e9;
    for (int i = 0; i < 10; i++) {
        clock_gettime(CLOCK_MONOTONIC, &from);
        assert_int_equal(flame_layout(&f, &ask), 0);
        clock_gettime(CLOCK_MONOTONIC, &to);
        double ms =
            (double)(to.tv_sec - from.tv_sec) * 1e3 + (double)(to.tv_nsec - from.tv_nsec) / 1e6;
        best = ms < best ? ms : best;
    }
    print_message("%u nodes, %u boxes: %.3f ms\n", s->node_count, f.count, best);
    assert_in_range(f.count, 300, 46 * 320);
    flame_free(&f);
    snapshot_free(s);
    profile_free(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_widths),
        cmocka_unit_test(rest),
        cmocka_unit_test(stands_still),
        cmocka_unit_test(large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
