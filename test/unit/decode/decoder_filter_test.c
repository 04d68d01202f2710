/* Only some threads, tags on stacks, and what is told beside samples: waits for locks, pauses. */
#include "core/decode/thread_filter.h"
#include "test/unit/decode/decoder_fixture.h"

#include "core/wire/layout.h"

#include <errno.h>
#include <sched.h>

static void filter(struct stage *s, struct thread_filter *f, const char *pattern,
                   const struct tid_range *tids, uint32_t ranges) {
    struct err e;
    assert_int_equal(thread_filter_init(f, pattern, tids, ranges, &e), 0);
    s->decoder->filter = f->on ? f : NULL;
}

static uint64_t cpu_samples(struct stage *s) {
    return profile_samples(s->profile, WIRE_EVENT_CPU);
}

static void sample(struct stage *s, uint32_t tid) {
    recording_sample(&s->r, SECOND, tid, 10, 1, FAILURE(0));
}

static void test_patterns(void **state) {
    (void)state;
    struct stage s;
    struct thread_filter f;
    open_stage(&s);
    filter(&s, &f, "^(http|db)-[0-9]+$", NULL, 0);
    recording_thread(&s.r, 1, 11, "http-7");
    recording_thread(&s.r, 2, 12, "main");
    recording_thread(&s.r, 3, 13, "db-1 idle");
    for (uint32_t tid = 1; tid <= 4; tid++) {
        sample(&s, tid);
        recording_repeat(&s.r, WIRE_EVENT_CPU, SECOND, tid, 1, 1);
    }
    play(&s);
    assert_int_equal(cpu_samples(&s), 2); /* the first, and its repeat; the last has no name yet */
    assert_int_equal(s.decoder->counts.unwanted, 2);
    assert_int_equal(s.decoder->held.count, 1);
    recording_thread(&s.r, 4, 14, "db-2");
    play(&s);
    assert_int_equal(cpu_samples(&s), 4);
    /* a new name, another thread with the number, no name at all */
    recording_thread(&s.r, 1, 11, "spare");
    recording_repeat(&s.r, WIRE_EVENT_CPU, SECOND, 1, 1, 1);
    sample(&s, 1);
    recording_thread_end(&s.r, 4);
    sample(&s, 4);
    recording_thread(&s.r, 4, 15, "other");
    sample(&s, 5);
    play(&s);
    assert_int_equal(s.decoder->held.count, 1);
    decoder_flush(s.decoder);
    assert_int_equal(cpu_samples(&s), 4);
    assert_int_equal(s.decoder->counts.unwanted, 6);
    assert_int_equal(s.decoder->held.count, 0);
    close_stage(&s);
    thread_filter_free(&f);
}

static void test_virtual_threads_by_their_names(void **state) {
    (void)state;
    struct stage s;
    struct thread_filter f;
    open_stage(&s);
    filter(&s, &f, "worker|#33", NULL, 0);
    recording_thread(&s.r, 8, 2, "ForkJoinPool-1-worker-1");
    recording_virtual_thread(&s.r, 8, 31, "task");
    recording_virtual_sample(&s.r, SECOND, 8, 31, 1, FAILURE(0)); /* on a wanted carrier */
    recording_virtual_thread(&s.r, 9, 32, "worker");
    recording_thread(&s.r, 9, 3, "plain");
    recording_virtual_sample(&s.r, SECOND, 9, 32, 10, FAILURE(0));
    recording_virtual_sample(&s.r, SECOND, 9, 33, 100, FAILURE(0));
    recording_virtual_thread(&s.r, 9, 33, ""); /* and its name comes late */
    sample(&s, 9);
    play(&s);
    assert_int_equal(profile_weight(s.profile, 0), 110);
    /* what was decided long ago may be forgotten, and is decided again */
    f.young.limit = f.old.limit = 4;
    for (uint64_t id = 100; id < 112; id++)
        recording_virtual_thread(&s.r, 9, id, "worker");
    recording_virtual_sample(&s.r, SECOND, 9, 32, 1, FAILURE(0));
    recording_virtual_sample(&s.r, SECOND, 9, 111, 1, FAILURE(0));
    recording_virtual_thread(&s.r, 9, 32, "worker");
    play(&s);
    assert_int_equal(profile_weight(s.profile, 0), 112);
    close_stage(&s);
    thread_filter_free(&f);
}

static void test_numbers(void **state) {
    (void)state;
    struct stage s;
    struct thread_filter f;
    open_stage(&s);
    filter(&s, &f, NULL, (struct tid_range[]){{3, 5}, {9, 9}}, 2);
    for (uint32_t tid = 1; tid <= 10; tid++)
        sample(&s, tid);
    recording_virtual_sample(&s.r, SECOND, 9, 31, 10, FAILURE(0));
    play(&s);
    assert_int_equal(cpu_samples(&s), 5);
    assert_int_equal(s.decoder->held.count, 0);
    thread_filter_free(&f);
    filter(&s, &f, "^b", (struct tid_range[]){{1, 1}}, 1); /* this one, and those */
    recording_thread(&s.r, 1, 1, "a");
    recording_thread(&s.r, 2, 2, "b");
    recording_thread(&s.r, 3, 3, "c");
    for (uint32_t tid = 1; tid <= 3; tid++)
        sample(&s, tid);
    play(&s);
    assert_int_equal(cpu_samples(&s), 7);
    close_stage(&s);
    thread_filter_free(&f);
}

static bool bit(const _Atomic uint8_t *bits, uint32_t tid) {
    return bits[tid / 8] >> tid % 8 & 1;
}

/* What the agent may leave out. */
static void test_bits(void **state) {
    (void)state;
    struct thread_filter f;
    struct err e;
    _Atomic uint8_t *bits = calloc(1, WIRE_THREADS_BYTES), *others = calloc(1, WIRE_THREADS_BYTES);
    assert_true(bits && others);
    struct tid_range tids[] = {{16, 18}, {WIRE_TID_MAX - 1, UINT32_MAX}};
    assert_int_equal(thread_filter_init(&f, "^w", tids, 2, &e), 0);
    thread_filter_use_bits(&f, bits);
    assert_true(bit(bits, 16) && bit(bits, 18) && bit(bits, WIRE_TID_MAX - 1));
    assert_false(bit(bits, 15) || bit(bits, 19));
    f.changed = false;
    thread_filter_name(&f, 1, "w-1");
    assert_true(bit(bits, 1) && f.changed);
    f.changed = false;
    thread_filter_name(&f, 1, "w-2");
    thread_filter_name(&f, 2, "main");
    assert_true(bit(bits, 1) && !bit(bits, 2) && !f.changed); /* nothing to tell */
    thread_filter_name(&f, 3, "ForkJoinPool-2-worker-1");     /* may carry who is wanted */
    thread_filter_virtual_name(&f, 31, 4, "task");
    thread_filter_guess(&f, 5, "w-native");
    thread_filter_guess(&f, 2, "w-not"); /* it is known better */
    thread_filter_name(&f, UINT32_MAX, "w-hostile");
    assert_true(bit(bits, 3) && bit(bits, 4) && bit(bits, 5) && !bit(bits, 2));
    assert_int_equal(thread_filter_verdict(&f, 5, 0), THREAD_UNDECIDED);
    assert_int_equal(thread_filter_verdict(&f, 3, 0), THREAD_UNWANTED);
    thread_filter_use_bits(&f, others); /* another agent's */
    assert_true(bit(others, 1) && bit(others, 3) && bit(others, 4) && bit(others, 17));
    assert_false(bit(others, 2));
    thread_filter_end(&f, 1);
    thread_filter_end(&f, 4);
    thread_filter_end(&f, 17);
    assert_true(!bit(others, 1) && !bit(others, 4) && bit(others, 17));
    thread_filter_free(&f);
    free((void *)bits);
    free((void *)others);
}

static void test_bad_patterns(void **state) {
    (void)state;
    struct thread_filter f;
    struct err e;
    assert_int_equal(thread_filter_init(&f, "a(b", NULL, 0, &e), -EINVAL);
    assert_int_equal(e.exit_code, ERR_EXIT_ARGUMENT);
    assert_non_null(strstr(e.message, "\"a(b\" is not a regular expression"));
    assert_non_null(strstr(e.message, "missing closing parenthesis"));
    thread_filter_free(&f);
    assert_int_equal(thread_filter_init(&f, "(a+)+$", NULL, 0, &e), -EINVAL);
    assert_non_null(strstr(e.message, "takes too long"));
    thread_filter_free(&f);
    assert_int_equal(thread_filter_init(&f, NULL, NULL, 0, &e), 0);
    assert_false(f.on);
    thread_filter_free(&f);
}

/* Only a name shows what this one costs. It is said once. */
static void test_a_costly_pattern(void **state) {
    (void)state;
    struct thread_filter f;
    struct err e;
    char name[1001];
    memset(name, 'x', 1000);
    name[1000] = '\0';
    assert_int_equal(thread_filter_init(&f, "(x+x+)+[yz]", NULL, 0, &e), 0);
    thread_filter_name(&f, 1, "axxyb");
    assert_int_equal(thread_filter_verdict(&f, 1, 0), THREAD_WANTED);
    assert_null(thread_filter_trouble(&f));
    thread_filter_name(&f, 2, name);
    assert_int_equal(thread_filter_verdict(&f, 2, 0), THREAD_UNWANTED);
    assert_non_null(strstr(thread_filter_trouble(&f), "--thread"));
    assert_null(thread_filter_trouble(&f));
    thread_filter_free(&f);
}

static int asked;

static int policy(void *arg, uint32_t tid) {
    static const int of[] = {SCHED_OTHER, SCHED_BATCH, SCHED_FIFO, -ESRCH};
    assert_ptr_equal(arg, &asked);
    asked++;
    return of[tid % 4];
}

static void on_cpu(struct stage *s, uint32_t tid, uint16_t cpu, uint16_t frames) {
    uint64_t frame[WIRE_FRAMES_MAX];
    for (uint32_t i = 0; i < frames; i++)
        frame[i] = JAVA(1);
    recording_whole_sample(
        &s->r, &(struct wire_sample){.time_ns = SECOND, .weight = 1, .tid = tid, .cpu = cpu}, frame,
        frames);
}

static void test_tags(void **state) {
    (void)state;
    struct stage s;
    open_stage(&s);
    s.decoder->tag_cpu = s.decoder->tag_sched = true;
    s.decoder->policy = policy;
    s.decoder->policy_arg = &asked;
    asked = 0;
    recording_method(&s.r, 1, "A", "run", "");
    on_cpu(&s, 0, 3, 1);
    on_cpu(&s, 1, 12, 1);
    on_cpu(&s, 2, WIRE_CPU_NONE, 1);
    on_cpu(&s, 3, 12, 1);
    on_cpu(&s, 3, 12, 1);
    play(&s);
    expect_stacks(&s, 0,
                  "[CPU-12];run 2/2\n[CPU-12];[SCHED_BATCH];run 1/1\n"
                  "[CPU-3];[SCHED_OTHER];run 1/1\n[SCHED_FIFO];run 1/1\n");
    assert_int_equal(asked, 4); /* once a thread */
    recording_thread_end(&s.r, 3);
    play(&s);
    on_cpu(&s, 3, 12, 1);
    play(&s);
    assert_int_equal(asked, 5);
    /* the deepest stack has them too */
    on_cpu(&s, 0, 5, WIRE_FRAMES_MAX);
    on_cpu(&s, 0, 6, 0);
    play(&s);
    struct snapshot *snap = snapshot_take(s.profile, &(struct query){.filter = "\\[CPU-5\\]"});
    assert_int_equal(snap->samples, 1);
    snapshot_free(snap);
    assert_int_equal(s.decoder->counts.samples, 8);
    close_stage(&s);
}

static void expect_lock(struct stage *s, const char *class, const char *owner_frame, uint64_t waits,
                        uint64_t waited_ns) {
    struct snapshot *snap = snapshot_take(s->profile, &(struct query){.locks = true});
    const struct method_table *t = profile_methods(s->profile);
    bool found = false;
    for (uint32_t i = 0; i < snap->lock_count; i++) {
        const struct snapshot_lock *l = &snap->locks[i];
        if (l->is_class || strcmp(method_table_get(t, l->class_id)->name, class) != 0 ||
            strcmp(method_table_get(t, l->owner_method)->name, owner_frame) != 0)
            continue;
        assert_int_equal(l->waits, waits);
        assert_int_equal(l->waited_ns, waited_ns);
        found = true;
    }
    if (!found)
        fail_msg("no wait for a %s held by %s", class, owner_frame);
    snapshot_free(snap);
}

static void test_locks(void **state) {
    (void)state;
    struct stage s;
    struct thread_filter f;
    open_stage(&s);
    filter(&s, &f, "wanted", NULL, 0);
    struct wire_lock w = {.time_ns = 2 * SECOND,
                          .waited_ns = 100,
                          .lock_id = 77,
                          .tid = 1,
                          .owner_tid = 2,
                          .class_id = 5,
                          .flags = WIRE_LOCK_MONITOR | 0xf0};
    uint64_t owner[] = {JAVA(1), JAVA(2)};
    recording_thread(&s.r, 1, 11, "wanted");
    recording_lock(&s.r, &w, owner, 2); /* waits for three names */
    recording_method(&s.r, 2, "A", "outer", "");
    recording_class(&s.r, 5, "java/lang/Object");
    play(&s);
    assert_int_equal(s.decoder->held.count, 1);
    recording_method(&s.r, 1, "A", "holds", "");
    recording_lock(&s.r, &w, owner, 2);
    w.tid = 3;
    recording_thread(&s.r, 3, 13, "other");
    recording_lock(&s.r, &w, owner, 2);
    w.tid = 4; /* nobody knows */
    recording_lock(&s.r, &w, owner, 2);
    play(&s);
    expect_lock(&s, "java/lang/Object", "holds", 2, 200);
    recording_thread(&s.r, 4, 14, "wanted too");
    play(&s);
    expect_lock(&s, "java/lang/Object", "holds", 3, 300);
    assert_int_equal(s.decoder->counts.unwanted, 1);
    assert_int_equal(s.decoder->counts.samples, 0);
    /* without an owner's stack, with the longest one, with one that is a lie */
    w = (struct wire_lock){.waited_ns = UINT64_MAX, .tid = 1, .class_id = 6};
    recording_class(&s.r, 6, "Latch");
    recording_lock(&s.r, &w, owner, 0);
    play(&s);
    struct snapshot *snap = snapshot_take(s.profile, &(struct query){.locks = true});
    assert_true(snap->lock_count >= 3);
    snapshot_free(snap);
    uint64_t *deep = calloc(WIRE_FRAMES_MAX, sizeof *deep);
    recording_lock(&s.r, &w, deep, WIRE_FRAMES_MAX);
    play(&s);
    assert_int_equal(s.decoder->counts.bad, 0);
    recording_lock(&s.r, &w, deep, 2);
    ((struct wire_lock *)(void *)s.r.bytes.data)->owner_frames = 3;
    play(&s);
    assert_int_equal(s.decoder->counts.bad, 1);
    free(deep);
    close_stage(&s);
    thread_filter_free(&f);
}

static uint64_t waits_with(struct stage *s, const char *filter) {
    struct snapshot *snap =
        snapshot_take(s->profile, &(struct query){.event = -1, .locks = true, .filter = filter});
    uint64_t waits = 0;
    for (uint32_t i = 0; i < snap->lock_count; i++)
        waits += snap->locks[i].is_class ? snap->locks[i].waits : 0;
    snapshot_free(snap);
    return waits;
}

/* A wait has the stack of the sample that its thread sent just before. */
static void test_stacks_of_waits(void **state) {
    (void)state;
    struct stage s;
    const uint64_t class = wire_frame_java(WIRE_FRAME_CLASS, 5, WIRE_BCI_NONE);
    const uint64_t other = wire_frame_java(WIRE_FRAME_CLASS, 6, WIRE_BCI_NONE);
    const uint64_t cart[] = {class, JAVA(1)}, pool[] = {class, JAVA(2)}, latch[] = {other, JAVA(2)};
    struct wire_lock w = {.time_ns = SECOND, .waited_ns = 1, .class_id = 5};
    open_stage(&s);
    recording_method(&s.r, 1, "A", "cart", "");
    recording_method(&s.r, 2, "A", "pool", "");
    recording_class(&s.r, 5, "java/lang/Object");
    recording_class(&s.r, 6, "Latch");
    struct wire_sample sample = {
        .time_ns = SECOND, .weight = 1, .count = 1, .tid = 1, .event = WIRE_EVENT_LOCK};
    recording_whole_sample(&s.r, &sample, cart, 2);
    sample.tid = 2;
    recording_whole_sample(&s.r, &sample, pool, 2);
    w.tid = 1;
    recording_lock(&s.r, &w, cart, 0);
    w.tid = 2;
    recording_lock(&s.r, &w, cart, 0);
    sample.tid = 3; /* the sample of the wait was dropped: the last one is of another lock */
    recording_whole_sample(&s.r, &sample, latch, 2);
    w.tid = 3;
    recording_lock(&s.r, &w, cart, 0);
    w.tid = 1; /* the virtual thread had no sample */
    w.virtual_id = 9;
    recording_lock(&s.r, &w, cart, 0);
    w.virtual_id = 0; /* long after the thread's last sample */
    w.time_ns = 9 * SECOND;
    recording_lock(&s.r, &w, cart, 0);
    play(&s);
    assert_int_equal(waits_with(&s, NULL), 5);
    assert_int_equal(waits_with(&s, "cart"), 1);
    assert_int_equal(waits_with(&s, "pool"), 1);
    assert_int_equal(waits_with(&s, "Object"), 2);
    close_stage(&s);
}

static void test_pauses_and_windows(void **state) {
    (void)state;
    struct stage s;
    open_stage(&s);
    s.decoder->since_ns = 10 * SECOND;
    s.decoder->now_ns = 100 * SECOND;
    recording_pause(&s.r, 20 * SECOND, 20 * SECOND + 5, WIRE_PAUSE_GC);
    recording_pause(&s.r, 20 * SECOND + 10, 20 * SECOND + 17, WIRE_PAUSE_SAFEPOINT);
    recording_pause(&s.r, 0, UINT64_MAX, 77); /* no longer than there was time */
    recording_pause(&s.r, 2, 1, WIRE_PAUSE_GC);
    recording_window(&s.r, 20 * SECOND, 23 * SECOND);
    recording_window(&s.r, 99 * SECOND, UINT64_MAX);
    recording_window(&s.r, 2, 1);
    recording_sample(&s.r, 20 * SECOND, 1, 10, 1, FAILURE(0));
    play(&s);
    struct profile_second second;
    profile_timeline(s.profile, WIRE_EVENT_CPU, 20, 1, &second);
    assert_int_equal(second.paused_ns[0], 5);
    assert_true(second.paused_ns[1] >= 7 && second.paused_ns[1] <= SECOND + 7);
    assert_int_equal(s.decoder->counts.windows, 2);
    assert_int_equal(s.decoder->counts.window_ns, 4 * SECOND);
    assert_int_equal(s.decoder->counts.bad, 2);
    close_stage(&s);
}

/* A profile of its own within a longer stream of more events. */
static void test_own_events_and_time(void **state) {
    (void)state;
    struct stage s;
    const uint64_t stack[] = {JAVA(1)};
    open_stage(&s);
    s.decoder->replay = true;
    s.decoder->only = 1u << WIRE_EVENT_CPU | 1u << WIRE_EVENT_WALL;
    s.decoder->window.begin_ns = 10 * SECOND;
    s.decoder->window.end_ns = 20 * SECOND;
    recording_method(&s.r, 1, "a/B", "add", "()V");
    recording_event_sample(&s.r, WIRE_EVENT_WALL, 3 * SECOND, 1, 7, stack, 1);
    recording_event_sample(&s.r, WIRE_EVENT_WALL, 3 * SECOND, 2, 7, stack, 1);
    recording_event_sample(&s.r, WIRE_EVENT_CPU, 10 * SECOND - 1, 1, 100, stack, 1);
    recording_event_sample(&s.r, WIRE_EVENT_CPU, 10 * SECOND, 1, 10, stack, 1);
    recording_event_sample(&s.r, WIRE_EVENT_ALLOC, 11 * SECOND, 1, 1000, stack, 1);
    recording_repeat(&s.r, WIRE_EVENT_WALL, 9 * SECOND, 1, 50, 1);
    recording_repeat(&s.r, WIRE_EVENT_WALL, 12 * SECOND, 1, 5, 2);
    recording_repeat(&s.r, WIRE_EVENT_WALL, 13 * SECOND, 1, 5, 2);
    recording_event_sample(&s.r, WIRE_EVENT_CPU, 20 * SECOND - 1, 1, 10, stack, 1);
    recording_event_sample(&s.r, WIRE_EVENT_CPU, 20 * SECOND, 1, 100, stack, 1);
    recording_repeat(&s.r, WIRE_EVENT_WALL, 20 * SECOND, 2, 5, 2);
    play(&s);
    expect_stacks(&s, WIRE_EVENT_CPU, "add 20/2\n");
    expect_stacks(&s, WIRE_EVENT_WALL, "add 10/4\n");
    assert_int_equal(profile_samples(s.profile, WIRE_EVENT_ALLOC), 0);
    assert_int_equal(s.decoder->counts.bad, 0);
    close_stage(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_events_and_time),
        cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_virtual_threads_by_their_names),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_bits),
        cmocka_unit_test(test_bad_patterns),
        cmocka_unit_test(test_a_costly_pattern),
        cmocka_unit_test(test_tags),
        cmocka_unit_test(test_locks),
        cmocka_unit_test(test_stacks_of_waits),
        cmocka_unit_test(test_pauses_and_windows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
