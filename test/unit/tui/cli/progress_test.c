/* The line that says how far a profile is, at every width. */
#include "tui/cli/output/progress.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void line_is(uint64_t ms, uint64_t of_ms, uint64_t samples, double rate, int columns,
                    const char *expected) {
    struct progress p = {.rate = rate};
    char out[PROGRESS_COLUMNS + 1];
    progress_line(&p, ms, of_ms, samples, columns, out);
    if (strcmp(out, expected) != 0)
        fail_msg("%d columns: \"%s\", wanted \"%s\"", columns, out, expected);
}

static void by_width(void **state) {
    (void)state;
    line_is(12000, 30000, 1234, 101.4, 79,
            "[===============>                      ]  18s left  1,234 samples  101/s");
    line_is(12000, 30000, 1234, 101.4, 39, "18s left  1,234 samples  101/s");
    line_is(12000, 30000, 12, 9, 39, "[====>     ]  18s left  12 samples  9/s");
    line_is(12000, 30000, 1234, 101.4, 24, "18s left  1,234 samples");
    line_is(12000, 30000, 1234, 101.4, 10, "18s left");
    line_is(12000, 30000, 1234, 101.4, 3, "");
}

static void by_time(void **state) {
    (void)state;
    line_is(0, 30000, 0, -1, 40, "[>                ]  30s left  0 samples");
    line_is(40000, 30000, 1, 0, 60, "[==================================]  0s left  1 sample  0/s");
    line_is(75000, 0, 1234567, 1e6, 79, "1m15s  1,234,567 samples  1,000,000/s");
    line_is(0, 86400000, 0, -1, 30, "24h00m left  0 samples");
}

/* Whatever there is to say, it is no longer than asked for. */
static void never_too_long(void **state) {
    (void)state;
    static const uint64_t numbers[] = {0, 1, 999, 1000, UINT64_C(123456789012), UINT64_MAX};
    for (int columns = 0; columns <= PROGRESS_COLUMNS; columns++)
        for (size_t i = 0; i < 216; i++) {
            struct progress p = {.rate = i % 2 ? 1e15 : -1};
            char out[PROGRESS_COLUMNS + 1];
            progress_line(&p, numbers[i % 6], numbers[i / 6 % 6], numbers[i / 36], columns, out);
            assert_true(strlen(out) <= (size_t)columns);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_width),
        cmocka_unit_test(by_time),
        cmocka_unit_test(never_too_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
