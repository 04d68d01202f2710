/* What the profile does when it is asked to keep too much: detail goes, sums stay. */
#include <errno.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "test/unit/profile/profile_fixture.h"

/* Everything at its limit: detail is lost, sums and soundness are not, and memory is bounded. */
static void test_limits(void **state) {
    (void)state;
    const struct profile_limits limits = tiny_limits();
    struct profile *p = profile_new_limited(60, &limits);
    struct profile_frame f[8] = {{0}};
    uint64_t random = 1, samples = 20000;
    for (uint32_t i = 0; i < 30; i++) {
        char name[16];
        snprintf(name, sizeof name, "m%u", i);
        intern(p, name);
    }
    for (uint64_t i = 0; i < samples; i++) {
        for (int j = 0; j < 8; j++) {
            random = random * UINT64_C(6364136223846793005) + 1;
            f[j].method = (uint32_t)(random >> 33) % 30;
            f[j].tier = (uint8_t)(random >> 60) % TIERS;
        }
        f[0].line = (uint16_t)(i % 7);
        assert_int_equal(add_frames(p, i * SECOND / 1000, 1 + (uint32_t)(i % 50), f, 8), 0);
    }
    assert_int_equal(profile_samples(p, 0), samples);
    assert_true(p->tree.nodes <= limits.nodes + limits.nodes / 16 + 2);
    assert_true(p->by_pair.count <= limits.pairs + limits.threads);
    assert_true(p->by_method.count <= limits.pairs);
    assert_int_equal(p->threads.count, limits.threads);
    assert_true(p->history.bytes <= 2 * limits.history_bytes);
    expect_sound(p, samples * 10);
    struct snapshot *s = take(p, (struct query){0});
    assert_int_equal(row_of(s, "[other threads]")->tid, 0);
    snapshot_free(s);
    s = take(p, (struct query){.tid = 3});
    assert_int_equal(s->samples, samples / 50);
    snapshot_free(s);
    assert_int_equal(profile_thread_name(p, 4711, 1, "late"), 0);
    profile_free(p);
}

/* A full tree has no room for the rows of the VM's threads: their stacks stay as they are. */
static void test_full_tree_folds(void **state) {
    (void)state;
    struct profile_limits limits = tiny_limits();
    limits.nodes = 64;
    struct profile *p = profile_new_limited(60, &limits);
    assert_int_equal(profile_thread_name(p, 7, 1, "GC Thread#0"), 0);
    uint32_t native = method_table_intern(p->methods, METHOD_NATIVE, "", "mark", "", "");
    struct profile_frame mark = {.method = native}, f[8] = {{0}};
    assert_int_equal(add_frames(p, SECOND, 7, &mark, 1), 0);
    for (uint32_t i = 0; i < 200; i++) {
        char name[16];
        snprintf(name, sizeof name, "m%u", i);
        f[0].method = f[3].method = intern(p, name);
        assert_int_equal(add_frames(p, SECOND, 1, f, 8), 0);
    }
    struct snapshot *s = take(p, (struct query){.fold_natives = true, .tree = true});
    for (uint32_t i = 0; i < s->method_count; i++)
        if (s->methods[i].method == native)
            assert_int_equal(s->methods[i].self, 10);
        else
            assert_true(s->methods[i].self <= 2000); /* of the others */
    snapshot_free(s);
    expect_sound(p, 2010);
    profile_free(p);
}

/* Threads come and go. The recent ones have rows of their own, however many there were before. */
static void test_many_short_threads(void **state) {
    (void)state;
    const struct profile_limits limits = tiny_limits();
    struct profile *p = profile_new_limited(5, &limits);
    uint32_t m[2] = {intern(p, "a"), intern(p, "b")};
    char name[32];
    for (uint32_t i = 0; i < 3000; i++) {
        uint32_t tid = 1 + i % 300;
        snprintf(name, sizeof name, "short %u", i);
        assert_int_equal(profile_thread_name(p, tid, i + 1, name), 0);
        for (uint32_t j = 0; j < i % 3; j++)
            add(p, (100 + i) * SECOND, tid, m[j]);
        profile_thread_end(p, tid);
    }
    assert_in_range(p->threads.count, limits.threads / 2, limits.threads);
    expect_sound(p, 3000 * 10);
    struct snapshot *s = take(p, (struct query){.from_second = 3095, .to_second = 3099});
    assert_null(row_of(s, "[other threads]"));
    assert_int_equal(s->thread_count, 4);
    assert_int_equal(row_of(s, "short 2999")->samples, 2);
    assert_int_equal(row_of(s, "short 2998")->samples, 1);
    assert_int_equal(row_of(s, "short 2996")->samples, 2);
    snapshot_free(s);
    s = take(p, (struct query){0});
    assert_true(row_of(s, "[other threads]")->samples > 2900);
    assert_int_equal(row_of(s, "[other threads]")->top_method, m[0]);
    assert_int_equal(row_of(s, "short 2999")->samples, 2);
    snapshot_free(s);
    profile_free(p);
}

/* Lines multiply stacks. Where room gets short, callers' lines go before stacks do. */
static void test_lines_make_room(void **state) {
    (void)state;
    const struct profile_limits limits = tiny_limits();
    struct profile *p = profile_new_limited(60, &limits);
    struct profile_frame f[4] = {{.method = intern(p, "leaf")},
                                 {.method = intern(p, "a")},
                                 {.method = intern(p, "b")},
                                 {.method = intern(p, "c")}};
    for (uint16_t i = 0; i < 1000; i++) {
        for (uint16_t j = 0; j < 4; j++)
            f[j].line = (uint16_t)(1 + (j ? i >> j : i % 3));
        assert_int_equal(add_frames(p, SECOND, 1, f, 4), 0);
    }
    assert_true(p->tree.nodes < limits.nodes);
    struct snapshot *s = take(p, (struct query){.lines = true, .lines_of = f[0].method});
    assert_int_equal(s->node_count, 4); /* none "not kept" */
    assert_int_equal(s->line_count, 3);
    assert_in_range(s->lines[0].self_samples, 333, 334);
    snapshot_free(s);
    profile_free(p);
}

/* As many new stacks, threads and names as there are samples. */
static void add_hostile(struct profile *p, uint32_t samples) {
    struct profile_frame f[16];
    uint64_t random = 1;
    char name[64];
    for (uint32_t i = 0; i < samples; i++) {
        snprintf(name, sizeof name, "a/rather/long/name/of/a/method/%u", i);
        f[15].method = intern(p, name);
        for (uint32_t j = 0; j < 15; j++) {
            random = random * UINT64_C(6364136223846793005) + 1;
            f[j] = (struct profile_frame){.method = (uint32_t)(random >> 33) % (i + 1),
                                          .line = (uint16_t)(random >> 20)};
        }
        struct profile_sample s = {.time_ns = i * (SECOND / 2000),
                                   .weight = 10,
                                   .count = 1,
                                   .tid = 1 + i % 9000,
                                   .virtual_id = i % 3 ? 0 : 1 + i,
                                   .state = (uint8_t)(1 + i % 5),
                                   .frames = 16,
                                   .frame = f};
        assert_int_equal(profile_add(p, &s), 0);
        assert_int_equal(profile_lock_wait(p, &(struct profile_lock){.time_ns = s.time_ns,
                                                                     .waited_ns = 1,
                                                                     .class_id = f[15].method,
                                                                     .lock_id = i,
                                                                     .tid = s.tid,
                                                                     .owner_tid = 1 + i % 8000,
                                                                     .owner_frames = 16,
                                                                     .owner_frame = f}),
                         0);
    }
}

static size_t allocated(void) {
    struct mallinfo2 m = mallinfo2();
    return m.uordblks + m.hblkhd;
}

/* A sanitizer's malloc is not. */
static bool is_counted(void) {
    size_t before = allocated();
    void *p = malloc(1 << 20);
    bool counted = p && allocated() - before >= 1 << 20;
    free(p);
    return counted;
}

/* A limit holds, and what is kept makes use of it. */
static void test_memory_limit(void **state) {
    (void)state;
    enum { SAMPLES = 150000 };
    bool counted = is_counted();
    for (uint64_t mib = 8; mib <= 32; mib *= 2) {
        size_t before = allocated();
        struct profile *p = profile_new(0);
        profile_limit_memory(p, mib << 20);
        add_hostile(p, SAMPLES);
        struct snapshot *s = take(p, (struct query){0});
        assert_int_equal(s->weight, SAMPLES * 10);
        snapshot_free(s);
        if (counted)
            assert_in_range(allocated() - before, (mib << 20) / 2, (mib << 20) * 5 / 4);
        profile_free(p);
    }
    struct profile *p = profile_new(0);
    profile_limit_memory(p, 1);
    add_hostile(p, 5000);
    expect_sound(p, 50000);
    profile_free(p);
    p = profile_new(0);
    profile_limit_memory(p, 0);
    assert_memory_equal(&p->limits, &profile_default_limits, sizeof p->limits);
    profile_limit_memory(p, UINT64_MAX);
    assert_memory_equal(&p->limits, &profile_default_limits, sizeof p->limits);
    profile_free(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_full_tree_folds),    cmocka_unit_test(test_limits),
        cmocka_unit_test(test_many_short_threads), cmocka_unit_test(test_lines_make_room),
        cmocka_unit_test(test_memory_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
