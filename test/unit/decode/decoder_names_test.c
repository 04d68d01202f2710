/* Names: late, given again, of threads; what waits for them is bounded. */
#include "test/unit/decode/decoder_fixture.h"

static void test_names_may_come_late(void **state) {
    (void)state;
    struct stage s;
    open_stage(&s);
    recording_sample(&s.r, SECOND, 1, 10, 3, JAVA(1), JAVA(2), CLASS(3));
    recording_sample(&s.r, SECOND, 1, 10, 1, STUB(0x5000));
    play(&s);
    assert_int_equal(profile_samples(s.profile, 0), 0);
    recording_class(&s.r, 3, "shop/Item");
    recording_method(&s.r, 2, "shop/Cart", "two", "()V");
    recording_stub(&s.r, 0x5000, 32, "stub");
    play(&s);
    assert_int_equal(profile_samples(s.profile, 0), 1);
    assert_int_equal(self_of(&s, "stub", NULL), 1);
    recording_method(&s.r, 1, "shop/Cart", "one", "()V");
    play(&s);
    assert_int_equal(self_of(&s, "one", NULL), 1);
    assert_int_equal(s.decoder->held.count, 0);
    close_stage(&s);
}

static void test_an_id_given_again_is_the_new_method(void **state) {
    (void)state;
    struct stage s;
    open_stage(&s);
    recording_method(&s.r, 1, "A", "old", "()V");
    recording_sample(&s.r, SECOND, 1, 10, 1, JAVA(1));
    recording_sample(&s.r, SECOND, 1, 10, 2, JAVA(1), JAVA(2)); /* waits for 2, and 1 is old */
    recording_method(&s.r, 1, "A", "new", "()V");
    recording_sample(&s.r, SECOND, 1, 10, 1, JAVA(1));
    recording_method(&s.r, 2, "A", "caller", "()V");
    play(&s);
    assert_int_equal(self_of(&s, "old", NULL), 2);
    assert_int_equal(self_of(&s, "new", NULL), 1);
    /* another agent's ids begin anew */
    decoder_new_stream(s.decoder);
    recording_sample(&s.r, SECOND, 1, 10, 1, JAVA(1));
    play(&s);
    decoder_flush(s.decoder);
    assert_int_equal(self_of(&s, "new", NULL), 1);
    assert_int_equal(self_of(&s, "[unknown_method]", NULL), 1);
    close_stage(&s);
}

static void test_virtual_threads(void **state) {
    (void)state;
    struct stage s;
    open_stage(&s);
    recording_thread(&s.r, 8, 2, "carrier");
    recording_virtual_thread(&s.r, 8, 31, "task\033");
    recording_virtual_sample(&s.r, SECOND, 8, 31, 10, FAILURE(0));
    recording_virtual_sample(&s.r, SECOND, 9, 31, 10, FAILURE(0));
    recording_virtual_sample(&s.r, SECOND, 8, 32, 10, JAVA(5)); /* held */
    recording_virtual_thread(&s.r, 8, 0, "no id");
    play(&s);
    decoder_flush(s.decoder);
    assert_int_equal(s.decoder->counts.bad, 1);
    assert_false(decoder_lacks_name(s.decoder, 8)); /* the carrier keeps its own */
    struct snapshot *snap = snapshot_take(s.profile, &(struct query){0});
    assert_int_equal(snap->thread_count, 2);
    assert_true(snap->threads[0].is_virtual && snap->threads[1].is_virtual);
    assert_int_equal(snap->threads[0].java_id, 31);
    assert_int_equal(snap->threads[0].samples, 2);
    assert_int_equal(snap->threads[0].tid, 9);
    assert_string_equal(snap->threads[0].name, "task?");
    assert_string_equal(snap->threads[1].name, "VirtualThread[#32]");
    snapshot_free(snap);
    snap = snapshot_take(s.profile, &(struct query){.carriers = true, .tid = 8});
    assert_int_equal(snap->samples, 2);
    assert_string_equal(snap->threads[0].name, "carrier");
    snapshot_free(snap);
    close_stage(&s);
}

static void test_waiting_is_bounded(void **state) {
    (void)state;
    struct stage s;
    open_stage(&s);
    for (uint32_t i = 0; i < HELD_SAMPLES_MAX + 100; i++)
        recording_sample(&s.r, SECOND, 1, 10, 1, JAVA(i + 1));
    play(&s);
    assert_int_equal(s.decoder->held.count, HELD_SAMPLES_MAX);
    assert_int_equal(self_of(&s, "[unknown_method]", NULL), 100);
    decoder_flush(s.decoder);
    assert_int_equal(s.decoder->held.count, 0);
    assert_int_equal(s.decoder->held.bytes, 0);
    assert_int_equal(self_of(&s, "[unknown_method]", NULL), HELD_SAMPLES_MAX + 100);
    /* deep stacks reach the limit of bytes first */
    uint64_t frame[WIRE_FRAMES_MAX];
    for (uint32_t i = 0; i < WIRE_FRAMES_MAX; i++)
        frame[i] = JAVA(900000);
    for (int i = 0; i < 600; i++)
        recording_event_sample(&s.r, WIRE_EVENT_CPU, SECOND, 1, 10, frame, WIRE_FRAMES_MAX);
    play(&s);
    assert_true(s.decoder->held.bytes <= HELD_BYTES_MAX);
    decoder_flush(s.decoder);
    assert_int_equal(s.decoder->counts.samples, HELD_SAMPLES_MAX + 700);
    close_stage(&s);
}

static void test_waiting_ends_with_time(void **state) {
    (void)state;
    struct stage s;
    open_stage(&s);
    s.decoder->now_ns = 10 * SECOND;
    recording_sample(&s.r, 10 * SECOND, 1, 10, 1, JAVA(1));
    play(&s);
    s.decoder->now_ns += DECODER_HOLD_NS;
    recording_sample(&s.r, 12 * SECOND, 1, 10, 1, JAVA(2));
    play(&s);
    decoder_expire(s.decoder);
    assert_int_equal(s.decoder->counts.samples, 0);
    s.decoder->now_ns++;
    decoder_expire(s.decoder);
    assert_int_equal(s.decoder->counts.samples, 1);
    assert_int_equal(s.decoder->held.count, 1);
    close_stage(&s);
}

static void test_threads_get_names_once(void **state) {
    (void)state;
    struct stage s;
    open_stage(&s);
    recording_sample(&s.r, SECOND, 1, 10, 1, FAILURE(0));
    recording_thread(&s.r, 2, 11, "worker \033[31m\xc0\x80\xed\xa0\xbd\xed\xb8\x80");
    recording_sample(&s.r, SECOND, 2, 10, 1, FAILURE(0));
    play(&s);
    assert_true(s.decoder->nameless_threads);
    assert_true(decoder_lacks_name(s.decoder, 1));
    assert_false(decoder_lacks_name(s.decoder, 2));
    assert_false(decoder_lacks_name(s.decoder, 3)); /* never seen: not asked for */
    assert_string_equal(thread_name(&s, 2), "worker ?[31m?\xf0\x9f\x98\x80");
    s.decoder->nameless_threads = false;
    recording_thread(&s.r, 1, 0, "VM Thread");
    recording_thread(&s.r, 2, 11, "renamed");
    play(&s);
    assert_false(decoder_lacks_name(s.decoder, 1));
    assert_string_equal(thread_name(&s, 1), "VM Thread");
    assert_string_equal(thread_name(&s, 2), "renamed");
    assert_false(s.decoder->nameless_threads);
    /* the next thread with that number has no name yet */
    recording_thread_end(&s.r, 1);
    recording_sample(&s.r, SECOND, 1, 10, 1, FAILURE(0));
    play(&s);
    assert_true(s.decoder->nameless_threads);
    assert_true(decoder_lacks_name(s.decoder, 1));
    close_stage(&s);
}

/* The state of a thread is its last one, until it ends. Threads need no samples for that. */
static void test_java_states(void **state) {
    (void)state;
    struct stage s;
    struct profile_living *living = NULL;
    open_stage(&s);
    recording_java_state(&s.r, 30, WIRE_JAVA_WAITING); /* before the thread has a name: too early */
    recording_thread(&s.r, 30, 3, "third");
    recording_thread(&s.r, 10, 1, "first");
    recording_thread(&s.r, 20, 2, "second");
    recording_virtual_thread(&s.r, 10, 99, "virtual");
    recording_java_state(&s.r, 10, WIRE_JAVA_RUNNABLE);
    recording_java_state(&s.r, 10, WIRE_JAVA_TIMED_WAITING);
    recording_java_state(&s.r, 20, WIRE_JAVA_BLOCKED);
    play(&s);
    assert_int_equal(profile_living(s.profile, &living), 3);
    assert_int_equal(living[0].tid, 10);
    assert_int_equal(living[0].java_id, 1);
    assert_string_equal(living[0].name, "first");
    assert_int_equal(living[0].java_state, WIRE_JAVA_TIMED_WAITING);
    assert_int_equal(living[1].java_state, WIRE_JAVA_BLOCKED);
    assert_string_equal(living[2].name, "third");
    assert_int_equal(living[2].java_state, WIRE_JAVA_UNKNOWN);
    free(living);
    recording_thread_end(&s.r, 20);
    recording_thread(&s.r, 10, 1, "renamed");
    play(&s);
    assert_int_equal(profile_living(s.profile, &living), 2);
    assert_string_equal(living[0].name, "renamed");
    assert_int_equal(living[0].java_state, WIRE_JAVA_TIMED_WAITING);
    free(living);
    profile_forget_java_states(s.profile);
    assert_int_equal(profile_living(s.profile, &living), 2);
    assert_int_equal(living[0].java_state, WIRE_JAVA_UNKNOWN);
    free(living);
    close_stage(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_may_come_late),
        cmocka_unit_test(test_an_id_given_again_is_the_new_method),
        cmocka_unit_test(test_virtual_threads),
        cmocka_unit_test(test_java_states),
        cmocka_unit_test(test_waiting_is_bounded),
        cmocka_unit_test(test_waiting_ends_with_time),
        cmocka_unit_test(test_threads_get_names_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
