/* Files of one dump, while the profile grows: each is of one moment, samples and counters. */
#include "tui/cli/output/output.h"

#include "test/unit/session/session_fixture.h"

#include <stdio.h>

enum { FIRST = 100, MORE = 50, DROPPED = 3, DROPPED_MORE = 7 };

static _Atomic unsigned *go_on; /* shared with the agent */

static void agent_main(struct wire_mapping *m) {
    struct ring_writer w;
    struct wire_status *s = &m->control.status;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    ring_writer_init(&w, m, RING);
    s->engines = 1;
    s->engine[0] = (struct wire_engine_status){.event = WIRE_EVENT_CPU,
                                               .mechanism = WIRE_MECHANISM_CTIMER,
                                               .interval = 1000000,
                                               .dropped = DROPPED,
                                               .name = "cpu"};
    atomic_store(&s->state, WIRE_STATE_RUNNING);
    agent_method(&w, 1, "run");
    for (uint32_t i = 0; i < FIRST; i++)
        agent_event(&w, WIRE_EVENT_CPU, 1);
    while (!atomic_load(go_on))
        usleep(500);
    __atomic_store_n(&s->engine[0].dropped, DROPPED_MORE, __ATOMIC_SEQ_CST);
    for (uint32_t i = 0; i < MORE; i++)
        agent_event(&w, WIRE_EVENT_CPU, 1);
    pause();
    _exit(0);
}

struct stage {
    pid_t agent;
    struct wire_mapping *mapping;
    struct session *session;
    struct text report[2];
    int reports;
};

static void await_dropped(struct session *s, uint64_t n) {
    static struct session_status st;
    for (int i = 0; i < 30000; i++) {
        session_status(s, &st);
        if (st.engine[WIRE_EVENT_CPU].dropped == n)
            return;
        usleep(1000);
    }
    fail_msg("%d dropped", (int)st.engine[WIRE_EVENT_CPU].dropped);
}

static void begin(struct stage *st) {
    struct err e = {0};
    struct session_options o = {0};
    int fd;
    st->mapping = make_mapping(&fd);
    go_on = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(go_on != MAP_FAILED);
    st->agent = fork();
    if (st->agent == 0)
        agent_main(st->mapping);
    assert_true(st->agent > 0);
    if (session_adopt(fd, st->agent, &o, &st->session, &e) != 0)
        fail_msg("adopt: %s", e.message);
    await_samples(st->session, FIRST);
    await_dropped(st->session, DROPPED);
}

static void end(struct stage *st) {
    kill(st->agent, SIGKILL);
    session_close(st->session);
    waitpid(st->agent, NULL, 0);
    munmap(st->mapping, WIRE_RING_OFFSET + RING);
    munmap(go_on, 4096);
    text_free(&st->report[0]);
    text_free(&st->report[1]);
}

/* After the first report, more samples come. */
static int keep(void *arg, const struct output_piece *piece, struct err *e) {
    struct stage *st = arg;
    (void)e;
    assert_in_range(st->reports, 0, 1);
    struct text *t = &st->report[st->reports];
    assert_true(piece->first == (t->data == NULL));
    text_add_n(t, piece->data, piece->bytes);
    if (!piece->last)
        return 0;
    st->reports++;
    atomic_store(go_on, 1);
    await_samples(st->session, FIRST + MORE);
    await_dropped(st->session, DROPPED_MORE);
    return 0;
}

static uint64_t number(const struct text *t, const char *what) {
    const char *line = strstr(t->data, what);
    const char *colon = line ? strchr(line, ':') : NULL;
    if (!colon)
        fail_msg("no %s in %s", what, t->data);
    return strtoull(colon + 1, NULL, 10);
}

static void each_file_is_of_one_moment(void **state) {
    (void)state;
    static struct stage st;
    static struct options o;
    static struct outputs out;
    char *argv[] = {"jtop-prof", "-e", "cpu", "-d", "1", "-f", "a.txt", "-f", "b.txt", "7", NULL};
    struct err e = {0};
    begin(&st);
    out.put = keep;
    out.put_arg = &st;
    if (options_parse(&o, 10, argv, &e) != 0 || outputs_plan(&out, &o, 7, 3, NULL, &e) != 0 ||
        outputs_write(&out, &o, st.session, &e) != 0)
        fail_msg("%s", e.message);
    assert_int_equal(st.reports, 2);
    assert_int_equal(number(&st.report[0], "Total samples"), FIRST);
    assert_int_equal(number(&st.report[0], "dropped"), DROPPED);
    assert_int_equal(number(&st.report[1], "Total samples"), FIRST + MORE);
    assert_int_equal(number(&st.report[1], "dropped"), DROPPED_MORE);
    outputs_free(&out);
    end(&st);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_file_is_of_one_moment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
