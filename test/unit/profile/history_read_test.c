/* Samples read one by one: together what a snapshot of the same question says, whatever it is. */
#include "core/profile/snapshot/history_read.h"

#include "test/unit/export/export_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define SECOND UINT64_C(1000000000)
#define STACKS 12

/* Stack number i as one can tell it apart: a leaf and a caller of its own, and a line. */
static struct profile_place add(struct profile *p, uint32_t i, uint64_t second, uint32_t tid,
                                uint64_t virtual_id, uint32_t count) {
    char leaf[64], caller[64];
    snprintf(leaf, sizeof leaf, "j:shop/Leaf%u.run()V", i % STACKS);
    snprintf(caller, sizeof caller, "i:shop/part%u/Caller.call()V", i % 3);
    struct profile_frame frame[3] = {fixture_frame(p, leaf), fixture_frame(p, caller),
                                     fixture_frame(p, "j:java/lang/Thread.run()V")};
    frame[0].line = (uint16_t)(10 + i % STACKS);
    struct profile_sample s = {.time_ns = second * SECOND + 5,
                               .weight = 100 * (uint64_t)count + i,
                               .count = count,
                               .tid = tid,
                               .virtual_id = virtual_id,
                               .frames = 3,
                               .frame = frame};
    struct profile_place at;
    assert_int_equal(profile_add_at(p, &s, &at), 0);
    return at;
}

/* 200 seconds of which the profile keeps 50. */
static struct profile *fill(void) {
    struct profile *p = profile_new(50);
    uint32_t seed = 12345;
    for (uint32_t i = 0; i < 4000; i++) {
        seed = seed * 1103515245 + 12345;
        uint32_t r = seed >> 16;
        add(p, r, 1000 + i / 20, 10 + r % 4, r % 5 ? 0 : 1 + r % 3, 1 + r % 2);
    }
    return p;
}

static uint64_t self_of(const struct snapshot *s, uint32_t method) {
    for (uint32_t i = 0; i < s->method_count; i++)
        if (s->methods[i].method == method)
            return s->methods[i].self;
    return 0;
}

static void compare(struct profile *p, const struct query *q) {
    struct snapshot *s = snapshot_take(p, q);
    struct history_reading *r = history_read(p, q);
    static struct profile_frame frame[PROFILE_STACK_MAX];
    uint64_t self[64] = {0}, last = 0;
    assert_non_null(s);
    assert_non_null(r);
    assert_int_equal(r->count, s->samples);
    assert_int_equal(r->weight, s->weight);
    assert_int_equal(r->threads, s->thread_count);
    for (size_t i = 0; i < r->items; i++) {
        const struct history_item *it = &r->item[i];
        assert_true(it->second >= last && it->thread < r->threads);
        last = it->second;
        if (q->to_second)
            assert_in_range(it->second, q->from_second, q->to_second);
        assert_int_equal(history_stack(p, q, it->node, frame), 3);
        const struct method *m = method_table_get(profile_methods_const(p), frame[0].method);
        assert_int_equal(frame[0].line, 10 + atoi(m->class_name + strlen("shop/Leaf")));
        assert_true(frame[0].method < 64);
        self[frame[0].method] += it->weight;
    }
    for (uint32_t id = 0; id < 64; id++)
        assert_int_equal(self[id], self_of(s, id));
    assert_int_equal(r->first, r->items ? r->item[0].second : 0);
    assert_int_equal(r->last, last);
    history_reading_free(r);
    snapshot_free(s);
}

static void equals_the_snapshot(void **unused) {
    (void)unused;
    struct profile *p = fill();
    uint32_t caller = fixture_frame(p, "i:shop/part1/Caller.call()V").method;
    const struct query q[] = {
        {0},
        {.carriers = true},
        {.tid = 11},
        {.tid = 11, .carriers = true},
        {.virtual_id = 2},
        {.virtual_id = 2, .carriers = true},
        {.filter = "Leaf3"},
        {.filter = "!Leaf3"},
        {.with_method = true, .method = caller},
        {.package = "shop.part2"},
        {.from_second = 1170, .to_second = 1180},
        {.from_second = 1170, .to_second = 1180, .tid = 12, .filter = "Leaf5"},
        {.to_second = 1190, .carriers = true},
        {.event = 3},
    };
    for (size_t i = 0; i < sizeof q / sizeof q[0]; i++)
        compare(p, &q[i]);
    profile_free(p);
}

/* The seconds it still has are told apart; what is older is in the first. */
static void what_is_forgotten_is_in_the_first_second(void **unused) {
    (void)unused;
    struct profile *p = fill();
    struct history_reading *r = history_read(p, &(struct query){0});
    uint64_t early = 0, seconds = 0;
    for (size_t i = 0; i < r->items; i++) {
        early += r->item[i].second == 1000 ? r->item[i].count : 0;
        seconds += i && r->item[i].second != r->item[i - 1].second;
        assert_true(r->item[i].second == 1000 || r->item[i].second >= 1150);
    }
    assert_int_equal(seconds, 50);
    assert_true(early > r->count / 2 && early < r->count);
    history_reading_free(r);
    profile_free(p);
}

static void what_was_taken_back_is_gone(void **unused) {
    (void)unused;
    struct profile *p = profile_new(50);
    struct profile_place early = add(p, 1, 1000, 7, 0, 5);
    struct profile_place late = add(p, 2, 1199, 7, 0, 5);
    add(p, 3, 1199, 8, 0, 2);
    profile_retract(p, &early, 501, 5); /* no longer in the history */
    profile_retract(p, &late, 302, 3);
    compare(p, &(struct query){0});
    struct history_reading *r = history_read(p, &(struct query){0});
    assert_int_equal(r->count, 4);
    assert_int_equal(r->first, 1199);
    history_reading_free(r);
    profile_free(p);
}

/* One stack in two states of its thread is two items; what is taken back is that of its state. */
static void states_are_told_apart(void **unused) {
    (void)unused;
    struct profile *p = profile_new(50);
    struct profile_frame frame = fixture_frame(p, "n:poll");
    struct profile_place at[2];
    for (uint8_t state = 1; state <= 2; state++)
        for (uint32_t i = 0; i < 4; i++) {
            struct profile_sample s = {.time_ns = 1000 * SECOND,
                                       .weight = state,
                                       .count = 1,
                                       .tid = 7,
                                       .state = state,
                                       .frames = 1,
                                       .frame = &frame};
            assert_int_equal(profile_add_at(p, &s, &at[state - 1]), 0);
        }
    profile_retract(p, &at[1], 2, 1);
    struct history_reading *r = history_read(p, &(struct query){0});
    assert_int_equal(r->items, 2);
    for (size_t i = 0; i < r->items; i++) {
        assert_int_equal(r->item[i].count, r->item[i].state == 1 ? 4 : 3);
        assert_int_equal(r->item[i].weight, r->item[i].state == 1 ? 4 : 6);
    }
    history_reading_free(r);
    profile_free(p);
}

static void a_stack_begins_at_its_method(void **unused) {
    (void)unused;
    struct profile *p = profile_new(0);
    static struct profile_frame frame[PROFILE_STACK_MAX];
    struct profile_place at = add(p, 4, 1000, 7, 0, 1);
    struct query q = {.with_method = true,
                      .method = fixture_frame(p, "i:shop/part1/Caller.call()V").method,
                      .from_method = true};
    assert_int_equal(history_stack(p, &q, at.node, frame), 2);
    assert_int_equal(frame[1].method, q.method);
    assert_int_equal(frame[1].tier, TIER_INTERPRETED);
    q.from_method = false;
    assert_int_equal(history_stack(p, &q, at.node, frame), 3);
    profile_free(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_the_snapshot),
        cmocka_unit_test(what_is_forgotten_is_in_the_first_second),
        cmocka_unit_test(what_was_taken_back_is_gone),
        cmocka_unit_test(states_are_told_apart),
        cmocka_unit_test(a_stack_begins_at_its_method),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
