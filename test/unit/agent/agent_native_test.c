/* What the engines of native memory and locks stand on: the table of blocks, the gate, and the
 * changing of import tables (of libcmocka's, which calls malloc for us). */
#include "core/agent/engine/native_blocks.h"
#include "core/agent/engine/native_gate.h"
#include "core/agent/patch/imports.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_blocks_are_found_once(void **state) {
    (void)state;
    struct native_blocks b;
    assert_int_equal(native_blocks_map(&b), 0);
    for (uintptr_t i = 1; i <= 300000; i++)
        assert_true(native_blocks_add(&b, i * 48, i));
    for (uintptr_t i = 1; i <= 300000; i++)
        assert_int_equal(native_blocks_take(&b, i * 48), i);
    for (uintptr_t i = 1; i <= 300000; i++)
        assert_int_equal(native_blocks_take(&b, i * 48), 0);
    assert_int_equal(b.not_followed, 0);
    native_blocks_unmap(&b);
}

static void test_blocks_that_find_no_room_are_counted(void **state) {
    (void)state;
    struct native_blocks b;
    uint64_t added = 0, found = 0;
    assert_int_equal(native_blocks_map(&b), 0);
    for (uintptr_t i = 1; i <= 2u * NATIVE_BLOCKS_MAX; i++)
        added += native_blocks_add(&b, i * 16, i);
    assert_true(added > NATIVE_BLOCKS_MAX * 9 / 10 && added <= NATIVE_BLOCKS_MAX);
    assert_int_equal(b.not_followed, 2u * NATIVE_BLOCKS_MAX - added);
    for (uintptr_t i = 1; i <= 2u * NATIVE_BLOCKS_MAX; i++)
        found += native_blocks_take(&b, i * 16) == i;
    assert_int_equal(found, added);
    native_blocks_unmap(&b);
}

struct taker {
    struct native_blocks *blocks;
    uintptr_t first;
    uint64_t wrong;
};

/* Each thread's blocks are its own, their buckets are everybody's. */
static void *add_and_take(void *arg) {
    struct taker *t = arg;
    for (uint64_t round = 0; round < 200; round++) {
        for (uintptr_t i = 0; i < 500; i++)
            t->wrong += !native_blocks_add(t->blocks, t->first + i * 64, round * 500 + i + 1);
        for (uintptr_t i = 0; i < 500; i++)
            t->wrong += native_blocks_take(t->blocks, t->first + i * 64) != round * 500 + i + 1;
    }
    return NULL;
}

static void test_blocks_of_many_threads(void **state) {
    (void)state;
    struct native_blocks b;
    struct taker taker[4];
    pthread_t thread[4];
    assert_int_equal(native_blocks_map(&b), 0);
    for (uintptr_t i = 0; i < 4; i++) {
        taker[i] = (struct taker){.blocks = &b, .first = (i + 1) << 20};
        assert_int_equal(pthread_create(&thread[i], NULL, add_and_take, &taker[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(thread[i], NULL);
        assert_int_equal(taker[i].wrong, 0);
    }
    native_blocks_unmap(&b);
}

static void test_weights_of_a_gate_add_up(void **state) {
    (void)state;
    static struct native_gate gate;
    static struct engine_run run;
    assert_null(native_gate_enter(&gate));
    native_gate_open(&gate, &run);
    struct native_stripe *stripe = native_gate_enter(&gate);
    assert_non_null(stripe);
    assert_int_equal(native_gate_due(stripe, 0, 77), 77);
    uint64_t sum = 0, sampled = 0, samples = 0;
    for (uint64_t i = 0; i < 10000; i++) {
        uint64_t weight = native_gate_due(stripe, 1000, i % 700);
        sum += i % 700;
        sampled += weight;
        samples += weight > 0;
        assert_int_equal(weight % 1000, 0);
    }
    assert_true(sum - sampled < 1000);
    assert_true(samples > 1000 && samples < 10000);
    /* A large one stands for itself. */
    assert_int_equal(native_gate_due(stripe, 1000, 1234567), 1234567);
    assert_int_equal(native_gate_due(stripe, 1000, 1000), 1000);
    native_gate_leave(stripe);
    native_gate_shut(&gate);
    assert_null(native_gate_enter(&gate));
}

static int calls;

static void *counting_malloc(size_t bytes) {
    calls++;
    return malloc(bytes);
}

/* The data of libcmocka, as far as it can be read: protections, and a copy. */
static size_t library_data(char *out, size_t size) {
    char line[512];
    size_t n = 0;
    FILE *f = fopen("/proc/self/maps", "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        unsigned long low, high;
        char rights[5];
        if (!strstr(line, "libcmocka") || sscanf(line, "%lx-%lx %4s", &low, &high, rights) != 3 ||
            rights[2] == 'x')
            continue;
        assert_true(n + 64 + (high - low) < size);
        n += (size_t)snprintf(out + n, size - n, "%lx-%lx %s\n", low, high, rights);
        memcpy(out + n, (const void *)low, high - low);
        n += high - low;
    }
    fclose(f);
    assert_true(n > 4096);
    return n;
}

static void use_library(void) {
    void *p = _test_malloc(10, __FILE__, __LINE__);
    _test_free(p, __FILE__, __LINE__);
}

static void test_imports_lead_to_the_hook_and_back(void **state) {
    (void)state;
    static char before[1 << 20], after[1 << 20];
    const struct import_hook hook[] = {
        {.name = "malloc", .hook = (uintptr_t)counting_malloc, .real = (uintptr_t)&malloc},
        {.name = NULL},
    };
    struct imports im = {0};
    use_library(); /* whatever is bound at its first call is */
    size_t bytes = library_data(before, sizeof before);
    assert_int_equal(imports_patch(&im, hook), 0);
    assert_true(im.slots > 0);
    assert_int_equal(im.refused, 0);
    use_library();
    assert_int_equal(calls, 1);
    uint32_t slots = im.slots;
    imports_refresh(&im);
    assert_int_equal(im.slots, slots);
    imports_restore(&im);
    use_library();
    assert_int_equal(calls, 1);
    assert_int_equal(library_data(after, sizeof after), bytes);
    /* _test_malloc's own list of blocks lies there too, and is empty both times. */
    assert_memory_equal(before, after, bytes);
}

static void test_a_library_can_be_left_out(void **state) {
    (void)state;
    const struct import_hook hook[] = {
        {.name = "malloc",
         .hook = (uintptr_t)counting_malloc,
         .real = (uintptr_t)&malloc,
         .not_in = "libcmocka"},
        {.name = NULL},
    };
    struct imports im = {0};
    int seen = calls;
    assert_int_equal(imports_patch(&im, hook), 0);
    use_library();
    assert_int_equal(calls, seen);
    imports_restore(&im);
    imports_restore(&im); /* once more does no harm */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks_are_found_once),
        cmocka_unit_test(test_blocks_that_find_no_room_are_counted),
        cmocka_unit_test(test_blocks_of_many_threads),
        cmocka_unit_test(test_weights_of_a_gate_add_up),
        cmocka_unit_test(test_imports_lead_to_the_hook_and_back),
        cmocka_unit_test(test_a_library_can_be_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
