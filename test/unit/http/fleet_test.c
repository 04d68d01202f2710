/* A fleet without JVMs: what is refused, and who is remembered. With JVMs:
 * test/e2e/attach/fleet.py. */
#include "core/http/fleet/fleet.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOBODY ((pid_t)(1 << 22)) /* above every process number */

static struct fleet *begin(void) {
    struct fleet *f = NULL;
    struct err e = {0};
    if (fleet_new(&(struct fleet_options){.linger_ms = 50}, &f, &e) != 0)
        fail_msg("%s", e.message);
    return f;
}

static int enter(struct fleet *f, pid_t pid, const struct fleet_want *want, struct err *e) {
    struct fleet_user *u = (void *)f;
    *e = (struct err){0};
    int result = fleet_enter(f, pid, want, &u, e);
    assert_null(u);
    assert_true(result < 0 && e->code == -result && e->message[0]);
    return result;
}

static void test_refused(void **state) {
    (void)state;
    struct fleet *f = begin();
    struct err e;
    struct jvm j;
    pid_t pid[FLEET_MEMBERS_MAX];
    assert_int_equal(enter(f, NOBODY, &(struct fleet_want){0}, &e), -ESRCH);
    assert_int_equal(enter(f, NOBODY, &(struct fleet_want){0}, &e), -ESRCH);
    assert_int_equal(enter(f, getpid(), &(struct fleet_want){0}, &e), -EINVAL);
    assert_int_equal(enter(f, NOBODY, &(struct fleet_want){.as_it_is = true}, &e), -ENOENT);
    struct fleet_want twice = {.engines = 2};
    assert_int_equal(enter(f, NOBODY, &twice, &e), -EINVAL);
    assert_non_null(strstr(e.message, "twice"));
    struct fleet_want many = {.engines = WIRE_EVENTS + 1};
    assert_int_equal(enter(f, NOBODY, &many, &e), -EINVAL);
    assert_true(fleet_jvm(f, NOBODY, &j, &e) < 0);
    assert_int_equal(fleet_held(f, pid, FLEET_MEMBERS_MAX), 0);
    fleet_leave(NULL);
    fleet_free(f);
    fleet_free(NULL);
}

/* However many fail, nobody is refused for want of room. */
static void test_many_failures(void **state) {
    (void)state;
    struct fleet *f = begin();
    struct err e;
    for (pid_t i = 0; i < 2 * FLEET_MEMBERS_MAX; i++)
        assert_int_equal(enter(f, NOBODY + i, &(struct fleet_want){0}, &e), -ESRCH);
    fleet_free(f);
}

static void *enter_often(void *arg) {
    struct err e = {0};
    for (pid_t i = 0; i < 200; i++) {
        struct fleet_user *u;
        struct jvm *jvm = NULL;
        pid_t pid[4];
        if (fleet_enter(arg, NOBODY + i % 5, &(struct fleet_want){0}, &u, &e) == 0)
            abort();
        fleet_held(arg, pid, 4);
        if (i % 50 == 0 && fleet_jvms(arg, &jvm, &e) >= 0)
            free(jvm);
    }
    return NULL;
}

static void test_any_thread(void **state) {
    (void)state;
    struct fleet *f = begin();
    pthread_t thread[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, enter_often, f), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    fleet_free(f);
}

static void test_jvms(void **state) {
    (void)state;
    struct fleet *f = begin();
    struct err e = {0};
    struct jvm *one = NULL, *two = NULL, j;
    int n = fleet_jvms(f, &one, &e), again = fleet_jvms(f, &two, &e);
    assert_true(n >= 0 && again >= 0 && one && two);
    for (int i = 1; i < n; i++)
        assert_true(one[i - 1].pid < one[i].pid);
    for (int i = 0; i < n; i++)
        if (fleet_jvm(f, one[i].pid, &j, &e) == 0)
            assert_string_equal(j.name, one[i].name);
    free(one);
    free(two);
    fleet_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_many_failures),
        cmocka_unit_test(test_any_thread),
        cmocka_unit_test(test_jvms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
