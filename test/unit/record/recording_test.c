#include "core/record/recording.h"
#include "core/session/session.h"
#include "test/unit/recording.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)
#define JAVA(id) wire_frame_java(WIRE_FRAME_C2, id, 3)
#define RECORDS 200u
#define BATCH 20u

struct file {
    char path[64], cut[64];
};

static void name_file(char *path) {
    strcpy(path, "/tmp/jtop-recording-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
}

static int make_files(void **state) {
    struct file *f = calloc(1, sizeof *f);
    name_file(f->path);
    name_file(f->cut);
    *state = f;
    return 0;
}

static int remove_files(void **state) {
    struct file *f = *state;
    unlink(f->path);
    unlink(f->cut);
    free(f);
    return 0;
}

static off_t size_of(const char *path) {
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return st.st_size;
}

static char *slurp(const char *path, size_t *size) {
    *size = (size_t)size_of(path);
    char *data = malloc(*size);
    FILE *f = fopen(path, "rb");
    assert_int_equal(fread(data, 1, *size, f), *size);
    fclose(f);
    return data;
}

static void spill(const char *path, const char *data, size_t size) {
    FILE *f = fopen(path, "wb");
    assert_int_equal(fwrite(data, 1, size, f), size);
    fclose(f);
}

/* RECORDS threads' names, a flush each BATCH; sizes[i]: of the file behind the i-th flush. */
static void write_batches(const char *path, off_t sizes[RECORDS / BATCH]) {
    struct recording_writer *w;
    struct err e;
    assert_int_equal(recording_create(path, &w, &e), 0);
    for (uint32_t i = 0; i < RECORDS; i++) {
        struct recording r = {0};
        char name[32];
        snprintf(name, sizeof name, "thread-%u", i * 7919);
        recording_thread(&r, i + 1, i, name);
        recording_write(w, r.bytes.data);
        recording_done(&r);
        if ((i + 1) % BATCH == 0) {
            assert_int_equal(recording_flush(w, &e), 0);
            sizes[i / BATCH] = size_of(path);
        }
    }
    assert_int_equal(recording_finish(w, &e), 0);
}

/* How many records; each must be one that was written, in its place, unless `broken`. */
static uint32_t count(const char *path, bool broken, bool *whole) {
    static uint64_t record[WIRE_RECORD_BYTES_MAX / 8];
    struct recording_reader *r;
    struct err e;
    uint32_t n = 0;
    *whole = false;
    if (recording_open(path, &r, &e) != 0)
        return 0;
    for (; recording_read(r, record) && n < 10 * RECORDS; n++)
        if (!broken)
            assert_int_equal(((struct wire_thread *)(void *)record)->tid, n + 1);
    *whole = !recording_damage(r) && !recording_is_unfinished(r);
    recording_free(r);
    return n;
}

/* Whatever was flushed before the cut is there, and only a whole file passes for one. */
static void test_cut_at_every_byte(void **state) {
    struct file *f = *state;
    off_t sizes[RECORDS / BATCH];
    size_t size;
    uint32_t before = 0;
    bool whole;
    write_batches(f->path, sizes);
    char *data = slurp(f->path, &size);
    assert_true(size < RECORDS * 20);
    for (size_t length = 16; length <= size; length++) {
        spill(f->cut, data, length);
        uint32_t n = count(f->cut, false, &whole), flushed = 0;
        while (flushed < RECORDS / BATCH && (size_t)sizes[flushed] <= length)
            flushed++;
        assert_true(n >= flushed * BATCH && n >= before && n <= RECORDS);
        if (length > 24) /* shorter ones are empty, and do not say how they go on */
            assert_int_equal(whole, length == size);
        before = n;
    }
    assert_int_equal(before, RECORDS);
    free(data);
}

static void test_broken_at_every_byte(void **state) {
    struct file *f = *state;
    off_t sizes[RECORDS / BATCH];
    size_t size;
    bool whole;
    write_batches(f->path, sizes);
    char *data = slurp(f->path, &size);
    for (size_t at = 24; at < size; at++) {
        data[at] = (char)~data[at];
        spill(f->cut, data, size);
        assert_true(count(f->cut, true, &whole) <= RECORDS + 8);
        assert_false(whole);
        data[at] = (char)~data[at];
    }
    free(data);
}

/* Who reads a pipe gets the records as they are. */
static void test_a_pipe(void **state) {
    (void)state;
    int fd[2];
    char path[32];
    struct wire_file_header header;
    struct recording r = {0};
    struct recording_writer *w;
    struct err e;
    static uint64_t record[64];
    assert_int_equal(pipe(fd), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", fd[1]);
    recording_thread(&r, 9, 3, "worker");
    assert_int_equal(recording_create(path, &w, &e), 0);
    recording_write(w, r.bytes.data);
    assert_int_equal(recording_finish(w, &e), 0);
    assert_int_equal(read(fd[0], &header, sizeof header), sizeof header);
    assert_int_equal(header.magic, WIRE_FILE_MAGIC);
    assert_int_equal(read(fd[0], record, sizeof record), r.bytes.len);
    assert_memory_equal(record, r.bytes.data, r.bytes.len);
    close(fd[0]);
    close(fd[1]);
    recording_done(&r);
}

static uint64_t samples(const char *path, const struct session_options *o, int event) {
    struct session *s;
    struct session_status st;
    struct err e;
    assert_int_equal(session_replay(path, o, &s, &e), 0);
    session_status(s, &st);
    session_close(s);
    return event < 0 ? st.elapsed_ns : st.engine[event].samples;
}

/* Times count from the earliest sample, wherever it is in the file. */
static void test_windows(void **state) {
    struct file *f = *state;
    struct recording r = {0};
    recording_mark(&r, 100 * SECOND, 0);
    for (uint64_t i = 10; i-- > 0;)
        recording_sample(&r, 100 * SECOND + i * SECOND / 10, 7, 10, 1, JAVA(1));
    recording_event_sample(&r, WIRE_EVENT_WALL, 100 * SECOND, 8, 5, (uint64_t[]){JAVA(2)}, 1);
    for (uint64_t i = 1; i < 10; i++)
        recording_repeat(&r, WIRE_EVENT_WALL, 100 * SECOND + i * SECOND / 10, 8, 5, 1);
    recording_mark(&r, 101 * SECOND, 0);
    assert_int_equal(recording_save(&r, f->path), 0);
    static const struct {
        uint64_t from_ms, to_ms, samples, elapsed_ms;
    } table[] = {{0, 0, 10, 1000},   {0, 100, 1, 100},  {0, 101, 2, 101},  {250, 0, 7, 750},
                 {300, 500, 2, 200}, {301, 399, 0, 98}, {900, 950, 1, 50}, {5000, 0, 0, 0}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct session_options o = {.from_ms = table[i].from_ms, .to_ms = table[i].to_ms};
        assert_int_equal(samples(f->path, &o, WIRE_EVENT_CPU), table[i].samples);
        assert_int_equal(samples(f->path, &o, WIRE_EVENT_WALL), table[i].samples);
        assert_int_equal(samples(f->path, &o, -1), table[i].elapsed_ms * 1000000);
    }
    recording_done(&r);
}

static void test_events_that_are_missing(void **state) {
    struct file *f = *state;
    struct recording r = {0};
    struct session *s;
    struct err e;
    struct session_options o = {.engines = 1, .engine[0] = {.event = WIRE_EVENT_LOCK}};
    strcpy(o.engine[0].name, "lock");
    recording_sample(&r, 100 * SECOND, 7, 10, 1, JAVA(1));
    assert_int_equal(recording_save(&r, f->path), 0);
    assert_int_equal(samples(f->path, &o, WIRE_EVENT_CPU), 1); /* nobody asked for it */
    o.events_given = true;
    assert_int_equal(session_replay(f->path, &o, &s, &e), -ENOENT);
    assert_null(s);
    assert_int_equal(e.exit_code, ERR_EXIT_ARGUMENT);
    assert_non_null(strstr(e.message, "no samples of lock; it has cpu"));
    o.engine[0].event = WIRE_EVENT_CPU;
    assert_int_equal(samples(f->path, &o, WIRE_EVENT_CPU), 1);
    recording_done(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_cut_at_every_byte, make_files, remove_files),
        cmocka_unit_test_setup_teardown(test_broken_at_every_byte, make_files, remove_files),
        cmocka_unit_test(test_a_pipe),
        cmocka_unit_test_setup_teardown(test_windows, make_files, remove_files),
        cmocka_unit_test_setup_teardown(test_events_that_are_missing, make_files, remove_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
