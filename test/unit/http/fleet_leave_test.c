/* Many sessions that end together: all agents are asked before the first is waited for. */
#include "test/unit/session/session_fixture.h"

#define SESSIONS 4

/* Lets go only when it is told to, by a word in its own shared memory. */
static void agent_main(struct wire_mapping *m, const _Atomic int *may) {
    struct wire_control *c = &m->control;
    struct ring_writer w;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    ring_writer_init(&w, m, RING);
    atomic_store(&c->status.state, WIRE_STATE_RUNNING);
    agent_method(&w, 1, "run");
    agent_event(&w, WIRE_EVENT_CPU, 1);
    while (c->request.command != WIRE_COMMAND_DETACH ||
           atomic_load(&c->request.generation) == atomic_load(&c->status.generation))
        usleep(1000);
    while (!atomic_load(may))
        usleep(1000);
    agent_answer(c, atomic_load(&c->request.generation), WIRE_STATE_DETACHED);
    _exit(0);
}

struct stage {
    pid_t agent;
    struct wire_mapping *mapping;
    struct session *session;
};

static void begin(struct stage *st, const _Atomic int *may) {
    struct err e = {0};
    struct session_options o = {0};
    int fd;
    st->mapping = make_mapping(&fd);
    st->agent = fork();
    if (st->agent == 0)
        agent_main(st->mapping, may);
    assert_true(st->agent > 0);
    if (session_adopt(fd, st->agent, &o, &st->session, &e) != 0)
        fail_msg("adopt: %s", e.message);
    await_samples(st->session, 1);
}

static void end(struct stage *st) {
    int status;
    session_close(st->session);
    assert_int_equal(waitpid(st->agent, &status, 0), st->agent);
    assert_true(WIFEXITED(status)); /* it let go by itself */
    munmap(st->mapping, WIRE_RING_OFFSET + RING);
}

static void await_detach(const struct stage *st) {
    for (int i = 0; i < 10000 && st->mapping->control.request.command != WIRE_COMMAND_DETACH; i++)
        usleep(1000);
    assert_int_equal(st->mapping->control.request.command, WIRE_COMMAND_DETACH);
}

static void test_all_are_asked_first(void **state) {
    (void)state;
    struct stage st[SESSIONS];
    _Atomic int *may =
        mmap(NULL, sizeof *may, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(may != MAP_FAILED);
    for (int i = 0; i < SESSIONS; i++)
        begin(&st[i], may);
    for (int i = 0; i < SESSIONS; i++)
        session_leave(st[i].session); /* would not come back before the agent's answer */
    for (int i = 0; i < SESSIONS; i++)
        await_detach(&st[i]);
    session_leave(st[0].session); /* once is enough, twice is fine */
    atomic_store(may, 1);
    for (int i = 0; i < SESSIONS; i++)
        end(&st[i]);
    munmap(may, sizeof *may);
}

/* What was sampled can be read until the end; what is asked for in between is refused. */
static void test_after_leaving(void **state) {
    (void)state;
    struct stage st;
    struct err e = {0};
    _Atomic int *may =
        mmap(NULL, sizeof *may, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(may != MAP_FAILED);
    atomic_store(may, 1);
    begin(&st, may);
    session_leave(st.session);
    await_detach(&st);
    struct wire_engine_request cpu = {.event = WIRE_EVENT_CPU, .name = "cpu"};
    assert_true(session_set_engines(st.session, &cpu, 1, &e) < 0);
    assert_true(e.message[0] != '\0');
    assert_int_equal(samples(st.session), 1);
    end(&st);
    munmap(may, sizeof *may);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_are_asked_first),
        cmocka_unit_test(test_after_leaving),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
