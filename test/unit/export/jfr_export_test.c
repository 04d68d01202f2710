/* The JFR file's frame: sizes that lead from event to event, positions and counts. What the events
 * say is read by the JDK itself in test/e2e/formats/export_readers.py. */
#include "test/unit/export/export_fixture.h"

#include "core/export/jfr/jfr_write.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static uint64_t big(const unsigned char *at, int bytes) {
    uint64_t n = 0;
    for (int i = 0; i < bytes; i++)
        n = n << 8 | at[i];
    return n;
}

static uint64_t number(const unsigned char **at) {
    uint64_t n = 0;
    for (int i = 0; i < 9; i++) {
        uint64_t b = *(*at)++;
        n |= (i < 8 ? b & 127 : b) << 7 * i;
        if (i == 8 || b < 128)
            return n;
    }
    return n;
}

struct chunk {
    struct text out;
    const unsigned char *data;
    uint64_t events[100]; /* by type */
    uint64_t weight;      /* of allocation samples */
};

static uint32_t type_row(const char *type) {
    return jfr_type(type) - JFR_TYPES_BEGIN + 2;
}

/* Walks the whole chunk. */
static void walk(struct chunk *to) {
    struct chunk c = *to;
    c.data = (const unsigned char *)c.out.data;
    assert_memory_equal(c.data, "FLR\0\0\2\0\0", 8);
    assert_int_equal(big(c.data + 8, 8), c.out.len);
    uint64_t checkpoint = big(c.data + 16, 8), metadata = big(c.data + 24, 8);
    assert_int_equal(big(c.data + 56, 8), 1000000000);
    bool met_checkpoint = false, met_metadata = false;
    size_t at = 68;
    while (at < c.out.len) {
        const unsigned char *field = c.data + at;
        uint64_t size = number(&field), type = number(&field);
        assert_in_range(size, 2, c.out.len - at);
        uint64_t row = type < JFR_TYPES_BEGIN ? type : type - JFR_TYPES_BEGIN + 2;
        assert_in_range(row, 0, 99);
        c.events[row]++;
        met_checkpoint |= at == checkpoint && type == JFR_EVENT_CHECKPOINT;
        met_metadata |= at == metadata && type == JFR_EVENT_METADATA;
        if (type == jfr_type("jdk.ObjectAllocationInNewTLAB")) {
            for (int i = 0; i < 5; i++)
                (void)number(&field);
            c.weight += number(&field);
            assert_ptr_equal(field, c.data + at + size);
        }
        at += size;
    }
    assert_int_equal(at, c.out.len);
    assert_true(met_checkpoint && met_metadata);
    assert_int_equal(c.events[JFR_EVENT_CHECKPOINT], 1);
    *to = c;
}

static struct chunk written(struct profile *p, const char *event, const struct query *question) {
    struct chunk c = {0};
    const struct query all = {.tree = true}, *q = question ? question : &all;
    const struct export_quality quality = {
        .event = event, .unit = "ns", .interval = 1, .day_ns = 1700000000000000007};
    const struct export_options o = {.question = q};
    struct export_options unused = {0};
    struct snapshot *s = snapshot_take(p, q);
    assert_int_equal(exporter_by_format("jfr", &unused)->write(&c.out, p, s, &quality, &o), 0);
    snapshot_free(s);
    walk(&c);
    assert_int_equal(big((const unsigned char *)c.out.data + 32, 8) -
                         big((const unsigned char *)c.out.data + 48, 8),
                     quality.day_ns);
    return c;
}

static void an_event_for_every_sample(void **unused) {
    (void)unused;
    struct profile *p = profile_new(0);
    fixture_add(p, 21, "j:a/B.run()V\ti:a/B.get(I)I\tn:read\tk:vfs_read", 3, 300);
    fixture_add(p, 22, "j:a/B.run()V\te:[unknown_Java]", 200, 2000);
    struct chunk c = written(p, "cpu", NULL);
    assert_int_equal(c.events[type_row("jdk.ExecutionSample")], 203);
    text_free(&c.out);
    c = written(p, "page-faults", &(struct query){.tid = 21});
    assert_int_equal(c.events[type_row("jdk.ExecutionSample")], 3);
    text_free(&c.out);
    c = written(p, "wall", NULL);
    assert_int_equal(c.events[type_row("profiler.WallClockSample")], 2);
    text_free(&c.out);
    profile_free(p);
}

/* Of what would be execution samples only the first are; the others say what they are of. */
static void two_events_are_not_mixed(void **unused) {
    (void)unused;
    struct profile *p = profile_new(0);
    fixture_add(p, 21, "j:a/B.run()V\ti:a/B.get(I)I", 3, 300);
    static const char *const events[] = {"wall", "cpu", "page-faults", "a.B.run"};
    struct export_quality quality[4];
    struct export_part part[4];
    const struct query q[2] = {{.tree = true}, {.tree = true, .tid = 9}};
    const struct export_options o = {0};
    struct export_options options = {0};
    struct snapshot *s = snapshot_take(p, &q[0]);
    for (int i = 0; i < 4; i++) {
        quality[i] = (struct export_quality){.event = events[i], .unit = i < 2 ? "ns" : "total"};
        part[i] = (struct export_part){s, &quality[i], &q[i == 3]};
    }
    struct chunk c = {0};
    const struct exporter *jfr = exporter_by_format("jfr", &options);
    assert_int_equal(jfr->write_all(&c.out, p, part, 4, &o), 0);
    walk(&c);
    assert_int_equal(c.events[type_row("profiler.WallClockSample")], 1);
    assert_int_equal(c.events[type_row("jdk.ExecutionSample")], 3);
    assert_int_equal(c.events[type_row("profiler.EventSample")], 3);
    assert_non_null(memmem(c.out.data, c.out.len, "\3\13page-faults\144\3\5total", 21));
    text_free(&c.out);
    c = (struct chunk){0};
    assert_int_equal(jfr->write_all(&c.out, p, part + 2, 1, &o), 0);
    walk(&c);
    assert_int_equal(c.events[type_row("jdk.ExecutionSample")], 3);
    text_free(&c.out);
    snapshot_free(s);
    profile_free(p);
}

/* The weight of samples that are one in the profile is shared out, to the byte. */
static void no_byte_is_lost(void **unused) {
    (void)unused;
    struct profile *p = profile_new(0);
    fixture_add(p, 21, "j:a/B.run()V\to:[B", 7, 1000003);
    fixture_add(p, 21, "j:a/B.run()V\to:java/lang/String", 1, 17);
    struct chunk c = written(p, "alloc", NULL);
    assert_int_equal(c.events[type_row("jdk.ObjectAllocationInNewTLAB")], 8);
    assert_int_equal(c.weight, 1000020);
    text_free(&c.out);
    profile_free(p);
}

static void a_park_is_no_monitor(void **unused) {
    (void)unused;
    struct profile *p = profile_new(0);
    fixture_add(p, 21, "j:a/B.run()V\to:java/lang/Object", 2, 3000);
    fixture_add(p, 21, "j:a/B.lock()V\tj:jdk/internal/misc/Unsafe.park(ZJ)V\to:a/Sync", 3, 30);
    struct chunk c = written(p, "lock", NULL);
    assert_int_equal(c.events[type_row("jdk.JavaMonitorEnter")], 2);
    assert_int_equal(c.events[type_row("jdk.ThreadPark")], 3);
    text_free(&c.out);
    profile_free(p);
}

/* Empty pools may not be written, nor a signature that readers would stumble over. */
static void strange_profiles_are_files(void **unused) {
    (void)unused;
    struct profile *p = profile_new(0);
    struct chunk c = written(p, NULL, NULL);
    assert_int_equal(c.events[type_row("jdk.ActiveRecording")], 1);
    text_free(&c.out);
    char *name = malloc(100001);
    memset(name, 'x', 100000);
    name[100000] = '\0';
    struct profile_frame f = {
        .method = method_table_intern(profile_methods(p), METHOD_JAVA, name, "\n;(", "(", "")};
    struct profile_sample s = {
        .time_ns = 5000000000, .weight = 1, .count = 1, .tid = 1, .frames = 1, .frame = &f};
    assert_int_equal(profile_add(p, &s), 0);
    c = written(p, "cpu", NULL);
    assert_null(memmem(c.out.data, c.out.len, "\3\1(", 3));
    assert_non_null(memmem(c.out.data, c.out.len, "\3\4()L;", 6));
    text_free(&c.out);
    free(name);
    profile_free(p);
}

static void numbers_are_the_jdks(void **unused) {
    (void)unused;
    static const uint64_t n[] = {0, 127, 128, 300, 1u << 31, UINT64_MAX, 1ull << 56, 1ull << 63};
    static const size_t bytes[] = {1, 1, 2, 2, 5, 9, 9, 9};
    for (size_t i = 0; i < sizeof n / sizeof n[0]; i++) {
        struct text out = {0};
        jfr_number(&out, n[i]);
        const unsigned char *at = (const unsigned char *)out.data;
        assert_int_equal(out.len, bytes[i]);
        assert_int_equal(number(&at), n[i]);
        text_free(&out);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_event_for_every_sample), cmocka_unit_test(no_byte_is_lost),
        cmocka_unit_test(a_park_is_no_monitor),      cmocka_unit_test(strange_profiles_are_files),
        cmocka_unit_test(numbers_are_the_jdks),      cmocka_unit_test(two_events_are_not_mixed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
