/* Rows of a load that does not change are not marked, and rows that do change are. */
#include "core/profile/snapshot/chance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#define ROWS 300

static uint64_t state = 88172645463325252u;

static double random_share(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(state >> 11) / 9007199254740992.0;
}

/* Takes samples: a few rows have many, and many rows have few. */
static void take(uint64_t rows[ROWS], uint32_t samples, double extra) {
    for (uint32_t i = 0; i < samples; i++) {
        double x = random_share();
        if (x < extra)
            rows[7]++;
        else
            rows[(uint32_t)(random_share() * random_share() * random_share() * ROWS)]++;
    }
}

static uint32_t marked(const uint64_t a[ROWS], uint64_t of_a, const uint64_t b[ROWS], uint64_t of_b,
                       uint32_t *seventh) {
    double chance[ROWS], sorted[ROWS];
    uint32_t count = 0, n = 0;
    for (uint32_t i = 0; i < ROWS; i++) {
        chance[i] = chance_of(a[i], of_a, b[i], of_b);
        if (a[i] + b[i] >= CHANCE_SAMPLES)
            sorted[count++] = chance[i];
    }
    double limit = chance_limit(sorted, count);
    for (uint32_t i = 0; i < ROWS; i++)
        n += chance[i] <= limit;
    *seventh = chance[7] <= limit;
    return n;
}

/* A screen that shows a steady load for 40 s: the baseline of 10 s, and every second after it. */
static void steady(void **unused) {
    (void)unused;
    uint32_t stars = 0, seconds = 0, seventh;
    for (int trial = 0; trial < 20; trial++) {
        uint64_t a[ROWS] = {0}, b[ROWS] = {0};
        take(a, 1000, 0);
        for (uint64_t second = 1; second <= 40; second++, seconds++) {
            take(b, 100, 0);
            stars += marked(a, 1000, b, 100 * second, &seventh) > 0;
        }
    }
    assert_int_equal(seconds, 800);
    assert_true(stars <= seconds / 20); /* with |z| < 1.96 there were stars all the time */
}

static void changed(void **unused) {
    (void)unused;
    uint64_t a[ROWS] = {0}, b[ROWS] = {0};
    uint32_t seventh, all;
    take(a, 2000, 0);
    take(b, 2000, 0.1);
    all = marked(a, 2000, b, 2000, &seventh);
    assert_true(seventh && all < 8);
}

static void few(void **unused) {
    (void)unused;
    assert_true(chance_of(0, 1000, 9, 10) == 1);
    assert_true(chance_of(0, 1000, 10, 10) < 1e-9);
    assert_true(chance_limit(NULL, 0) < 0);
    double one = 0.005, two[] = {0.02, 0.9};
    assert_true(chance_limit(&one, 1) == 0.005);
    assert_true(chance_limit(two, 2) < 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steady),
        cmocka_unit_test(changed),
        cmocka_unit_test(few),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
