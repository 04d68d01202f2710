/* The growing file, looked at between flushes: whole at any moment, with everything that was
 * flushed, whatever is cut off while something is being written. */
#include "test/unit/export/export_fixture.h"

#include "core/export/jfr/jfr_stream.h"
#include "core/export/jfr/jfr_stream_state.h"
#include "core/profile/snapshot/history_read.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#define CHUNK_BYTES 65536

static char place[] = "/tmp/jtop-jfr-stream-XXXXXX";

static int enter(void **state) {
    (void)state;
    return mkdtemp(place) && chdir(place) == 0 ? 0 : -1;
}

static int leave(void **state) {
    (void)state;
    return chdir("/") == 0 && rmdir(place) == 0 ? 0 : -1;
}

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

struct file {
    size_t len;
    int chunks, checkpoints;
    uint64_t samples;
};

/* Each checkpoint leads to one before it, to the first one of the chunk. */
static int follow_checkpoints(const unsigned char *chunk, uint64_t bytes, uint64_t at) {
    int n = 0;
    for (;; n++) {
        assert_in_range(at, JFR_HEADER_BYTES, bytes - 1);
        const unsigned char *field = chunk + at;
        assert_in_range(number(&field), 5, bytes - at);
        assert_int_equal(number(&field), JFR_EVENT_CHECKPOINT);
        (void)number(&field); /* time */
        (void)number(&field); /* duration */
        int64_t before = (int64_t)number(&field);
        assert_true(before <= 0);
        if (before == 0)
            return n + 1;
        at -= (uint64_t)-before;
    }
}

static void read_chunk(struct file *f, const unsigned char *chunk, uint64_t bytes) {
    uint64_t at = JFR_HEADER_BYTES;
    bool metadata = false;
    f->checkpoints += follow_checkpoints(chunk, bytes, big(chunk + 16, 8));
    while (at < bytes) {
        const unsigned char *field = chunk + at;
        uint64_t size = number(&field), type = number(&field);
        assert_in_range(size, 2, bytes - at);
        metadata |= type == JFR_EVENT_METADATA && at == big(chunk + 24, 8);
        f->samples += type == jfr_type("jdk.ExecutionSample");
        at += size;
    }
    assert_int_equal(at, bytes);
    assert_true(metadata);
}

static struct file look(const char *path) {
    struct file f = {0};
    struct stat st;
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    assert_int_equal(fstat(fileno(in), &st), 0);
    f.len = (size_t)st.st_size;
    unsigned char *data = malloc(f.len + 16);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, f.len, in), f.len);
    fclose(in);
    for (size_t at = 0; at < f.len; f.chunks++) {
        assert_in_range(f.len - at, JFR_HEADER_BYTES, f.len);
        assert_memory_equal(data + at, "FLR\0\0\2\0\0", 8);
        uint64_t bytes = big(data + at + 8, 8);
        assert_in_range(bytes, JFR_HEADER_BYTES, f.len - at);
        read_chunk(&f, data + at, bytes);
        at += bytes;
    }
    free(data);
    return f;
}

static struct jfr_stream *begun(const char *path, uint64_t chunk_bytes) {
    const struct jfr_stream_options o = {.start_ns = 1000000000, .chunk_bytes = chunk_bytes};
    struct jfr_stream *w = NULL;
    struct err e = {0};
    if (jfr_stream_begin(path, &o, &w, &e) != 0)
        fail_msg("%s", e.message);
    return w;
}

static void add(struct jfr_stream *w, const struct profile *p, uint32_t count, uint64_t time_ns) {
    const struct query all = {0};
    struct history_reading *r = history_read(p, &all);
    struct jfr_chunk *c = jfr_stream_lock(w, count);
    assert_non_null(c);
    for (size_t i = 0; i < r->items; i++) {
        const struct jfr_sample s = {
            .kind = jfr_kind_of("cpu"),
            .time_ns = time_ns,
            .weight = count,
            .count = count,
            .thread = jfr_chunk_thread(c, 7, 1, false, "main"),
            .stack = jfr_chunk_stack(c, p, &all, r->item[i].node),
        };
        jfr_chunk_add(c, &s);
    }
    jfr_stream_unlock(w, time_ns);
    history_reading_free(r);
}

static void end(struct jfr_stream *w) {
    struct err e = {0};
    if (jfr_stream_end(w, NULL, 0, NULL, &e) != 0)
        fail_msg("%s", e.message);
    jfr_stream_leave(w);
}

static void whole_after_every_flush(void **state) {
    (void)state;
    struct jfr_stream *w = begun("x.jfr", 0);
    jfr_stream_stop(w); /* flushes are ours from here on */
    assert_int_equal(look("x.jfr").samples, 0);
    struct profile *p = profile_new(0);
    uint64_t samples = 0;
    for (uint32_t i = 1; i < 40; i++) {
        char stack[64];
        snprintf(stack, sizeof stack, "j:a/B%u.run()V\tj:a/C.get(I)I", i);
        fixture_add(p, 7, stack, 1, 1);
        add(w, p, i, (uint64_t)i * 1000000000);
        samples += (uint64_t)i * i;
        assert_int_equal(jfr_stream_flush(w), 0);
        struct file f = look("x.jfr");
        assert_int_equal(f.samples, samples);
        assert_int_equal(f.checkpoints, i + 1);
        assert_int_equal(f.len % (1 << 16), 0);
    }
    assert_int_equal(jfr_stream_flush(w), 0); /* nothing new */
    end(w);
    struct file f = look("x.jfr");
    assert_int_equal(f.samples, samples);
    assert_int_equal(f.chunks, 1);
    assert_in_range(f.len, 1, 1 << 20);
    profile_free(p);
    assert_int_equal(unlink("x.jfr"), 0);
}

static void more_than_a_filler_holds(void **state) {
    (void)state;
    struct jfr_stream *w = begun("big.jfr", CHUNK_BYTES);
    jfr_stream_stop(w);
    struct profile *p = profile_new(0);
    fixture_add(p, 7, "j:a/B.run()V", 1, 1);
    for (uint32_t i = 1; i < 5; i++) {
        add(w, p, 30000, i * UINT64_C(1000000000));
        assert_int_equal(jfr_stream_flush(w), 0);
        assert_int_equal(look("big.jfr").samples, 30000 * i);
    }
    end(w);
    profile_free(p);
    assert_int_equal(unlink("big.jfr"), 0);
}

/* Constants of a new chunk are numbered on, or the JDK takes them for those before. */
static void chunk_after_chunk(void **state) {
    (void)state;
    struct jfr_stream *w = begun("c.jfr", CHUNK_BYTES);
    jfr_stream_stop(w);
    struct profile *p = profile_new(0);
    fixture_add(p, 7, "j:a/B.run()V", 1, 1);
    for (uint32_t i = 1; i < 8; i++) {
        add(w, p, 10000, i * UINT64_C(1000000000));
        assert_int_equal(jfr_stream_flush(w), 0);
        if (jfr_stream_is_full(w))
            assert_int_equal(jfr_stream_next_chunk(w), 0);
        struct file f = look("c.jfr");
        assert_int_equal(f.samples, 10000 * i);
    }
    const struct query all = {0};
    struct jfr_chunk *c = jfr_stream_lock(w, 0);
    assert_in_range(jfr_stream_chunk(w), 2, 9);
    assert_in_range(jfr_chunk_thread(c, 9, 1, false, "other"), 2, 100);
    assert_in_range(jfr_chunk_stack(c, p, &all, 1), 2, 100);
    jfr_stream_unlock(w, 0);
    end(w);
    assert_in_range(look("c.jfr").chunks, 2, 9);
    profile_free(p);
    assert_int_equal(unlink("c.jfr"), 0);
}

static void only_files_grow(void **state) {
    (void)state;
    struct jfr_stream *w = NULL;
    struct err e = {0};
    const struct jfr_stream_options o = {0};
    assert_int_equal(jfr_stream_begin("/dev/null", &o, &w, &e), -EOPNOTSUPP);
    assert_true(jfr_stream_begin("no/such/place.jfr", &o, &w, &e) < 0);
    assert_non_null(strstr(e.message, "no/such"));
    jfr_stream_leave(NULL);
}

static void the_thread_writes_by_itself(void **state) {
    (void)state;
    struct jfr_stream *w = begun("t.jfr", 0);
    struct profile *p = profile_new(0);
    fixture_add(p, 7, "j:a/B.run()V", 1, 1);
    add(w, p, 11, 2000000000);
    for (int i = 0; i < 600 && look("t.jfr").samples != 11; i++)
        usleep(50000); /* it has only to come */
    assert_int_equal(look("t.jfr").samples, 11);
    assert_int_equal(jfr_stream_failure(w), 0);
    jfr_stream_leave(w);
    assert_int_equal(look("t.jfr").samples, 11);
    profile_free(p);
    assert_int_equal(unlink("t.jfr"), 0);
}

static void add_many(struct jfr_stream *w, uint64_t count, uint64_t time_ns) {
    const struct jfr_sample s = {
        .kind = jfr_kind_of("cpu"), .time_ns = time_ns, .weight = count, .count = count};
    assert_non_null(jfr_stream_lock(w, count));
    jfr_stream_add(w, &s);
    jfr_stream_unlock(w, time_ns);
}

/* Who is sampled says how many samples one record stands for. */
static void a_word_fills_no_disk(void **state) {
    (void)state;
    struct jfr_stream *w = begun("m.jfr", 0);
    jfr_stream_stop(w);
    add_many(w, 5, 2000000000);
    assert_int_equal(w->beyond, 0);
    add_many(w, 1 << 20, 2000000000);
    assert_int_equal(w->beyond, (1 << 20) - JFR_STREAM_SAMPLE_MAX);
    assert_int_equal(w->repeats, 4 + JFR_STREAM_SAMPLE_MAX - 1);
    w->repeats = JFR_STREAM_REPEATS_MAX - 2;
    add_many(w, 1000, 2000000000);
    add_many(w, 1000, 2000000000);
    end(w);
    assert_int_equal(look("m.jfr").samples, 5 + JFR_STREAM_SAMPLE_MAX + 3 + 1);
    assert_int_equal(unlink("m.jfr"), 0);
}

static void no_room_ends_no_file(void **state) {
    (void)state;
    struct err e = {0};
    struct jfr_stream *w = begun("l.jfr", 0);
    jfr_stream_stop(w);
    add_many(w, 5, 2000000000);
    pthread_mutex_lock(&w->lock);
    w->left_out = 17; /* as jfr_stream_lock counts them */
    pthread_mutex_unlock(&w->lock);
    assert_int_equal(jfr_stream_end(w, NULL, 0, NULL, &e), -ENOBUFS);
    assert_non_null(strstr(e.message, " 17 samples"));
    assert_int_equal(look("l.jfr").samples, 5);
    assert_int_equal(jfr_stream_resume(w), 0);
    add_many(w, 6, 3000000000);
    jfr_stream_stop(w);
    end(w);
    assert_int_equal(look("l.jfr").samples, 11);
    assert_int_equal(look("l.jfr").chunks, 2);
    assert_int_equal(unlink("l.jfr"), 0);
}

static void only_its_own_end_goes_on(void **state) {
    (void)state;
    struct err e = {0};
    struct jfr_stream *w = begun("r.jfr", 0);
    jfr_stream_stop(w);
    assert_int_equal(jfr_stream_resume(w), -ESTALE);
    add_many(w, 5, 2000000000);
    assert_int_equal(jfr_stream_end(w, NULL, 0, NULL, &e), 0);
    assert_int_equal(rename("r.jfr", "moved.jfr"), 0);
    assert_int_equal(jfr_stream_resume(w), -ESTALE);
    assert_int_equal(rename("moved.jfr", "r.jfr"), 0);
    FILE *f = fopen("r.jfr", "a");
    assert_non_null(f);
    fputs("more", f);
    fclose(f);
    assert_int_equal(jfr_stream_resume(w), -ESTALE);
    jfr_stream_leave(w);
    f = fopen("r.jfr", "r");
    assert_non_null(f);
    char last[4];
    assert_int_equal(fseek(f, -4, SEEK_END), 0);
    assert_int_equal(fread(last, 1, 4, f), 4);
    assert_memory_equal(last, "more", 4); /* which is not ours to cut off */
    fclose(f);
    assert_int_equal(unlink("r.jfr"), 0);
}

static void a_pipe_is_not_opened(void **state) {
    (void)state;
    struct jfr_stream *w = NULL;
    struct err e = {0};
    const struct jfr_stream_options o = {0};
    assert_int_equal(mkfifo("pipe.jfr", 0600), 0);
    alarm(20); /* it would wait for a reader */
    assert_int_equal(jfr_stream_begin("pipe.jfr", &o, &w, &e), -EOPNOTSUPP);
    alarm(0);
    assert_int_equal(unlink("pipe.jfr"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_after_every_flush),     cmocka_unit_test(more_than_a_filler_holds),
        cmocka_unit_test(chunk_after_chunk),           cmocka_unit_test(only_files_grow),
        cmocka_unit_test(the_thread_writes_by_itself), cmocka_unit_test(a_word_fills_no_disk),
        cmocka_unit_test(no_room_ends_no_file),        cmocka_unit_test(only_its_own_end_goes_on),
        cmocka_unit_test(a_pipe_is_not_opened),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
