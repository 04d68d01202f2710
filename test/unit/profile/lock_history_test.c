/* The history of waits by itself. What a profile makes of it is in lock_table_test.c. */
#include "core/profile/history/lock_history.h"
#include "core/profile/table/lock_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* A second whose waits differ in everything fills the history and no more. What is late is kept if it
 * is not too late, also before anything was dropped. */
static void limits(void **state) {
    (void)state;
    enum { MAX = 64 };
    struct lock_history h = {.max = MAX, .span = 10};
    struct lock_entry e = {.second = 100, .waits = 1, .next_class = LOCK_CLASS_NONE};
    for (e.class = 0; e.class < 3 * MAX; e.class ++)
        assert_int_equal(lock_history_add(&h, &e), 0);
    assert_int_equal(h.end - h.first, MAX);
    lock_history_free(&h);
    h = (struct lock_history){.max = MAX, .span = 10};
    e.waits = 2;
    e.longest_ns = 9;
    assert_int_equal(lock_history_add(&h, &e), 0);
    e.longest_ns = 5;
    assert_int_equal(lock_history_add(&h, &e), 0); /* equal waits are one entry */
    assert_int_equal(h.end - h.first, 1);
    assert_int_equal(h.entry[h.first].waits, 4);
    assert_int_equal(h.entry[h.first].longest_ns, 9);
    e.longest_ns = 11;
    assert_int_equal(lock_history_add(&h, &e), 0);
    assert_int_equal(h.entry[h.first].longest_ns, 11);
    lock_history_free(&h);
    h = (struct lock_history){.max = MAX, .span = 10};
    assert_int_equal(lock_history_add(&h, &e), 0);
    e.second = 90;
    assert_int_equal(lock_history_add(&h, &e), 0);
    assert_int_equal(h.end - h.first, 1);
    e.second = 91;
    assert_int_equal(lock_history_add(&h, &e), 0);
    assert_int_equal(h.end - h.first, 2);
    lock_history_free(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(limits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
