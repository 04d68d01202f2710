/* Intervals that keep an agent below a limit: which, and when. */
#include "core/session/drain/budget.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define SECOND UINT64_C(1000000000)

/* An agent that costs so much by itself, and so much for sampling at the interval asked for. */
struct agent {
    struct budget budget;
    uint32_t fixed_ppm, sampling_ppm;
    uint64_t now, spent;
};

static void begin(struct agent *a, uint32_t limit_ppm, uint32_t fixed_ppm, uint32_t sampling_ppm) {
    *a = (struct agent){.fixed_ppm = fixed_ppm, .sampling_ppm = sampling_ppm, .now = SECOND};
    budget_init(&a->budget, limit_ppm);
    budget_restart(&a->budget, a->now);
}

/* Returns how often the factor changed. */
static int run(struct agent *a, int seconds) {
    int changes = 0;
    for (int i = 0; i < seconds; i++) {
        a->now += SECOND;
        a->spent +=
            (uint64_t)a->fixed_ppm * 1000 + (uint64_t)a->sampling_ppm * 1000 / a->budget.factor;
        changes += budget_look(&a->budget, a->now, a->spent);
    }
    return changes;
}

static uint32_t cost(const struct agent *a) {
    return a->fixed_ppm + a->sampling_ppm / a->budget.factor;
}

static void without_a_limit_nothing_changes(void **state) {
    (void)state;
    struct agent a;
    begin(&a, 0, 500000, 900000);
    assert_int_equal(run(&a, 100), 0);
    assert_int_equal(a.budget.factor, 1);
}

static void what_keeps_to_it_is_left_alone(void **state) {
    (void)state;
    struct agent a;
    begin(&a, 10000, 1000, 8900);
    assert_int_equal(run(&a, 200), 0);
    assert_int_equal(a.budget.factor, 1);
    assert_false(a.budget.exhausted);
}

static void longer_until_it_fits_and_then_steady(void **state) {
    (void)state;
    struct agent a;
    begin(&a, 10000, 1000, 350000);
    run(&a, 60);
    assert_true(cost(&a) <= 10000);
    assert_true(a.budget.factor < 100);
    uint32_t factor = a.budget.factor;
    assert_int_equal(run(&a, 300), 0);
    assert_int_equal(a.budget.factor, factor);
    assert_true(a.budget.measured_ppm <= 10000);
}

static void shorter_again_when_there_is_room_but_never_than_asked(void **state) {
    (void)state;
    struct agent a;
    begin(&a, 10000, 100, 200000);
    run(&a, 60);
    assert_true(a.budget.factor > 10);
    a.sampling_ppm = 40000; /* the application has less to do */
    run(&a, 120);
    assert_in_range(a.budget.factor, 4, 7);
    assert_true(cost(&a) <= 10000);
    a.sampling_ppm = 0;
    run(&a, 120);
    assert_int_equal(a.budget.factor, 1);
}

/* Coming and going of the factor would be seen as such on the screen. */
static void no_swinging(void **state) {
    (void)state;
    struct agent a;
    for (uint32_t load = 5000; load < 400000; load += 7919) {
        begin(&a, 10000, 500, load);
        run(&a, 120);
        assert_int_equal(run(&a, 120), 0);
        assert_true(cost(&a) <= 10000);
    }
}

static void a_step_in_vain_is_taken_back_and_said(void **state) {
    (void)state;
    struct agent a;
    begin(&a, 10000, 50000, 100);
    run(&a, 20);
    assert_int_equal(a.budget.factor, 1);
    assert_true(a.budget.exhausted);
    assert_int_equal(a.budget.steps, 2);
    run(&a, 30); /* not at once again */
    assert_int_equal(a.budget.steps, 2);
    run(&a, 60);
    assert_int_equal(a.budget.steps, 4);
    assert_true(a.budget.exhausted);
    a.fixed_ppm = 0;
    run(&a, 20);
    assert_false(a.budget.exhausted);
}

static void another_agent_begins_with_less(void **state) {
    (void)state;
    struct agent a;
    begin(&a, 10000, 0, 5000);
    run(&a, 10);
    a.spent = 0;
    assert_int_equal(run(&a, 30), 0);
    assert_true(a.budget.measured_ppm <= 5000);
}

static struct wire_engine_request request(uint32_t event, uint64_t interval, const char *name) {
    struct wire_engine_request q = {.event = event, .interval = interval};
    strcpy(q.name, name);
    return q;
}

static void thresholds_and_what_has_no_interval_stay(void **state) {
    (void)state;
    struct budget b;
    budget_init(&b, 10000);
    b.factor = 4;
    struct wire_engine_request q = request(WIRE_EVENT_CPU, 1000000, "cpu");
    assert_true(budget_apply(&b, &q).interval == 4000000);
    q.interval = 0;
    assert_true(budget_apply(&b, &q).interval == 40000000);
    q = request(WIRE_EVENT_LOCK, 10000, "lock");
    assert_true(budget_apply(&b, &q).interval == 10000);
    q = request(WIRE_EVENT_METHOD, 0, "a.B.c");
    assert_true(budget_apply(&b, &q).interval == 0);
    q = request(WIRE_EVENT_ALLOC, 524288, "alloc");
    assert_true(budget_apply(&b, &q).interval == 4 * 524288);
    q = request(WIRE_EVENT_NATIVEMEM, 0, "nativemem");
    assert_true(budget_apply(&b, &q).interval == 0);
    q = request(WIRE_EVENT_PERF, UINT64_MAX / 2, "cycles");
    assert_true(budget_apply(&b, &q).interval == UINT64_MAX / 2);
}

static void it_is_said(void **state) {
    (void)state;
    struct budget b;
    struct session_budget shown;
    struct wire_engine_request q[] = {request(WIRE_EVENT_CPU, 10000000, "cpu"),
                                      request(WIRE_EVENT_LOCK, 10000, "lock"),
                                      request(WIRE_EVENT_ALLOC, 524288, "alloc")};
    budget_init(&b, 12500);
    budget_show(&b, q, 3, &shown);
    assert_string_equal(shown.text, "");
    b.factor = 4;
    budget_show(&b, q, 3, &shown);
    assert_string_equal(shown.text, "cpu every 40ms in place of 10ms, alloc every 2m in place of "
                                    "512k, to keep below 1.25% of a CPU");
    b.factor = 1;
    b.exhausted = true;
    b.measured_ppm = 33300;
    budget_show(&b, q, 3, &shown);
    assert_string_equal(shown.text, "the agent takes 3.33% of a CPU, and longer intervals do not "
                                    "get it below 1.25%");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_limit_nothing_changes),
        cmocka_unit_test(what_keeps_to_it_is_left_alone),
        cmocka_unit_test(longer_until_it_fits_and_then_steady),
        cmocka_unit_test(shorter_again_when_there_is_room_but_never_than_asked),
        cmocka_unit_test(no_swinging),
        cmocka_unit_test(a_step_in_vain_is_taken_back_and_said),
        cmocka_unit_test(another_agent_begins_with_less),
        cmocka_unit_test(thresholds_and_what_has_no_interval_stay),
        cmocka_unit_test(it_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
