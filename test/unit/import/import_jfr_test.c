/* JFR files made by hand: what of them becomes which record. What the JDK writes is read in
 * test/e2e/formats/import_jfr.py. */
#include "core/import/importer.h"
#include "core/session/session.h"
#include "core/wire/wire_names.h"
#include "test/unit/decode/decoder_fixture.h"
#include "test/unit/export/jfr_fixture.h"

#include <errno.h>

struct seen {
    struct stage stage;
    struct import_result result;
    struct err e;
    uint64_t records[128]; /* by type */
    struct wire_pause pause;
    uint64_t waited_ns, lock_id, owner; /* of the last WIRE_LOCK */
    uint32_t lock_flags;
    uint64_t first_ns, last_ns; /* samples */
    uint32_t tid;               /* of the last */
};

static int see(void *arg, const void *record) {
    struct seen *s = arg;
    uint64_t word;
    memcpy(&word, record, sizeof word);
    uint32_t type = wire_header_type(word);
    s->records[type & 127]++;
    if (type == WIRE_PAUSE)
        memcpy(&s->pause, record, sizeof s->pause);
    if (type == WIRE_LOCK) {
        const struct wire_lock *w = record;
        s->waited_ns = w->waited_ns;
        s->lock_id = w->lock_id;
        s->owner = w->owner_virtual_id;
        s->lock_flags = w->flags;
    }
    if (type == WIRE_SAMPLE) {
        const struct wire_sample *w = record;
        s->tid = w->tid;
        s->last_ns = w->time_ns;
        if (!s->first_ns)
            s->first_ns = w->time_ns;
    }
    decoder_prepare(s->stage.decoder, record);
    decoder_decode(s->stage.decoder, record);
    return 0;
}

static int read_bytes(struct seen *s, const void *data, size_t bytes) {
    *s = (struct seen){0};
    open_stage(&s->stage);
    s->stage.decoder->replay = true;
    void *copy = malloc(bytes);
    assert_non_null(copy);
    memcpy(copy, data, bytes);
    int r = import_jfr.read(copy, bytes, see, s, &s->result, &s->e);
    free(copy);
    decoder_flush(s->stage.decoder);
    assert_int_equal(s->stage.decoder->counts.bad, 0);
    return r;
}

static void read_file(struct seen *s, struct jfr_file *f) {
    assert_false(f->out.failed);
    assert_int_equal(read_bytes(s, f->out.data, f->out.len), 0);
    assert_string_equal(s->result.damage, "");
    text_free(&f->out);
}

static uint64_t samples(struct seen *s, int event) {
    return profile_samples(s->stage.profile, event);
}

static uint64_t weight(struct seen *s, int event) {
    return profile_weight(s->stage.profile, event);
}

/* A chunk with the names of the fixture and whatever else. */
static void three_samples(struct jfr_file *f) {
    jfr_file_chunk(f);
    jfr_file_setting(f, T_EXECUTION, "period", "5 ms");
    jfr_file_event(f, T_EXECUTION, 3000, 1, 2);
    jfr_file_event(f, T_EXECUTION, 1000, 1, 1);
    jfr_file_event(f, T_EXECUTION, 2000, 1, 1);
    jfr_file_names(f);
    jfr_file_end(f);
}

static void stacks_and_periods(void **state) {
    (void)state;
    for (int fixed = 0; fixed < 2; fixed++) {
        struct jfr_file f = {.fixed = fixed};
        struct seen s;
        enum method_kind kind = METHOD_ERROR;
        three_samples(&f);
        read_file(&s, &f);
        assert_int_equal(samples(&s, WIRE_EVENT_CPU), 3);
        assert_int_equal(weight(&s, WIRE_EVENT_CPU), 3 * 5000000);
        assert_int_equal(self_of(&s.stage, "m", &kind), 2);
        assert_int_equal(kind, METHOD_JAVA);
        assert_int_equal(self_of(&s.stage, "n", &kind), 1);
        assert_int_equal(kind, METHOD_NATIVE);
        /* In the order of time, ticks being us. */
        assert_int_equal(s.last_ns - s.first_ns, 2000000);
        assert_int_equal(s.tid, 11);
        assert_int_equal(s.records[WIRE_MARK], 2);
        assert_int_equal(s.records[WIRE_JVM], 1);
        assert_int_equal(s.stage.decoder->marks.sampled_ns, 2000000000);
        close_stage(&s.stage);
    }
}

static void lines(void **state) {
    (void)state;
    struct jfr_file f = {0};
    struct seen s;
    three_samples(&f);
    read_file(&s, &f);
    struct query q = {.event = 0, .lines = true};
    struct snapshot *snap = snapshot_take(s.stage.profile, &q);
    for (uint32_t i = 0; i < snap->method_count; i++)
        if (!strcmp(
                method_table_get(profile_methods(s.stage.profile), snap->methods[i].method)->name,
                "m"))
            q.lines_of = snap->methods[i].method;
    snapshot_free(snap);
    snap = snapshot_take(s.stage.profile, &q);
    assert_int_equal(snap->line_count, 2);
    assert_int_equal(snap->lines[0].line + snap->lines[1].line, 5 + 7);
    snapshot_free(snap);
    close_stage(&s.stage);
}

static void cut_stacks_say_so(void **state) {
    (void)state;
    struct jfr_file f = {0};
    struct seen s;
    jfr_file_chunk(&f);
    jfr_file_event(&f, T_EXECUTION, 1000, 1, 3);
    jfr_file_event(&f, T_EXECUTION, 1000, 1, 0); /* has no stack */
    jfr_file_event(&f, T_EXECUTION, 1000, 1, 77);
    jfr_file_names(&f);
    jfr_file_end(&f);
    read_file(&s, &f);
    const uint64_t *failed = s.stage.decoder->counts.failed;
    assert_int_equal(failed[WIRE_FAILURE_NO_CALLER] + failed[WIRE_FAILURE_TRUNCATED], 1);
    assert_int_equal(failed[WIRE_FAILURE_NONE], 2);
    assert_int_equal(samples(&s, WIRE_EVENT_CPU), 3);
    close_stage(&s.stage);
}

/* "[unknown]" and so on are names that our exports give, too. */
static void failures_come_back(void **state) {
    (void)state;
    for (uint32_t i = 0; i < WIRE_FAILURES; i++) {
        struct jfr_file f = {0};
        struct seen s;
        char name[80];
        snprintf(name, sizeof name, "[%s]", wire_failure_name[i]);
        jfr_file_chunk(&f);
        jfr_file_checkpoint(&f, 1);
        jfr_file_pool(&f, T_SYMBOL, 1);
        jfr_file_symbol(&f, 7, name);
        jfr_file_finish(&f);
        jfr_file_event(&f, T_EXECUTION, 1000, 1, 3);
        jfr_file_names(&f);
        jfr_file_end(&f);
        read_file(&s, &f);
        uint64_t all = 0;
        for (uint32_t j = 0; j < WIRE_FAILURES; j++)
            all += s.stage.decoder->counts.failed[j];
        assert_int_equal(all, 1);
        if (wire_failure_is_error(i))
            assert_int_equal(s.stage.decoder->counts.failed[i], 1);
        close_stage(&s.stage);
    }
}

/* The first of a number counts; another chunk's numbers are its own. */
static void constants(void **state) {
    (void)state;
    struct jfr_file f = {0};
    struct seen s;
    three_samples(&f);
    jfr_file_chunk(&f);
    jfr_file_checkpoint(&f, 1);
    jfr_file_pool(&f, T_SYMBOL, 1);
    jfr_file_symbol(&f, 2, "other");
    jfr_file_finish(&f);
    jfr_file_event(&f, T_EXECUTION, 4000, 1, 1);
    jfr_file_names(&f);
    jfr_file_end(&f);
    read_file(&s, &f);
    assert_int_equal(self_of(&s.stage, "m", NULL), 2);
    assert_int_equal(self_of(&s.stage, "other", NULL), 1);
    assert_int_equal(s.records[WIRE_THREAD], 1);
    close_stage(&s.stage);
}

static void strings(void **state) {
    (void)state;
    static const uint16_t chars[] = {'h', 0xe9, 0x20ac, 0xd83d, 0xde00};
    static const char *const expected[] = {"h\xc3\xa9", "h\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
                                           "pooled"};
    for (unsigned how = 0; how < 3; how++) {
        struct jfr_file f = {.fixed = how == 1};
        struct seen s;
        jfr_file_chunk(&f);
        jfr_file_checkpoint(&f, 2);
        jfr_file_pool(&f, T_STRING, 1);
        jfr_file_symbol(&f, 3, "pooled");
        jfr_file_pool(&f, T_SYMBOL, 1);
        jfr_file_long(&f, 4);
        jfr_file_byte(&f, how == 0 ? 5 : how == 1 ? 4 : 2);
        if (how == 0) {
            jfr_file_int(&f, 2);
            text_add_n(&f.out, "h\xe9", 2);
        } else if (how == 1) {
            jfr_file_int(&f, 5);
            for (unsigned i = 0; i < 5; i++)
                jfr_file_number(&f, chars[i], 2);
        } else {
            jfr_file_long(&f, 3);
        }
        jfr_file_finish(&f);
        jfr_file_event(&f, T_EXECUTION, 1000, 1, 2);
        jfr_file_names(&f);
        jfr_file_end(&f);
        read_file(&s, &f);
        assert_int_equal(self_of(&s.stage, expected[how], NULL), 1);
        close_stage(&s.stage);
    }
}

/* Events of `execution`, and of others besides; what is read as perf events and as methods. */
static void named(const char *execution, bool native, const char *const event[][2],
                  const uint64_t counts[WIRE_EVENTS]) {
    struct jfr_file f = {0};
    struct seen s;
    jfr_file_chunk(&f);
    jfr_file_setting(&f, T_EXECUTION, "event", execution);
    jfr_file_event(&f, T_EXECUTION, 1000, 1, 2);
    if (native)
        jfr_file_event(&f, T_NATIVE, 5000, 1, 1);
    for (unsigned i = 0; event[i][0]; i++)
        for (unsigned k = 0; k < i + 2; k++)
            jfr_file_event_sample(&f, 2000 + i, event[i][0], 7, event[i][1]);
    jfr_file_names(&f);
    jfr_file_end(&f);
    read_file(&s, &f);
    for (int i = 0; i < WIRE_EVENTS; i++)
        if (samples(&s, i) != counts[i])
            fail_msg("%s: %d has %d samples", execution, i, (int)samples(&s, i));
    if (counts[WIRE_EVENT_PERF] > 1)
        assert_int_equal(weight(&s, WIRE_EVENT_PERF), 7 * counts[WIRE_EVENT_PERF]);
    close_stage(&s.stage);
}

static void names_of_jdk_9(void **state) {
    (void)state;
    struct jfr_file f = {.jdk_9 = true};
    struct seen s;
    three_samples(&f);
    read_file(&s, &f);
    assert_int_equal(samples(&s, WIRE_EVENT_CPU), 3);
    assert_int_equal(weight(&s, WIRE_EVENT_CPU), 3 * 5000000);
    assert_int_equal(self_of(&s.stage, "m", NULL), 2);
    close_stage(&s.stage);
}

/* async-profiler before 4.0: CPU time and wall clock as one type, told apart by state. */
static void wall_among_execution_samples(void **state) {
    (void)state;
    static const struct {
        const char *event, *interval, *wall; /* NULL: no such setting */
        uint64_t cpu, cpu_ns, all_wall, wall_ns;
    } table[] = {
        {"cpu", "10000000", "200000000", 1, 10000000, 2, 200000000},
        {"cpu", "0", "200000000", 1, 10000000, 2, 200000000},
        {"", "0", "20000000", 1, 10000000, 2, 20000000},
        {"wall", "0", NULL, 0, 0, 3, 50000000},
        {"wall", "7000000", NULL, 0, 0, 3, 7000000},
        {"wall", "0", "20000000", 0, 0, 3, 20000000},
        {"cpu", "5000000", NULL, 3, 5000000, 0, 0},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct jfr_file f = {.both = true};
        struct seen s;
        jfr_file_chunk(&f);
        jfr_file_setting(&f, T_EXECUTION, "event", table[i].event);
        jfr_file_setting(&f, T_EXECUTION, "interval", table[i].interval);
        if (table[i].wall)
            jfr_file_setting(&f, T_EXECUTION, "wall", table[i].wall);
        for (unsigned k = 1; k <= 3; k++)
            jfr_file_event(&f, T_EXECUTION, 1000 * k, 1, 1, k);
        jfr_file_names(&f);
        jfr_file_end(&f);
        read_file(&s, &f);
        assert_int_equal(samples(&s, WIRE_EVENT_CPU), table[i].cpu);
        assert_int_equal(weight(&s, WIRE_EVENT_CPU), table[i].cpu * table[i].cpu_ns);
        assert_int_equal(samples(&s, WIRE_EVENT_WALL), table[i].all_wall);
        assert_int_equal(weight(&s, WIRE_EVENT_WALL), table[i].all_wall * table[i].wall_ns);
        close_stage(&s.stage);
    }
}

/* async-profiler 4: samples of wall clock are a type, and their period is execution samples'. */
static void period_of_wall(void **state) {
    (void)state;
    for (unsigned of_event = 0; of_event < 2; of_event++) {
        struct jfr_file f = {0};
        struct seen s;
        jfr_file_chunk(&f);
        jfr_file_setting(&f, T_EXECUTION, "interval", "10000000");
        jfr_file_setting(&f, T_EXECUTION, "event", of_event ? "wall" : "cpu");
        jfr_file_event(&f, T_WALL, 4000, 2, 1, 7);
        jfr_file_names(&f);
        jfr_file_end(&f);
        read_file(&s, &f);
        assert_int_equal(weight(&s, WIRE_EVENT_WALL), 7 * (of_event ? 10000000 : 50000000));
        close_stage(&s.stage);
    }
}

/* What is alive weighs less than its allocation, which is a TLAB: the sum stays. */
static void living_objects_leave_the_sum(void **state) {
    (void)state;
    struct jfr_file f = {0};
    struct seen s;
    jfr_file_chunk(&f);
    for (unsigned i = 0; i < 3; i++)
        jfr_file_event(&f, T_ALLOC, 1000 + i, 1, 1, 1, 524287);
    jfr_file_event(&f, T_LIVE, 5000, 1, 1, 1, 24);
    jfr_file_event(&f, T_LIVE, 5001, 1, 1, 1, 600000);
    jfr_file_names(&f);
    jfr_file_end(&f);
    read_file(&s, &f);
    assert_int_equal(samples(&s, WIRE_EVENT_ALLOC), 3);
    assert_int_equal(weight(&s, WIRE_EVENT_ALLOC), 3 * 524287);
    assert_int_equal(samples(&s, EVENT_LIVE), 2);
    assert_int_equal(weight(&s, EVENT_LIVE), 600024);
    close_stage(&s.stage);
}

static void samples_that_say_their_event(void **state) {
    (void)state;
    const char *const faults[][2] = {{"page-faults", "total"}, {0}};
    const char *const two[][2] = {{"page-faults", "total"}, {"a.B.m", "ns"}, {0}};
    const char *const cpu[][2] = {{"itimer", "ns"}, {"page-faults", "total"}, {0}};
    const char *const many[][2] = {{"", NULL},     {"x", "total"}, {"y", "total"},
                                   {"z", "total"}, {"x", "total"}, {0}};
    const uint64_t beside_cpu[WIRE_EVENTS] = {[WIRE_EVENT_CPU] = 1, [WIRE_EVENT_PERF] = 2};
    const uint64_t three[WIRE_EVENTS] = {
        [WIRE_EVENT_CPU] = 1, [WIRE_EVENT_PERF] = 2, [WIRE_EVENT_METHOD] = 3};
    const uint64_t second[WIRE_EVENTS] = {[WIRE_EVENT_METHOD] = 1, [WIRE_EVENT_PERF] = 2};
    const uint64_t cpu_later[WIRE_EVENTS] = {
        [WIRE_EVENT_CPU] = 2, [WIRE_EVENT_PERF] = 3, [WIRE_EVENT_METHOD] = 1};
    const uint64_t places[WIRE_EVENTS] = {
        [WIRE_EVENT_CPU] = 1, [WIRE_EVENT_PERF] = 2, [WIRE_EVENT_METHOD] = 3 + 6};
    named("cpu", false, faults, beside_cpu);
    named("cpu", true, faults, beside_cpu);
    named("cpu", false, two, three);
    named("a.B.m", false, faults, second);
    named("a.B.m", false, cpu, cpu_later);
    named("cpu", false, many, places);
}

static void other_events(void **state) {
    (void)state;
    struct jfr_file f = {0};
    struct seen s;
    jfr_file_chunk(&f);
    jfr_file_setting(&f, T_WALL, "interval", "20000000");
    jfr_file_event(&f, T_ALLOC, 1000, 1, 1, 1, 4096);
    jfr_file_event(&f, T_ENTER, 2000, 3, 1, 1, 1, 2, 0xabc);
    jfr_file_event(&f, T_PAUSE, 3000, 500);
    jfr_file_event(&f, T_WALL, 4000, 2, 1, 7);
    jfr_file_event(&f, T_NATIVE, 5000, 1, 1);
    jfr_file_names(&f);
    jfr_file_end(&f);
    read_file(&s, &f);
    assert_int_equal(weight(&s, WIRE_EVENT_ALLOC), 4096);
    assert_int_equal(weight(&s, WIRE_EVENT_LOCK), 3000000);
    assert_int_equal(s.waited_ns, 3000000);
    assert_int_equal(s.lock_id, 0xabc);
    assert_int_equal(s.owner, 99);
    assert_int_equal(s.lock_flags, WIRE_LOCK_MONITOR);
    assert_int_equal(s.pause.end_ns - s.pause.begin_ns, 500000);
    assert_int_equal(samples(&s, WIRE_EVENT_WALL), 7);
    assert_int_equal(weight(&s, WIRE_EVENT_WALL), 7 * 20000000);
    assert_int_equal(samples(&s, WIRE_EVENT_CPU), 0);
    assert_int_equal(samples(&s, WIRE_EVENT_PERF), 1);
    close_stage(&s.stage);
}

static void native_memory(void **state) {
    (void)state;
    struct jfr_file f = {0};
    struct seen s;
    jfr_file_chunk(&f);
    jfr_file_event(&f, T_FREE, 3000, 1, 1, 0x1000);
    jfr_file_event(&f, T_MALLOC, 1000, 1, 1, 0x1000, 100);
    jfr_file_event(&f, T_MALLOC, 2000, 1, 1, 0x2000, 10);
    jfr_file_event(&f, T_MALLOC, 4000, 1, 1, 0x1000, 1);
    jfr_file_event(&f, T_FREE, 5000, 1, 1, 0x3000);
    jfr_file_names(&f);
    jfr_file_end(&f);
    read_file(&s, &f);
    assert_int_equal(weight(&s, WIRE_EVENT_NATIVEMEM), 111);
    assert_int_equal(weight(&s, EVENT_LEAK), 11);
    close_stage(&s.stage);
}

static void live_objects(void **state) {
    (void)state;
    struct jfr_file f = {0};
    struct seen s;
    jfr_file_chunk(&f);
    jfr_file_event(&f, T_LIVE, 1000, 1, 1, 1, 64);
    jfr_file_names(&f);
    jfr_file_end(&f);
    read_file(&s, &f);
    assert_int_equal(weight(&s, EVENT_LIVE), 64);
    close_stage(&s.stage);
}

/* Beside their allocations, in another chunk and with other weights: nothing is counted twice. */
static void live_allocations(void **state) {
    (void)state;
    struct jfr_file f = {0};
    struct seen s;
    jfr_file_chunk(&f);
    jfr_file_event(&f, T_ALLOC, 1000, 1, 1, 1, 100);
    jfr_file_event(&f, T_ALLOC, 2000, 1, 1, 1, 100);
    jfr_file_event(&f, T_ALLOC, 2000, 1, 2, 1, 7);
    jfr_file_names(&f);
    jfr_file_end(&f);
    jfr_file_chunk(&f);
    jfr_file_event(&f, T_LIVE, 3000, 1, 1, 1, 120);
    jfr_file_names(&f);
    jfr_file_end(&f);
    read_file(&s, &f);
    assert_int_equal(weight(&s, EVENT_LIVE), 120);
    assert_int_equal(samples(&s, EVENT_LIVE), 1);
    assert_int_equal(weight(&s, WIRE_EVENT_ALLOC), 207);
    assert_int_equal(samples(&s, WIRE_EVENT_ALLOC), 3);
    close_stage(&s.stage);
}

/* Among the settings of execution samples it has the interval of wall clock as well. */
static void wall_beside_cpu(void **state) {
    (void)state;
    struct jfr_file f = {0};
    struct seen s;
    jfr_file_chunk(&f);
    jfr_file_setting(&f, T_EXECUTION, "interval", "1000");
    jfr_file_setting(&f, T_EXECUTION, "wall", "20000000");
    jfr_file_event(&f, T_EXECUTION, 1000, 1, 1);
    jfr_file_event(&f, T_WALL, 4000, 2, 1, 7);
    jfr_file_names(&f);
    jfr_file_end(&f);
    read_file(&s, &f);
    assert_int_equal(weight(&s, WIRE_EVENT_CPU), 1000);
    assert_int_equal(weight(&s, WIRE_EVENT_WALL), 7 * 20000000);
    close_stage(&s.stage);
}

/* async-profiler says in a setting of the recording what it sampled. */
static void another_event(void **state) {
    (void)state;
    struct jfr_file f = {0};
    struct seen s;
    jfr_file_chunk(&f);
    jfr_file_setting(&f, T_EXECUTION, "event", "cache-misses");
    jfr_file_setting(&f, T_EXECUTION, "interval", "1000");
    jfr_file_event(&f, T_EXECUTION, 1000, 1, 1);
    jfr_file_names(&f);
    jfr_file_end(&f);
    read_file(&s, &f);
    assert_int_equal(samples(&s, WIRE_EVENT_PERF), 1);
    assert_int_equal(weight(&s, WIRE_EVENT_PERF), 1000);
    assert_string_equal(s.stage.decoder->marks.engine[WIRE_EVENT_PERF].name, "cache-misses");
    close_stage(&s.stage);
}

/* Of two chunks, the second cut: what is whole is there. Nothing before the constants is. */
static void cut_anywhere(void **state) {
    (void)state;
    struct jfr_file f = {0};
    three_samples(&f);
    size_t whole = f.out.len;
    three_samples(&f);
    for (size_t bytes = 4; bytes < f.out.len; bytes++) {
        struct seen s;
        assert_int_equal(read_bytes(&s, f.out.data, bytes), 0);
        assert_true(samples(&s, 0) == (bytes < whole ? 0 : 3));
        assert_true((s.result.damage[0] == '\0') == (bytes == whole));
        close_stage(&s.stage);
    }
    text_free(&f.out);
}

/* One that is being written: what its types are comes early, and so do constants. */
static void unfinished(void **state) {
    (void)state;
    struct jfr_file f = {0};
    struct seen s;
    jfr_file_chunk(&f);
    jfr_file_metadata(&f);
    jfr_file_event(&f, T_EXECUTION, 1000, 1, 1);
    jfr_file_names(&f);
    jfr_file_event(&f, T_EXECUTION, 1000, 1, 44); /* its stack is not written yet */
    assert_int_equal(read_bytes(&s, f.out.data, f.out.len), 0);
    assert_int_equal(samples(&s, 0), 1);
    assert_non_null(strstr(s.result.damage, "still being written"));
    close_stage(&s.stage);
    text_free(&f.out);
}

static void damaged_byte(void **state) {
    (void)state;
    struct jfr_file f = {0};
    three_samples(&f);
    for (size_t at = 68; at < f.out.len; at++) {
        struct seen s;
        char before = f.out.data[at];
        f.out.data[at] = (char)(before ^ 0xff);
        assert_true(read_bytes(&s, f.out.data, f.out.len) <= 0);
        assert_true(samples(&s, 0) <= 3);
        close_stage(&s.stage);
        f.out.data[at] = before;
    }
    text_free(&f.out);
}

static void what_it_is_not(void **state) {
    (void)state;
    struct jfr_file f = {0};
    struct seen s;
    assert_false(import_jfr.knows((const uint8_t *)"FLR", 3, true));
    assert_true(import_jfr.knows((const uint8_t *)"FLR\0", 4, true));
    jfr_file_chunk(&f);
    f.out.data[5] = 9; /* version */
    assert_int_equal(read_bytes(&s, f.out.data, f.out.len), -EINVAL);
    assert_non_null(strstr(s.e.message, "version"));
    close_stage(&s.stage);
    text_free(&f.out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stacks_and_periods),
        cmocka_unit_test(lines),
        cmocka_unit_test(cut_stacks_say_so),
        cmocka_unit_test(failures_come_back),
        cmocka_unit_test(constants),
        cmocka_unit_test(strings),
        cmocka_unit_test(samples_that_say_their_event),
        cmocka_unit_test(names_of_jdk_9),
        cmocka_unit_test(wall_among_execution_samples),
        cmocka_unit_test(period_of_wall),
        cmocka_unit_test(living_objects_leave_the_sum),
        cmocka_unit_test(other_events),
        cmocka_unit_test(native_memory),
        cmocka_unit_test(live_objects),
        cmocka_unit_test(live_allocations),
        cmocka_unit_test(wall_beside_cpu),
        cmocka_unit_test(another_event),
        cmocka_unit_test(cut_anywhere),
        cmocka_unit_test(unfinished),
        cmocka_unit_test(damaged_byte),
        cmocka_unit_test(what_it_is_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
