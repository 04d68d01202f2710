/* Samples repeated and taken back, against a profile that only ever saw what is left of them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "test/unit/profile/profile_fixture.h"

enum { STEPS = 3000, SECONDS = 30, HISTORY = 8, DEPTH = 6, METHODS = 9, TIDS = 8, VIRTUALS = 12 };
enum { ANCHOR = 999 }; /* a thread sampled every second, so that the clock is the same for both */

enum what { ADD, REPEAT, RETRACT, REPLACE };

struct step {
    enum what what;
    uint32_t of; /* repeat, retract: which step's sample */
    uint64_t weight, ns, java_id;
    uint32_t count, tid;
    uint64_t virtual_id;
    uint64_t left_weight; /* add: what is not taken back */
    uint32_t left_count;
    uint8_t event, failed, state;
    uint16_t frames;
    struct profile_frame frame[DEPTH];
};

static uint64_t seed;

static uint32_t roll(uint32_t sides) {
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 33) % sides;
}

static void roll_add(struct step *s, uint64_t ns) {
    *s = (struct step){.what = ADD,
                       .ns = ns - roll(2) * roll(2 * 1000000000),
                       .weight = roll(8) ? 1 + roll(50) : 0,
                       .count = 1 + roll(3),
                       .tid = 1 + roll(TIDS),
                       .virtual_id = roll(3) ? 0 : 1 + roll(VIRTUALS),
                       .event = (uint8_t)(roll(3) ? 0 : PROFILE_EVENTS - 1),
                       .failed = roll(5) == 0,
                       .state = (uint8_t)roll(4),
                       .frames = (uint16_t)(1 + roll(DEPTH))};
    for (uint32_t i = 0; i < s->frames; i++)
        s->frame[i] = (struct profile_frame){
            .method = roll(METHODS), .line = (uint16_t)roll(3), .tier = (uint8_t)roll(TIERS)};
    s->left_weight = s->weight;
    s->left_count = s->count;
}

/* An earlier sample, one of the last `among`. */
static uint32_t pick(const struct step *step, uint32_t n, uint32_t among) {
    uint32_t i = n - 1 - roll(n < among ? n : among);
    while (i > 0 && step[i].what != ADD)
        i--;
    return i;
}

static void roll_repeat(struct step *s, const struct step *of, uint32_t index, uint64_t ns) {
    *s = *of;
    s->what = REPEAT;
    s->of = index;
    s->ns = ns;
    s->weight = 1 + roll(30);
    s->count = 1 + roll(2);
    s->state = (uint8_t)roll(4);
    s->left_weight = s->weight;
    s->left_count = s->count;
}

static void roll_retract(struct step *s, struct step *of, uint32_t index) {
    bool whole = roll(3) > 0;
    *s = (struct step){.what = RETRACT,
                       .of = index,
                       .weight = whole ? of->left_weight : roll((uint32_t)of->left_weight + 1),
                       .count = whole ? of->left_count : roll(of->left_count + 1)};
    of->left_weight -= s->weight;
    of->left_count -= s->count;
}

/* What the threads of a tid are told apart by. */
static void name_thread(struct profile *p, uint32_t tid, uint64_t java_id) {
    char name[32];
    snprintf(name, sizeof name, "thread %u of %llu", tid, (unsigned long long)java_id);
    assert_int_equal(profile_thread_name(p, tid, java_id, name), 0);
}

/* Repeats are of threads that are still there: of others it depends on how long they are gone. */
static struct step *roll_steps(uint64_t start, uint32_t steps) {
    struct step *step = calloc(steps, sizeof *step);
    uint32_t born[TIDS + 1] = {0};
    seed = start;
    for (uint32_t i = 0; i < steps; i++) {
        uint64_t ns = (100 + (uint64_t)i * SECONDS / STEPS) * SECOND + i % 100;
        uint32_t kind = i < 10 ? 0 : roll(100), of = i < 10 ? 0 : pick(step, i, 1000);
        if (i > 0 && i % 150 == 0) {
            uint32_t tid = 1 + roll(TIDS);
            step[i] = (struct step){.what = REPLACE, .tid = tid, .java_id = 100 + i};
            born[tid] = i;
        } else if (kind >= 60) {
            roll_retract(&step[i], &step[of], of);
        } else if (kind >= 40 && born[step[of].tid] <= of) {
            roll_repeat(&step[i], &step[of], of, ns);
        } else {
            roll_add(&step[i], ns);
        }
    }
    return step;
}

static struct profile *start_profile(const struct profile_limits *limits) {
    struct profile *p = profile_new_limited(HISTORY, limits);
    char name[32];
    for (uint32_t i = 0; i < METHODS; i++) {
        snprintf(name, sizeof name, "method%u", i * 5 % METHODS);
        assert_int_equal(intern(p, name), i);
    }
    for (uint32_t tid = 1; tid <= TIDS; tid++)
        name_thread(p, tid, tid);
    return p;
}

static void anchor(struct profile *p, uint32_t i, uint64_t *weight) {
    if (i % (STEPS / SECONDS) != 0)
        return;
    add(p, (100 + (uint64_t)i * SECONDS / STEPS) * SECOND, ANCHOR, 0);
    weight[0] += 10;
}

static int add_step(struct profile *p, const struct step *s, uint64_t weight, uint32_t count,
                    struct profile_place *at) {
    return profile_add_at(p,
                          &(struct profile_sample){.time_ns = s->ns,
                                                   .weight = weight,
                                                   .count = count,
                                                   .tid = s->tid,
                                                   .virtual_id = s->virtual_id,
                                                   .event = s->event,
                                                   .failed = s->failed,
                                                   .state = s->state,
                                                   .frames = s->frames,
                                                   .frame = s->frame},
                          at);
}

static void replace(struct profile *p, const struct step *s) {
    profile_thread_end(p, s->tid);
    name_thread(p, s->tid, s->java_id);
}

/* What the profile under test may lose: nothing; who the threads were; which stacks they had. */
enum how { ALIKE, FOLDED, CROWDED };

/* Everything as it happened. */
static struct profile *play(const struct step *step, uint32_t steps,
                            const struct profile_limits *limits, struct profile_place *place) {
    struct profile *p = start_profile(limits);
    uint64_t none[PROFILE_EVENTS] = {0};
    for (uint32_t i = 0; i < steps; i++) {
        const struct step *s = &step[i];
        anchor(p, i, none);
        if (s->what == ADD)
            assert_int_equal(add_step(p, s, s->weight, s->count, &place[i]), 0);
        else if (s->what == REPEAT)
            assert_int_equal(profile_repeat(p, &place[s->of], s->ns, s->weight, s->count, s->state),
                             0);
        else if (s->what == RETRACT)
            profile_retract(p, &place[s->of], s->weight, s->count);
        else
            replace(p, s);
    }
    return p;
}

/* Only what is left in the end. */
static struct profile *play_rest(const struct step *step, uint32_t steps, uint64_t *weight) {
    struct profile *p = start_profile(&profile_default_limits);
    struct profile_place at;
    for (uint32_t i = 0; i < steps; i++) {
        const struct step *s = &step[i];
        anchor(p, i, weight);
        if (s->what == REPLACE)
            replace(p, s);
        else if (s->what != RETRACT && (s->left_weight || s->left_count))
            assert_int_equal(add_step(p, s, s->left_weight, s->left_count, &at), 0);
        weight[s->event] += s->left_weight;
    }
    return p;
}

static const char *name_of(const struct profile *p, uint32_t method) {
    return method_table_get(profile_methods_const(p), method)->name;
}

static void expect_methods(const struct snapshot *a, const struct snapshot *b) {
    assert_int_equal(a->weight, b->weight);
    assert_int_equal(a->samples, b->samples);
    assert_int_equal(a->failed, b->failed);
    assert_int_equal(a->sampled_ns, b->sampled_ns);
    assert_int_equal(a->method_count, b->method_count);
    assert_memory_equal(a->methods, b->methods, a->method_count * sizeof *a->methods);
}

static void expect_tree(const struct profile *p, const struct snapshot *a, const struct profile *r,
                        const struct snapshot *b) {
    assert_int_equal(a->node_count, b->node_count);
    for (uint32_t i = 0; i < a->node_count; i++) {
        struct snapshot_node x = a->nodes[i], y = b->nodes[i];
        assert_string_equal(name_of(p, x.method), name_of(r, y.method));
        x.method = y.method;
        assert_memory_equal(&x, &y, sizeof x);
    }
}

/* All but a virtual thread's carrier, which may be known from a sample that is gone. */
static void expect_threads(const struct snapshot *a, const struct snapshot *b) {
    assert_int_equal(a->thread_count, b->thread_count);
    for (uint32_t i = 0; i < a->thread_count; i++) {
        struct snapshot_thread x = a->threads[i];
        const struct snapshot_thread *y = row_of(b, x.name);
        assert_non_null(y);
        assert_int_equal(x.java_id, y->java_id);
        assert_int_equal(x.weight, y->weight);
        assert_int_equal(x.samples, y->samples);
        assert_int_equal(x.ended, y->ended);
        assert_int_equal(x.top_method, y->top_method);
        assert_memory_equal(x.state, y->state, sizeof x.state);
    }
}

/* The question, of both. */
static void compare(struct profile *p, struct profile *r, struct query q, enum how how) {
    bool whole = q.from_second || !(q.by_thread || q.filter || q.carriers);
    q.tree = true;
    struct snapshot *a = take(p, q), *b = take(r, q);
    assert_int_equal(a->samples, b->samples);
    if (how != CROWDED || whole)
        expect_methods(a, b);
    if (how == ALIKE || (!q.by_thread && (how != CROWDED || whole)))
        expect_tree(p, a, r, b);
    if (how == ALIKE)
        expect_threads(a, b);
    snapshot_free(a);
    snapshot_free(b);
}

static void compare_all(struct profile *p, struct profile *r, enum how how) {
    uint64_t first, last, kept;
    profile_span(p, &first, &last, &kept);
    for (uint32_t bits = 0; bits < 64; bits++) {
        struct query q = {.event = bits & 1 ? PROFILE_EVENTS - 1 : 0,
                          .carriers = bits & 2,
                          .by_thread = bits & 4,
                          .filter = bits & 8 ? how == CROWDED ? "!nowhere" : "!method3" : NULL,
                          .from_second = bits & 16 ? last - roll(HISTORY) : 0,
                          .to_second = bits & 16 ? last - roll(3) : 0,
                          .inverted = bits & 32};
        compare(p, r, q, how);
    }
}

/* Second by second the timeline says what a window of that second does. */
static void expect_timeline(struct profile *p) {
    struct profile_second s[SECONDS + 20];
    for (int event = 0; event < PROFILE_EVENTS; event++) {
        profile_timeline(p, event, 90, SECONDS + 20, s);
        for (uint32_t i = 0; i < SECONDS + 20; i++) {
            struct query q = {.event = event, .from_second = 90 + i, .to_second = 90 + i};
            struct snapshot *w = take(p, q);
            assert_int_equal(s[i].weight, w->weight);
            assert_int_equal(s[i].samples, w->samples);
            snapshot_free(w);
        }
    }
}

/* States, whoever's they are. */
static void expect_states(struct profile *p, struct profile *r, bool carriers) {
    uint64_t sum[2][PROFILE_STATES] = {{0}};
    for (int i = 0; i < 2; i++) {
        struct snapshot *s = take(i ? r : p, (struct query){.carriers = carriers});
        for (uint32_t t = 0; t < s->thread_count; t++) {
            uint64_t weight = 0;
            for (uint32_t j = 0; j < PROFILE_STATES; j++) {
                weight += s->threads[t].state[j];
                sum[i][j] += s->threads[t].state[j];
            }
            assert_int_equal(weight, s->threads[t].weight);
        }
        snapshot_free(s);
    }
    assert_memory_equal(sum[0], sum[1], sizeof sum[0]);
    assert_true(sum[0][1] > 0 && sum[0][2] > 0);
}

static void expect_totals(const struct profile *p, const struct profile *r,
                          const uint64_t *weight) {
    for (int e = 0; e < PROFILE_EVENTS; e++) {
        assert_int_equal(profile_weight(p, e), weight[e]);
        assert_int_equal(profile_samples(p, e), profile_samples(r, e));
        assert_int_equal(profile_failed(p, e), profile_failed(r, e));
    }
}

static void run(uint64_t start, uint32_t steps, const struct profile_limits *limits, enum how how) {
    struct step *step = roll_steps(start, steps);
    struct profile_place *place = calloc(steps, sizeof *place);
    uint64_t weight[PROFILE_EVENTS] = {0};
    struct profile *p = play(step, steps, limits, place);
    struct profile *r = play_rest(step, steps, weight);
    expect_totals(p, r, weight);
    compare_all(p, r, how);
    expect_states(p, r, false);
    expect_states(p, r, true);
    expect_timeline(p);
    profile_free(p);
    profile_free(r);
    free(place);
    free(step);
}

static void test_as_if_never_counted(void **state) {
    (void)state;
    static const uint32_t steps[] = {50, 500, STEPS};
    for (uint64_t start = 1; start <= 4; start++)
        for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
            run(start, steps[i], &profile_default_limits, ALIKE);
}

/* Threads give way to others all the time; who is folded depends on what was sampled. */
static void test_while_threads_are_folded(void **state) {
    (void)state;
    struct profile_limits few = profile_default_limits;
    few.threads = 12;
    few.virtuals = 4;
    for (uint64_t start = 11; start <= 16; start++)
        run(start, STEPS, &few, FOLDED);
}

/* Where there is no room for a thread's stack, it is taken back from where it went instead. */
static void test_while_stacks_are_not_kept(void **state) {
    (void)state;
    struct profile_limits few = profile_default_limits;
    few.pairs = 60;
    for (uint64_t start = 31; start <= 34; start++)
        run(start, STEPS, &few, CROWDED);
}

/* Nothing has room, and the caller takes back what was never there. */
static void test_sound_whatever_is_taken(void **state) {
    (void)state;
    struct profile_limits few = tiny_limits();
    for (uint64_t start = 21; start <= 26; start++) {
        struct step *step = roll_steps(start, STEPS);
        struct profile_place *place = calloc(STEPS, sizeof *place);
        struct profile *p = play(step, STEPS, &few, place);
        expect_sound(p, profile_weight(p, 0));
        for (uint32_t i = 0; i < STEPS; i++) {
            uint32_t of = pick(step, STEPS, STEPS);
            struct profile_place at = place[of];
            if (roll(3) == 0)
                at = (struct profile_place){.virtual_id = roll(2),
                                            .entry = roll(100),
                                            .second = 100 + roll(SECONDS),
                                            .node = roll(300),
                                            .thread = roll(30),
                                            .born = roll(30),
                                            .carrier = roll(30),
                                            .event = (uint8_t)roll(256),
                                            .rest = (uint8_t)roll(4)};
            uint64_t before = profile_weight(p, 0);
            profile_retract(p, &at, roll(9) ? roll(100) : UINT64_MAX,
                            roll(9) ? roll(5) : UINT32_MAX);
            assert_true(profile_weight(p, 0) <= before);
            if (i % 500 == 0)
                expect_sound(p, profile_weight(p, 0));
        }
        for (uint32_t i = 0; i < STEPS; i++)
            profile_retract(p, &place[i], UINT64_MAX, UINT32_MAX);
        expect_sound(p, profile_weight(p, 0));
        profile_free(p);
        free(place);
        free(step);
    }
}

/* What was wholly taken back is not to be seen, nor counted anywhere. */
static void test_nothing_left(void **state) {
    (void)state;
    struct profile *p = profile_new(0);
    struct profile_frame f = {.method = intern(p, "m")};
    struct profile_sample s = {.time_ns = SECOND,
                               .weight = 8,
                               .count = 2,
                               .tid = 7,
                               .virtual_id = 70,
                               .state = 3,
                               .failed = 1,
                               .frames = 1,
                               .frame = &f};
    struct profile_place at, nowhere = {0};
    assert_int_equal(profile_add_at(p, &s, &at), 0);
    assert_int_equal(profile_repeat(p, &at, 5 * SECOND, 4, 1, 2), 0);
    profile_retract(p, &nowhere, 8, 2);
    assert_int_equal(profile_repeat(p, &nowhere, SECOND, 4, 1, 0), -EINVAL);
    struct snapshot *t = take(p, (struct query){0});
    assert_int_equal(t->weight, 12);
    assert_int_equal(t->threads[0].state[3], 8);
    assert_int_equal(t->threads[0].state[2], 4);
    snapshot_free(t);
    profile_retract(p, &at, 8, 2);
    t = take(p, (struct query){.to_second = 100});
    assert_int_equal(t->weight, 4); /* the repeat's second, and only that */
    snapshot_free(t);
    profile_retract(p, &at, 100, 100);
    assert_int_equal(profile_weight(p, 0) + profile_samples(p, 0) + profile_failed(p, 0), 0);
    for (int carriers = 0; carriers < 2; carriers++) {
        t = take(p, (struct query){.carriers = carriers});
        assert_int_equal(t->method_count + t->thread_count + t->node_count, 0);
        snapshot_free(t);
    }
    s.event = PROFILE_EVENTS;
    assert_int_equal(profile_add_at(p, &s, &at), -EINVAL);
    assert_int_equal(at.born, 0);
    profile_free(p);
}

/* A repeat goes to the thread it is about, also when its tid has been given away. */
static void test_repeat_of_an_ended_thread(void **state) {
    (void)state;
    struct profile *p = profile_new(0);
    struct profile_frame f = {.method = intern(p, "m")};
    struct profile_sample s = {
        .time_ns = SECOND, .weight = 1, .count = 1, .tid = 7, .frames = 1, .frame = &f};
    struct profile_place at;
    assert_int_equal(profile_thread_name(p, 7, 1, "first"), 0);
    assert_int_equal(profile_add_at(p, &s, &at), 0);
    profile_thread_end(p, 7);
    assert_int_equal(profile_thread_name(p, 7, 2, "second"), 0);
    assert_int_equal(profile_repeat(p, &at, SECOND + 5, 10, 1, 0), 0);  /* late news */
    assert_int_equal(profile_repeat(p, &at, 9 * SECOND, 100, 1, 0), 0); /* cannot be the same */
    struct snapshot *t = take(p, (struct query){0});
    assert_int_equal(row_of(t, "first")->weight, 11);
    assert_int_equal(row_of(t, "second")->weight, 100);
    snapshot_free(t);
    profile_free(p);
}

/* In a window, states are those of its samples. */
static void test_states_of_a_window(void **state) {
    (void)state;
    struct profile *p = profile_new(0);
    struct profile_frame a = {.method = intern(p, "a")}, b = {.method = intern(p, "b")};
    struct profile_sample s = {.count = 1, .tid = 7, .frames = 1, .frame = &a};
    struct profile_place at;
    for (uint64_t i = 1; i <= 20; i++) {
        s.time_ns = i * SECOND;
        s.weight = i;
        s.state = i <= 10 ? 2 : 3;
        s.frame = i % 2 ? &a : &b;
        assert_int_equal(profile_add_at(p, &s, &at), 0);
    }
    struct snapshot *t = take(p, (struct query){.from_second = 10, .to_second = 12});
    assert_int_equal(t->threads[0].state[2], 10);
    assert_int_equal(t->threads[0].state[3], 11 + 12);
    assert_int_equal(t->threads[0].state[0], 0);
    snapshot_free(t);
    t = take(p, (struct query){.from_second = 10, .to_second = 12, .filter = "b"});
    assert_int_equal(t->threads[0].state[2], 10);
    assert_int_equal(t->threads[0].state[3], 12);
    snapshot_free(t);
    t = take(p, (struct query){.from_second = 0});
    assert_int_equal(t->threads[0].state[2], 55);
    assert_int_equal(t->threads[0].state[3], 155);
    snapshot_free(t);
    profile_free(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_left),
        cmocka_unit_test(test_repeat_of_an_ended_thread),
        cmocka_unit_test(test_as_if_never_counted),
        cmocka_unit_test(test_while_threads_are_folded),
        cmocka_unit_test(test_while_stacks_are_not_kept),
        cmocka_unit_test(test_sound_whatever_is_taken),
        cmocka_unit_test(test_states_of_a_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
