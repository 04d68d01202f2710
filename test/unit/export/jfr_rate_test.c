/* Events a second: the budget of a second, and what is kept of it for the next. */
#include "core/export/jfr_rate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define NS UINT64_C(1000000000)

/* How many of `n` events of that second are taken. */
static uint32_t taken(struct jfr_rate *r, uint64_t second, uint32_t n) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += jfr_rate_takes(r, JFR_CATEGORY_ALLOC, second * NS + i);
    return sum;
}

static void budget(void **state) {
    (void)state;
    struct jfr_rate r = {.limits.of[JFR_CATEGORY_ALLOC] = 11};
    assert_int_equal(taken(&r, 5, 9), 9);
    assert_int_equal(taken(&r, 5, 3), 1);
    assert_int_equal(r.refused, 2);
    assert_int_equal(taken(&r, 6, 10), 10); /* as many, and not one more */
    assert_int_equal(taken(&r, 6, 1), 0);
    assert_int_equal(taken(&r, 7, 4), 4);
    assert_int_equal(taken(&r, 8, 30), 16);  /* ten, and six that were left */
    assert_int_equal(taken(&r, 20, 30), 20); /* twice as much at most */
    assert_int_equal(taken(&r, 19, 5), 0);   /* late ones count as of the newest second */
}

static void none(void **state) {
    (void)state;
    struct jfr_rate r = {.limits.of[JFR_CATEGORY_ALLOC] = 1};
    assert_int_equal(taken(&r, 0, 5), 0);
    assert_int_equal(taken(&r, 9, 5), 0);
    r = (struct jfr_rate){.limits.of[JFR_CATEGORY_CPU] = 1};
    assert_int_equal(taken(&r, 9, 500), 500); /* another category's limit */
    assert_int_equal(r.refused, 0);
}

/* Another event of the category begins where the first one did. */
static void anew(void **state) {
    (void)state;
    struct jfr_rate r = {.limits.of = {[JFR_CATEGORY_ALLOC] = 3}};
    for (int part = 0; part < 2; part++) {
        jfr_rate_anew(&r);
        for (uint64_t second = 5; second < 9; second++) {
            assert_true(jfr_rate_takes(&r, JFR_CATEGORY_ALLOC, second * 1000000000));
            assert_true(jfr_rate_takes(&r, JFR_CATEGORY_ALLOC, second * 1000000000 + 1));
            assert_false(jfr_rate_takes(&r, JFR_CATEGORY_ALLOC, second * 1000000000 + 2));
        }
    }
    assert_int_equal(r.refused, 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(budget), cmocka_unit_test(none),
                                       cmocka_unit_test(anew)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
