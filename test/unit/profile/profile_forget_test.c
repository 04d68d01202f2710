/* An event forgotten: against a profile that never had it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "test/unit/profile/profile_fixture.h"

enum { OLD = 6, STEPS = 400, METHODS = 7, TIDS = 5 };

static void count(struct profile *p, uint32_t i, uint8_t event) {
    struct profile_frame frame[3];
    for (uint32_t k = 0; k < 3; k++)
        frame[k] = (struct profile_frame){.method = (i * (k + 3) + event) % METHODS};
    struct profile_sample s = {.time_ns = (100 + i / 40) * SECOND + i,
                               .weight = 1 + i % 9,
                               .count = 1 + i % 2,
                               .tid = 1 + i % TIDS,
                               .virtual_id = i % 3 ? 0 : 50 + i % 7,
                               .event = event,
                               .failed = i % 11 == 0,
                               .state = (uint8_t)(i % 4),
                               .frames = (uint16_t)(1 + i % 3),
                               .frame = frame};
    assert_int_equal(profile_add(p, &s), 0);
}

static void play(struct profile *p, uint32_t from, uint32_t to, bool old) {
    for (uint32_t i = from; i < to; i++) {
        count(p, i, 0);
        if (old)
            count(p, i, OLD);
    }
}

static void expect_same(struct profile *p, struct profile *r, struct query q) {
    struct snapshot *a = take(p, q), *b = take(r, q);
    assert_int_equal(a->weight, b->weight);
    assert_int_equal(a->samples, b->samples);
    assert_int_equal(a->failed, b->failed);
    assert_int_equal(a->method_count, b->method_count);
    assert_memory_equal(a->methods, b->methods, a->method_count * sizeof *a->methods);
    assert_int_equal(a->node_count, b->node_count);
    assert_int_equal(a->thread_count, b->thread_count);
    for (uint32_t i = 0; i < a->thread_count; i++) {
        assert_int_equal(a->threads[i].weight, b->threads[i].weight);
        assert_int_equal(a->threads[i].top_method, b->threads[i].top_method);
        assert_memory_equal(a->threads[i].state, b->threads[i].state, sizeof a->threads[i].state);
    }
    snapshot_free(a);
    snapshot_free(b);
}

static void expect_all_the_same(struct profile *p, struct profile *r) {
    for (unsigned bits = 0; bits < 32; bits++) {
        struct query q = {.event = bits & 1 ? OLD : 0,
                          .carriers = bits & 2,
                          .by_thread = bits & 4,
                          .filter = bits & 8 ? "!m3" : NULL,
                          .from_second = bits & 16 ? 102 : 0,
                          .to_second = bits & 16 ? 108 : 0};
        expect_same(p, r, q);
    }
    struct profile_second a[20], b[20];
    for (int event = 0; event <= OLD; event += OLD) {
        profile_timeline(p, event, 95, 20, a);
        profile_timeline(r, event, 95, 20, b);
        assert_memory_equal(a, b, sizeof a);
        assert_int_equal(profile_weight(p, event), profile_weight(r, event));
        assert_int_equal(profile_samples(p, event), profile_samples(r, event));
        assert_int_equal(profile_failed(p, event), profile_failed(r, event));
    }
}

static void test_as_if_never_sampled(void **state) {
    (void)state;
    struct profile *p = profile_new(0), *r = profile_new(0);
    for (uint32_t i = 0; i < METHODS; i++) {
        char name[8];
        snprintf(name, sizeof name, "m%u", i);
        intern(p, name);
        intern(r, name);
    }
    play(p, 0, STEPS / 2, true);
    play(r, 0, STEPS / 2, false);
    profile_forget(p, OLD);
    profile_forget(p, PROFILE_EVENTS); /* there is none */
    expect_all_the_same(p, r);
    play(p, STEPS / 2, STEPS, true); /* in the second where it was forgotten, to begin with */
    play(r, STEPS / 2, STEPS, true);
    expect_all_the_same(p, r);
    profile_free(p);
    profile_free(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_as_if_never_sampled)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
