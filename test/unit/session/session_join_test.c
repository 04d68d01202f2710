/* Looking on at another session: what was sampled before and what comes, who does not keep up, and
 * how it ends. */
#include "core/decode/thread_filter.h"
#include "test/unit/session/session_fixture.h"

#include "core/record/feed.h"
#include "core/session/share/join.h"
#include "core/session/share/share.h"
#include "core/session/share/share_socket.h"

#include <stdio.h>
#include <sys/socket.h>

#define BEFORE 300u
#define DURING 200u
#define WALL_TID 4242u
#define DEAD_TID 4343u
#define VIRTUAL UINT64_C(77)
#define STUB UINT64_C(0x7f0000001000)

/* The agent, in steps that the test lets it take. */

static _Atomic unsigned *allowed; /* shared with it */

/* Meanwhile it says yes to everything. */
static void agent_await(struct wire_mapping *m, unsigned step) {
    while (atomic_load(allowed) < step) {
        uint32_t asked = atomic_load(&m->control.request.generation);
        if (asked > 1 && asked != atomic_load(&m->control.status.generation))
            agent_answer(&m->control, asked, WIRE_STATE_RUNNING);
        usleep(500);
    }
}

static void agent_thread(struct ring_writer *w, uint64_t java_id, uint32_t tid, unsigned flags,
                         const char *name) {
    struct wire_thread *t = reserve(w, WIRE_THREAD, (uint32_t)(sizeof *t + strlen(name)));
    t->java_id = java_id;
    t->tid = tid;
    t->flags = (uint16_t)flags;
    t->name_bytes = (uint16_t)strlen(name);
    memcpy(t->bytes, name, strlen(name));
    ring_commit(t, WIRE_THREAD);
}

static void agent_named(struct ring_writer *w, enum wire_type type, uint64_t id, const char *name) {
    struct wire_stub *s = reserve(w, type, (uint32_t)(sizeof *s + strlen(name)));
    struct wire_class *c = (struct wire_class *)(void *)s;
    if (type == WIRE_STUB) {
        s->begin = id;
        s->code_bytes = 64;
        s->name_bytes = (uint32_t)strlen(name);
        memcpy(s->bytes, name, strlen(name));
    } else {
        c->class_id = (uint32_t)id;
        c->name_bytes = (uint32_t)strlen(name);
        memcpy(c->bytes, name, strlen(name));
    }
    ring_commit(s, type);
}

/* With lines: bci 0 is line 10, bci 8 line 20. */
static void agent_lined_method(struct ring_writer *w, uint32_t id) {
    static const uint16_t lines[] = {0, 10, 8, 20};
    struct wire_method *m = reserve(w, WIRE_METHOD, (uint32_t)(sizeof *m + 8 + 5 + 3 + 8));
    m->method_id = id;
    m->class_bytes = 8;
    m->name_bytes = 5;
    m->signature_bytes = 3;
    m->line_bytes = sizeof lines;
    memcpy(m->bytes, "app/Mainparks()V", 16);
    memcpy(m->bytes + 16, lines, sizeof lines);
    ring_commit(m, WIRE_METHOD);
}

static void agent_stack(struct ring_writer *w, enum wire_event event, uint32_t tid,
                        uint64_t virtual_id, uint64_t ago_s, const uint64_t *frame,
                        uint16_t frames) {
    struct wire_sample *s = reserve(w, WIRE_SAMPLE, (uint32_t)(sizeof *s + frames * 8u));
    s->time_ns = clock_ns() - ago_s * UINT64_C(1000000000);
    s->weight = 1000;
    s->tid = tid;
    s->virtual_id = virtual_id;
    s->live_id = 0;
    s->count = 1;
    s->frames = frames;
    s->event = (uint8_t)event;
    s->state = WIRE_THREAD_WAITING;
    s->cpu = WIRE_CPU_NONE;
    s->flags = 0;
    memcpy(s->frame, frame, frames * sizeof *frame);
    ring_commit(s, WIRE_SAMPLE);
}

static void agent_repeat(struct ring_writer *w, uint32_t count) {
    struct wire_repeat *r = reserve(w, WIRE_REPEAT, sizeof *r);
    r->time_ns = clock_ns();
    r->weight = 1000u * count;
    r->tid = WALL_TID;
    r->count = count;
    r->event = WIRE_EVENT_WALL;
    r->state = WIRE_THREAD_PARKED;
    ring_commit(r, WIRE_REPEAT);
}

static const uint64_t wall_stack[] = {
    (uint64_t)WIRE_FRAME_INTERPRETED << 56 | UINT64_C(9) << 32 | 2, /* line 20 of "parks" */
    (uint64_t)WIRE_FRAME_C1 << 56 | 1,
};

static void agent_all_kinds(struct ring_writer *w) {
    const uint64_t alloc[] = {wire_frame_java(WIRE_FRAME_CLASS, 5, WIRE_BCI_NONE),
                              wire_frame_address(WIRE_FRAME_STUB, STUB),
                              wire_frame_java(WIRE_FRAME_C2, 2, 3)};
    const uint64_t failed[] = {(uint64_t)WIRE_FRAME_ERROR << 56 | WIRE_FAILURE_NO_CALLER,
                               wire_frame_java(WIRE_FRAME_INLINED, 1, 0),
                               wire_frame_java(WIRE_FRAME_COMPILING, 2, WIRE_BCI_NONE)};
    agent_stack(w, WIRE_EVENT_ALLOC, WALL_TID, VIRTUAL, 0, alloc, 3);
    agent_stack(w, WIRE_EVENT_CPU, WALL_TID, 0, 2, failed, 3);
    agent_stack(w, WIRE_EVENT_CPU, DEAD_TID, 0, 3, wall_stack, 2);
}

static void agent_main(struct wire_mapping *m) {
    struct ring_writer w;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    ring_writer_init(&w, m, RING);
    struct wire_status *s = &m->control.status;
    s->engines = 1;
    s->engine[0] = (struct wire_engine_status){
        .event = WIRE_EVENT_CPU, .mechanism = WIRE_MECHANISM_CTIMER, .interval = 1000000};
    atomic_store(&s->dropped, 3);
    atomic_store(&s->state, WIRE_STATE_RUNNING);
    agent_method(&w, 1, "run");
    agent_lined_method(&w, 2);
    agent_named(&w, WIRE_CLASS, 5, "app/Thing");
    agent_named(&w, WIRE_STUB, STUB, "call_stub");
    agent_thread(&w, 3, WALL_TID, 0, "waiter \xc3\xa9");
    agent_thread(&w, 4, DEAD_TID, 0, "dead");
    agent_thread(&w, VIRTUAL, WALL_TID, WIRE_THREAD_VIRTUAL, "tail");
    agent_stack(&w, WIRE_EVENT_WALL, WALL_TID, 0, 0, wall_stack, 2);
    agent_repeat(&w, 5);
    agent_all_kinds(&w);
    struct wire_thread_end *end = reserve(&w, WIRE_THREAD_END, sizeof *end);
    end->tid = DEAD_TID;
    ring_commit(end, WIRE_THREAD_END);
    for (uint32_t i = 2; i < BEFORE; i++)
        agent_event(&w, WIRE_EVENT_CPU, 1);
    agent_await(m, 1);
    agent_repeat(&w, 4);
    agent_all_kinds(&w);
    agent_method(&w, 9, "late");
    for (uint32_t i = 2; i < DURING; i++)
        agent_event(&w, WIRE_EVENT_CPU, i % 2 ? 1 : 9);
    agent_await(m, 2);
    _exit(0);
}

struct stage {
    pid_t agent;
    struct wire_mapping *mapping;
    struct session *session;
    struct jvm jvm;
};

static void begin_with(struct stage *st, const struct session_options *o, uint64_t before) {
    struct err e = {0};
    int fd;
    st->mapping = make_mapping(&fd);
    /* its clock began early enough for samples of seconds ago */
    st->mapping->header.clock_ns -= UINT64_C(9000000000);
    allowed = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(allowed != MAP_FAILED);
    st->agent = fork();
    if (st->agent == 0)
        agent_main(st->mapping);
    assert_true(st->agent > 0);
    if (session_adopt(fd, st->agent, o, &st->session, &e) != 0)
        fail_msg("adopt: %s", e.message);
    await_samples(st->session, before);
    assert_int_equal(session_share(st->session, NULL, NULL, &e), 0);
    session_jvm(st->session, &st->jvm);
}

static void begin(struct stage *st) {
    begin_with(st, &(struct session_options){0}, BEFORE);
}

static void end(struct stage *st) {
    kill(st->agent, SIGKILL);
    session_close(st->session);
    waitpid(st->agent, NULL, 0);
    munmap(st->mapping, WIRE_RING_OFFSET + RING);
    munmap(allowed, 4096);
}

static struct session *joined(struct stage *st) {
    struct session *s = NULL;
    struct session_options o = {0};
    struct err e = {0};
    if (session_join(&st->jvm, &o, &s, &e) != 0)
        fail_msg("join: %s", e.message);
    return s;
}

/* Everything a snapshot says, as text: rows, tree, threads, lines. `deep`: also what the profile
 * keeps of seconds. */
static void describe(struct session *s, int event, char *out, size_t size) {
    struct profile *p = session_lock(s);
    const struct method_table *t = profile_methods(p);
    struct query q = {.event = event, .tree = true, .tiers = true};
    struct snapshot *snap = snapshot_take(p, &q);
    size_t n = (size_t)snprintf(out, size, "%llu/%llu ", (unsigned long long)snap->weight,
                                (unsigned long long)profile_failed(p, event));
    for (uint32_t i = 0; i < snap->method_count && n < size; i++) {
        const struct snapshot_method *r = &snap->methods[i];
        const struct method *m = method_table_get(t, r->method);
        n += (size_t)snprintf(out + n, size - n, "%d:%s.%s%s@%s %llu %llu %llu,%llu\n",
                              (int)m->kind, m->class_name, m->name, m->signature, m->module,
                              (unsigned long long)r->self, (unsigned long long)r->total,
                              (unsigned long long)r->tier[TIER_C2],
                              (unsigned long long)r->tier[TIER_INTERPRETED]);
    }
    for (uint32_t i = 0; i < snap->thread_count && n < size; i++) {
        const struct snapshot_thread *r = &snap->threads[i];
        n += (size_t)snprintf(out + n, size - n, "<%s %u %d %d %llu %llu>\n", r->name, r->tid,
                              r->is_virtual, r->ended, (unsigned long long)r->weight,
                              (unsigned long long)r->samples);
    }
    uint64_t first, last, kept;
    profile_span(p, &first, &last, &kept);
    n += (size_t)snprintf(out + n, size - n, "%llu seconds\n", (unsigned long long)(last - first));
    assert_true(n < size);
    snapshot_free(snap);
    session_unlock(s);
}

/* Soon: a name that the kernel gives comes when it comes. */
static void same_event(struct session *a, struct session *b, int event) {
    char x[8192], y[8192];
    for (int i = 0; i < 2000; i++) {
        describe(a, event, x, sizeof x);
        describe(b, event, y, sizeof y);
        if (strcmp(x, y) == 0)
            return;
        usleep(5000);
    }
    assert_string_equal(x, y);
}

static void same(struct session *a, struct session *b) {
    same_event(a, b, WIRE_EVENT_CPU);
    same_event(a, b, WIRE_EVENT_WALL);
    same_event(a, b, WIRE_EVENT_ALLOC);
}

static uint64_t lines_of(struct session *s, uint32_t line) {
    struct profile *p = session_lock(s);
    struct query q = {.event = WIRE_EVENT_WALL, .lines = true};
    uint64_t weight = 0;
    q.lines_of =
        method_table_intern(profile_methods(p), METHOD_JAVA, "app/Main", "parks", "()V", "");
    struct snapshot *snap = snapshot_take(p, &q);
    for (uint32_t i = 0; i < snap->line_count; i++)
        if (snap->lines[i].line == line)
            weight = snap->lines[i].self;
    snapshot_free(snap);
    session_unlock(s);
    return weight;
}

static void test_past_and_stream(void **state) {
    (void)state;
    struct stage st;
    struct session_status status;
    begin(&st);
    struct session *s = joined(&st), *late;
    session_status(s, &status);
    assert_int_equal(status.phase, SESSION_RUNNING);
    assert_int_equal(status.reader, getpid());
    assert_string_equal(status.engine[WIRE_EVENT_CPU].mechanism, "ctimer");
    same(st.session, s);
    assert_int_equal(lines_of(s, 20), 6000);
    atomic_store(allowed, 1);
    await_samples(st.session, BEFORE + DURING);
    await_samples(s, BEFORE + DURING);
    same(st.session, s);
    assert_int_equal(lines_of(s, 20), 10000);
    late = joined(&st);
    same(st.session, late);
    session_close(late);
    session_close(s);
    assert_int_equal(samples(st.session), BEFORE + DURING); /* and it goes on */
    session_status(st.session, &status);
    assert_int_equal(status.phase, SESSION_RUNNING);
    end(&st);
}

static void test_jvm_ends(void **state) {
    (void)state;
    struct stage st;
    struct session_status status;
    struct err e;
    begin(&st);
    struct session *s = joined(&st);
    atomic_store(allowed, 2);
    await_phase(s, SESSION_JVM_GONE, &status);
    await_samples(s, BEFORE + DURING);
    same(st.session, s);
    struct wire_engine_request engine = {.event = WIRE_EVENT_CPU};
    assert_true(session_set_engines(s, &engine, 1, &e) < 0);
    session_close(s);
    end(&st);
}

/* The agent here answers no request, and says so in its own time; what counts is that it was
 * asked. */
static void test_reader_ends(void **state) {
    (void)state;
    struct stage st;
    struct session_status status;
    struct err e;
    begin(&st);
    struct session *s = joined(&st);
    assert_int_equal(session_stop(s, &e), 0); /* stops nothing there */
    session_status(st.session, &status);
    assert_int_equal(status.phase, SESSION_RUNNING);
    kill(st.agent, SIGKILL);
    waitpid(st.agent, NULL, 0);
    session_close(st.session);
    await_phase(s, SESSION_JVM_GONE, &status);
    assert_true(session_set_engines(s, &(struct wire_engine_request){0}, 1, &e) < 0);
    session_close(s);
    munmap(st.mapping, WIRE_RING_OFFSET + RING);
    munmap(allowed, 4096);
}

/* Whom the reader's filter leaves out, nobody sees. */
static void test_filter(void **state) {
    (void)state;
    struct stage st;
    const struct tid_range wanted = {WALL_TID, WALL_TID};
    begin_with(&st, &(struct session_options){.tids = &wanted, .tid_ranges = 1}, 1);
    struct session *s = joined(&st);
    same(st.session, s);
    atomic_store(allowed, 1);
    await_samples(st.session, 2);
    await_samples(s, 2);
    same(st.session, s);
    session_close(s);
    end(&st);
}

/* Nor does it go on for all when that reader ends. */
static void test_filter_ends(void **state) {
    (void)state;
    struct stage st;
    struct session_status status;
    const struct tid_range wanted = {WALL_TID, WALL_TID};
    begin_with(&st, &(struct session_options){.tids = &wanted, .tid_ranges = 1}, 1);
    struct session *s = joined(&st);
    session_close(st.session);
    await_phase(s, SESSION_STOPPED, &status);
    assert_non_null(strstr(status.message, "some threads or times only"));
    session_close(s);
    kill(st.agent, SIGKILL);
    waitpid(st.agent, NULL, 0);
    munmap(st.mapping, WIRE_RING_OFFSET + RING);
    munmap(allowed, 4096);
}

/* Who was let go, and looks on again, says what is missing. */
static void test_gap(void **state) {
    (void)state;
    struct session_options o = {0};
    struct session *s = NULL;
    struct join *j = calloc(1, sizeof *j);
    struct err e;
    struct share_status t = {.engines = 1, .tag_sched = true};
    const uint64_t second = UINT64_C(1000000000), now = clock_ns();
    assert_non_null(j);
    assert_int_equal(session_new(&o, &s, &e), 0);
    t.status.elapsed_ns = 60 * second;
    t.time_ns = now - 12 * second;
    assert_true(join_take(s, j, SHARE_STATUS, &t, sizeof t));
    assert_true(s->drain.decoder->tag_sched);
    t.time_ns += second;
    assert_true(join_take(s, j, SHARE_STATUS, &t, sizeof t));
    assert_int_equal(s->status.missed_ns, 0);
    j->told = false;
    t.time_ns = now;
    for (int i = 0; i < 2; i++) {
        assert_true(join_take(s, j, SHARE_STATUS, &t, sizeof t));
        assert_int_equal(s->status.missed_ns, 11 * second);
        assert_non_null(strstr(s->status.message, "about 11 s are missing"));
    }
    session_free(s);
    free(j);
}

/* Ids of the stream before mean nothing in the next one. */
static void test_new_stream(void **state) {
    (void)state;
    struct stage st;
    struct session_options o = {0};
    struct session *s = NULL;
    struct join *j = calloc(1, sizeof *j);
    struct err e;
    begin(&st);
    assert_non_null(j);
    assert_int_equal(session_new(&o, &s, &e), 0);
    s->jvm = st.jvm;
    struct name_table *names = &s->drain.decoder->names;
    assert_int_equal(name_table_put(names, 77, 1, NULL), 0);
    assert_int_equal(join_succeed(s, j, &e), 0);
    assert_null(name_table_get(names, 77));
    close(j->fd);
    session_free(s);
    free(j);
    end(&st);
}

/* A recording of what is looked at stands by itself. */
static void test_recording(void **state) {
    (void)state;
    struct stage st;
    struct session_status status;
    struct session_options o = {0};
    struct err e;
    char path[64];
    begin(&st);
    struct session *s = joined(&st), *r;
    snprintf(path, sizeof path, "/tmp/jtop-join-%d", (int)getpid());
    if (session_record(s, path, &e) != 0)
        fail_msg("record: %s", e.message);
    session_status(s, &status);
    assert_string_equal(status.recording, path);
    atomic_store(allowed, 1);
    await_samples(s, BEFORE + DURING);
    assert_int_equal(session_record(s, NULL, &e), 0);
    assert_int_equal(session_replay(path, &o, &r, &e), 0);
    assert_int_equal(samples(r), DURING);
    session_status(r, &status);
    assert_string_equal(status.engine[WIRE_EVENT_CPU].mechanism, "ctimer");
    char text[8192];
    describe(r, WIRE_EVENT_WALL, text, sizeof text);
    assert_non_null(strstr(text, "app/Main.parks"));
    describe(r, WIRE_EVENT_CPU, text, sizeof text);
    assert_non_null(strstr(text, "agent_event"));
    assert_non_null(strstr(text, "late"));
    assert_null(strstr(text, "unknown"));
    session_close(r);
    session_close(s);
    unlink(path);
    end(&st);
}

static void test_nobody_there(void **state) {
    (void)state;
    struct session *s = NULL;
    struct session_options o = {0};
    struct jvm j = {.pid = getpid(), .inner_pid = getpid()};
    struct err e;
    assert_int_equal(session_join(&j, &o, &s, &e), -ESRCH);
    assert_null(s);
    struct stage st;
    begin(&st);
    st.jvm.start_ticks++; /* another JVM of this number */
    struct session *first = joined(&(struct stage){.jvm = {.pid = st.agent}});
    session_close(first);
    end(&st);
}

/* Eight may look on, and those who leave make room. */
static void test_too_many(void **state) {
    (void)state;
    struct stage st;
    struct session *s[DECODER_FEEDS], *more = NULL;
    struct session_options o = {0};
    struct err e = {0};
    begin(&st);
    for (uint32_t i = 0; i < DECODER_FEEDS; i++)
        s[i] = joined(&st);
    assert_int_equal(session_join(&st.jvm, &o, &more, &e), -EUSERS);
    assert_non_null(strstr(e.message, "too many"));
    session_close(s[3]);
    for (int i = 0; i < 5000 && session_join(&st.jvm, &o, &more, &e) != 0; i++)
        usleep(1000);
    assert_non_null(more);
    session_close(more);
    for (uint32_t i = 0; i < DECODER_FEEDS; i++)
        if (i != 3)
            session_close(s[i]);
    end(&st);
}

/* The queue itself: bounded, in order, and whoever does not read is let go. */
static void test_feed(void **state) {
    (void)state;
    int pair[2];
    uint64_t record[512] = {wire_header_word(WIRE_LOG, sizeof record)};
    struct feed *f = feed_new(false);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    feed_begun(f);
    assert_false(feed_flush(f));
    feed_write(f, record);
    feed_write(f, record);
    assert_true(feed_flush(f));
    feed_put(f, SHARE_STATUS, "abc", 3);
    assert_true(feed_has_more(f));
    assert_int_equal(feed_send(f, pair[0]), 0);
    assert_false(feed_has_more(f));
    uint32_t kind;
    char *data;
    size_t bytes;
    assert_int_equal(share_receive_frame(pair[1], &kind, &data, &bytes, 1000), 0);
    assert_int_equal(kind, SHARE_RECORDS);
    assert_int_equal(bytes, 2 * sizeof record);
    free(data);
    assert_int_equal(share_receive_frame(pair[1], &kind, &data, &bytes, 1000), 0);
    assert_string_equal(data, "abc");
    free(data);
    assert_false(feed_closed(f));
    for (uint32_t i = 0; i < 3 * FEED_BYTES_MAX / sizeof record; i++)
        feed_write(f, record);
    feed_flush(f);
    assert_true(feed_closed(f));
    assert_int_equal(feed_send(f, pair[0]), -ENOBUFS);
    feed_close(f);
    feed_release(f);
    feed_release(f);
    close(pair[0]);
    close(pair[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_past_and_stream),
        cmocka_unit_test(test_jvm_ends),
        cmocka_unit_test(test_reader_ends),
        cmocka_unit_test(test_recording),
        cmocka_unit_test(test_nobody_there),
        cmocka_unit_test(test_too_many),
        cmocka_unit_test(test_filter),
        cmocka_unit_test(test_filter_ends),
        cmocka_unit_test(test_gap),
        cmocka_unit_test(test_new_stream),
        cmocka_unit_test(test_feed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
