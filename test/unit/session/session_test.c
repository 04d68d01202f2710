/* A session's whole life, with agents of every temper. What needs a real JVM (attaching) is tested
 * end to end. */
#include "test/unit/session/session_fixture.h"

#include <fcntl.h>

#define SAMPLES 500u

enum temper {
    HONEST,
    DIES,    /* kill -9 after its samples, in the middle of a record */
    EXITS,   /* says so, waits for reader_done, ends */
    LETS_GO, /* as if our lease were out */
    FAILS,   /* tells of a failure with an escape sequence in it */
    GARBAGE, /* fills ring and status with noise, never answers */
};

/* The agent. */

static void agent_serve(struct wire_control *c) {
    for (uint32_t seen = 1;;) {
        syscall(SYS_futex, &c->request.generation, FUTEX_WAIT, seen, NULL, NULL, 0);
        uint32_t generation = atomic_load(&c->request.generation);
        if (generation == seen)
            continue;
        seen = generation;
        if (c->request.command == WIRE_COMMAND_DETACH) {
            agent_answer(c, generation, WIRE_STATE_DETACHED);
            return;
        }
        agent_answer(c, generation, WIRE_STATE_IDLE);
    }
}

static void agent_noise(struct wire_mapping *m) {
    srandom(99);
    for (;;) {
        for (int i = 0; i < 2000; i++) {
            uint64_t word = (uint64_t)random() << 32 | (uint32_t)random() % 64;
            memcpy(m->ring + (uint64_t)random() % (RING / 8) * 8, &word, 8);
        }
        atomic_store(&m->control.positions.head, (uint64_t)random() * 8);
        for (size_t i = 0; i < sizeof m->control.status; i++)
            if (i % 97 == 0)
                ((uint8_t *)&m->control.status)[i] = (uint8_t)random();
        atomic_store(&m->control.status.state, (uint32_t)random() % 2 ? WIRE_STATE_RUNNING : 77);
    }
}

static void agent_status(struct wire_status *s) {
    s->engines = 1;
    s->engine[0] = (struct wire_engine_status){.event = WIRE_EVENT_CPU,
                                               .mechanism = WIRE_MECHANISM_CTIMER,
                                               .interval = 1000000,
                                               .reason = "no perf_events\033[2J"};
    memcpy(s->walker, "vm", 3);
    atomic_store(&s->dropped, 3);
    atomic_store(&s->handler_ns, 1000);
    atomic_store(&s->agent_ns, 234);
    atomic_store(&s->failed[WIRE_FAILURE_LOOP], 9);
    atomic_store(&s->threads, 5);
    atomic_store(&s->state, WIRE_STATE_RUNNING);
}

static void agent_main(struct wire_mapping *m, enum temper temper) {
    struct wire_control *c = &m->control;
    struct ring_writer w;
    prctl(PR_SET_NAME, "fake-agent");
    ring_writer_init(&w, m, RING);
    agent_status(&c->status);
    if (temper == GARBAGE)
        agent_noise(m);
    agent_method(&w, 1, "run");
    agent_tell(&w, "recompiled app.Main.run");
    agent_tell(&w, "recompiled app.Main.more");
    for (uint32_t i = 0; i < SAMPLES; i++)
        agent_event(&w, WIRE_EVENT_CPU, 1);
    switch (temper) {
    case DIES:
        reserve(&w, WIRE_SAMPLE, 256);
        kill(getpid(), SIGKILL);
        break;
    case EXITS:
        atomic_store(&c->status.state, WIRE_STATE_EXITED);
        while (!__atomic_load_n(&c->request.reader_done, __ATOMIC_ACQUIRE))
            usleep(1000);
        break;
    case LETS_GO:
        atomic_store(&c->status.state, WIRE_STATE_LEASE_OUT);
        pause();
        break;
    case FAILS:
        c->status.error_code = EPERM;
        memcpy(c->status.message, "no engine\033works", 16);
        atomic_store(&c->status.state, WIRE_STATE_FAILED);
        agent_serve(c);
        break;
    default:
        agent_serve(c);
    }
    _exit(0);
}

/* The reader's side. */

struct stage {
    pid_t agent;
    int memfd;
    struct wire_mapping *mapping;
    struct session *session;
};

static void begin(struct stage *st, enum temper temper, const char *record) {
    struct err e = {0};
    st->mapping = make_mapping(&st->memfd);
    st->agent = fork();
    if (st->agent == 0)
        agent_main(st->mapping, temper);
    assert_true(st->agent > 0);
    struct session_options o = {.record = record};
    int result = session_adopt(st->memfd, st->agent, &o, &st->session, &e);
    if (result != 0)
        fail_msg("adopt: %s", e.message);
}

static void end(struct stage *st) {
    session_close(st->session);
    kill(st->agent, SIGKILL);
    waitpid(st->agent, NULL, 0);
    munmap(st->mapping, WIRE_RING_OFFSET + RING);
}

static void test_a_whole_life(void **state) {
    (void)state;
    struct stage st;
    struct session_status status;
    struct err e;
    begin(&st, HONEST, NULL);
    await_samples(st.session, SAMPLES);
    struct pollfd p = {.fd = session_event_fd(st.session), .events = POLLIN};
    assert_int_equal(poll(&p, 1, 10000), 1); /* the first samples were told */
    session_status(st.session, &status);
    assert_int_equal(status.phase, SESSION_RUNNING);
    assert_int_equal(session_stop(st.session, &e), 0);
    session_status(st.session, &status);
    assert_int_equal(status.phase, SESSION_STOPPED);
    assert_string_equal(status.event, "cpu");
    assert_string_equal(status.mechanism, "ctimer");
    assert_string_equal(status.reason, "no perf_events?[2J");
    assert_string_equal(status.walker, "vm");
    assert_int_equal(status.interval, 1000000);
    assert_int_equal(status.samples, SAMPLES);
    assert_int_equal(status.dropped, 3);
    assert_int_equal(status.failed[WIRE_FAILURE_LOOP], 9);
    assert_int_equal(status.agent_ns, 1234);
    assert_int_equal(status.armed_threads, 5);
    assert_true(status.elapsed_ns > 0 && status.frontend_ns > 0);
    char news[4096];
    assert_int_equal(session_news(st.session, news, sizeof news), 0);
    assert_string_equal(news, "recompiled app.Main.run\nrecompiled app.Main.more\n");
    assert_string_equal(status.news, "recompiled app.Main.more");
    assert_string_equal(status.message, ""); /* they are no warnings */
    uint64_t elapsed = status.elapsed_ns;
    session_status(st.session, &status);
    assert_int_equal(status.elapsed_ns, elapsed); /* time stands still after the stop */
    assert_int_equal(session_stop(st.session, &e), 0);

    struct profile *profile = session_lock(st.session);
    struct query q = {.event = WIRE_EVENT_CPU};
    struct snapshot *snap = snapshot_take(profile, &q);
    const struct method_table *t = profile_methods(profile);
    assert_int_equal(snap->method_count, 2);
    assert_string_equal(method_table_get(t, snap->methods[0].method)->name, "run");
    /* native frames by /proc and ELF, threads without a name by their kernel name */
    assert_string_equal(method_table_get(t, snap->methods[1].method)->name, "agent_event");
    assert_int_equal(snap->thread_count, 1);
    assert_string_equal(snap->threads[0].name, "fake-agent");
    snapshot_free(snap);
    session_unlock(st.session);
    end(&st);
}

static void test_detach_reaches_the_agent(void **state) {
    (void)state;
    struct stage st;
    int how;
    begin(&st, HONEST, NULL);
    await_samples(st.session, SAMPLES);
    session_close(st.session);
    assert_int_equal(waitpid(st.agent, &how, 0), st.agent);
    assert_true(WIFEXITED(how)); /* it left because it was told to */
    assert_int_equal(atomic_load(&st.mapping->control.status.state), WIRE_STATE_DETACHED);
    munmap(st.mapping, WIRE_RING_OFFSET + RING);
}

static void test_a_killed_jvm_loses_nothing(void **state) {
    (void)state;
    struct stage st;
    struct session_status status;
    struct err e;
    char path[] = "/tmp/jtop-session-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    begin(&st, DIES, path);
    await_phase(st.session, SESSION_JVM_GONE, &status);
    assert_int_equal(samples(st.session), SAMPLES);
    assert_int_equal(status.samples, SAMPLES);
    assert_non_null(strstr(status.message, "killed or crashed"));
    assert_int_equal(session_stop(st.session, &e), 0);
    end(&st);

    /* and the recording has everything too, names of native frames and threads included */
    struct session *replayed;
    struct session_options o = {0};
    assert_int_equal(session_replay(path, &o, &replayed, &e), 0);
    session_status(replayed, &status);
    assert_int_equal(status.samples, SAMPLES);
    assert_string_equal(status.mechanism, "ctimer");
    assert_string_equal(status.message, "");
    struct profile *profile = session_lock(replayed);
    struct query q = {.event = WIRE_EVENT_CPU};
    struct snapshot *snap = snapshot_take(profile, &q);
    const struct method *m = method_table_get(profile_methods(profile), snap->methods[1].method);
    assert_true(strcmp(m->name, "agent_event") == 0 || m->kind == METHOD_NATIVE);
    snapshot_free(snap);
    session_unlock(replayed);
    session_close(replayed);
    unlink(path);
}

static void test_an_orderly_end_waits_for_the_reader(void **state) {
    (void)state;
    struct stage st;
    struct session_status status;
    int how;
    begin(&st, EXITS, NULL);
    await_phase(st.session, SESSION_JVM_GONE, &status);
    assert_int_equal(samples(st.session), SAMPLES);
    assert_non_null(strstr(status.message, "has ended"));
    uint32_t beat = atomic_load(&st.mapping->control.request.heartbeat);
    for (int i = 0; i < 10000; i++) /* it may still ask whether the reader lives */
        if (atomic_load(&st.mapping->control.request.heartbeat) == beat)
            usleep(1000);
    assert_true(atomic_load(&st.mapping->control.request.heartbeat) != beat);
    assert_int_equal(waitpid(st.agent, &how, WNOHANG), 0);
    session_reader_done(st.session);
    assert_int_equal(waitpid(st.agent, &how, 0), st.agent);
    assert_true(WIFEXITED(how));
    session_close(st.session);
    munmap(st.mapping, WIRE_RING_OFFSET + RING);
}

static void test_an_agent_that_lets_go(void **state) {
    (void)state;
    struct stage st;
    struct session_status status;
    struct err e;
    begin(&st, LETS_GO, NULL);
    await_phase(st.session, SESSION_FAILED, &status);
    assert_int_equal(samples(st.session), SAMPLES);
    assert_non_null(strstr(status.message, "detached"));
    assert_int_equal(session_stop(st.session, &e), 0);
    end(&st);
}

static void test_an_agent_that_fails(void **state) {
    (void)state;
    struct stage st;
    struct session_status status;
    begin(&st, FAILS, NULL);
    await_phase(st.session, SESSION_FAILED, &status);
    assert_string_equal(status.message, "no engine?works");
    end(&st);
}

/* A JVM that is stopped answers nothing: stopping gives up, closing does not hang, what was
 * sampled stays, and the agent finds the request to detach when it goes on. */
static void test_a_stopped_jvm(void **state) {
    (void)state;
    struct stage st;
    struct session_status status;
    struct err e;
    int how;
    begin(&st, HONEST, NULL);
    await_samples(st.session, SAMPLES);
    kill(st.agent, SIGSTOP);
    assert_int_equal(session_stop(st.session, &e), -ETIMEDOUT);
    assert_non_null(strstr(e.message, "stopped"));
    session_status(st.session, &status);
    assert_int_equal(status.phase, SESSION_STOPPED);
    assert_int_equal(samples(st.session), SAMPLES);
    session_close(st.session);
    kill(st.agent, SIGCONT);
    assert_int_equal(waitpid(st.agent, &how, 0), st.agent);
    assert_true(WIFEXITED(how));
    munmap(st.mapping, WIRE_RING_OFFSET + RING);
}

/* Noise in ring, positions and status for a while: no crash (ASan), no hang, strings stay clean. */
static void test_a_hostile_agent(void **state) {
    (void)state;
    struct stage st;
    struct session_status status;
    begin(&st, GARBAGE, NULL);
    for (int i = 0; i < 1000; i++) {
        session_status(st.session, &status);
        assert_true(memchr(status.message, 0, sizeof status.message) != NULL);
        for (const char *c = status.walker; *c; c++)
            assert_true((unsigned char)*c >= ' ');
        usleep(1000);
    }
    end(&st);
}

/* What is not a sound mapping is not touched. */

static int make_fd(uint64_t size, unsigned seals, const struct wire_header *h) {
    int fd = memfd_create(WIRE_MEMFD_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)size), 0);
    assert_int_equal(pwrite(fd, h, sizeof *h, 0), sizeof *h);
    assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
    return fd;
}

static void test_unsound_mappings_are_refused(void **state) {
    (void)state;
    static const struct wire_header good = {.magic = WIRE_MAGIC,
                                            .abi_major = WIRE_ABI_MAJOR,
                                            .ring_bytes = WIRE_RING_BYTES_MIN,
                                            .session = 7};
    const uint64_t size = wire_mapping_bytes(RING);
    struct {
        uint64_t size;
        unsigned seals;
        struct wire_header h;
        const char *why;
    } bad[] = {
        {size, F_SEAL_GROW, good, "not sealed"},  {size - 1, F_SEAL_SHRINK, good, "smaller"},
        {size, F_SEAL_SHRINK, good, "magic"},     {size, F_SEAL_SHRINK, good, "ABI"},
        {size, F_SEAL_SHRINK, good, "session"},   {size, F_SEAL_SHRINK, good, "ring size"},
        {size, F_SEAL_SHRINK, good, "ring size"}, {size, F_SEAL_SHRINK, good, "ring size"},
        {size, F_SEAL_SHRINK, good, "smaller"},
    };
    bad[2].h.magic++;
    bad[3].h.abi_major++;
    bad[4].h.session++;
    bad[5].h.ring_bytes = 0;
    bad[6].h.ring_bytes -= 8;
    bad[7].h.ring_bytes = UINT64_C(1) << 63;
    bad[8].h.ring_bytes *= 2;
    struct mapping m;
    struct err e;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int fd = make_fd(bad[i].size, bad[i].seals, &bad[i].h);
        assert_int_equal(mapping_of_fd(fd, 7, &m, &e), -EPROTO);
        assert_non_null(strstr(e.message, bad[i].why));
        assert_null(m.wire);
        close(fd);
    }
    int fd = make_fd(size, F_SEAL_SHRINK, &good);
    int decoy = open("/dev/null", O_RDWR | O_CLOEXEC);
    assert_int_equal(mapping_of_fd(decoy, 0, &m, &e), -EPROTO);
    assert_int_equal(mapping_of_fd(fd, 7, &m, &e), 0);
    mapping_close(&m);
    /* and found among our own descriptors by its number, others left alone */
    struct jvm self = {.pid = getpid(), .uid = geteuid(), .gid = getegid()};
    assert_int_equal(mapping_find(&self, 7, &m, &e), 0);
    assert_int_equal(m.ring_bytes, RING);
    mapping_close(&m);
    assert_int_equal(mapping_find(&self, 8, &m, &e), -ENOENT);
    close(fd);
    close(decoy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_whole_life),
        cmocka_unit_test(test_detach_reaches_the_agent),
        cmocka_unit_test(test_a_killed_jvm_loses_nothing),
        cmocka_unit_test(test_an_orderly_end_waits_for_the_reader),
        cmocka_unit_test(test_an_agent_that_lets_go),
        cmocka_unit_test(test_an_agent_that_fails),
        cmocka_unit_test(test_a_stopped_jvm),
        cmocka_unit_test(test_a_hostile_agent),
        cmocka_unit_test(test_unsound_mappings_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
