#include "core/session/clean_text.h"
#include "core/session/decoder.h"
#include "core/profile/snapshot.h"
#include "test/unit/recording.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>

#define JAVA(id) wire_frame_java(WIRE_FRAME_C2, id, 3)
#define NATIVE(address) wire_frame_address(WIRE_FRAME_NATIVE, address)
#define KERNEL(address) wire_frame_address(WIRE_FRAME_KERNEL, address)
#define STUB(address) wire_frame_address(WIRE_FRAME_STUB, address)
#define CLASS(id) wire_frame_java(WIRE_FRAME_CLASS, id, WIRE_BCI_NONE)
#define FAILURE(f) wire_frame_address(WIRE_FRAME_ERROR, f)

#define SECOND UINT64_C(1000000000)

struct stage {
    struct profile *profile;
    struct decoder *decoder;
    struct recording r;
};

static void open_stage(struct stage *s) {
    *s = (struct stage){.profile = profile_new(0)};
    s->decoder = decoder_new(s->profile, NULL);
    assert_non_null(s->decoder);
}

static void close_stage(struct stage *s) {
    recording_done(&s->r);
    decoder_free(s->decoder);
    profile_free(s->profile);
}

/* Decodes what was recorded since the last time, each record in a block of its exact size so that
 * ASan sees any step beyond it. */
static void play(struct stage *s) {
    size_t at = 0;
    for (const void *record; (record = recording_next(&s->r, &at));) {
        uint64_t word;
        memcpy(&word, record, sizeof word);
        void *copy = malloc(wire_header_length(word));
        assert_non_null(copy);
        memcpy(copy, record, wire_header_length(word));
        decoder_prepare(s->decoder, copy);
        decoder_decode(s->decoder, copy);
        free(copy);
    }
    text_clear(&s->r.bytes);
}

/* Self samples of the method with this name; its row's tiers and kind where asked for. */
static uint64_t self_of(struct stage *s, const char *name, enum method_kind *kind) {
    struct query q = {.event = 0};
    struct snapshot *snap = snapshot_take(s->profile, &q);
    uint64_t self = 0;
    assert_non_null(snap);
    for (uint32_t i = 0; i < snap->method_count; i++) {
        const struct method *m =
            method_table_get(profile_methods(s->profile), snap->methods[i].method);
        if (strcmp(m->name, name) != 0)
            continue;
        self += snap->methods[i].self_samples;
        if (kind)
            *kind = m->kind;
    }
    snapshot_free(snap);
    return self;
}

static const char *thread_name(struct stage *s, uint32_t tid) {
    struct query q = {.event = 0};
    struct snapshot *snap = snapshot_take(s->profile, &q);
    const char *name = NULL;
    assert_non_null(snap);
    for (uint32_t i = 0; i < snap->thread_count; i++)
        if (snap->threads[i].tid == tid)
            name = snap->threads[i].name;
    snapshot_free(snap);
    return name;
}

static void test_every_frame_type(void **state) {
    (void)state;
    struct stage s;
    open_stage(&s);
    recording_method(&s.r, 7, "shop/Cart", "add", "(I)V");
    recording_class(&s.r, 7, "[B"); /* the same number is another thing */
    recording_stub(&s.r, 0x7f0000001000, 64, "I2C adapter");
    static const enum wire_frame_type java[] = {WIRE_FRAME_INTERPRETED, WIRE_FRAME_C1,
                                                WIRE_FRAME_C2, WIRE_FRAME_INLINED,
                                                WIRE_FRAME_NATIVE_METHOD};
    for (size_t i = 0; i < 5; i++)
        recording_sample(&s.r, SECOND, 1, 10, 1, wire_frame_java(java[i], 7, 0));
    recording_sample(&s.r, SECOND, 1, 10, 2, CLASS(7), JAVA(7));
    recording_sample(&s.r, SECOND, 1, 10, 1, STUB(0x7f0000001000));
    recording_sample(&s.r, SECOND, 1, 10, 1, UINT64_C(0xee) << 56); /* a newer agent's */
    recording_sample(&s.r, SECOND, 1, 10, 0);
    play(&s);
    enum method_kind kind;
    assert_int_equal(self_of(&s, "add", &kind), 5);
    assert_int_equal(kind, METHOD_JAVA);
    assert_int_equal(self_of(&s, "[B", &kind), 1);
    assert_int_equal(kind, METHOD_CLASS);
    assert_int_equal(self_of(&s, "I2C adapter", &kind), 1);
    assert_int_equal(kind, METHOD_STUB);
    assert_int_equal(self_of(&s, "[unknown_frame]", NULL), 1);
    assert_int_equal(self_of(&s, "[no_stack]", NULL), 1);
    assert_int_equal(s.decoder->counts.samples, 9);

    struct query q = {.event = 0};
    struct snapshot *snap = snapshot_take(s.profile, &q);
    uint64_t tiers[TIERS] = {0};
    for (uint32_t i = 0; i < snap->method_count; i++) {
        const struct method *m =
            method_table_get(profile_methods(s.profile), snap->methods[i].method);
        if (strcmp(m->name, "add") == 0)
            memcpy(tiers, snap->methods[i].tier, sizeof tiers);
    }
    snapshot_free(snap);
    assert_int_equal(tiers[TIER_NONE], 1);
    assert_int_equal(tiers[TIER_INTERPRETED], 1);
    assert_int_equal(tiers[TIER_C1], 1);
    assert_int_equal(tiers[TIER_C2], 2);
    assert_int_equal(tiers[TIER_INLINED], 1);
    close_stage(&s);
}

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

/* "5:2/3 7:1/1" is line 5 with self 2 and total 3, in samples. */
static void expect_lines(struct stage *s, const char *class_name, const char *name,
                         const char *want) {
    struct method_table *t = profile_methods(s->profile);
    struct query q = {.lines = true,
                      .lines_of = method_table_intern(t, METHOD_JAVA, class_name, name, "", "")};
    struct snapshot *snap = snapshot_take(s->profile, &q);
    struct text got = {0};
    assert_non_null(snap);
    text_add(&got, "");
    for (uint32_t i = 0; i < snap->line_count; i++)
        text_addf(&got, "%s%u:%u/%u", i ? " " : "", snap->lines[i].line,
                  (unsigned)snap->lines[i].self_samples, (unsigned)snap->lines[i].total_samples);
    assert_string_equal(got.data, want);
    text_free(&got);
    snapshot_free(snap);
}

#define AT(id, bci) wire_frame_java(WIRE_FRAME_C2, id, bci)

static void test_lines(void **state) {
    (void)state;
    struct stage s;
    open_stage(&s);
    static const uint16_t lines[] = {10, 102, 0, 100, 4, 101, 6, 101}; /* javac may jump about */
    recording_method_lines(&s.r, 1, "A", "even", lines, sizeof lines);
    recording_method_lines(&s.r, 2, "A", "odd", lines + 4, sizeof lines - 8);
    recording_method(&s.r, 3, "A", "none", "");
    static const uint32_t bci[] = {0, 3, 4, 9, 10, 65534, WIRE_BCI_NONE};
    for (size_t i = 0; i < sizeof bci / sizeof bci[0]; i++)
        recording_sample(&s.r, SECOND, 1, 10, 3, AT(1, bci[i]), AT(2, bci[i]), AT(3, bci[i]));
    play(&s);
    expect_lines(&s, "A", "even", "0:1/1 100:2/2 101:2/2 102:2/2");
    expect_lines(&s, "A", "odd", "0:0/3 101:0/4");
    expect_lines(&s, "A", "none", "0:0/7");
    /* a sample that waits has its line when the name is there */
    recording_sample(&s.r, SECOND, 1, 10, 2, AT(7, 5), AT(8, 0));
    recording_method_lines(&s.r, 7, "B", "late", lines, sizeof lines);
    play(&s);
    assert_int_equal(s.decoder->held.count, 1);
    recording_method_lines(&s.r, 8, "B", "later", lines, sizeof lines);
    play(&s);
    expect_lines(&s, "B", "late", "101:1/1");
    expect_lines(&s, "B", "later", "100:0/1");
    close_stage(&s);
}

static void test_line_tables_are_bounded(void **state) {
    (void)state;
    struct stage s;
    open_stage(&s);
    static const uint16_t lines[] = {0, 1, 4, 2}, others[] = {0, 9};
    for (int i = 0; i < 100; i++)
        recording_method_lines(&s.r, 1, "A", "same", lines, sizeof lines);
    play(&s);
    size_t one = s.decoder->names.line_bytes;
    assert_in_range(one, sizeof lines, sizeof lines + 16);
    recording_method_lines(&s.r, 1, "A", "same", others, sizeof others); /* redefined */
    recording_sample(&s.r, SECOND, 1, 10, 1, AT(1, 4));
    play(&s);
    assert_true(s.decoder->names.line_bytes < one);
    expect_lines(&s, "A", "same", "9:1/1");
    /* no room: the name is kept without */
    s.decoder->names.line_bytes_max = one;
    recording_method_lines(&s.r, 2, "A", "more", lines, sizeof lines);
    recording_sample(&s.r, SECOND, 1, 10, 1, AT(2, 4));
    play(&s);
    expect_lines(&s, "A", "more", "0:1/1");
    assert_int_equal(s.decoder->counts.refused, 1);
    /* another agent's ids begin anew */
    decoder_new_stream(s.decoder);
    assert_int_equal(s.decoder->names.line_bytes, 0);
    close_stage(&s);
}

static void test_compiler_threads(void **state) {
    (void)state;
    struct stage s;
    open_stage(&s);
    uint64_t compiling = wire_frame_java(WIRE_FRAME_COMPILING, 1, 0);
    enum method_kind kind;
    recording_sample(&s.r, SECOND, 1, 10, 2, FAILURE(0), compiling);
    recording_sample(&s.r, SECOND, 1, 10, 1, compiling);
    play(&s);
    assert_int_equal(s.decoder->counts.samples, 0); /* waits for the name, as the method's own */
    recording_method(&s.r, 1, "shop/Cart", "add", "(I)V");
    recording_sample(&s.r, SECOND, 1, 10, 1, JAVA(1));
    recording_sample(&s.r, SECOND, 1, 10, 1, compiling);
    play(&s);
    assert_int_equal(s.decoder->counts.samples, 4);
    assert_int_equal(s.decoder->held.count, 0);
    struct snapshot *snap = snapshot_take(s.profile, &(struct query){.filter = "[compiling]"});
    assert_int_equal(snap->samples, 3);
    snapshot_free(snap);
    assert_int_equal(self_of(&s, "add", &kind), 3); /* two kinds of the same name */
    snap = snapshot_take(s.profile, &(struct query){.filter = "![compiling]"});
    assert_int_equal(snap->samples, 1);
    assert_int_equal(method_table_get(profile_methods(s.profile), snap->methods[0].method)->kind,
                     METHOD_JAVA);
    snapshot_free(snap);
    recording_sample(&s.r, SECOND, 1, 10, 1, wire_frame_java(WIRE_FRAME_COMPILING, 99, 0));
    play(&s);
    decoder_flush(s.decoder);
    assert_int_equal(self_of(&s, "[unknown_method]", &kind), 1);
    assert_int_equal(kind, METHOD_COMPILING);
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

/* Nothing but what was asked for. */
static void test_no_java_frame_is_no_failure(void **state) {
    (void)state;
    struct stage s;
    open_stage(&s);
    recording_sample(&s.r, SECOND, 1, 10, 1, FAILURE(WIRE_FAILURE_NO_JAVA));
    recording_sample(&s.r, SECOND, 1, 10, 1, FAILURE(WIRE_FAILURE_SWITCHING));
    play(&s);
    assert_int_equal(profile_failed(s.profile, 0), 1);
    assert_int_equal(self_of(&s, "[no_Java_frame]", NULL), 1);
    assert_int_equal(self_of(&s, "[switching_virtual_thread]", NULL), 1);
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

static void test_failures_are_named_and_counted(void **state) {
    (void)state;
    struct stage s;
    open_stage(&s);
    recording_method(&s.r, 1, "A", "run", "()V");
    recording_sample(&s.r, SECOND, 1, 10, 2, JAVA(1), FAILURE(WIRE_FAILURE_TRUNCATED));
    recording_sample(&s.r, SECOND, 1, 10, 1, FAILURE(WIRE_FAILURE_UNKNOWN_PC));
    recording_sample(&s.r, SECOND, 1, 10, 2, JAVA(1), FAILURE(WIRE_FAILURE_NO_CALLER));
    recording_sample(&s.r, SECOND, 1, 10, 1, FAILURE(12345678));
    play(&s);
    assert_int_equal(profile_failed(s.profile, 0), 3);
    assert_int_equal(self_of(&s, "[unknown_pc]", NULL), 1);
    assert_int_equal(self_of(&s, "run", NULL), 2);
    assert_int_equal(s.decoder->counts.failed[WIRE_FAILURE_TRUNCATED], 1);
    assert_int_equal(s.decoder->counts.failed[WIRE_FAILURE_UNKNOWN_PC], 1);
    assert_int_equal(s.decoder->counts.failed[WIRE_FAILURE_NO_CALLER], 1);
    close_stage(&s);
}

/* A return address may be the first byte of the next function. */
static void test_return_addresses_name_the_caller(void **state) {
    (void)state;
    struct stage s;
    open_stage(&s);
    s.decoder->replay = true;
    recording_symbol(&s.r, 0x1fff, METHOD_NATIVE, "caller", "libc.so.6");
    recording_symbol(&s.r, 0x2000, METHOD_CPP, "next::one", "libjvm.so");
    recording_symbol(&s.r, UINT64_C(0xffffffff81000000), METHOD_KERNEL, "do_syscall_64", "kernel");
    recording_sample(&s.r, SECOND, 1, 10, 1, NATIVE(0x2000));
    recording_sample(&s.r, SECOND, 1, 10, 2, NATIVE(0x2000), NATIVE(0x2000));
    recording_sample(&s.r, SECOND, 1, 10, 3, KERNEL(UINT64_C(0xffffffff81000000)), NATIVE(0x2000),
                     NATIVE(0x2000));
    recording_sample(&s.r, SECOND, 1, 10, 1, NATIVE(0x9999));
    play(&s);
    enum method_kind kind;
    assert_int_equal(self_of(&s, "next::one", &kind), 2);
    assert_int_equal(kind, METHOD_CPP);
    assert_int_equal(self_of(&s, "do_syscall_64", &kind), 1);
    assert_int_equal(kind, METHOD_KERNEL);
    assert_int_equal(self_of(&s, "[unknown]", &kind), 1);
    assert_int_equal(kind, METHOD_NATIVE);
    struct query q = {.event = 0, .tree = true};
    struct snapshot *snap = snapshot_take(s.profile, &q);
    uint64_t callers = 0;
    for (uint32_t i = 0; i < snap->node_count; i++)
        if (snap->nodes[i].depth == 0 &&
            strcmp(method_table_get(profile_methods(s.profile), snap->nodes[i].method)->name,
                   "caller") == 0)
            callers += snap->nodes[i].total_samples;
    snapshot_free(snap);
    assert_int_equal(callers, 2);
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
    assert_int_equal(s.decoder->counts.bad, count + 11);
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
    assert_false(s.decoder->notes.marked);
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
    struct id_map m;
    id_map_init(&m, 3000);
    for (uint64_t i = 1; i <= 3000; i++)
        assert_int_equal(id_map_put(&m, i * 4096, (uint32_t)i), 0);
    assert_int_equal(id_map_put(&m, 1, 0), -ENOSPC);
    assert_int_equal(id_map_put(&m, 4096, 77), 0);
    for (uint64_t i = 1; i <= 3000; i++) {
        uint32_t value;
        assert_true(id_map_get(&m, i * 4096, &value));
        assert_int_equal(value, i == 1 ? 77 : i);
    }
    id_map_free(&m);
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

static void test_text_is_clean(void **state) {
    (void)state;
    static const struct {
        const char *in, *out;
    } text[] = {
        {"plain", "plain"},
        {"\x1b]0;title\x07", "?]0;title?"},
        {"\x7f\xc2\x9b\xc2\xa0", "??\xc2\xa0"},           /* DEL, C1, and a space that is fine */
        {"\xed\xa0\xbd\xed\xb8\x80", "\xf0\x9f\x98\x80"}, /* a pair of surrogates */
        {"\xed\xa0\xbd.", "?."},                          /* half of one */
        {"\xc3\xa4\xe2\x82\xac", "\xc3\xa4\xe2\x82\xac"},
        {"\xff\xc3", "??"},
        {"\xe2\x82", "??"},
        {"\xc1\x81\xf4\x90\x80\x80", "??????"}, /* overlong; beyond Unicode */
    };
    for (size_t i = 0; i < sizeof text / sizeof text[0]; i++) {
        char out[64];
        size_t n = clean_text(out, sizeof out, text[i].in, strlen(text[i].in));
        assert_string_equal(out, text[i].out);
        assert_int_equal(n, strlen(out));
    }
    char out[4];
    assert_int_equal(clean_text(out, sizeof out, "ab\xe2\x82\xac", 5), 2); /* cut between */
    assert_string_equal(out, "ab");
    assert_int_equal(clean_field(out, sizeof out, "abcd", 3), 3);
}

/* What the agent tells about its work is kept line by line, warnings are not among it. */
static void test_news(void **state) {
    (void)state;
    struct stage s;
    open_stage(&s);
    const struct decoder_notes *n = &s.decoder->notes;
    recording_log(&s.r, 2, "recompiled A.a");
    recording_log(&s.r, 1, "no precision");
    recording_log(&s.r, 2, "recompiled\n\x1b[2J B.b");
    play(&s);
    assert_string_equal(n->news, "recompiled A.a\nrecompiled??[2J B.b\n");
    assert_int_equal(n->news_bytes, strlen(n->news));
    assert_string_equal(n->latest, "recompiled??[2J B.b");
    assert_string_equal(n->log, "no precision");
    assert_int_equal(n->logs, 1);
    assert_int_equal(n->news_left_out, 0);
    close_stage(&s);
}

/* The first ones stay, the last one is known, the others are counted. */
static void test_news_are_bounded(void **state) {
    (void)state;
    enum { LINES = 300, FITS = (DECODER_NEWS_BYTES - 1) / 20 };
    struct stage s;
    open_stage(&s);
    const struct decoder_notes *n = &s.decoder->notes;
    char line[1001];
    for (int i = 1; i <= LINES; i++) {
        snprintf(line, sizeof line, "recompiled C.m%05d", i);
        recording_log(&s.r, 2, line);
    }
    play(&s);
    assert_int_equal(strlen(line) + 1, 20);
    assert_int_equal(n->news_left_out, LINES - FITS);
    assert_int_equal(n->news_bytes, FITS * 20);
    assert_int_equal(strlen(n->news), FITS * 20);
    assert_memory_equal(n->news, "recompiled C.m00001\n", 20);
    snprintf(line, sizeof line, "recompiled C.m%05d\n", FITS);
    assert_string_equal(n->news + (FITS - 1) * 20, line);
    assert_string_equal(n->latest, "recompiled C.m00300");

    memset(line, 'x', sizeof line - 1);
    recording_log(&s.r, 2, line); /* one that is too long is cut */
    play(&s);
    assert_int_equal(strlen(n->latest), sizeof n->latest - 1);
    recording_log(&s.r, 2, "to the end: 15"); /* what still fits is taken */
    recording_log(&s.r, 2, "");
    play(&s);
    assert_int_equal(n->news_left_out, LINES - FITS + 2);
    assert_int_equal(n->news_bytes, DECODER_NEWS_BYTES - 1);
    assert_int_equal(strlen(n->news), DECODER_NEWS_BYTES - 1);
    assert_string_equal(n->latest, "");
    close_stage(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_frame_type),
        cmocka_unit_test(test_names_may_come_late),
        cmocka_unit_test(test_an_id_given_again_is_the_new_method),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_line_tables_are_bounded),
        cmocka_unit_test(test_compiler_threads),
        cmocka_unit_test(test_virtual_threads),
        cmocka_unit_test(test_no_java_frame_is_no_failure),
        cmocka_unit_test(test_waiting_is_bounded),
        cmocka_unit_test(test_waiting_ends_with_time),
        cmocka_unit_test(test_failures_are_named_and_counted),
        cmocka_unit_test(test_return_addresses_name_the_caller),
        cmocka_unit_test(test_threads_get_names_once),
        cmocka_unit_test(test_contradictions_are_refused),
        cmocka_unit_test(test_forgeries_are_refused),
        cmocka_unit_test(test_floods_of_names_end_somewhere),
        cmocka_unit_test(test_impossible_times_and_weights),
        cmocka_unit_test(test_text_is_clean),
        cmocka_unit_test(test_news),
        cmocka_unit_test(test_news_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
