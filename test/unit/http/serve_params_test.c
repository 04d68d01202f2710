#include "core/http/serve/server/params.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static char form[8192];

static int read_form(struct params *p, const char *text, struct err *e) {
    memset(p, 0, sizeof *p);
    memset(e, 0, sizeof *e);
    assert_true(strlen(text) < sizeof form);
    strcpy(form, text);
    return params_read(p, form, e);
}

static void test_values_are_decoded(void **state) {
    (void)state;
    struct params p;
    struct err e;
    assert_int_equal(read_form(&p, "a=1&b=x+y%20z&&c&d=&e=%C3%a9&a=2&%66=%26%3d%2B", &e), 0);
    assert_int_equal(p.count, 7);
    assert_string_equal(params_text(&p, "a"), "1");
    assert_string_equal(params_text(&p, "b"), "x y z");
    assert_string_equal(params_text(&p, "c"), "");
    assert_string_equal(params_text(&p, "d"), "");
    assert_string_equal(params_text(&p, "e"), "\xc3\xa9");
    assert_string_equal(params_text(&p, "f"), "&=+");
    assert_null(params_text(&p, "g"));
    assert_int_equal(read_form(&p, "", &e), 0);
    assert_int_equal(p.count, 0);
}

static void test_two_forms_make_one(void **state) {
    (void)state;
    struct params p;
    struct err e;
    char more[] = "a=3&z=9";
    assert_int_equal(read_form(&p, "a=1", &e), 0);
    assert_int_equal(params_read(&p, more, &e), 0);
    assert_string_equal(params_text(&p, "a"), "1");
    assert_string_equal(params_text(&p, "z"), "9");
}

static void check_refused(const char *text, int code, const char *says) {
    struct params p;
    struct err e;
    assert_int_equal(read_form(&p, text, &e), -code);
    if (strncmp(e.message, says, strlen(says)) != 0)
        fail_msg("\"%s\" for %s", e.message, text);
}

static void test_what_is_no_text_is_refused(void **state) {
    (void)state;
    check_refused("pid=%", EINVAL, "pid: a %");
    check_refused("pid=%4", EINVAL, "pid: a %");
    check_refused("pid=%g0", EINVAL, "pid: a %");
    check_refused("pid=a%4gb", EINVAL, "pid: a %");
    check_refused("x=1&pid=%00", EINVAL, "pid: not UTF-8");
    check_refused("pid=%0A", EINVAL, "pid: not UTF-8");
    check_refused("pid=%7f", EINVAL, "pid: not UTF-8");
    check_refused("pid=%c2%85", EINVAL, "pid: not UTF-8");       /* a control character of C1 */
    check_refused("pid=%c0%af", EINVAL, "pid: not UTF-8");       /* a '/' made too long */
    check_refused("pid=%e0%80%af", EINVAL, "pid: not UTF-8");    /* the same in three */
    check_refused("pid=%ed%a0%80", EINVAL, "pid: not UTF-8");    /* half a pair */
    check_refused("pid=%f4%90%80%80", EINVAL, "pid: not UTF-8"); /* beyond what there is */
    check_refused("pid=%e2%82", EINVAL, "pid: not UTF-8");       /* cut */
    check_refused("pid=%80", EINVAL, "pid: not UTF-8");
    check_refused("=1", EINVAL, ": not a parameter's name");
    check_refused("%00=1", EINVAL, "");
    check_refused("%3Cb%3E%20=%1b[31m", EINVAL, "<b>?: not UTF-8");
    check_refused("%zz=1", EINVAL, "%zz: not a parameter's name");
}

static void test_there_are_limits(void **state) {
    (void)state;
    char text[4096] = "v=";
    struct params p;
    struct err e;
    memset(text + 2, 'a', PARAMS_VALUE_MAX);
    assert_int_equal(read_form(&p, text, &e), 0);
    assert_int_equal(strlen(params_text(&p, "v")), PARAMS_VALUE_MAX);
    text[2 + PARAMS_VALUE_MAX] = 'a';
    check_refused(text, E2BIG, "v: longer than 1024 bytes");
    size_t length = 0;
    for (int i = 0; i < PARAMS_MAX; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "&p%d=1", i);
    assert_int_equal(read_form(&p, text, &e), 0);
    assert_int_equal(p.count, PARAMS_MAX);
    strcat(text, "&q=1");
    check_refused(text, E2BIG, "more than 64 parameters");
}

static void test_flags(void **state) {
    (void)state;
    struct params p;
    struct err e;
    assert_int_equal(read_form(&p, "a&b=&c=true&d=1&e=false&f=0&g=No&h=OFF", &e), 0);
    for (const char *name = "abcd"; *name; name++)
        assert_true(params_flag(&p, (char[]){*name, '\0'}));
    for (const char *name = "efghi"; *name; name++)
        assert_false(params_flag(&p, (char[]){*name, '\0'}));
}

static void test_numbers(void **state) {
    (void)state;
    struct params p;
    struct err e;
    uint64_t n = 7;
    assert_int_equal(
        read_form(&p, "a=10&b=18446744073709551615&c=18446744073709551616&d=-1&e=&f=1x&g=0x1&h=+1",
                  &e),
        0);
    assert_int_equal(params_number(&p, "none", 1, 2, &n, &e), 0);
    assert_int_equal(n, 7);
    assert_int_equal(params_number(&p, "a", 1, 10, &n, &e), 1);
    assert_int_equal(n, 10);
    assert_int_equal(params_number(&p, "b", 0, UINT64_MAX, &n, &e), 1);
    assert_true(n == UINT64_MAX);
    for (const char *name = "cdefgh"; *name; name++) {
        const char text[] = {*name, '\0'};
        assert_int_equal(params_number(&p, text, 0, UINT64_MAX, &n, &e), -EINVAL);
        assert_int_equal(e.message[0], *name);
        assert_int_equal(e.message[1], ':');
    }
    assert_int_equal(params_number(&p, "a", 11, 20, &n, &e), -EINVAL);
    assert_int_equal(params_number(&p, "a", 1, 9, &n, &e), -EINVAL);
    assert_string_equal(e.message, "a: \"10\" is not a whole number from 1 to 9");
}

static void test_who_was_not_asked_for(void **state) {
    (void)state;
    struct params p;
    struct err e;
    assert_int_equal(read_form(&p, "a=1&b=2&a=3", &e), 0);
    params_text(&p, "a");
    assert_string_equal(params_unused(&p), "b");
    params_flag(&p, "b");
    assert_null(params_unused(&p));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_are_decoded),
        cmocka_unit_test(test_two_forms_make_one),
        cmocka_unit_test(test_what_is_no_text_is_refused),
        cmocka_unit_test(test_there_are_limits),
        cmocka_unit_test(test_flags),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_who_was_not_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
