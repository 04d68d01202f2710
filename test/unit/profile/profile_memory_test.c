/*
 * Out of memory at every single allocation: the sample is not counted, the profile stays sound,
 * and the same call succeeds once there is memory again.
 *
 * malloc and its kin are replaced for the whole program. Under a sanitizer they are not: it brings
 * its own.
 */
#include "core/profile/snapshot/snapshot.h"

#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED
#endif

static long countdown = -1; /* allocations until one fails; negative: none does */

#ifndef SANITIZED
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *p, size_t size);

static int fails(void) {
    return countdown >= 0 && countdown-- == 0;
}

void *malloc(size_t size) {
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *p, size_t size) {
    return fails() ? NULL : __libc_realloc(p, size);
}
#endif

enum { METHODS = 12, SAMPLES = 150, THREADS = 9 };

static int add(struct profile *p, uint32_t i, struct profile_place *at) {
    struct profile_frame f[6];
    for (uint32_t j = 0; j < 6; j++)
        f[j] = (struct profile_frame){.method = (i * 7 + j * j * i) % (METHODS + 1),
                                      .tier = (uint8_t)(i % TIERS)};
    struct profile_sample s = {.time_ns = i * UINT64_C(100000000),
                               .weight = 1 + i,
                               .count = 1,
                               .tid = i % THREADS,
                               .virtual_id = i % 3 ? 0 : 1000 + i % 5,
                               .frames = (uint16_t)(i % 7),
                               .state = (uint8_t)(i % 4),
                               .frame = f};
    return profile_add_at(p, &s, at);
}

static int wait_for(struct profile *p, uint32_t i, const struct profile_place *at) {
    struct profile_frame f[2] = {{.method = i % METHODS}, {.method = i % 5}};
    return profile_lock_wait(p, &(struct profile_lock){.time_ns = i * UINT64_C(100000000),
                                                       .waited_ns = 1 + i,
                                                       .class_id = i % METHODS,
                                                       .lock_id = 1 + i,
                                                       .tid = i % THREADS,
                                                       .virtual_id = i % 3 ? 0 : 1000 + i % 5,
                                                       .owner_tid = i % 7,
                                                       .owner_virtual_id = i % 4 ? 0 : 2000 + i % 5,
                                                       .at = at,
                                                       .owner_frames = 2,
                                                       .owner_frame = f});
}

static uint64_t waits_of(const struct snapshot *s) {
    uint64_t waits = 0;
    for (uint32_t i = 0; i < s->lock_count; i++)
        waits += s->locks[i].is_class ? s->locks[i].waits : 0;
    return waits;
}

static void expect_sums(const struct snapshot *s, uint64_t weight, uint64_t waits) {
    uint64_t self = 0, threads = 0, roots = 0;
    for (uint32_t i = 0; i < s->method_count; i++)
        self += s->methods[i].self;
    for (uint32_t i = 0; i < s->thread_count; i++)
        threads += s->threads[i].weight;
    for (uint32_t i = 0; i < s->node_count; i = s->nodes[i].next)
        roots += s->nodes[i].total;
    assert_int_equal(waits_of(s), waits);
    assert_int_equal(s->weight, weight);
    assert_int_equal(self, weight);
    assert_int_equal(threads, weight);
    assert_int_equal(roots, weight);
}

/* Fills a profile while the n-th allocation fails, trying again what failed. *left is negative
 * if it did. */
static struct profile *fill(long n, long *left) {
    struct profile_place at;
    uint64_t weight = 0;
    char name[32];
    countdown = n;
    struct profile *p = profile_new(4);
    if (!p)
        p = profile_new(4);
    assert_non_null(p);
    for (uint32_t i = 0; i < METHODS; i++) {
        snprintf(name, sizeof name, "method%u", i);
        uint32_t id = METHOD_NONE;
        for (int again = 0; again < 2 && id == METHOD_NONE; again++)
            id = method_table_intern(profile_methods(p), METHOD_JAVA, "a/B", name, "()V", "");
        assert_int_equal(id, i);
    }
    for (uint32_t i = 0; i < SAMPLES; i++) {
        int rc = add(p, i, &at);
        if (rc != 0) {
            assert_int_equal(rc, -ENOMEM);
            assert_int_equal(profile_weight(p, 0), weight);
            rc = add(p, i, &at);
        }
        assert_int_equal(rc, 0);
        weight += 1 + i;
        if (profile_repeat(p, &at, i * UINT64_C(110000000), 3, 1, 5) != 0)
            assert_int_equal(profile_repeat(p, &at, i * UINT64_C(110000000), 3, 1, 5), 0);
        profile_retract(p, &at, 3, 1);
        if (wait_for(p, i, &at) != 0)
            assert_int_equal(wait_for(p, i, &at), 0);
        snprintf(name, sizeof name, "thread %u", i);
        if (profile_thread_name(p, i % THREADS, i, name) != 0)
            assert_int_equal(profile_thread_name(p, i % THREADS, i, name), 0);
        if (profile_virtual_name(p, 1000 + i % 5, name) != 0)
            assert_int_equal(profile_virtual_name(p, 1000 + i % 5, name), 0);
        if (i % 20 == 0)
            profile_thread_end(p, i % THREADS);
        if (i % 20 == 10) /* what it sums up goes on from there */
            snapshot_free(snapshot_take(p, &(struct query){.from_second = 1 + i / 20}));
    }
    *left = countdown;
    countdown = -1;
    assert_int_equal(profile_weight(p, 0), weight);
    return p;
}

/* What was summed up while memory was missing is what is summed up now, in the slow way. */
static void expect_window(struct profile *p) {
    struct query q = {.from_second = 9};
    struct snapshot *quick = snapshot_take(p, &q);
    q.filter = "!no such frame";
    struct snapshot *slow = snapshot_take(p, &q);
    assert_non_null(quick);
    assert_non_null(slow);
    assert_true(quick->weight > 0);
    assert_int_equal(quick->weight, slow->weight);
    assert_int_equal(quick->thread_count, slow->thread_count);
    assert_int_equal(quick->method_count, slow->method_count);
    for (uint32_t i = 0; i < slow->method_count; i++) {
        assert_int_equal(quick->methods[i].method, slow->methods[i].method);
        assert_int_equal(quick->methods[i].self, slow->methods[i].self);
        assert_int_equal(quick->methods[i].total, slow->methods[i].total);
    }
    snapshot_free(quick);
    snapshot_free(slow);
}

static void test_adding(void **state) {
    (void)state;
    long none;
    struct profile *whole = fill(LONG_MAX, &none);
#ifndef SANITIZED
    assert_true(LONG_MAX - none > 50); /* allocations, each of which will fail once */
#endif
    struct snapshot *want = snapshot_take(whole, &(struct query){.tree = true, .locks = true});
    for (long n = 0, left = -1; left < 0; n++) {
        struct profile *p = fill(n, &left);
        struct snapshot *s = snapshot_take(p, &(struct query){.tree = true, .locks = true});
        expect_sums(s, profile_weight(p, 0), SAMPLES);
        assert_int_equal(s->thread_count, want->thread_count);
        assert_int_equal(s->node_count, want->node_count);
        assert_memory_equal(s->methods, want->methods, s->method_count * sizeof *s->methods);
        snapshot_free(s);
        expect_window(p);
        profile_free(p);
    }
    snapshot_free(want);
    profile_free(whole);
}

static void test_snapshots(void **state) {
    (void)state;
    long none;
    struct profile *p = fill(LONG_MAX, &none);
    for (uint32_t bits = 0; bits < 128; bits++) {
        struct query q = {.tree = true,
                          .locks = true,
                          .from_second = bits & 64 ? 10 : 0,
                          .prune_ppm = bits & 64 ? 1000 : 0,
                          .close_roots = bits & 64,
                          .carriers = bits & 16,
                          .tiers = bits & 32,
                          .lines = bits & 16,
                          .lines_of = 1,
                          .inverted = bits & 1,
                          .by_thread = bits & 2,
                          .filter = bits & 4 ? "!method11" : NULL,
                          .to_second = bits & 8 ? 100 : 0};
        struct snapshot *want = snapshot_take(p, &q), *s = NULL;
        int failures = 0;
        for (long n = 0; !s; n++) {
            countdown = n;
            s = snapshot_take(p, &q);
            failures += s == NULL;
            assert_true(countdown < 0 || s);
        }
        countdown = -1;
#ifndef SANITIZED
        assert_true(failures > 5);
#endif
        expect_sums(s, want->weight, waits_of(want));
        assert_true(bits & (4 | 64) ? waits_of(s) < SAMPLES : waits_of(s) == SAMPLES);
        assert_int_equal(s->node_count, want->node_count);
        snapshot_free(s);
        snapshot_free(want);
    }
    profile_free(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_adding),
        cmocka_unit_test(test_snapshots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
