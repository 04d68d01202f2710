/* Engines lent to other processes' profiles: what fits, what runs, and when it ends. */
#include "core/session/lent.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define MS UINT64_C(1000000)

static const struct wire_engine_request cpu = {.event = WIRE_EVENT_CPU, .name = "cpu"},
                                        wall = {.event = WIRE_EVENT_WALL, .name = "wall"},
                                        alloc = {.event = WIRE_EVENT_ALLOC, .name = "alloc"},
                                        leak = {.event = WIRE_EVENT_NATIVEMEM, .name = "nativemem"};

static void fits(struct wire_engine_request have, struct wire_engine_request want) {
    char why[320] = "";
    if (!lent_fits(&have, &want, why, sizeof why))
        fail_msg("%s", why);
}

static void differs(struct wire_engine_request have, struct wire_engine_request want,
                    const char *text) {
    char why[320] = "";
    assert_false(lent_fits(&have, &want, why, sizeof why));
    if (!strstr(why, text))
        fail_msg("\"%s\" is not in \"%s\"", text, why);
}

static struct wire_engine_request every(struct wire_engine_request r, uint64_t interval) {
    r.interval = interval;
    return r;
}

static struct wire_engine_request flagged(struct wire_engine_request r, uint32_t flags) {
    r.flags = flags;
    return r;
}

static void test_intervals(void **state) {
    (void)state;
    fits(cpu, cpu);
    fits(cpu, every(cpu, 10 * MS)); /* the default */
    fits(every(alloc, 3000), every(alloc, 3000));
    differs(cpu, every(cpu, MS),
            "cpu is sampled every 10ms there, and is to be sampled every 1ms here");
    differs(every(cpu, 1500000), cpu, "every 1500us there, and is to be sampled every 10ms here");
    differs(every(alloc, 2 << 20), every(alloc, 3000),
            "every 2M bytes there, and is to be sampled every 3000 bytes");
    differs(every(leak, 1024), leak,
            "every 1K bytes there, and is to be sampled at every call here");
}

static void test_other_samples(void **state) {
    (void)state;
    struct wire_engine_request other = cpu;
    other.mechanism = WIRE_MECHANISM_ITIMER;
    snprintf(other.name, sizeof other.name, "itimer");
    differs(cpu, other, "only one of cpu and itimer can run");
    other = alloc;
    snprintf(other.text, sizeof other.text, "x");
    differs(alloc, other, "only one of");
    differs(flagged(cpu, WIRE_ENGINE_ALL_USER), cpu, "--all-user");
    struct wire_engine_request one = flagged(cpu, WIRE_ENGINE_TARGET_CPU), two = one;
    two.cpu = 1;
    fits(one, one);
    differs(one, two, "--target-cpu");
    one = (struct wire_engine_request){.event = WIRE_EVENT_METHOD, .name = "m", .every = 0};
    two = one;
    two.every = 1;
    fits(one, two);
    two.every = 3;
    differs(one, two, "every 1 calls there, not every 3");
}

/* Live objects and leaks that are not wanted can be left out. */
static void test_followed(void **state) {
    (void)state;
    fits(flagged(alloc, WIRE_ENGINE_LIVE), alloc);
    differs(alloc, flagged(alloc, WIRE_ENGINE_LIVE), "without live objects");
    fits(leak, flagged(leak, WIRE_ENGINE_NO_FREE));
    differs(flagged(leak, WIRE_ENGINE_NO_FREE), leak, "--nofree");
}

static void listed(const struct lent *l, const char *want, uint32_t lent_only) {
    struct wire_engine_request out[WIRE_EVENTS];
    char got[128] = "";
    uint32_t only, n = lent_list(l, &cpu, 1, out, &only);
    for (uint32_t i = 0; i < n; i++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s ", out[i].name);
    assert_string_equal(got, want);
    assert_int_equal(only, lent_only);
}

static void test_lending(void **state) {
    (void)state;
    struct lent l = {0};
    struct err e;
    const struct wire_engine_request both[] = {cpu, wall}, coarse = every(wall, 99 * MS);
    int a, b, c;
    listed(&l, "cpu ", 0);
    assert_int_equal(lent_begin(&l, &a, &cpu, 1, both, 2, &e), 0);
    listed(&l, "cpu wall ", 1u << WIRE_EVENT_WALL);
    assert_int_equal(lent_begin(&l, &b, &cpu, 1, &wall, 1, &e), 0);
    assert_int_equal(lent_begin(&l, &c, &cpu, 1, &coarse, 1, &e), -EBUSY);
    assert_int_equal(e.exit_code, ERR_EXIT_PROFILER);
    assert_non_null(strstr(
        e.message, "wall is sampled every 50ms there, and is to be sampled every 99ms here"));
    assert_int_equal(lent_check(&l, both, 2, &e), 0);
    assert_int_equal(lent_check(&l, &coarse, 1, &e), -EBUSY);
    assert_non_null(strstr(e.message, "profile of wall, sampled every 50ms"));
    lent_end(&l, &a);
    assert_true(lent_expire(&l, 5, &cpu, 1)); /* b has it still; asking again does no harm */
    listed(&l, "cpu wall ", 1u << WIRE_EVENT_WALL);
    assert_int_equal(lent_begin(&l, &b, &cpu, 1, &coarse, 1, &e), 0); /* only b itself had it */
    assert_int_equal(lent_find(&l, WIRE_EVENT_WALL)->interval, 99 * MS);
    lent_end(&l, &b);
    lent_end(&l, &c);
    assert_true(lent_expire(&l, 5, &cpu, 1));
    assert_false(lent_expire(&l, 5, &cpu, 1));
    listed(&l, "cpu ", 0);
    assert_null(lent_find(&l, WIRE_EVENT_WALL));
}

static void test_own_events_only(void **state) {
    (void)state;
    struct lent l = {0};
    struct err e;
    int a = 0;
    assert_int_equal(lent_begin(&l, &a, &cpu, 1, &cpu, 1, &e), 0);
    listed(&l, "cpu ", 0);
    lent_end(&l, &a);
    assert_false(lent_expire(&l, 5, &cpu, 1)); /* nothing is to be stopped */
}

static void test_taken_over(void **state) {
    (void)state;
    struct lent l = {0};
    struct err e;
    int a;
    lent_inherit(&l, &wall, 0, 100);
    assert_int_equal(l.loans, 0);
    lent_inherit(&l, &wall, 1, 100);
    lent_inherit(&l, &alloc, 1, 0);
    listed(&l, "cpu wall alloc ", 1u << WIRE_EVENT_WALL | 1u << WIRE_EVENT_ALLOC);
    assert_int_equal(lent_begin(&l, &a, &cpu, 1, &wall, 1, &e), 0); /* it asks again */
    assert_false(lent_expire(&l, 99, &cpu, 1));
    lent_end(&l, &a);
    assert_true(lent_expire(&l, 99, &cpu, 1)); /* it is not kept for this viewer twice */
    listed(&l, "cpu alloc ", 1u << WIRE_EVENT_ALLOC);
    lent_inherit(&l, &wall, 1, 100);
    listed(&l, "cpu wall alloc ", 1u << WIRE_EVENT_WALL | 1u << WIRE_EVENT_ALLOC);
    assert_true(lent_expire(&l, 100, &cpu, 1)); /* nobody has asked */
    listed(&l, "cpu alloc ", 1u << WIRE_EVENT_ALLOC);
}

/* Events of a process before us go on while somebody may need them. */
static void test_kept(void **state) {
    (void)state;
    struct lent l = {0};
    lent_inherit(&l, &alloc, 1, 0);
    assert_int_equal(lent_kept(&l), 1u << WIRE_EVENT_ALLOC);
    assert_false(lent_expire(&l, UINT64_MAX, &cpu, 1));
    lent_drop_kept(&l);
    assert_int_equal(lent_kept(&l), 0);
    assert_true(lent_expire(&l, 5, &cpu, 1));
    assert_null(lent_find(&l, WIRE_EVENT_ALLOC));
    lent_inherit(&l, &alloc, 1, 10); /* its viewer will ask for it again */
    assert_int_equal(lent_kept(&l), 0);
}

static void test_no_room(void **state) {
    (void)state;
    struct lent l = {0};
    struct err e;
    int a[LENT_MAX + 1];
    for (uint32_t i = 0; i < LENT_MAX; i++)
        assert_int_equal(lent_begin(&l, &a[i], &cpu, 1, &cpu, 1, &e), 0);
    assert_int_equal(lent_begin(&l, &a[LENT_MAX], &cpu, 1, &cpu, 1, &e), -EUSERS);
    assert_int_equal(lent_begin(&l, &a[3], &cpu, 1, &wall, 1, &e), 0);
    lent_inherit(&l, &alloc, 1, 0);
    listed(&l, "cpu wall ", 1u << WIRE_EVENT_WALL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_intervals),
        cmocka_unit_test(test_other_samples),
        cmocka_unit_test(test_followed),
        cmocka_unit_test(test_lending),
        cmocka_unit_test(test_own_events_only),
        cmocka_unit_test(test_taken_over),
        cmocka_unit_test(test_kept),
        cmocka_unit_test(test_no_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
