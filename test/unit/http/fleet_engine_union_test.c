/* What several users want of one JVM: the finest interval of each event, and what others changed. */
#include "core/http/fleet/engine_union.h"

#include "core/event/event.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct wire_engine_request request(const char *event, uint64_t interval) {
    struct wire_engine_request r = {0};
    struct err e = {0};
    if (event_parse(event, &r, &e) != 0)
        fail_msg("%s: %s", event, e.message);
    if (interval)
        r.interval = interval;
    return r;
}

/* "cpu", 5, "wall", 0, NULL */
static struct engine_union of(const char *event, ...) {
    struct wire_engine_request r[WIRE_EVENTS];
    struct engine_union u;
    uint32_t n = 0;
    va_list ap;
    va_start(ap, event);
    for (; event; event = va_arg(ap, const char *))
        r[n++] = request(event, (uint64_t)va_arg(ap, int));
    va_end(ap);
    assert_int_equal(engine_union_of(r, n, &u, NULL), 0);
    return u;
}

static void test_made_of_requests(void **state) {
    (void)state;
    struct wire_engine_request r[WIRE_EVENTS + 1], out[WIRE_EVENTS];
    struct engine_union u;
    struct err e = {0};
    r[0] = request("wall", 0);
    r[1] = request("cpu", 7);
    assert_int_equal(engine_union_of(r, 2, &u, &e), 0);
    assert_false(engine_union_is_empty(&u));
    assert_int_equal(engine_union_list(&u, out), 2);
    assert_string_equal(out[0].name, "cpu");
    assert_int_equal(out[0].interval, 7);
    assert_string_equal(out[1].name, "wall");
    r[2] = r[1];
    assert_int_equal(engine_union_of(r, 3, &u, &e), -EINVAL);
    assert_int_equal(e.exit_code, ERR_EXIT_ARGUMENT);
    r[2].event = WIRE_EVENTS;
    assert_int_equal(engine_union_of(r, 3, &u, &e), -EINVAL);
    assert_int_equal(engine_union_of(r, WIRE_EVENTS + 1, &u, &e), -EINVAL);
    assert_int_equal(engine_union_of(NULL, 0, &u, &e), 0);
    assert_true(engine_union_is_empty(&u));
    assert_int_equal(engine_union_list(&u, out), 0);
}

static void test_finest_interval(void **state) {
    (void)state;
    struct engine_union u = of("cpu", 5000000, "alloc", 4096, NULL);
    struct engine_union more = of("cpu", 2000000, "alloc", 8192, "wall", 0, NULL);
    struct engine_union want = of("cpu", 2000000, "alloc", 4096, "wall", 0, NULL);
    assert_int_equal(engine_union_add(&u, &more, NULL), 0);
    assert_true(engine_union_same(&u, &want));
    assert_int_equal(engine_union_add(&u, &more, NULL), 0); /* it is there already */
    assert_true(engine_union_same(&u, &want));
}

/* 0 is the event's default, which is finer than some and coarser than others. */
static void test_default_interval(void **state) {
    (void)state;
    const int usual = (int)event_default_interval(WIRE_EVENT_CPU);
    struct engine_union u = of("cpu", 0, NULL), finer = of("cpu", usual - 1, NULL),
                        coarser = of("cpu", usual + 1, NULL);
    assert_int_equal(engine_union_add(&u, &coarser, NULL), 0);
    assert_int_equal(u.of[WIRE_EVENT_CPU].interval, 0);
    assert_int_equal(engine_union_add(&u, &finer, NULL), 0);
    assert_int_equal(u.of[WIRE_EVENT_CPU].interval, usual - 1);
    u = coarser;
    struct engine_union none = of("cpu", 0, NULL);
    assert_int_equal(engine_union_add(&u, &none, NULL), 0);
    assert_int_equal(u.of[WIRE_EVENT_CPU].interval, 0);
    /* of memory it is every single one */
    u = of("nativemem", 1, NULL);
    none = of("nativemem", 0, NULL);
    assert_false(engine_union_covers(&u, &none));
    assert_int_equal(engine_union_add(&u, &none, NULL), 0);
    assert_int_equal(u.of[WIRE_EVENT_NATIVEMEM].interval, 0);
    assert_true(engine_union_covers(&u, &none));
}

static void test_flags(void **state) {
    (void)state;
    struct engine_union u = of("alloc", 0, "nativemem", 0, NULL), live = u;
    u.of[WIRE_EVENT_NATIVEMEM].flags = WIRE_ENGINE_NO_FREE;
    live.of[WIRE_EVENT_ALLOC].flags = WIRE_ENGINE_LIVE;
    assert_false(engine_union_covers(&u, &live));
    assert_true(engine_union_covers(&live, &u) && !engine_union_same(&live, &u));
    assert_int_equal(engine_union_add(&u, &live, NULL), 0);
    assert_true(engine_union_same(&u, &live));
    u.of[WIRE_EVENT_ALLOC].mechanism = WIRE_MECHANISM_JVMTI;
    assert_int_equal(engine_union_add(&live, &u, NULL), 0); /* who does not care takes that */
    assert_int_equal(live.of[WIRE_EVENT_ALLOC].mechanism, WIRE_MECHANISM_JVMTI);
}

static void test_room_for_one(void **state) {
    (void)state;
    struct err e = {0};
    struct engine_union u = of("cpu", 10, "page-faults", 5, NULL), before = u;
    struct engine_union other = of("cpu", 1, "cache-misses", 5, NULL);
    assert_int_equal(engine_union_add(&u, &other, &e), -EBUSY);
    assert_non_null(strstr(e.message, "cache-misses"));
    assert_non_null(strstr(e.message, "page-faults"));
    assert_true(engine_union_same(&u, &before)); /* not half of it */
    assert_false(engine_union_covers(&u, &other));
    u = of("app.Main.run", 0, NULL);
    other = of("app.Main.stop", 0, NULL);
    assert_int_equal(engine_union_add(&u, &other, &e), -EBUSY);
    other = u = of("cpu", 0, NULL);
    other.of[WIRE_EVENT_CPU].flags = WIRE_ENGINE_ALL_USER;
    assert_int_equal(engine_union_add(&u, &other, &e), -EBUSY);
}

static void test_covers(void **state) {
    (void)state;
    struct engine_union u = of("cpu", 5, "wall", 50, NULL), want = of("cpu", 5, NULL);
    assert_true(engine_union_covers(&u, &want));
    want = of("cpu", 10, NULL);
    assert_true(engine_union_covers(&u, &want));
    want = of("cpu", 4, NULL);
    assert_false(engine_union_covers(&u, &want));
    want = of("lock", 0, NULL);
    assert_false(engine_union_covers(&u, &want));
    want = (struct engine_union){0};
    assert_true(engine_union_covers(&u, &want));
}

/* Somebody else has cpu at 20; we made it 5 and added wall. */
static void test_taking_back(void **state) {
    (void)state;
    const struct engine_union before = of("cpu", 20, NULL), ours = of("cpu", 5, "wall", 50, NULL);
    struct engine_union now = ours, want = before;
    engine_union_take_back(&now, &ours, &before);
    assert_true(engine_union_same(&now, &want));
    /* he made it 1 since, and added lock: that stays */
    now = of("cpu", 1, "wall", 50, "lock", 7, NULL);
    want = of("cpu", 1, "lock", 7, NULL);
    engine_union_take_back(&now, &ours, &before);
    assert_true(engine_union_same(&now, &want));
    /* he took it away */
    now = of("wall", 50, NULL);
    engine_union_take_back(&now, &ours, &before);
    assert_true(engine_union_is_empty(&now));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_made_of_requests), cmocka_unit_test(test_finest_interval),
        cmocka_unit_test(test_default_interval), cmocka_unit_test(test_flags),
        cmocka_unit_test(test_room_for_one),     cmocka_unit_test(test_covers),
        cmocka_unit_test(test_taking_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
