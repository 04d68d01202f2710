/* Events changed while one looks: an agent that does what it is asked, engine by engine. */
#include "core/decode/thread_filter.h"
#include "test/unit/session/session_fixture.h"

#include "core/base/err.h"
#include "core/event/event.h"
#include "core/profile/profile.h"
#include "core/session/share/share.h"

#define EACH 20u /* samples an engine takes when it is started */
#define NO_CYCLES "no PMU here\033"

/* What the agent was asked for, for the test to look at. */
struct seen {
    _Atomic uint32_t requests;
    struct wire_request last;
};

static bool can_run(const struct wire_engine_request *q) {
    return strcmp(q->name, "cycles") != 0;
}

static void agent_start(struct wire_status *s, const struct wire_request *q,
                        struct ring_writer *w) {
    uint32_t running = 0;
    for (uint32_t e = 0; e < WIRE_EVENTS; e++)
        s->engine[e].mechanism = WIRE_MECHANISM_AUTO;
    for (uint32_t i = 0; i < q->engines && i < WIRE_EVENTS; i++) {
        const struct wire_engine_request *r = &q->engine[i];
        struct wire_engine_status *to = &s->engine[r->event];
        *to = (struct wire_engine_status){.event = r->event, .interval = r->interval};
        memcpy(to->name, r->name, sizeof to->name);
        if (!can_run(r)) {
            to->error = ENOENT;
            memcpy(to->reason, NO_CYCLES, sizeof NO_CYCLES);
            continue;
        }
        to->mechanism = r->event == WIRE_EVENT_WALL ? WIRE_MECHANISM_SIGNAL : WIRE_MECHANISM_PERF;
        to->dropped = 5;
        to->threads = 7;
        to->expected_ns = r->event == WIRE_EVENT_WALL ? 1000 : 0;
        to->covered_ns = r->event == WIRE_EVENT_WALL ? 900 : 0;
        running++;
        for (uint32_t n = 0; n < EACH; n++)
            agent_event(w, (enum wire_event)r->event, 1);
    }
    s->error_code = running ? 0 : ENOENT;
    memcpy(s->message, "none of them works", 19);
    atomic_store(&s->state, running ? WIRE_STATE_RUNNING : WIRE_STATE_FAILED);
}

static void agent_thread(struct ring_writer *w, uint32_t tid, const char *name) {
    struct wire_thread *t = reserve(w, WIRE_THREAD, (uint32_t)(sizeof *t + strlen(name)));
    t->java_id = tid;
    t->tid = tid;
    t->name_bytes = (uint16_t)strlen(name);
    t->flags = 0;
    memcpy(t->bytes, name, strlen(name));
    ring_commit(t, WIRE_THREAD);
}

static void agent_main(struct wire_mapping *m, struct seen *seen, bool chose) {
    struct wire_control *c = &m->control;
    struct wire_status *s = &c->status;
    struct ring_writer w;
    uint32_t done = 0;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    ring_writer_init(&w, m, RING);
    agent_method(&w, 1, "run");
    agent_thread(&w, 100, "wanted");
    agent_thread(&w, 101, "other");
    if (chose) {
        struct wire_request own = {
            .engines = 1,
            .engine = {{.event = WIRE_EVENT_ALLOC, .interval = 512, .name = "alloc"}}};
        done = 1;
        agent_start(s, &own, &w);
        atomic_store(&s->generation, done);
    }
    for (;;) {
        syscall(SYS_futex, &c->request.generation, FUTEX_WAIT, done, NULL, NULL, 0);
        uint32_t generation = atomic_load(&c->request.generation);
        if (generation == done)
            continue;
        done = generation;
        memcpy(&seen->last, &c->request, sizeof seen->last);
        if (c->request.command == WIRE_COMMAND_START) {
            agent_start(s, &c->request, &w);
        } else {
            for (uint32_t e = 0; e < WIRE_EVENTS; e++)
                s->engine[e].mechanism = WIRE_MECHANISM_AUTO;
            atomic_store(&s->state, WIRE_STATE_IDLE);
        }
        enum wire_state state = (enum wire_state)atomic_load(&s->state);
        if (c->request.command == WIRE_COMMAND_DETACH)
            state = WIRE_STATE_DETACHED;
        atomic_fetch_add(&seen->requests, 1);
        agent_answer(c, generation, state);
        if (state == WIRE_STATE_DETACHED)
            _exit(0);
    }
}

struct stage {
    pid_t agent;
    struct wire_mapping *mapping;
    struct seen *seen;
    struct session *session;
};

static int begin(struct stage *st, const struct session_options *o, bool chose, struct err *e) {
    size_t bytes = wire_mapping_bytes(RING);
    int memfd = mapping_make_fd(RING, e);
    assert_true(memfd >= 0);
    *st = (struct stage){
        .mapping = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 0),
        .seen =
            mmap(NULL, sizeof *st->seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0),
    };
    assert_true(st->mapping != MAP_FAILED && st->seen != MAP_FAILED);
    st->mapping->header = (struct wire_header){.magic = WIRE_MAGIC,
                                               .abi_major = WIRE_ABI_MAJOR,
                                               .ring_bytes = RING,
                                               .clock_ns = clock_ns()};
    atomic_store(&st->mapping->control.request.generation, chose ? 1 : 0);
    st->agent = fork();
    if (st->agent == 0)
        agent_main(st->mapping, st->seen, chose);
    assert_true(st->agent > 0);
    return session_adopt(memfd, st->agent, o, &st->session, e);
}

static void end(struct stage *st) {
    session_close(st->session);
    kill(st->agent, SIGKILL);
    waitpid(st->agent, NULL, 0);
    munmap(st->mapping, wire_mapping_bytes(RING));
    munmap(st->seen, sizeof *st->seen);
}

static void await_event(struct session *s, int event, uint64_t n, struct session_status *st) {
    for (int i = 0; i < 30000; i++) {
        session_status(s, st);
        if (st->engine[event].samples >= n)
            break;
        usleep(1000);
    }
    assert_int_equal(st->engine[event].samples, n);
}

static struct wire_engine_request engine(enum wire_event event, const char *name,
                                         uint64_t interval) {
    struct wire_engine_request q = {.event = event, .interval = interval};
    strncpy(q.name, name, sizeof q.name - 1);
    return q;
}

/* Two that work and one that does not. */
static void test_several_at_once(void **state) {
    (void)state;
    struct stage st;
    struct session_status status;
    struct err e;
    struct session_options o = {
        .engine = {engine(WIRE_EVENT_WALL, "wall", 50), engine(WIRE_EVENT_CPU, "cpu", 10),
                   engine(WIRE_EVENT_PERF, "cycles", 1)},
        .engines = 3,
        .signal = 12,
        .wall_signal = 13,
        .window_marks = true,
    };
    assert_int_equal(begin(&st, &o, false, &e), 0);
    assert_int_equal(atomic_load(&st.seen->requests), 1);
    assert_int_equal(st.seen->last.engines, 3);
    assert_int_equal(st.seen->last.signal, 12);
    assert_int_equal(st.seen->last.wall_signal, 13);
    assert_int_equal(st.seen->last.window_marks, 1);
    assert_int_equal(st.seen->last.filtered, 0);
    assert_string_equal(st.seen->last.engine[2].name, "cycles");
    await_event(st.session, WIRE_EVENT_WALL, EACH, &status);
    await_event(st.session, WIRE_EVENT_CPU, EACH, &status);
    assert_string_equal(status.event, "wall"); /* the first asked for */
    assert_string_equal(status.mechanism, "signal");
    assert_int_equal(status.interval, 50);
    assert_int_equal(status.samples, 2 * EACH);
    const struct session_engine *wall = &status.engine[WIRE_EVENT_WALL];
    const struct session_engine *cpu = &status.engine[WIRE_EVENT_CPU];
    const struct session_engine *cycles = &status.engine[WIRE_EVENT_PERF];
    assert_true(wall->asked && wall->runs && wall->coverage > 0.899 && wall->coverage < 0.901);
    assert_true(cpu->asked && cpu->runs && cpu->coverage < 0 && cpu->threads == 7);
    assert_string_equal(cpu->mechanism, "perf");
    assert_int_equal(cpu->dropped, 5);
    assert_true(cycles->asked && !cycles->runs);
    assert_int_equal(cycles->error, ENOENT);
    assert_string_equal(cycles->name, "cycles");
    assert_string_equal(cycles->reason, "no PMU here?");
    assert_string_equal(cycles->mechanism, "");
    assert_false(status.engine[WIRE_EVENT_ALLOC].asked || status.engine[EVENT_LIVE].asked);
    end(&st);
}

static void test_switching(void **state) {
    (void)state;
    struct stage st;
    struct session_status status;
    struct err e;
    struct session_options o = {.engines = 0};
    assert_int_equal(begin(&st, &o, false, &e), 0);
    await_event(st.session, WIRE_EVENT_CPU, EACH, &status);
    struct wire_engine_request two[] = {engine(WIRE_EVENT_ALLOC, "alloc", 512),
                                        engine(WIRE_EVENT_WALL, "wall", 50)};
    two[0].flags = WIRE_ENGINE_LIVE;
    assert_int_equal(session_set_engines(st.session, two, 2, &e), 0);
    await_event(st.session, WIRE_EVENT_ALLOC, EACH, &status);
    await_event(st.session, WIRE_EVENT_WALL, EACH, &status);
    assert_string_equal(status.event, "alloc");
    assert_false(status.engine[WIRE_EVENT_CPU].asked || status.engine[WIRE_EVENT_CPU].runs);
    assert_int_equal(status.engine[WIRE_EVENT_CPU].samples, EACH); /* what was sampled stays */
    assert_int_equal(status.engine[WIRE_EVENT_CPU].dropped, 5);
    assert_true(status.engine[EVENT_LIVE].asked && status.engine[EVENT_LIVE].runs);
    assert_false(status.engine[EVENT_LEAK].asked);

    /* none at all: the session goes on, its clock stands still */
    assert_int_equal(session_set_engines(st.session, NULL, 0, &e), 0);
    assert_int_equal(st.seen->last.command, WIRE_COMMAND_STOP);
    session_status(st.session, &status);
    assert_int_equal(status.phase, SESSION_RUNNING);
    assert_false(status.engine[WIRE_EVENT_ALLOC].asked);
    uint64_t elapsed = status.elapsed_ns;
    assert_int_equal(session_stop(st.session, &e), 0);
    session_status(st.session, &status);
    assert_int_equal(status.phase, SESSION_STOPPED);
    assert_int_equal(status.elapsed_ns, elapsed);
    assert_true(elapsed > 0);

    /* and again */
    assert_int_equal(session_set_engines(st.session, two, 1, &e), 0);
    await_event(st.session, WIRE_EVENT_ALLOC, 2 * EACH, &status);
    assert_int_equal(status.phase, SESSION_RUNNING);
    assert_int_equal(status.engine[WIRE_EVENT_ALLOC].dropped, 10); /* its counter began anew */
    assert_int_equal(session_stop(st.session, &e), 0);
    session_status(st.session, &status);
    assert_string_equal(status.mechanism, "perf"); /* as it ran */
    assert_true(status.engine[WIRE_EVENT_ALLOC].asked && !status.engine[WIRE_EVENT_ALLOC].runs);
    assert_true(status.elapsed_ns > elapsed);
    end(&st);
}

/* What does not work is told, and something else can be tried. */
static void test_what_cannot_run(void **state) {
    (void)state;
    struct stage st;
    struct session_status status;
    struct err e;
    struct session_options o = {.engines = 0};
    struct wire_engine_request cycles = engine(WIRE_EVENT_PERF, "cycles", 0);
    struct wire_engine_request twice[] = {cycles, cycles};
    assert_int_equal(begin(&st, &o, false, &e), 0);
    assert_int_equal(session_set_engines(st.session, twice, 2, &e), -EINVAL);
    assert_int_equal(session_set_engines(st.session, &cycles, 1, &e), -ENOENT);
    assert_string_equal(e.message, "none of them works");
    session_status(st.session, &status);
    assert_int_equal(status.phase, SESSION_RUNNING);
    assert_int_equal(status.engine[WIRE_EVENT_PERF].error, ENOENT);
    assert_string_equal(status.message, "none of them works");
    struct wire_engine_request cpu = engine(WIRE_EVENT_CPU, "cpu", 0);
    assert_int_equal(session_set_engines(st.session, &cpu, 1, &e), 0);
    await_event(st.session, WIRE_EVENT_CPU, 2 * EACH, &status);
    assert_int_equal(status.engine[WIRE_EVENT_PERF].error, 0); /* not asked for any more */
    kill(st.agent, SIGKILL);
    await_phase(st.session, SESSION_JVM_GONE, &status);
    assert_int_equal(session_set_engines(st.session, &cycles, 1, &e), -ESRCH);
    session_status(st.session, &status);
    assert_int_equal(status.phase, SESSION_JVM_GONE);
    assert_string_equal(status.event, "cpu"); /* nothing has changed */
    assert_int_equal(session_stop(st.session, &e), 0);
    end(&st);

    /* at the start it is an error */
    o = (struct session_options){.engine = {cycles}, .engines = 1};
    assert_int_equal(begin(&st, &o, false, &e), -ENOENT);
    assert_null(st.session);
    end(&st);
}

/* An agent that chose by itself is left alone until somebody asks for something else. */
static void test_an_agent_that_chose(void **state) {
    (void)state;
    struct stage st;
    struct session_status status;
    struct err e;
    struct session_options o = {.engines = 0};
    assert_int_equal(begin(&st, &o, true, &e), 0);
    await_event(st.session, WIRE_EVENT_ALLOC, EACH, &status);
    assert_int_equal(atomic_load(&st.seen->requests), 0);
    assert_true(status.engine[WIRE_EVENT_ALLOC].asked && status.engine[WIRE_EVENT_ALLOC].runs);
    assert_false(status.engine[WIRE_EVENT_CPU].asked);
    assert_string_equal(status.event, "alloc");
    struct wire_engine_request cpu = engine(WIRE_EVENT_CPU, "cpu", 0);
    assert_int_equal(session_set_engines(st.session, &cpu, 1, &e), 0);
    await_event(st.session, WIRE_EVENT_CPU, EACH, &status);
    assert_false(status.engine[WIRE_EVENT_ALLOC].asked);
    end(&st);
}

/* What needs an address it cannot have started. */
static void test_an_agent_that_lacks_an_address(void **state) {
    (void)state;
    struct stage st;
    struct err e;
    struct session_options o = {.engine = {engine(WIRE_EVENT_CPU, "cpu", 0)}, .engines = 2};
    assert_int_equal(event_parse("getpid", &o.engine[1], &e), 0);
    assert_int_equal(begin(&st, &o, true, &e), 0);
    assert_int_equal(atomic_load(&st.seen->requests), 1);
    assert_int_equal(st.seen->last.engines, 2);
    assert_true(st.seen->last.engine[1].perf.config1 != 0);
    end(&st);
}

/* The agent learns which threads are wanted, and when that changes. */
static void test_filters_reach_the_agent(void **state) {
    (void)state;
    struct stage st;
    struct err e;
    struct session_options o = {
        .thread_pattern = "^wanted$", .tids = &(struct tid_range){40, 41}, .tid_ranges = 1};
    assert_int_equal(begin(&st, &o, true, &e), 0); /* what it chose lacks the filter */
    assert_int_equal(atomic_load(&st.seen->requests), 1);
    assert_int_equal(st.seen->last.filtered, 1);
    const uint8_t *bits = (const uint8_t *)st.mapping + wire_threads_offset(RING);
    for (int i = 0; i < 30000 && !(__atomic_load_n(&bits[12], __ATOMIC_ACQUIRE) & 1 << 4); i++)
        usleep(1000);
    assert_int_equal(bits[12], 1 << 4); /* 100, and not 101 */
    assert_int_equal(bits[5], 3);
    for (int i = 0; i < 30000 && !atomic_load(&st.mapping->control.request.filters); i++)
        usleep(1000);
    assert_true(atomic_load(&st.mapping->control.request.filters) > 0);
    struct session_status status;
    assert_int_equal(session_stop(st.session, &e), 0);
    session_status(st.session, &status);
    assert_int_equal(status.samples, 0); /* the agent's samples are of another thread */
    end(&st);
    o.thread_pattern = "(";
    assert_int_equal(begin(&st, &o, true, &e), -EINVAL);
    assert_int_equal(e.exit_code, ERR_EXIT_ARGUMENT);
    end(&st);
}

static void test_windows_are_looked_up(void **state) {
    (void)state;
    struct stage st;
    struct err e;
    struct session_options o = {.begin = "getpid", .end = "getppid"};
    assert_int_equal(begin(&st, &o, true, &e), 0);
    assert_true(st.seen->last.window_begin != 0 && st.seen->last.window_end != 0);
    assert_true(st.seen->last.window_begin != st.seen->last.window_end);
    end(&st);
    o.end = "no_such_function_anywhere";
    assert_int_equal(begin(&st, &o, true, &e), -ENOENT);
    assert_int_equal(e.exit_code, ERR_EXIT_ARGUMENT);
    assert_non_null(strstr(e.message, "no_such_function_anywhere"));
    end(&st);
}

/* A recording knows each engine, and how long there were any. */
static void test_a_recording_of_several(void **state) {
    (void)state;
    struct stage st;
    struct session *replayed;
    struct session_status status, then;
    struct err e;
    char path[] = "/tmp/jtop-engines-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    struct session_options o = {.record = path};
    assert_int_equal(begin(&st, &o, false, &e), 0);
    struct wire_engine_request some[] = {engine(WIRE_EVENT_ALLOC, "alloc", 512),
                                         engine(WIRE_EVENT_PERF, "cycles", 1)};
    assert_int_equal(session_set_engines(st.session, some, 2, &e), 0);
    await_event(st.session, WIRE_EVENT_ALLOC, EACH, &status);
    assert_int_equal(session_stop(st.session, &e), 0);
    session_status(st.session, &status);
    end(&st);
    o = (struct session_options){.engines = 0};
    assert_int_equal(session_replay(path, &o, &replayed, &e), 0);
    session_status(replayed, &then);
    assert_int_equal(then.phase, SESSION_REPLAYED);
    for (int i = 0; i < EVENT_KINDS; i++) {
        assert_int_equal(then.engine[i].asked, status.engine[i].asked);
        assert_int_equal(then.engine[i].error, status.engine[i].error);
        assert_int_equal(then.engine[i].samples, status.engine[i].samples);
        assert_int_equal(then.engine[i].dropped, status.engine[i].dropped);
        assert_string_equal(then.engine[i].mechanism, status.engine[i].mechanism);
        if (then.engine[i].asked)
            assert_string_equal(then.engine[i].reason, status.engine[i].reason);
    }
    assert_string_equal(then.event, "alloc");
    assert_true(then.elapsed_ns > 0);
    assert_int_equal(session_set_engines(replayed, some, 1, &e), -EINVAL);
    assert_non_null(strstr(e.message, "recording"));
    session_close(replayed);
    unlink(path);
}

/* Profiles of other processes, to which events are lent. */

static void begin_shared(struct stage *st, bool apart) {
    struct err e;
    struct session_options o = {
        .engine = {engine(WIRE_EVENT_CPU, "cpu", 10)}, .engines = 1, .apart = apart};
    assert_int_equal(begin(st, &o, false, &e), 0);
    assert_int_equal(session_share(st->session, NULL, NULL, &e), 0);
}

static int join_apart(struct stage *st, struct wire_engine_request q, uint32_t depth,
                      struct session **out, struct err *e) {
    struct session_options o = {.engine = {q}, .engines = 1, .depth = depth, .apart = true};
    struct jvm j;
    session_jvm(st->session, &j);
    return session_join(&j, &o, out, e);
}

static void await_asked(struct stage *st, uint32_t engines) {
    for (int i = 0; i < 10000 && st->seen->last.engines != engines; i++)
        usleep(1000);
    assert_int_equal(st->seen->last.engines, engines);
}

static void test_an_event_is_lent(void **state) {
    (void)state;
    struct stage st;
    struct session *s = NULL;
    struct session_status status;
    struct err e;
    begin_shared(&st, false);
    await_event(st.session, WIRE_EVENT_CPU, EACH, &status);
    if (join_apart(&st, engine(WIRE_EVENT_WALL, "wall", 50), 0, &s, &e) != 0)
        fail_msg("%s", e.message);
    await_asked(&st, 2);
    session_status(st.session, &status); /* a screen shows it */
    assert_true(status.engine[WIRE_EVENT_WALL].runs && status.engine[WIRE_EVENT_WALL].asked);
    session_status(s, &status);
    assert_int_equal(status.reader, getpid());
    assert_true(status.engine[WIRE_EVENT_WALL].runs);
    assert_false(status.engine[WIRE_EVENT_CPU].asked || status.engine[WIRE_EVENT_CPU].runs);
    assert_string_equal(status.event, "wall");
    assert_int_equal(status.samples, 0); /* those so far are older than this profile */
    assert_int_equal(status.dropped, 0); /* and 5 and 5 were dropped before */

    /* Other events can be changed; each START takes EACH samples of each event. */
    const struct wire_engine_request own[] = {engine(WIRE_EVENT_CPU, "cpu", 20),
                                              engine(WIRE_EVENT_ALLOC, "alloc", 512)},
                                     wrong = engine(WIRE_EVENT_WALL, "wall", 51);
    struct wire_engine_request now[WIRE_EVENTS];
    assert_int_equal(session_set_engines(st.session, own, 2, &e), 0);
    await_asked(&st, 3);
    assert_int_equal(session_engines(st.session, now), 2);
    await_event(s, WIRE_EVENT_WALL, EACH, &status);
    assert_int_equal(status.samples, EACH);
    assert_int_equal(session_set_engines(st.session, &wrong, 1, &e), -EBUSY);
    assert_non_null(strstr(e.message, "profile of wall"));
    assert_int_equal(session_engines(st.session, now), 2);

    assert_int_equal(session_end(s, &e), 1);
    session_status(s, &status);
    assert_int_equal(status.phase, SESSION_STOPPED);
    await_asked(&st, 2);
    assert_string_equal(st.seen->last.engine[1].name, "alloc");
    session_close(s);
    session_status(st.session, &status);
    assert_int_equal(status.phase, SESSION_RUNNING);
    end(&st);
}

/* What belongs to the session itself counts for both, and stays. */
static void test_an_event_is_shared(void **state) {
    (void)state;
    struct stage st;
    struct session *s = NULL;
    struct session_status status;
    struct err e;
    begin_shared(&st, false);
    await_event(st.session, WIRE_EVENT_CPU, EACH, &status);
    unsigned asked = atomic_load(&st.seen->requests);
    assert_int_equal(join_apart(&st, engine(WIRE_EVENT_CPU, "cpu", 10), 0, &s, &e), 0);
    assert_int_equal(atomic_load(&st.seen->requests), asked);
    session_status(s, &status);
    assert_true(status.engine[WIRE_EVENT_CPU].runs && status.samples == 0);
    session_close(s); /* it is not even stopped */
    assert_int_equal(join_apart(&st, engine(WIRE_EVENT_CPU, "cpu", 11), 0, &s, &e), -EBUSY);
    assert_int_equal(e.exit_code, ERR_EXIT_PROFILER);
    assert_non_null(strstr(e.message, "every 10ns there, and is to be sampled every 11ns here"));
    assert_int_equal(join_apart(&st, engine(WIRE_EVENT_CPU, "cpu", 10), 9, &s, &e), -EBUSY);
    assert_non_null(strstr(e.message, "and 9 here"));
    assert_int_equal(atomic_load(&st.seen->requests), asked);
    end(&st);
}

/* An event that cannot run is not left behind. */
static void test_an_event_cannot_be_lent(void **state) {
    (void)state;
    struct stage st;
    struct session *s = NULL;
    struct err e;
    begin_shared(&st, false);
    assert_true(join_apart(&st, engine(WIRE_EVENT_PERF, "cycles", 1), 0, &s, &e) < 0);
    assert_string_equal(e.message, "no PMU here?");
    await_asked(&st, 1);
    end(&st);
}

/* Nor does a profile that has files of its own get samples of an event that it lent. */
static void test_own_events_only(void **state) {
    (void)state;
    struct stage st;
    struct session *s = NULL;
    struct session_status status;
    struct err e;
    begin_shared(&st, true);
    assert_int_equal(join_apart(&st, engine(WIRE_EVENT_WALL, "wall", 50), 0, &s, &e), 0);
    await_event(st.session, WIRE_EVENT_CPU, 2 * EACH, &status);
    assert_false(status.engine[WIRE_EVENT_WALL].asked || status.engine[WIRE_EVENT_WALL].runs);
    assert_int_equal(status.samples, 2 * EACH);
    /* The other profile goes on when this one ends, but not when it is stopped. */
    assert_int_equal(session_end(st.session, &e), 1);
    session_status(st.session, &status);
    assert_int_equal(status.phase, SESSION_STOPPED);
    session_status(s, &status);
    assert_int_equal(status.phase, SESSION_RUNNING);
    struct wire_engine_request more = engine(WIRE_EVENT_CPU, "cpu", 20);
    assert_int_equal(session_set_engines(st.session, &more, 1, &e), 0);
    await_event(s, WIRE_EVENT_WALL, EACH, &status);
    session_status(st.session, &status);
    assert_int_equal(status.samples, 2 * EACH); /* its time is over */
    session_close(s);
    end(&st);
}

static void test_the_other_one_stops(void **state) {
    (void)state;
    struct stage st;
    struct session *s = NULL;
    struct session_status status;
    struct err e;
    begin_shared(&st, true);
    assert_int_equal(join_apart(&st, engine(WIRE_EVENT_WALL, "wall", 50), 0, &s, &e), 0);
    assert_int_equal(session_stop(st.session, &e), 0);
    await_phase(s, SESSION_FAILED, &status);
    assert_non_null(strstr(status.message, "has stopped sampling"));
    assert_int_equal(session_end(s, &e), 1);
    session_close(s);
    end(&st);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_event_is_lent),
        cmocka_unit_test(test_an_event_is_shared),
        cmocka_unit_test(test_an_event_cannot_be_lent),
        cmocka_unit_test(test_own_events_only),
        cmocka_unit_test(test_the_other_one_stops),
        cmocka_unit_test(test_several_at_once),
        cmocka_unit_test(test_switching),
        cmocka_unit_test(test_what_cannot_run),
        cmocka_unit_test(test_an_agent_that_chose),
        cmocka_unit_test(test_an_agent_that_lacks_an_address),
        cmocka_unit_test(test_filters_reach_the_agent),
        cmocka_unit_test(test_windows_are_looked_up),
        cmocka_unit_test(test_a_recording_of_several),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
