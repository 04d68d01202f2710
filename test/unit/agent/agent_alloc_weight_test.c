#include "core/agent/engine/alloc_weight.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#define INTERVAL 524287
#define KINDS_MAX 3
#define OBJECTS 10000000

/* A thread's allocations, and the VM that samples them. */

struct kind {
    uint64_t size;
    double part; /* of the objects */
};

struct flaws {
    bool starts_over; /* within objects that are larger than the next distance (JDK 11 and later) */
    bool counts_twice; /* what lies before an object outside of the buffer (JDK 11-23) */
};

struct outcome {
    double weight[KINDS_MAX], truth[KINDS_MAX];
};

static double number(void) {
    return drand48();
}

/* Exponentially distributed, by comparing numbers only (J. von Neumann, 1951): no libm here. */
static double distance(void) {
    for (uint32_t whole = 0;; whole++) {
        double first = number();
        double last = first;
        uint32_t n = 1;
        for (double next = number(); next <= last; next = number(), n++)
            last = next;
        if (n % 2)
            return (whole + first) * INTERVAL;
    }
}

static double magnitude(double x) {
    return x < 0 ? -x : x;
}

static uint32_t pick(const struct kind *kinds) {
    double r = number();
    uint32_t k = 0;
    while (k < KINDS_MAX - 1 && r >= kinds[k].part)
        r -= kinds[k++].part;
    return k;
}

static struct outcome sample(const struct kind *kinds, struct flaws flaws, bool with_counter,
                             uint32_t objects) {
    struct alloc_weight w = {.interval = INTERVAL};
    struct engine_thread thread = {.tid = 1};
    struct outcome out = {.weight = {0}};
    double left = distance();
    uint64_t counted = 1;
    for (uint32_t i = 0; i < objects; i++) {
        uint32_t k = pick(kinds);
        double size = (double)kinds[k].size;
        out.truth[k] += size;
        counted += kinds[k].size;
        if (flaws.counts_twice && size > INTERVAL)
            left -= left / 4;
        if (size < left) {
            left -= size;
            continue;
        }
        double over = size - left;
        left = distance();
        if (flaws.starts_over && left > over)
            left -= over;
        out.weight[k] += (double)alloc_weight_of(&w, with_counter ? &thread : NULL, kinds[k].size,
                                                 with_counter ? counted : 0);
    }
    return out;
}

/* Shares within so many points, and the total within 3 %. */
static void is_true(const struct outcome *o, double points) {
    double weight = 0;
    double truth = 0;
    for (int k = 0; k < KINDS_MAX; k++) {
        weight += o->weight[k];
        truth += o->truth[k];
    }
    if (magnitude(weight / truth - 1) > 0.03)
        print_error("total %.3f\n", weight / truth);
    assert_true(magnitude(weight / truth - 1) <= 0.03);
    for (int k = 0; k < KINDS_MAX; k++) {
        double off = 100 * (o->weight[k] / weight - o->truth[k] / truth);
        if (magnitude(off) > points)
            print_error("kind %d is off by %.2f points\n", k, off);
        assert_true(magnitude(off) <= points);
    }
}

static const struct kind mixes[][KINDS_MAX] = {
    {{1000, 0.8}, {4000, 0.15}, {16016, 0.05}},
    {{1000, 0.7}, {8128, 0.2985}, {2000016, 0.0015}},
    {{2008, 0.9}, {131088, 0.09}, {1048592, 0.01}},
    {{4104, 0.98}, {262160, 0.02}, {524304, 0}},
};

static void sampled_as_it_should_be(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof mixes / sizeof mixes[0]; i++) {
        struct outcome o = sample(mixes[i], (struct flaws){false, false}, true, OBJECTS);
        is_true(&o, 1.5);
        o = sample(mixes[i], (struct flaws){false, false}, false, OBJECTS);
        is_true(&o, 1.5);
    }
}

static void sampled_too_often(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof mixes / sizeof mixes[0]; i++) {
        struct outcome o = sample(mixes[i], (struct flaws){true, true}, true, OBJECTS);
        is_true(&o, 3);
    }
}

static void objects_stand_for_themselves_at_least(void **state) {
    (void)state;
    struct alloc_weight w = {.interval = INTERVAL};
    struct engine_thread thread = {.tid = 1};
    assert_int_equal(alloc_weight_of(&w, NULL, 100u << 20, 0), 100u << 20);
    uint64_t small = alloc_weight_of(&w, NULL, 16, 0);
    assert_true(small >= INTERVAL && small <= INTERVAL + 16);
    w.interval = 1;
    assert_int_equal(alloc_weight_of(&w, NULL, 64, 0), 64);
    /* A counter that makes no sense changes little. */
    w.interval = INTERVAL;
    for (uint64_t i = 0; i < 1000; i++)
        alloc_weight_of(&w, &thread, 16, i % 2 ? UINT64_MAX / 2 : 1000);
    small = alloc_weight_of(&w, NULL, 16, 0);
    assert_true(small >= INTERVAL / 10 && small <= 2 * INTERVAL);
}

int main(void) {
    srand48(1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sampled_as_it_should_be),
        cmocka_unit_test(sampled_too_often),
        cmocka_unit_test(objects_stand_for_themselves_at_least),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
