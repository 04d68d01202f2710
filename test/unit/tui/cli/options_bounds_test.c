/* Each limit that the manual names: one less, the limit, one more. */
#include "test/unit/tui/cli/options_fixture.h"

#include "core/base/quantity.h"

static void quantities(void **state) {
    (void)state;
    static const struct quantity *const all[] = {
        &quantity_duration, &quantity_processes, &quantity_since,  &quantity_refresh,
        &quantity_history,  &quantity_interval,  &quantity_wait,   &quantity_bytes,
        &quantity_events,   &quantity_chunk,     &quantity_memory, &quantity_cpu,
        &quantity_size,     &quantity_count};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        const struct quantity *q = all[i];
        uint64_t least = 0, most = 0;
        if (quantity_parse(q, q->min_text, &least) != 0 || quantity_parse(q, q->max_text, &most))
            fail_msg("%s: its own limits are not taken", q->noun);
        assert_int_equal(least, q->min);
        assert_int_equal(most, q->max);
    }
}

/* What is refused with these words, unless there are none. */
static const struct {
    const char *line, *refusal;
} table[] = {
    /* times */
    {"-d 0 7", "duration"},
    {"-d 1ms 7", NULL},
    {"-d 2ms 7", NULL},
    {"-d 365d 7", NULL},
    {"-d 366d 7", "365d"},
    {"-i 999 -d 1 7", "1us"},
    {"-i 1000 -d 1 7", NULL},
    {"-i 1001 -d 1 7", NULL},
    {"-i 3600s -d 1 7", NULL},
    {"-i 3601s -d 1 7", "3600s"},
    {"--wall 999 -d 1 7", "1us"},
    {"--wall 1us -d 1 7", NULL},
    {"--refresh 49ms 7", "50ms"},
    {"--refresh 50ms 7", NULL},
    {"--refresh 51ms 7", NULL},
    {"--history 9s 7", "10s"},
    {"--history 10s 7", NULL},
    {"--history 24h 7", NULL},
    {"--history 86401s 7", "24h"},
    {"--chunktime 0 -d 1 -f a.jfr 7", "duration"},
    {"--chunktime 1ms -d 1 -f a.jfr 7", NULL},
    {"--lock 0 -d 1 7", NULL},
    {"--lock 1ns -d 1 7", NULL},
    /* sizes */
    {"--memlimit 16383k -d 1 7", "16m"},
    {"--memlimit 16m -d 1 7", NULL},
    {"--memlimit 16777217 -d 1 7", NULL},
    {"--chunksize 1023k -d 1 -f a.jfr 7", "1m"},
    {"--chunksize 1m -d 1 -f a.jfr 7", NULL},
    {"--alloc 0 -d 1 7", NULL},
    {"-b 0 -d 1 7", "size"},
    {"-b 1 -d 1 7", NULL},
    {"-b 1g -d 1 7", NULL},
    {"-b 1025m -d 1 7", "1g"},
    /* numbers */
    {"-j 0 -d 1 7", "frames"},
    {"-j 1 -d 1 7", NULL},
    {"--minwidth 0 -d 1 7", NULL},
    {"--minwidth 100 -d 1 7", NULL},
    {"--minwidth 100.1 -d 1 7", "from 0 to 100"},
    {"--max-overhead 0.0009 -d 1 7", "0.001%"},
    {"--max-overhead 0.001 -d 1 7", NULL},
    {"--max-overhead 100 -d 1 7", NULL},
    {"--max-overhead 100.001 -d 1 7", "100%"},
    {"--target-cpu 65535 -d 1 7", "65534"},
    {"--ratelimit cpu:0 -d 1 -f a.jfr 7", NULL},
    {"--ratelimit cpu:1 -d 1 -f a.jfr 7", NULL},
    {"-n 0 --batch 7", "count"},
    {"-n 1 --batch 7", NULL},
};

static void values(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct options o;
        struct err e;
        int r = parse_as("jtop-prof", table[i].line, &o, &e);
        if (!table[i].refusal != (r >= 0))
            fail_msg("jtop-prof %s: %s", table[i].line, r < 0 ? e.message : "it is taken");
        if (r < 0 && !strstr(e.message, table[i].refusal))
            fail_msg("jtop-prof %s: \"%s\" does not say %s", table[i].line, e.message,
                     table[i].refusal);
    }
}

/* Options that may be repeated, and how often. */
static void repeated(void **state) {
    (void)state;
    static const struct {
        const char *one;
        int most;
    } options[] = {
        {"-f /tmp/a%d.svg", 16}, {"-I a%d", 64}, {"-X a%d", 64}, {"--trace a.B.m%d", 16}};
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        for (int n = options[i].most - 1; n <= options[i].most + 1; n++) {
            static char line[8192];
            char *at = line;
            struct options o;
            struct err e;
            for (int k = 0; k < n; k++) {
                at += sprintf(at, options[i].one, k);
                *at++ = ' ';
            }
            strcpy(at, "-d 1 7");
            int r = parse_as("jtop-prof", line, &o, &e);
            if ((r >= 0) != (n <= options[i].most))
                fail_msg("%d of %s: %s", n, options[i].one, r < 0 ? e.message : "taken");
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantities),
        cmocka_unit_test(values),
        cmocka_unit_test(repeated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
