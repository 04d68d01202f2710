/* Samples that are counted once more, and memory that is followed until it is gone. */
#include "test/unit/decode/decoder_fixture.h"

#define ALLOC WIRE_EVENT_ALLOC
#define WALL WIRE_EVENT_WALL

static void wall(struct stage *s, uint32_t tid, uint64_t weight, uint64_t frame) {
    recording_event_sample(&s->r, WALL, SECOND, tid, weight, &frame, 1);
}

static void allocated(struct stage *s, uint8_t event, uint64_t live_id, uint64_t weight,
                      uint64_t frame) {
    recording_whole_sample(
        &s->r,
        &(struct wire_sample){
            .time_ns = SECOND, .weight = weight, .live_id = live_id, .tid = 1, .event = event},
        &frame, 1);
}

static void expect_sum(struct stage *s, int event, uint64_t weight, uint64_t samples) {
    assert_int_equal(profile_weight(s->profile, event), weight);
    assert_int_equal(profile_samples(s->profile, event), samples);
}

static void test_repeats(void **state) {
    (void)state;
    struct stage s;
    open_stage(&s);
    recording_method(&s.r, 1, "A", "one", "");
    recording_method(&s.r, 2, "A", "two", "");
    recording_repeat(&s.r, WALL, SECOND, 1, 999, 1); /* of nothing */
    wall(&s, 1, 10, JAVA(1));
    wall(&s, 2, 10, JAVA(2));
    recording_sample(&s.r, SECOND, 1, 5, 1, JAVA(2));    /* another event's */
    recording_repeat(&s.r, WALL, 3 * SECOND, 1, 100, 4); /* one: the thread's last of this event */
    recording_repeat(&s.r, WALL, 3 * SECOND, 2, 7, 0);
    wall(&s, 1, 10, JAVA(2));
    recording_repeat(&s.r, WALL, 3 * SECOND, 1, 1000, 1); /* two */
    play(&s);
    expect_stacks(&s, WALL, "two 1027/4\none 110/5\n");
    expect_sum(&s, WALL, 1137, 9);
    expect_sum(&s, WIRE_EVENT_CPU, 5, 1);
    assert_int_equal(s.decoder->counts.unplaced, 1);
    assert_int_equal(s.decoder->counts.event[WALL], 9);
    assert_int_equal(s.decoder->counts.samples, 10);
    assert_int_equal(s.decoder->counts.last_ns, 3 * SECOND);
    /* the time is the repeat's own, the state too */
    struct query q = {.event = WALL, .from_second = 3, .to_second = 3};
    struct snapshot *snap = snapshot_take(s.profile, &q);
    assert_int_equal(snap->weight, 1107);
    assert_int_equal(snap->threads[0].tid, 1);
    assert_int_equal(snap->threads[0].state[WIRE_THREAD_SLEEPING], 1100);
    snapshot_free(snap);
    /* who begins anew has nothing to repeat */
    recording_thread_end(&s.r, 1);
    recording_repeat(&s.r, WALL, 4 * SECOND, 1, 1, 1);
    play(&s);
    decoder_new_stream(s.decoder);
    recording_repeat(&s.r, WALL, 4 * SECOND, 2, 1, 1);
    play(&s);
    assert_int_equal(s.decoder->counts.unplaced, 3);
    expect_sum(&s, WALL, 1137, 9);
    close_stage(&s);
}

/* A repeat belongs to the last sample, whether that is counted yet or not. */
static void test_repeats_of_what_waits(void **state) {
    (void)state;
    struct stage s;
    open_stage(&s);
    recording_method(&s.r, 2, "A", "two", "");
    wall(&s, 1, 10, JAVA(1));
    recording_repeat(&s.r, WALL, 2 * SECOND, 1, 100, 3);
    play(&s);
    expect_sum(&s, WALL, 0, 0);
    wall(&s, 1, 1, JAVA(2));
    recording_repeat(&s.r, WALL, 2 * SECOND, 1, 20, 1);
    recording_method(&s.r, 1, "A", "one", ""); /* comes after what is newer */
    recording_repeat(&s.r, WALL, 2 * SECOND, 1, 300, 1);
    play(&s);
    expect_stacks(&s, WALL, "two 321/3\none 110/4\n");
    /* and where the wait ends without a name */
    wall(&s, 3, 1, JAVA(9));
    play(&s);
    decoder_flush(s.decoder);
    recording_repeat(&s.r, WALL, 2 * SECOND, 3, 1, 1);
    play(&s);
    expect_stacks(&s, WALL, "two 321/3\none 110/4\n[unknown_method] 2/2\n");
    assert_int_equal(s.decoder->counts.unplaced, 0);
    close_stage(&s);
}

static void sleeper(struct stage *s, uint32_t tid, uint64_t weight, uint8_t thread_state,
                    uint64_t frame) {
    recording_whole_sample(
        &s->r,
        &(struct wire_sample){
            .time_ns = SECOND, .weight = weight, .tid = tid, .event = WALL, .state = thread_state},
        &frame, 1);
}

/* Wall clock samples of threads that are not idle are counted beside the others. */
static void test_active_samples(void **state) {
    (void)state;
    struct stage s;
    open_stage(&s);
    recording_method(&s.r, 1, "A", "one", "");
    recording_method(&s.r, 2, "A", "two", "");
    uint64_t active = 0, all = 0;
    for (uint8_t i = 0; i < WIRE_THREAD_STATES; i++) {
        bool is = i == WIRE_THREAD_UNKNOWN || i == WIRE_THREAD_RUNNING ||
                  i == WIRE_THREAD_BLOCKED || i == WIRE_THREAD_IO || i == WIRE_THREAD_DISK;
        assert_int_equal(event_is_active(i), is);
        sleeper(&s, 10 + i, 1u << i, i, JAVA(1));
        active += is ? 1u << i : 0;
        all += 1u << i;
    }
    assert_true(event_is_active(WIRE_THREAD_STATES) && event_is_active(255));
    recording_sample(&s.r, SECOND, 1, 5, 1, JAVA(2)); /* of another event */
    play(&s);
    expect_sum(&s, WALL, all, WIRE_THREAD_STATES);
    expect_sum(&s, EVENT_ACTIVE, active, 5);
    assert_int_equal(s.decoder->counts.samples, WIRE_THREAD_STATES + 1);
    assert_int_equal(s.decoder->counts.event[WALL], WIRE_THREAD_STATES);
    /* a repeat counts by its own state, where the thread was and when it was */
    sleeper(&s, 7, 10, WIRE_THREAD_IO, JAVA(2));
    recording_repeat(&s.r, WALL, 3 * SECOND, 7, 100, 4);
    play(&s);
    expect_sum(&s, WALL, all + 110, WIRE_THREAD_STATES + 5);
    expect_sum(&s, EVENT_ACTIVE, active + 10, 6); /* the repeats sleep */
    struct wire_repeat again = {.header = wire_header_word(WIRE_REPEAT, sizeof again),
                                .time_ns = 5 * SECOND,
                                .weight = 1000,
                                .tid = 7,
                                .count = 2,
                                .event = WALL,
                                .state = WIRE_THREAD_IO};
    decoder_decode(s.decoder, &again);
    expect_sum(&s, EVENT_ACTIVE, active + 1010, 8);
    struct query q = {.event = EVENT_ACTIVE, .tid = 7, .from_second = 2};
    struct snapshot *snap = snapshot_take(s.profile, &q);
    assert_int_equal(snap->weight, 1000);
    assert_int_equal(snap->method_count, 1);
    assert_string_equal(method_table_get(profile_methods(s.profile), snap->methods[0].method)->name,
                        "two");
    snapshot_free(snap);
    close_stage(&s);
}

/* A sample that waits for a name is counted twice when it is counted. */
static void test_active_samples_that_wait(void **state) {
    (void)state;
    struct stage s;
    open_stage(&s);
    sleeper(&s, 1, 10, WIRE_THREAD_RUNNING, JAVA(1));
    sleeper(&s, 2, 20, WIRE_THREAD_PARKED, JAVA(1));
    play(&s);
    expect_sum(&s, EVENT_ACTIVE, 0, 0);
    recording_method(&s.r, 1, "A", "one", "");
    play(&s);
    expect_sum(&s, WALL, 30, 2);
    expect_stacks(&s, EVENT_ACTIVE, "one 10/1\n");
    close_stage(&s);
}

static void test_what_is_alive(void **state) {
    (void)state;
    struct stage s;
    open_stage(&s);
    recording_method(&s.r, 1, "A", "one", "");
    recording_method(&s.r, 2, "A", "two", "");
    allocated(&s, ALLOC, 11, 100, JAVA(1));
    allocated(&s, ALLOC, 12, 200, JAVA(1));
    allocated(&s, ALLOC, 13, 400, JAVA(2));
    allocated(&s, ALLOC, 0, 800, JAVA(2)); /* not followed */
    allocated(&s, WIRE_EVENT_NATIVEMEM, 14, 1600, JAVA(2));
    allocated(&s, WIRE_EVENT_CPU, 15, 3200, JAVA(2)); /* no memory at all */
    play(&s);
    expect_stacks(&s, EVENT_LIVE, "two 400/1\none 300/2\n");
    expect_stacks(&s, EVENT_LEAK, "two 1600/1\n");
    expect_sum(&s, ALLOC, 1500, 4);
    recording_free_of(&s.r, 5 * SECOND, 12);
    recording_free_of(&s.r, 5 * SECOND, 12); /* once is enough */
    recording_free_of(&s.r, 5 * SECOND, 14);
    recording_free_of(&s.r, 5 * SECOND, 15);
    play(&s);
    expect_stacks(&s, EVENT_LIVE, "two 400/1\none 100/1\n");
    expect_sum(&s, EVENT_LEAK, 0, 0);
    expect_sum(&s, ALLOC, 1500, 4);
    assert_int_equal(s.decoder->counts.samples, 6); /* each was one */
    /* an id given again: only one of them can be there */
    allocated(&s, ALLOC, 13, 1, JAVA(1));
    play(&s);
    expect_stacks(&s, EVENT_LIVE, "one 101/2\n");
    assert_int_equal(s.decoder->counts.bad, 0);
    recording_free_of(&s.r, 5 * SECOND, 0);
    play(&s);
    assert_int_equal(s.decoder->counts.bad, 1);
    close_stage(&s);
}

/* Ends come in any order: before the sample, while it waits, without one at all. */
static void test_ends_in_any_order(void **state) {
    (void)state;
    struct stage s;
    open_stage(&s);
    recording_free_of(&s.r, SECOND, 21);
    allocated(&s, ALLOC, 21, 100, JAVA(1)); /* ended before, and waits */
    allocated(&s, ALLOC, 22, 200, JAVA(1)); /* ends while it waits */
    allocated(&s, ALLOC, 23, 400, JAVA(1));
    recording_free_of(&s.r, SECOND, 22);
    recording_method(&s.r, 1, "A", "one", "");
    play(&s);
    expect_stacks(&s, EVENT_LIVE, "one 400/1\n");
    expect_sum(&s, ALLOC, 700, 3);
    recording_free_of(&s.r, SECOND, 23);
    for (uint64_t i = 0; i < 3 * DECODER_EARLY_MAX; i++) /* whose samples found no room */
        recording_free_of(&s.r, SECOND, 1000 + i);
    play(&s);
    expect_sum(&s, EVENT_LIVE, 0, 0);
    assert_int_equal(s.decoder->live.count, DECODER_EARLY_MAX); /* no more are remembered */
    allocated(&s, ALLOC, 1000, 1, JAVA(1));                     /* forgotten: may be alive */
    allocated(&s, ALLOC, 1000 + 3 * DECODER_EARLY_MAX - 1, 2, JAVA(1));
    play(&s);
    expect_stacks(&s, EVENT_LIVE, "one 1/1\n");
    close_stage(&s);
}

/* What cannot be followed is allocated, and nothing is said of its life. */
static void test_following_is_bounded(void **state) {
    (void)state;
    struct stage s;
    open_stage(&s);
    recording_method(&s.r, 1, "A", "one", "");
    decoder_limit_memory(s.decoder, 0);
    assert_int_equal(s.decoder->live.index.limit, DECODER_LIVE_MAX);
    decoder_limit_memory(s.decoder, UINT64_C(1) << 40);
    assert_int_equal(s.decoder->live.index.limit, DECODER_LIVE_MAX);
    decoder_limit_memory(s.decoder, 8 << 20);
    assert_in_range(s.decoder->live.index.limit, 10000, 100000);
    s.decoder->live.index.limit = 2;
    s.decoder->repeats.index.limit = 1;
    for (uint64_t id = 1; id <= 5; id++)
        allocated(&s, ALLOC, id, 1, JAVA(1));
    wall(&s, 1, 1, JAVA(1));
    recording_repeat(&s.r, WALL, SECOND, 1, 1, 1);
    play(&s);
    expect_sum(&s, ALLOC, 5, 5);
    expect_sum(&s, EVENT_LIVE, 2, 2);
    assert_int_equal(s.decoder->counts.unfollowed, 3);
    expect_sum(&s, WALL, 1, 1);
    assert_int_equal(s.decoder->counts.unplaced, 1);
    recording_free_of(&s.r, SECOND, 1);
    allocated(&s, ALLOC, 6, 1, JAVA(1));
    play(&s);
    expect_sum(&s, EVENT_LIVE, 2, 2);
    close_stage(&s);
}

static void test_sums_are_bounded(void **state) {
    (void)state;
    enum { MANY = 5000 };
    struct stage s;
    open_stage(&s);
    recording_method(&s.r, 1, "A", "one", "");
    for (uint64_t i = 0; i < MANY; i++) {
        recording_whole_sample(&s.r,
                               &(struct wire_sample){.time_ns = SECOND,
                                                     .weight = UINT64_MAX,
                                                     .live_id = i + 1,
                                                     .tid = 1,
                                                     .count = UINT32_MAX - 1,
                                                     .event = ALLOC},
                               (uint64_t[]){JAVA(1)}, 1);
        recording_repeat(&s.r, ALLOC, SECOND, 1, UINT64_MAX, UINT32_MAX - 1);
    }
    play(&s);
    assert_int_equal(profile_weight(s.profile, ALLOC), DECODER_WEIGHTS_MAX);
    assert_int_equal(profile_samples(s.profile, ALLOC), UINT64_C(2) * MANY * DECODER_COUNT_MAX);
    for (uint64_t i = 0; i < MANY; i++)
        recording_free_of(&s.r, SECOND, i + 1);
    play(&s);
    expect_sum(&s, EVENT_LIVE, 0, 0);
    close_stage(&s);
}

/* Weight that other records count. */
static void test_weight_alone_counts_nothing(void **state) {
    (void)state;
    struct stage s;
    open_stage(&s);
    recording_method(&s.r, 1, "A", "one", "");
    for (uint32_t i = 0; i < 3; i++)
        recording_whole_sample(&s.r,
                               &(struct wire_sample){.time_ns = SECOND,
                                                     .weight = 10,
                                                     .tid = 1,
                                                     .count = i ? WIRE_COUNT_NONE : 2,
                                                     .event = ALLOC},
                               (uint64_t[]){JAVA(1)}, 1);
    recording_repeat(&s.r, ALLOC, SECOND, 1, 5, WIRE_COUNT_NONE);
    play(&s);
    expect_sum(&s, ALLOC, 35, 2);
    close_stage(&s);
}

/* Adding and removing in an order of chance, against a plain array. */
static void test_places_come_and_go(void **state) {
    (void)state;
    enum { KEYS = 700 };
    struct place_map m;
    uint64_t want[KEYS] = {0};
    uint32_t random = 1, count = 0;
    place_map_init(&m, KEYS / 2);
    for (int i = 0; i < 200000; i++) {
        random = random * 1664525u + 1013904223u;
        uint32_t key = (random >> 8) % KEYS;
        if (random >> 31) {
            place_map_remove(&m, (key + 1) * 4096);
            count -= want[key] != 0;
            want[key] = 0;
        } else {
            struct kept_place *k = place_map_put(&m, (key + 1) * 4096);
            assert_true((k != NULL) == (want[key] || count < KEYS / 2));
            if (!k)
                continue;
            count += want[key] == 0;
            want[key] = k->weight = (uint64_t)i + 1;
        }
    }
    assert_int_equal(m.count, count);
    for (uint32_t key = 0; key < KEYS; key++) {
        struct kept_place *k = place_map_get(&m, (key + 1) * 4096);
        assert_int_equal(k ? k->weight : 0, want[key]);
    }
    place_map_free(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_repeats),
        cmocka_unit_test(test_repeats_of_what_waits),
        cmocka_unit_test(test_active_samples),
        cmocka_unit_test(test_active_samples_that_wait),
        cmocka_unit_test(test_what_is_alive),
        cmocka_unit_test(test_ends_in_any_order),
        cmocka_unit_test(test_following_is_bounded),
        cmocka_unit_test(test_sums_are_bounded),
        cmocka_unit_test(test_weight_alone_counts_nothing),
        cmocka_unit_test(test_places_come_and_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
