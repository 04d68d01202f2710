/* Java states of threads: when the agent is asked for them, and what a viewer gets. */
#include "test/unit/session/session_fixture.h"

#include "core/session/share/share.h"

#define TID 4242u

/* The agent reports a thread as BLOCKED each time it is asked for all states. */

static void agent_java_state(struct ring_writer *w, enum wire_java state) {
    struct wire_java_state *r = reserve(w, WIRE_JAVA_STATE, sizeof *r);
    r->tid = TID;
    r->state = (uint8_t)state;
    ring_commit(r, WIRE_JAVA_STATE);
}

static void agent_thread(struct ring_writer *w, const char *name) {
    struct wire_thread *t = reserve(w, WIRE_THREAD, (uint32_t)(sizeof *t + strlen(name)));
    t->java_id = 3;
    t->tid = TID;
    t->flags = 0;
    t->name_bytes = (uint16_t)strlen(name);
    memcpy(t->bytes, name, strlen(name));
    ring_commit(t, WIRE_THREAD);
}

static void agent_main(struct wire_mapping *m) {
    struct ring_writer w;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    ring_writer_init(&w, m, RING);
    struct wire_status *s = &m->control.status;
    s->engines = 1;
    s->engine[0] = (struct wire_engine_status){
        .event = WIRE_EVENT_CPU, .mechanism = WIRE_MECHANISM_CTIMER, .interval = 1000000};
    atomic_store(&s->state, WIRE_STATE_RUNNING);
    agent_thread(&w, "waiter");
    for (uint32_t asked = 0;; usleep(500)) {
        uint32_t wanted = atomic_load(&m->control.request.java_states);
        if (wanted && wanted != asked)
            agent_java_state(&w, WIRE_JAVA_BLOCKED);
        atomic_store(&s->java_report, wanted ? WIRE_JAVA_REPORT_ON : WIRE_JAVA_REPORT_OFF);
        asked = wanted;
    }
}

struct stage {
    pid_t agent;
    struct wire_mapping *mapping;
    struct session *session;
};

static void begin(struct stage *st) {
    struct err e = {0};
    struct session_options o = {0};
    int fd;
    st->mapping = make_mapping(&fd);
    st->agent = fork();
    if (st->agent == 0)
        agent_main(st->mapping);
    assert_true(st->agent > 0);
    if (session_adopt(fd, st->agent, &o, &st->session, &e) != 0)
        fail_msg("adopt: %s", e.message);
}

static void end(struct stage *st) {
    kill(st->agent, SIGKILL);
    session_close(st->session);
    waitpid(st->agent, NULL, 0);
    munmap(st->mapping, WIRE_RING_OFFSET + RING);
}

static void await_java_state(struct session *s, enum wire_java want) {
    enum wire_java state = WIRE_JAVA_STATES;
    for (int i = 0; i < 10000 && state != want; i++) {
        struct profile_living *living = NULL;
        usleep(1000);
        int n = profile_living(session_lock(s), &living);
        for (int k = 0; k < n; k++)
            if (living[k].tid == TID)
                state = living[k].java_state;
        free(living);
        session_unlock(s);
    }
    assert_int_equal(state, want);
}

static void await_asked(struct stage *st, uint32_t number) {
    for (int i = 0; i < 10000; i++, usleep(1000))
        if (atomic_load(&st->mapping->control.request.java_states) == number)
            return;
    assert_int_equal(atomic_load(&st->mapping->control.request.java_states), number);
}

static void test_asked_while_needed(void **state) {
    (void)state;
    struct stage st;
    struct session_status status = {0};
    begin(&st);
    session_ask_java_states(st.session, 200, false);
    await_java_state(st.session, WIRE_JAVA_BLOCKED);
    await_asked(&st, 0); /* nobody has requested them again */
    await_java_state(st.session, WIRE_JAVA_UNKNOWN);
    session_ask_java_states(st.session, 60000, false);
    await_java_state(st.session, WIRE_JAVA_BLOCKED);
    for (int i = 0; i < 10000 && status.java_states != WIRE_JAVA_REPORT_ON; i++, usleep(1000))
        session_status(st.session, &status);
    assert_int_equal(status.java_states, WIRE_JAVA_REPORT_ON);
    session_ask_java_states(st.session, 60000, false); /* once is enough */
    await_asked(&st, 2);
    end(&st);
}

/* A viewer gets all states, whoever has requested them before, and only while it needs them. */
static void test_viewer(void **state) {
    (void)state;
    struct stage st;
    struct jvm jvm;
    struct err e = {0};
    struct session *s = NULL;
    begin(&st);
    session_ask_java_states(st.session, 60000, false);
    await_java_state(st.session, WIRE_JAVA_BLOCKED);
    assert_int_equal(session_share(st.session, NULL, NULL, &e), 0);
    session_jvm(st.session, &jvm);
    if (session_join(&jvm, &(struct session_options){0}, &s, &e) != 0)
        fail_msg("join: %s", e.message);
    await_asked(&st, 1);
    session_ask_java_states(s, 200, false);
    await_java_state(s, WIRE_JAVA_BLOCKED);
    await_asked(&st, 2);
    await_java_state(s, WIRE_JAVA_UNKNOWN);
    await_java_state(st.session, WIRE_JAVA_BLOCKED);
    session_close(s);
    end(&st);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_asked_while_needed),
        cmocka_unit_test(test_viewer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
