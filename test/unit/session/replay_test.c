#include "core/decode/decoder.h"
#include "core/profile/snapshot/snapshot.h"
#include "core/profile/table/frame_name.h"
#include "core/record/recording.h"
#include "core/session/session.h"
#include "test/unit/recording.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)
#define JAVA(id) wire_frame_java(WIRE_FRAME_C2, id, 3)

struct file {
    char path[64];
};

static int make_file(void **state) {
    struct file *f = calloc(1, sizeof *f);
    strcpy(f->path, "/tmp/jtop-replay-XXXXXX");
    int fd = mkstemp(f->path);
    close(fd);
    *state = f;
    return fd < 0;
}

static int remove_file(void **state) {
    struct file *f = *state;
    unlink(f->path);
    free(f);
    return 0;
}

static void fill(struct recording *r) {
    recording_jvm(r, 4242, "shop.Main", "17.0.15+6");
    recording_mark(r, 100 * SECOND, 0);
    recording_method(r, 1, "shop/Cart", "add", "(I)V");
    recording_method(r, 2, "shop/Main", "main", "([Ljava/lang/String;)V");
    recording_thread(r, 7, 1, "main");
    for (uint64_t i = 0; i < 10; i++)
        recording_sample(r, 100 * SECOND + i * SECOND / 10, 7, 10000000, 2, JAVA(1), JAVA(2));
    recording_mark(r, 103 * SECOND, 5);
}

static void mark_of(struct recording *r, enum wire_event event, uint64_t second, bool runs) {
    struct wire_mark w = {.time_ns = second * SECOND,
                          .engine = {.event = event,
                                     .mechanism = runs ? WIRE_MECHANISM_PERF : WIRE_MECHANISM_AUTO,
                                     .interval = 10000000},
                          .walker = "vm"};
    recording_add(r, WIRE_MARK, &w, sizeof w, "", "", "");
}

static uint64_t sampled_seconds(const char *path, uint64_t from, uint64_t to, int event) {
    struct session *s;
    struct err e;
    struct session_options o = {.from_ms = from * 1000, .to_ms = to * 1000};
    assert_int_equal(session_replay(path, &o, &s, &e), 0);
    struct snapshot *snap = snapshot_take(session_lock(s), &(struct query){.event = event});
    session_unlock(s);
    uint64_t seconds = (snap->sampled_ns + SECOND / 2) / SECOND;
    snapshot_free(snap);
    session_close(s);
    return seconds;
}

/* An event that was started later, and stopped before the end: then it has no mark any more. */
static void test_when_events_ran(void **state) {
    struct file *f = *state;
    struct recording r = {0};
    recording_jvm(&r, 4242, "shop.Main", "17.0.15+6");
    recording_method(&r, 1, "shop/Cart", "add", "(I)V");
    mark_of(&r, WIRE_EVENT_CPU, 100, true);
    for (uint64_t i = 100; i < 180; i++) {
        recording_sample(&r, i * SECOND, 7, 10000000, 1, JAVA(1));
        if (i == 150 || i == 163 || i == 170) {
            mark_of(&r, WIRE_EVENT_CPU, i, true);
            if (i == 150)
                mark_of(&r, WIRE_EVENT_ALLOC, i, true);
        }
    }
    mark_of(&r, WIRE_EVENT_CPU, 180, true);
    assert_int_equal(recording_save(&r, f->path), 0);
    assert_int_equal(sampled_seconds(f->path, 0, 0, WIRE_EVENT_CPU), 80);
    assert_int_equal(sampled_seconds(f->path, 0, 0, WIRE_EVENT_ALLOC), 13);
    assert_int_equal(sampled_seconds(f->path, 20, 60, WIRE_EVENT_CPU), 40);
    assert_int_equal(sampled_seconds(f->path, 20, 60, WIRE_EVENT_ALLOC), 10);
    recording_done(&r);
}

/* Lines and virtual threads are in the file like everything else. */
static void test_lines_and_virtual_threads(void **state) {
    struct file *f = *state;
    struct recording r = {0};
    struct session *s;
    struct err e;
    struct session_options o = {0};
    static const uint16_t lines[] = {0, 40, 3, 41};
    fill(&r);
    recording_virtual_thread(&r, 7, 31, "task");
    recording_method_lines(&r, 3, "shop/Item", "price", lines, sizeof lines);
    recording_virtual_sample(&r, 101 * SECOND, 7, 31, 10, JAVA(3));
    assert_int_equal(recording_save(&r, f->path), 0);
    assert_int_equal(session_replay(f->path, &o, &s, &e), 0);
    struct profile *profile = session_lock(s);
    struct query q = {.virtual_id = 31, .lines = true};
    q.lines_of =
        method_table_intern(profile_methods(profile), METHOD_JAVA, "shop/Item", "price", "", "");
    struct snapshot *snap = snapshot_take(profile, &q);
    assert_int_equal(snap->samples, 1);
    assert_string_equal(snap->threads[0].name, "task");
    assert_int_equal(snap->line_count, 1);
    assert_int_equal(snap->lines[0].line, 41);
    snapshot_free(snap);
    session_unlock(s);
    session_close(s);
    recording_done(&r);
}

static void test_a_recording_is_all_there(void **state) {
    struct file *f = *state;
    struct recording r = {0};
    fill(&r);
    assert_int_equal(recording_save(&r, f->path), 0);
    struct session *s;
    struct err e;
    struct session_options o = {0};
    assert_int_equal(session_replay(f->path, &o, &s, &e), 0);
    struct session_status st;
    session_status(s, &st);
    assert_int_equal(st.phase, SESSION_REPLAYED);
    assert_string_equal(st.event, "cpu");
    assert_string_equal(st.mechanism, "perf");
    assert_string_equal(st.walker, "vm");
    assert_string_equal(st.message, "");
    assert_int_equal(st.interval, 10000000);
    assert_int_equal(st.samples, 10);
    assert_int_equal(st.dropped, 5);
    assert_int_equal(st.elapsed_ns, 3 * SECOND);
    assert_int_equal(st.day_ns, 1699999900123456789);
    assert_false(st.undated);
    struct jvm j;
    session_jvm(s, &j);
    assert_int_equal(j.pid, 4242);
    assert_string_equal(j.name, "shop.Main");
    assert_string_equal(j.version, "17.0.15+6");
    struct pollfd p = {.fd = session_event_fd(s), .events = POLLIN};
    assert_int_equal(poll(&p, 1, 0), 1);

    struct profile *profile = session_lock(s);
    struct query q = {.event = WIRE_EVENT_CPU};
    struct snapshot *snap = snapshot_take(profile, &q);
    assert_int_equal(snap->samples, 10);
    assert_int_equal(snap->method_count, 2);
    char name[64];
    frame_name(method_table_get(profile_methods(profile), snap->methods[0].method), NAME_DOTTED,
               name, sizeof name);
    assert_string_equal(name, "shop.Cart.add");
    assert_string_equal(snap->threads[0].name, "main");
    snapshot_free(snap);
    session_unlock(s);
    assert_int_equal(session_stop(s, &e), 0);
    session_close(s);
    recording_done(&r);
}

static void engine_at(struct recording *r, uint64_t second, enum wire_event event,
                      enum wire_mechanism mechanism, int error) {
    struct wire_engine_status engine = {.event = event,
                                        .mechanism = mechanism,
                                        .interval = 50,
                                        .error = error,
                                        .dropped = second,
                                        .expected_ns = 100,
                                        .covered_ns = 75,
                                        .name = "e\033",
                                        .reason = "why"};
    recording_engine(r, second * SECOND, &engine);
}

/* Two engines for two seconds, five without any, then another one for a second, cut off. */
static void test_engines_come_and_go(void **state) {
    struct file *f = *state;
    struct recording r = {0};
    struct session *s;
    struct err e;
    struct session_status st;
    struct session_options o = {0};
    for (uint64_t second = 100; second <= 102; second++) {
        engine_at(&r, second, WIRE_EVENT_CPU, WIRE_MECHANISM_CTIMER, 0);
        engine_at(&r, second, WIRE_EVENT_PERF, WIRE_MECHANISM_AUTO, ENOENT);
        recording_sample(&r, second * SECOND, 7, 10, 1, JAVA(1));
    }
    engine_at(&r, 102, WIRE_EVENT_CPU, WIRE_MECHANISM_AUTO, 0);
    engine_at(&r, 103, WIRE_EVENT_CPU, WIRE_MECHANISM_AUTO, 0);
    engine_at(&r, 107, WIRE_EVENT_WALL, WIRE_MECHANISM_SIGNAL, 0);
    engine_at(&r, 105, WIRE_EVENT_WALL, WIRE_MECHANISM_SIGNAL, 0); /* backwards: no time */
    engine_at(&r, 108, WIRE_EVENT_WALL, WIRE_MECHANISM_SIGNAL, 0);
    recording_log(&r, 2, "recompiled A.a");
    recording_window(&r, 101 * SECOND, 102 * SECOND);
    recording_pause(&r, 101 * SECOND, 101 * SECOND + 5, WIRE_PAUSE_GC);
    assert_int_equal(recording_save(&r, f->path), 0);
    assert_int_equal(session_replay(f->path, &o, &s, &e), 0);
    session_status(s, &st);
    assert_int_equal(st.elapsed_ns, 6 * SECOND); /* 100 to 102, 102 to 103 it stopped; 105 to 108 */
    assert_string_equal(st.event, "e?");
    assert_string_equal(st.mechanism, "signal");
    assert_string_equal(st.news, "recompiled A.a");
    assert_int_equal(st.windows, 1);
    assert_int_equal(st.window_ns, SECOND);
    const struct session_engine *wall = &st.engine[WIRE_EVENT_WALL];
    const struct session_engine *cpu = &st.engine[WIRE_EVENT_CPU];
    assert_true(wall->asked && wall->coverage > 0.74 && wall->coverage < 0.76);
    assert_int_equal(wall->dropped, 108);
    assert_true(!cpu->asked && cpu->samples == 3);
    assert_string_equal(cpu->mechanism, "");
    assert_int_equal(st.engine[WIRE_EVENT_PERF].error, 0); /* not asked for at the end */
    struct profile_second pause;
    profile_timeline(session_lock(s), WIRE_EVENT_CPU, 101, 1, &pause);
    session_unlock(s);
    assert_int_equal(pause.paused_ns[0], 5);
    session_close(s);
    recording_done(&r);
}

/* What a recording has can be looked at in part. */
static void test_filters_and_tags(void **state) {
    struct file *f = *state;
    struct recording r = {0};
    struct session *s;
    struct err e;
    struct session_options o = {.thread_pattern = "main", .tag_cpu = true, .tag_sched = true};
    uint64_t frame = JAVA(1);
    fill(&r);
    recording_thread(&r, 8, 2, "other");
    for (uint32_t tid = 7; tid <= 9; tid++)
        recording_whole_sample(
            &r, &(struct wire_sample){.time_ns = 101 * SECOND, .weight = 10, .tid = tid, .cpu = 3},
            &frame, 1);
    assert_int_equal(recording_save(&r, f->path), 0);
    assert_int_equal(session_replay(f->path, &o, &s, &e), 0);
    struct session_status st;
    session_status(s, &st);
    assert_int_equal(st.samples, 11);
    struct query q = {.filter = "[CPU-3]"};
    struct snapshot *snap = snapshot_take(session_lock(s), &q);
    session_unlock(s);
    assert_int_equal(snap->samples, 1);
    snapshot_free(snap);
    session_close(s);
    o.thread_pattern = "[";
    assert_int_equal(session_replay(f->path, &o, &s, &e), -EINVAL);
    assert_null(s);
    recording_done(&r);
}

/* Cut anywhere: no crash, no more samples than whole records, and the cut is told. */
static void test_a_recording_cut_anywhere(void **state) {
    struct file *f = *state;
    struct recording r = {0};
    struct err e;
    struct session_options o = {0};
    fill(&r);
    size_t whole = r.bytes.len;
    size_t boundary = 0;
    size_t next = 0;
    for (size_t length = 0; length < whole; length++) {
        if (length == next) {
            boundary = length;
            recording_next(&r, &next);
        }
        assert_int_equal(recording_save(&r, f->path), 0);
        assert_int_equal(truncate(f->path, (off_t)(sizeof(struct wire_file_header) + length)), 0);
        struct session *s;
        assert_int_equal(session_replay(f->path, &o, &s, &e), 0);
        struct session_status st;
        session_status(s, &st);
        assert_true(st.samples <= 10);
        if (length == boundary)
            assert_string_equal(st.message, "");
        else
            assert_non_null(strstr(st.message, "cut or damaged"));
        session_close(s);
    }
    recording_done(&r);
}

/* Every byte changed in turn: it may mean something else, it may end there, it must not crash. */
static void test_a_damaged_recording(void **state) {
    struct file *f = *state;
    struct recording r = {0};
    struct err e;
    struct session_options o = {0};
    fill(&r);
    static const unsigned char change[] = {0x01, 0x80, 0xff};
    for (size_t i = 0; i < r.bytes.len * 3; i++) {
        r.bytes.data[i / 3] = (char)(r.bytes.data[i / 3] ^ change[i % 3]);
        assert_int_equal(recording_save(&r, f->path), 0);
        struct session *s;
        assert_int_equal(session_replay(f->path, &o, &s, &e), 0);
        struct profile *p = session_lock(s);
        assert_true(profile_samples(p, WIRE_EVENT_CPU) <= 10 + DECODER_COUNT_MAX);
        session_unlock(s);
        session_close(s);
        r.bytes.data[i / 3] = (char)(r.bytes.data[i / 3] ^ change[i % 3]);
    }
    recording_done(&r);
}

static void test_what_is_no_recording(void **state) {
    struct file *f = *state;
    struct err e;
    struct session *s = (void *)1;
    struct session_options o = {0};
    assert_int_equal(session_replay("/nonexistent/rec", &o, &s, &e), -ENOENT);
    assert_null(s);
    assert_non_null(strstr(e.message, "/nonexistent/rec"));
    assert_int_equal(session_replay("/dev/zero", &o, &s, &e), -EINVAL);
    assert_int_equal(session_replay(f->path, &o, &s, &e), -EINVAL); /* empty */
    for (uint32_t abi = WIRE_FILE_MAJOR - 1; abi <= WIRE_ABI_MAJOR + 1; abi += 2) {
        char want[128];
        struct wire_file_header h = {WIRE_FILE_MAGIC, abi, 0};
        FILE *file = fopen(f->path, "wb");
        assert_int_equal(fwrite(&h, sizeof h, 1, file), 1);
        fclose(file);
        assert_int_equal(session_replay(f->path, &o, &s, &e), -EINVAL);
        snprintf(want, sizeof want, "%s was recorded with format %u, this program reads format %u",
                 f->path, abi, WIRE_FILE_MAJOR);
        assert_string_equal(e.message, want);
    }
    unlink(f->path);
    assert_int_equal(mkfifo(f->path, 0600), 0);
    assert_int_equal(session_replay(f->path, &o, &s, &e), -EINVAL); /* and does not wait */
}

/* What the writer writes, the reader reads; a full disk is told and leaves whole records. */
static void test_writing_and_reading_back(void **state) {
    struct file *f = *state;
    struct err e;
    struct recording_writer *w;
    struct recording r = {0};
    recording_thread(&r, 9, 3, "worker");
    assert_int_equal(recording_create(f->path, &w, &e), 0);
    recording_write_jvm(w, 11, "Name", "21");
    recording_write_symbol(w, 0x1234, METHOD_CPP, "a::b", "libx.so");
    recording_write(w, r.bytes.data);
    assert_int_equal(recording_finish(w, &e), 0);
    struct recording_reader *reader;
    uint64_t *record = malloc(WIRE_RECORD_BYTES_MAX);
    assert_int_equal(recording_open(f->path, &reader, &e), 0);
    assert_int_equal(recording_read(reader, record), sizeof(struct wire_jvm) + 8);
    assert_in_range(recording_read(reader, record), sizeof(struct wire_environment),
                    sizeof(struct wire_environment) + ENVIRONMENT_SIZE);
    assert_int_equal(wire_header_type(*record), WIRE_ENVIRONMENT);
    assert_non_null(strstr((char *)((struct wire_environment *)(void *)record)->bytes,
                           "\nprofiler=jtop-prof "));
    assert_int_equal(recording_read(reader, record), sizeof(struct wire_symbol) + 16);
    assert_int_equal(((struct wire_symbol *)(void *)record)->address, 0x1234);
    assert_memory_equal(((struct wire_symbol *)(void *)record)->bytes, "a::blibx.so\0\0\0\0\0", 16);
    assert_int_equal(recording_read(reader, record), r.bytes.len);
    assert_memory_equal(record, r.bytes.data, r.bytes.len);
    assert_int_equal(recording_read(reader, record), 0);
    assert_int_equal(recording_damage(reader), 0);
    assert_false(recording_is_unfinished(reader));
    recording_free(reader);

    assert_int_equal(recording_create("/nonexistent/rec", &w, &e), -ENOENT);
    assert_int_equal(e.exit_code, ERR_EXIT_ARGUMENT);
    if (access("/dev/full", W_OK) == 0) {
        assert_int_equal(recording_create("/dev/full", &w, &e), 0);
        assert_int_equal(recording_flush(w, &e), -ENOSPC);
        recording_write(w, r.bytes.data);
        assert_int_equal(recording_finish(w, &e), -ENOSPC);
        assert_non_null(strstr(e.message, "/dev/full"));
    }
    free(record);
    recording_done(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_recording_is_all_there, make_file, remove_file),
        cmocka_unit_test_setup_teardown(test_a_recording_cut_anywhere, make_file, remove_file),
        cmocka_unit_test_setup_teardown(test_a_damaged_recording, make_file, remove_file),
        cmocka_unit_test_setup_teardown(test_when_events_ran, make_file, remove_file),
        cmocka_unit_test_setup_teardown(test_lines_and_virtual_threads, make_file, remove_file),
        cmocka_unit_test_setup_teardown(test_engines_come_and_go, make_file, remove_file),
        cmocka_unit_test_setup_teardown(test_filters_and_tags, make_file, remove_file),
        cmocka_unit_test_setup_teardown(test_what_is_no_recording, make_file, remove_file),
        cmocka_unit_test_setup_teardown(test_writing_and_reading_back, make_file, remove_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
