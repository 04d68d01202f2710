/* Who is looked at when, and a JVM that is not there. */
#include "core/http/fleet/census.h"
#include "core/http/fleet/roster.h"

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void a_look_is_due_while_processes_come_and_go(void **state) {
    struct census c = {0};
    (void)state;
    assert_true(census_note(&c, 10, 3, 100)); /* the first */
    assert_true(census_note(&c, 10, 3, 100 + CENSUS_UNREST_S));
    assert_false(census_note(&c, 10, 3, 101 + CENSUS_UNREST_S));
    assert_true(census_note(&c, 11, 3, 102 + CENSUS_UNREST_S)); /* one came, one went */
    assert_true(census_note(&c, 11, 3, 104 + CENSUS_UNREST_S));
    assert_false(census_note(&c, 11, 3, 120 + CENSUS_UNREST_S));
}

static void a_look_is_due_now_and_then_in_any_case(void **state) {
    struct census c = {0};
    int due = 0;
    (void)state;
    for (uint64_t s = 1000; s < 1000 + 600; s++)
        due += census_note(&c, 1, 1, s);
    assert_in_range(due, CENSUS_UNREST_S + 10, CENSUS_UNREST_S + 30);
}

static void a_new_process_is_noticed(void **state) {
    struct census c = {0};
    (void)state;
    (void)census_due(&c, 100);
    uint64_t sum = c.sum;
    pid_t child = fork();
    if (child == 0) {
        (void)pause();
        _exit(0);
    }
    assert_true(census_due(&c, 100 + CENSUS_UNREST_S + 5));
    assert_int_not_equal(c.sum, sum);
    (void)kill(child, SIGKILL);
    (void)waitpid(child, NULL, 0);
}

static void ignore(void *arg, bool trouble, const char *line) {
    (void)trouble, (void)line;
    ++*(int *)arg;
}

static void one_that_is_not_there_is_over(void **state) {
    struct jvm none = {.pid = 0x7ffffff0, .name = "Main"};
    struct fleet_options fo = {.session = {.frugal = true}};
    struct fleet *fleet = NULL;
    struct roster *r = NULL;
    struct err e = {0};
    int said = 0;
    uint32_t i = 0;
    const struct roster_jvm *held;
    (void)state;
    assert_int_equal(fleet_new(&fo, &fleet, &e), 0);
    struct roster_options o = {
        .fleet = fleet, .only = &none, .bytes = sizeof *held, .arg = &said, .say = ignore};
    assert_int_equal(roster_new(&o, &r, &e), 0);
    for (int n = 0; n < 3000 && !roster_over(r, &e); n++) {
        roster_look(r);
        (void)poll(NULL, 0, 10);
    }
    assert_true(roster_over(r, &e));
    assert_int_not_equal(e.code, 0); /* push says it in the end, … */
    assert_int_equal(said, 0);       /* … and nobody before */
    assert_null(roster_next(r, &i));
    assert_int_equal(roster_held(r), 0);
    roster_free(r);
    fleet_free(fleet);
    roster_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_look_is_due_while_processes_come_and_go),
        cmocka_unit_test(a_look_is_due_now_and_then_in_any_case),
        cmocka_unit_test(a_new_process_is_noticed),
        cmocka_unit_test(one_that_is_not_there_is_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
