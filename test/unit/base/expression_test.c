/* Expressions of others: what is one, and that none of them takes long. */
#include "core/base/clock.h"
#include "core/base/expression.h"

#include <errno.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void what_matches(void **state) {
    (void)state;
    static const struct {
        const char *text, *name;
        bool ignore_case, matches;
    } table[] = {
        {"worker-[0-9]+$", "pool-1-worker-12", false, true},
        {"worker", "WORKER", false, false},
        {"worker", "WORKER", true, true},
        {"^a.b$", "a\nb", false, true},
        {"a$", "a\n", false, false}, /* `$` is the end and nothing else */
        {"\xc3\xa4", "gr\xc3\xa4", false, true},
        {"^..$", "\xc3\xa4", false, true}, /* bytes */
        {"", "anything", false, true},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct expression x;
        char why[100];
        assert_int_equal(expression_open(&x, table[i].text, table[i].ignore_case, why, sizeof why),
                         0);
        assert_string_equal(why, "");
        if (expression_matches(&x, table[i].name) != table[i].matches)
            fail_msg("\"%s\" and \"%s\"", table[i].text, table[i].name);
        expression_close(&x);
    }
}

static void what_is_none(void **state) {
    (void)state;
    static const char *const wrong[] = {
        "(", "[a", "a**", "\\", "a\\1", "(a+)+$", "((a{255}){255}){255}"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct expression x;
        char why[100];
        assert_int_equal(expression_open(&x, wrong[i], true, why, sizeof why), -EINVAL);
        assert_true(strlen(why) > 0);
        expression_close(&x);
    }
}

/* C++ names are long, and people write `.*` several times. */
static void long_names_are_searched(void **state) {
    (void)state;
    char name[1200] = "", why[100];
    struct expression x;
    for (int i = 0; i < 20; i++)
        strcat(name, "std::vector<std::pair<const std::string, int>>::");
    assert_int_equal(expression_open(&x, "std::.*<.*>.*::.*erase", true, why, sizeof why), 0);
    assert_false(expression_matches(&x, name));
    strcat(name, "erase");
    assert_true(expression_matches(&x, name));
    assert_false(x.gave_up);
    expression_close(&x);
}

/* Some of these are refused, others give up, and say so. */
static void none_takes_long(void **state) {
    (void)state;
    static const char *const costly[] = {"(^|a)*",        "(^|a)*x",
                                         "(a|aa)+$",      "(a*)*[bc]",
                                         "(x+x+)+[yz]",   "(.*)*(.*)*(.*)*",
                                         "(a?){64}a{64}", "(.*a){12}",
                                         "([a-z]+)*=",    "^(([a-z])+.)+[A-Z]([a-z])+$"};
    static char name[4][4001];
    uint32_t refused = 0, gave_up = 0;
    memset(name[0], 'a', 4000);
    memset(name[1], 'x', 4000);
    for (int i = 0; i < 4000; i++)
        name[2][i] = "abcx"[i % 4];
    memcpy(name[3], name[0], 4000);
    name[3][3999] = '!';
    uint64_t begin = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    for (size_t i = 0; i < sizeof costly / sizeof *costly; i++) {
        struct expression x;
        char why[100];
        bool open = expression_open(&x, costly[i], true, why, sizeof why) == 0;
        for (int k = 0; open && k < 400; k++)
            (void)expression_matches(&x, name[k % 4]);
        refused += !open;
        gave_up += x.gave_up;
        expression_close(&x);
    }
    assert_true(refused > 0);
    assert_true(gave_up > 0);
    /* Without limits the first of them that is costly takes longer than anybody waits. */
    assert_true(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin < UINT64_C(60000000000));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_matches),
        cmocka_unit_test(what_is_none),
        cmocka_unit_test(long_names_are_searched),
        cmocka_unit_test(none_takes_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
