/* Streams that nobody sane would send. */
#include "test/unit/decode/decoder_fixture.h"

/* A record whose counts say more than it has is skipped whole. */
static void test_contradictions_are_refused(void **state) {
    (void)state;
    struct stage s;
    open_stage(&s);
    s.decoder->replay = true;
    const char *text = "12345678";
    struct wire_method method = {.class_bytes = 9};
    struct wire_method lines = {.name_bytes = 8, .line_bytes = UINT32_MAX};
    struct wire_method odd = {.name_bytes = 7, .line_bytes = 4};
    struct wire_class class = {.name_bytes = 9};
    struct wire_thread thread = {.name_bytes = 9};
    struct wire_stub stub = {.name_bytes = UINT32_MAX};
    struct wire_log log = {.text_bytes = 9};
    struct wire_symbol symbol = {.name_bytes = 4, .module_bytes = 5, .kind = METHOD_NATIVE};
    struct wire_symbol kind = {.name_bytes = 4, .kind = METHOD_THREAD};
    struct wire_jvm jvm = {.name_bytes = 8, .version_bytes = 1};
    struct wire_java_state java = {.state = WIRE_JAVA_STATES};
    struct wire_java_state wild = {.state = UINT8_MAX, .tid = UINT32_MAX};
    struct wire_sample frames = {.frames = 2};
    struct wire_sample event = {.frames = 1, .event = WIRE_EVENTS};
    struct {
        enum wire_type type;
        void *fixed;
        size_t bytes;
    } bad[] = {
        {WIRE_METHOD, &method, sizeof method}, {WIRE_METHOD, &lines, sizeof lines},
        {WIRE_CLASS, &class, sizeof class},    {WIRE_THREAD, &thread, sizeof thread},
        {WIRE_STUB, &stub, sizeof stub},       {WIRE_LOG, &log, sizeof log},
        {WIRE_SYMBOL, &symbol, sizeof symbol}, {WIRE_SYMBOL, &kind, sizeof kind},
        {WIRE_JVM, &jvm, sizeof jvm},          {WIRE_SAMPLE, &frames, sizeof frames},
        {WIRE_SAMPLE, &event, sizeof event},   {WIRE_METHOD, &odd, sizeof odd},
        {WIRE_JAVA_STATE, &java, sizeof java}, {WIRE_JAVA_STATE, &wild, sizeof wild},
    };
    size_t count = sizeof bad / sizeof bad[0];
    for (size_t i = 0; i < count; i++) {
        recording_add(&s.r, bad[i].type, bad[i].fixed, bad[i].bytes, text, "", "");
        play(&s);
        assert_int_equal(s.decoder->counts.bad, i + 1);
    }
    /* and one that is too short for what it claims to be, for each type */
    for (uint16_t type = WIRE_SAMPLE; type <= WIRE_MARK; type++) {
        uint64_t word;
        recording_add(&s.r, type, &word, sizeof word, "", "", "");
        play(&s);
    }
    assert_int_equal(s.decoder->counts.bad, count + 16);
    assert_int_equal(s.decoder->counts.samples, 0);
    close_stage(&s);
}

/* What only readers write is a forgery in a live stream. */
static void test_forgeries_are_refused(void **state) {
    (void)state;
    struct stage s;
    open_stage(&s);
    recording_symbol(&s.r, 0x1000, METHOD_NATIVE, "forged", "x");
    recording_jvm(&s.r, 1, "forged", "1");
    recording_mark(&s.r, SECOND, 999);
    recording_sample(&s.r, SECOND, 1, 10, 1, NATIVE(0x1000));
    play(&s);
    assert_int_equal(s.decoder->counts.bad, 3);
    assert_int_equal(self_of(&s, "forged", NULL), 0);
    assert_false(s.decoder->marks.any);
    assert_int_equal(s.decoder->notes.pid, 0);
    close_stage(&s);
}

static void test_floods_of_names_end_somewhere(void **state) {
    (void)state;
    struct stage s;
    open_stage(&s);
    s.decoder->text_bytes = DECODER_TEXT_BYTES_MAX - 10;
    recording_method(&s.r, 1, "A", "last", "()V");
    recording_method(&s.r, 2, "A", "refused", "()V");
    recording_thread(&s.r, 9, 0, "refused");
    recording_sample(&s.r, SECOND, 9, 10, 1, JAVA(1));
    recording_sample(&s.r, SECOND, 9, 10, 1, JAVA(2));
    play(&s);
    assert_int_equal(s.decoder->counts.refused, 2);
    assert_int_equal(self_of(&s, "last", NULL), 1);
    assert_int_equal(self_of(&s, "[unknown_method]", NULL), 1);
    assert_string_equal(thread_name(&s, 9), "");
    close_stage(&s);
}

static void test_impossible_times_and_weights(void **state) {
    (void)state;
    struct stage s;
    open_stage(&s);
    s.decoder->now_ns = 100 * SECOND;
    s.decoder->since_ns = 90 * SECOND;
    recording_sample(&s.r, 1, 1, UINT64_MAX, 1, FAILURE(0));
    recording_sample(&s.r, UINT64_MAX, 1, UINT64_MAX, 1, FAILURE(0));
    play(&s);
    uint64_t first, last, kept;
    profile_span(s.profile, &first, &last, &kept);
    assert_int_equal(first, 90);
    assert_int_equal(last, 100);
    assert_int_equal(profile_weight(s.profile, 0), UINT64_C(2) << 48);
    close_stage(&s);
}

/* A state makes no thread, changes none that has ended, and is never more than a state. */
static void test_states_of_nobody(void **state) {
    (void)state;
    struct stage s;
    struct profile_living *living = NULL;
    open_stage(&s);
    for (uint32_t tid = 0; tid < 100000; tid += 7)
        recording_java_state(&s.r, tid, WIRE_JAVA_BLOCKED);
    recording_java_state(&s.r, UINT32_MAX, WIRE_JAVA_BLOCKED);
    play(&s);
    assert_int_equal(s.decoder->counts.bad, 0);
    assert_int_equal(profile_thread_count(s.profile), 0);
    assert_int_equal(profile_living(s.profile, &living), 0);
    assert_null(living);
    recording_thread(&s.r, 9, 1, "gone");
    recording_thread_end(&s.r, 9);
    recording_java_state(&s.r, 9, WIRE_JAVA_RUNNABLE);
    play(&s);
    assert_int_equal(profile_living(s.profile, &living), 0);
    free(living);
    recording_thread(&s.r, 9, 2, "next"); /* the number is used again */
    play(&s);
    assert_int_equal(profile_living(s.profile, &living), 1);
    assert_string_equal(living[0].name, "next");
    assert_int_equal(living[0].java_state, WIRE_JAVA_UNKNOWN);
    free(living);
    close_stage(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contradictions_are_refused),
        cmocka_unit_test(test_forgeries_are_refused),
        cmocka_unit_test(test_floods_of_names_end_somewhere),
        cmocka_unit_test(test_states_of_nobody),
        cmocka_unit_test(test_impossible_times_and_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
