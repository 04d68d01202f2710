#include "core/http/serve/server/stream.h"
#include "core/http/serve/server/workers.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* ---- workers ---- */

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static atomic_int done, at_work;

static void count(void *job) {
    atomic_fetch_add(&at_work, 1);
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    atomic_fetch_add((atomic_int *)job, 1);
    atomic_fetch_add(&done, 1);
}

static void until(atomic_int *n, int value) {
    for (int i = 0; i < 3000 && atomic_load(n) < value; i++)
        poll(NULL, 0, 10);
    assert_int_equal(atomic_load(n), value);
}

static void test_each_job_is_done_once(void **state) {
    (void)state;
    static atomic_int job[200];
    struct workers *w;
    struct err e;
    atomic_store(&done, 0);
    assert_int_equal(workers_new(4, count, &w, &e), 0);
    for (int i = 0; i < 200; i++)
        while (workers_give(w, &job[i]) == -EAGAIN)
            poll(NULL, 0, 1);
    workers_end(w);
    assert_int_equal(atomic_load(&done), 200);
    for (int i = 0; i < 200; i++)
        assert_int_equal(atomic_load(&job[i]), 1);
    assert_int_equal(workers_give(w, &job[0]), -ESHUTDOWN);
    workers_free(w);
}

static void test_the_queue_is_bounded(void **state) {
    (void)state;
    static atomic_int job;
    struct workers *w;
    struct err e;
    atomic_store(&done, 0);
    atomic_store(&at_work, 0);
    pthread_mutex_lock(&gate);
    assert_int_equal(workers_new(2, count, &w, &e), 0);
    assert_int_equal(workers_give(w, &job), 0);
    assert_int_equal(workers_give(w, &job), 0);
    until(&at_work, 2);
    for (int i = 0; i < WORKERS_WAITING; i++)
        assert_int_equal(workers_give(w, &job), 0);
    assert_int_equal(workers_give(w, &job), -EAGAIN);
    pthread_mutex_unlock(&gate);
    workers_end(w); /* what was taken is done all the same */
    assert_int_equal(atomic_load(&done), WORKERS_WAITING + 2);
    workers_free(w);
}

/* ---- streams ---- */

struct source {
    atomic_int asked, ends;
    int last; /* what `next` returns from the third time on */
    size_t bytes;
    const char *type;
};

static int next(void *arg, struct text *out) {
    struct source *s = arg;
    int n = atomic_fetch_add(&s->asked, 1) + 1;
    for (size_t i = 0; i < s->bytes; i++)
        text_add_n(out, &"0123456789"[n % 10], 1);
    return n >= 3 ? s->last : 0;
}

static void end(void *arg) {
    atomic_fetch_add(&((struct source *)arg)->ends, 1);
}

struct reader {
    atomic_bool asleep;
    atomic_int woken;
};

static void wake(void *who) {
    struct reader *r = who;
    assert_true(atomic_exchange(&r->asleep, false));
    atomic_fetch_add(&r->woken, 1);
}

static void fall_asleep(void *who) {
    assert_false(atomic_exchange(&((struct reader *)who)->asleep, true));
}

static struct stream *open_stream(struct streams *all, struct source *s, struct reader *r) {
    struct serve_answer a = {.type = s->type, .next = next, .end = end, .arg = s, .period_ms = 10};
    struct stream *stream;
    assert_int_equal(stream_new(all, &a, wake, r, &stream), 0);
    return stream;
}

/* Reads as the library does: not while asleep. Returns what was the last, or 0 after `most` bytes. */
static ssize_t read_all(struct stream *s, struct reader *r, char *out, size_t most, size_t piece) {
    size_t have = 0;
    for (int i = 0; i < 3000; i++) {
        ssize_t n = 0;
        while (have < most && !atomic_load(&r->asleep) &&
               (n = stream_take(s, out + have, piece < most - have ? piece : most - have,
                                fall_asleep)) > 0)
            have += (size_t)n;
        out[have] = '\0';
        if (n < 0 || have == most)
            return n < 0 ? n : 0;
        poll(NULL, 0, 10);
    }
    fail_msg("no end");
    return 0;
}

static void test_a_stream_to_its_end(void **state) {
    (void)state;
    struct streams *all;
    struct err e;
    struct source s = {.last = 1, .bytes = 4};
    struct reader r = {0};
    char got[100];
    assert_int_equal(streams_new(&all, &e), 0);
    struct stream *one = open_stream(all, &s, &r);
    assert_int_equal(read_all(one, &r, got, 99, 3), STREAM_END);
    assert_string_equal(got, "111122223333");
    assert_int_equal(atomic_load(&s.ends), 0);
    stream_leave(one);
    assert_int_equal(atomic_load(&s.ends), 1);
    streams_end(all);
    streams_free(all);
}

static void test_one_that_breaks(void **state) {
    (void)state;
    struct streams *all;
    struct err e;
    struct source s = {.last = -EIO, .bytes = 1};
    struct reader r = {0};
    char got[100];
    assert_int_equal(streams_new(&all, &e), 0);
    struct stream *one = open_stream(all, &s, &r);
    assert_int_equal(read_all(one, &r, got, 99, 10), STREAM_BROKEN);
    stream_leave(one);
    streams_end(all);
    streams_free(all);
}

/* One that reads nothing is asked once, and does not hold up another. */
static void test_a_slow_reader(void **state) {
    (void)state;
    struct streams *all;
    struct err e;
    struct source slow = {.bytes = 10, .type = "text/event-stream"}, quick = {.bytes = 1};
    struct reader r = {0}, q = {0};
    char got[300];
    assert_int_equal(streams_new(&all, &e), 0);
    struct stream *one = open_stream(all, &slow, &r), *other = open_stream(all, &quick, &q);
    assert_int_equal(read_all(other, &q, got, 20, 10), 0);
    assert_int_equal(atomic_load(&slow.asked), 1);
    assert_int_equal(read_all(one, &r, got, 30, 10), 0);
    assert_string_equal(got, "111111111122222222223333333333");
    /* The end: who sleeps is woken, and each sees it; only events may end anywhere. */
    streams_end(all);
    assert_int_equal(read_all(one, &r, got, 299, 100), STREAM_END);
    assert_int_equal(read_all(other, &q, got, 299, 100), STREAM_BROKEN);
    struct serve_answer late = {.next = next, .end = end, .arg = &slow};
    struct stream *none;
    assert_int_equal(stream_new(all, &late, wake, &r, &none), -ESHUTDOWN);
    assert_int_equal(atomic_load(&slow.ends), 1);
    stream_leave(one);
    stream_leave(other);
    assert_int_equal(atomic_load(&slow.ends), 2);
    assert_int_equal(atomic_load(&quick.ends), 1);
    streams_free(all);
}

static void test_there_are_only_so_many(void **state) {
    (void)state;
    struct streams *all;
    struct err e;
    struct source s = {.bytes = 1};
    struct reader r[STREAMS_MAX] = {0};
    struct stream *one[STREAMS_MAX], *more;
    assert_int_equal(streams_new(&all, &e), 0);
    for (int i = 0; i < STREAMS_MAX; i++)
        one[i] = open_stream(all, &s, &r[i]);
    struct serve_answer a = {.next = next, .end = end, .arg = &s};
    assert_int_equal(stream_new(all, &a, wake, &r[0], &more), -EUSERS);
    assert_int_equal(atomic_load(&s.ends), 1);
    for (int i = 0; i < STREAMS_MAX; i++)
        stream_leave(one[i]);
    streams_end(all);
    assert_int_equal(atomic_load(&s.ends), STREAMS_MAX + 1);
    streams_free(all);
}

static pthread_mutex_t busy = PTHREAD_MUTEX_INITIALIZER;

static int next_when_let(void *arg, struct text *out) {
    next(arg, out);
    pthread_mutex_lock(&busy);
    pthread_mutex_unlock(&busy);
    return 0;
}

/* Left while it is being asked: it goes when that is over. */
static void test_one_that_is_left_at_work(void **state) {
    (void)state;
    struct streams *all;
    struct err e;
    struct source s = {.bytes = 1};
    struct reader r = {0};
    struct serve_answer a = {.next = next_when_let, .end = end, .arg = &s, .period_ms = 10};
    struct stream *one;
    assert_int_equal(streams_new(&all, &e), 0);
    pthread_mutex_lock(&busy);
    assert_int_equal(stream_new(all, &a, wake, &r, &one), 0);
    until(&s.asked, 1);
    stream_leave(one);
    assert_int_equal(atomic_load(&s.ends), 0);
    pthread_mutex_unlock(&busy);
    until(&s.ends, 1);
    streams_end(all);
    streams_free(all);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_job_is_done_once),
        cmocka_unit_test(test_the_queue_is_bounded),
        cmocka_unit_test(test_a_stream_to_its_end),
        cmocka_unit_test(test_one_that_breaks),
        cmocka_unit_test(test_a_slow_reader),
        cmocka_unit_test(test_there_are_only_so_many),
        cmocka_unit_test(test_one_that_is_left_at_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
