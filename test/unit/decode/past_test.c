/* The past, for one who begins to look on: the same profile at the other end, told in turns while
 * the stream goes on, and bounded. */
#include "test/unit/decode/decoder_fixture.h"

#include "core/decode/past.h"
#include "core/record/feed.h"
#include "core/session/share/share_socket.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#define METHODS 300u
#define THREADS 4u
#define SECONDS 60u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* One who samples, and one who looks on at it. */
struct scene {
    struct stage from, to;
    struct feed *feed;
    int pair[2];
    struct text heard;
};

static void open_scene(struct scene *s) {
    *s = (struct scene){0};
    s->from.profile = profile_new(600);
    s->from.decoder = decoder_new(s->from.profile, NULL);
    open_stage(&s->to);
    s->to.decoder->replay = true;
    s->feed = feed_new(true);
    assert_non_null(s->feed);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, s->pair), 0);
}

static void close_scene(struct scene *s) {
    feed_release(s->feed);
    feed_release(s->feed);
    close(s->pair[0]);
    close(s->pair[1]);
    text_free(&s->heard);
    close_stage(&s->from);
    close_stage(&s->to);
}

static void transfer(struct scene *s) {
    char room[65536];
    int rc;
    do {
        rc = feed_send(s->feed, s->pair[0]);
        assert_true(rc == 0 || rc == -EAGAIN);
        for (ssize_t n; (n = recv(s->pair[1], room, sizeof room, MSG_DONTWAIT)) > 0;)
            text_add_n(&s->heard, room, (size_t)n);
    } while (rc != 0);
}

/* Decodes what came at the other end. */
static void hear(struct scene *s) {
    transfer(s);
    struct share_header h;
    for (size_t at = 0; at < s->heard.len; at += sizeof h + h.bytes) {
        memcpy(&h, s->heard.data + at, sizeof h);
        assert_int_equal(h.kind, SHARE_RECORDS);
        text_add_n(&s->to.r.bytes, s->heard.data + at + sizeof h, h.bytes);
    }
    play(&s->to);
    assert_int_equal(s->to.decoder->counts.bad, 0);
}

static void take(struct past *p) {
    int rc = 1;
    assert_non_null(p);
    while (rc > 0)
        rc = past_take(p);
    assert_int_equal(rc, 0);
}

static void sample_much(struct stage *s) {
    char name[16];
    for (uint32_t i = 1; i <= METHODS; i++) {
        snprintf(name, sizeof name, "m%u", i);
        recording_method(&s->r, i, "app/Main", name, "()V");
    }
    for (uint32_t t = 1; t <= THREADS; t++)
        recording_thread(&s->r, t, t, "worker");
    for (uint32_t second = 1; second <= SECONDS; second++)
        for (uint32_t i = 0; i < METHODS * THREADS; i++)
            recording_sample(&s->r, second * SECOND, 1 + i / METHODS, 1 + i % 7, 2,
                             JAVA(1 + i % METHODS), JAVA(1));
    play(s);
}

static void same_sums(struct scene *s) {
    struct query q = {.event = 0};
    struct snapshot *a = snapshot_take(s->from.profile, &q);
    struct snapshot *b = snapshot_take(s->to.profile, &q);
    assert_int_equal(a->weight, b->weight);
    assert_int_equal(a->thread_count, b->thread_count);
    for (uint32_t i = 0; i < a->thread_count; i++)
        for (uint32_t k = 0; k < b->thread_count; k++)
            if (a->threads[i].tid == b->threads[k].tid) {
                assert_int_equal(a->threads[i].weight, b->threads[k].weight);
                assert_int_equal(a->threads[i].samples, b->threads[k].samples);
            }
    snapshot_free(a);
    snapshot_free(b);
}

/* What comes meanwhile is there once, and behind the past: a repeat is of the stream's sample. */
static void test_turns(void **state) {
    (void)state;
    struct scene s;
    open_scene(&s);
    struct decoder *d = s.from.decoder;
    sample_much(&s.from);
    struct past *p = past_new(d, &lock, s.feed, PAST_BYTES_MAX);
    take(p);
    feed_hold(s.feed, true);
    assert_int_equal(decoder_restate_feed(d, 0, s.feed), 0);
    d->feed[0] = s.feed;
    uint32_t turns = 1, more = 1;
    for (; more; turns++) {
        feed_hold(s.feed, false);
        more = past_tell(p) > 0;
        feed_hold(s.feed, true);
        feed_flush(s.feed);
        transfer(&s);
        recording_method(&s.from.r, 900, "app/Main", "late", "()V");
        recording_sample(&s.from.r, (SECONDS + 1) * SECOND, 2, 1, 2, JAVA(900), JAVA(1));
        recording_repeat(&s.from.r, 0, (SECONDS + 2) * SECOND, 2, 1, 1);
        play(&s.from);
    }
    assert_true(turns > 2);
    past_free(p);
    feed_begun(s.feed);
    hear(&s);
    d->feed[0] = NULL;
    same_sums(&s);
    assert_int_equal(self_of(&s.to, "late", NULL), 2 * (turns - 1));
    assert_int_equal(self_of(&s.from, "m7", NULL), self_of(&s.to, "m7", NULL));
    close_scene(&s);
}

/* However much there is: what does not fit is summed up by thread. */
static void test_bound(void **state) {
    (void)state;
    struct scene s;
    open_scene(&s);
    sample_much(&s.from);
    struct past *p = past_new(s.from.decoder, &lock, s.feed, 100000);
    take(p);
    while (past_tell(p) > 0)
        ;
    past_free(p);
    assert_true(feed_written(s.feed) > 100000 && feed_written(s.feed) < 110000);
    feed_begun(s.feed);
    hear(&s);
    same_sums(&s);
    uint64_t rest = self_of(&s.to, "[stack not kept]", NULL);
    assert_true(rest > 0 && rest < (uint64_t)SECONDS * METHODS * THREADS);
    close_scene(&s);
}

/* Whom there was no memory for hears of it. */
static void test_failed(void **state) {
    (void)state;
    struct scene s;
    open_scene(&s);
    assert_false(feed_has_more(s.feed));
    feed_fail(s.feed);
    assert_true(feed_closed(s.feed));
    assert_true(feed_has_more(s.feed));
    assert_int_equal(feed_send(s.feed, s.pair[0]), -ENOBUFS);
    close_scene(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_bound),
        cmocka_unit_test(test_failed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
