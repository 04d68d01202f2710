/* The one map of numbers. */
#include "core/base/id_map.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define KEYS 10000u

static void puts_and_removes(void **state) {
    (void)state;
    struct id_map m;
    id_map_init(&m, KEYS);
    assert_null(id_map_find(&m, 1));
    id_map_remove(&m, 1);
    for (uint64_t i = 1; i <= KEYS; i++)
        assert_int_equal(id_map_put(&m, i * 4096, i << 32), 0);
    for (uint64_t i = 1; i <= KEYS; i += 2)
        id_map_remove(&m, i * 4096);
    for (uint64_t i = 1; i <= KEYS; i++)
        assert_int_equal(id_map_value(&m, i * 4096), i % 2 ? 0 : i << 32);
    assert_int_equal(m.count, KEYS / 2);
    id_map_clear(&m);
    assert_null(id_map_find(&m, 8192));
    id_map_free(&m);
}

/* It keeps what it has. */
static void full(void **state) {
    (void)state;
    struct id_map m;
    uint32_t value = 0;
    id_map_init(&m, 3);
    for (uint64_t i = 1; i <= 3; i++)
        assert_int_equal(id_map_put(&m, i, i), 0);
    assert_int_equal(id_map_put(&m, 4, 4), -ENOSPC);
    assert_int_equal(id_map_put(&m, 3, 33), 0);
    assert_false(id_map_get(&m, 4, &value));
    assert_true(id_map_get(&m, 3, &value));
    assert_int_equal(value, 33);
    id_map_free(&m);
}

/* What is put at random is what is there: against an array. */
static void at_random(void **state) {
    (void)state;
    enum { RANGE = 512 };
    uint64_t model[RANGE] = {0}, roll = 1;
    struct id_map m;
    id_map_init(&m, RANGE);
    for (int i = 0; i < 200000; i++) {
        roll = roll * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        uint32_t key = (uint32_t)(roll >> 33) % (RANGE - 1) + 1;
        if (roll >> 62 == 0) {
            id_map_remove(&m, key);
            model[key] = 0;
        } else {
            assert_int_equal(id_map_put(&m, key, roll | 1), 0);
            model[key] = roll | 1;
        }
    }
    for (uint32_t key = 1; key < RANGE; key++)
        assert_int_equal(id_map_value(&m, key), model[key]);
    id_map_free(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(puts_and_removes),
        cmocka_unit_test(full),
        cmocka_unit_test(at_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
