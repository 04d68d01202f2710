/* Methods that look equal are found, however they come in and however many there are. */
#include "tui/model/overloads.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

static void kinds_of_equal(void **unused) {
    (void)unused;
    static const struct method m[] = {
        {METHOD_JAVA, "a/B", "c", "()V", ""},    {METHOD_JAVA, "a/B", "d", "()V", ""},
        {METHOD_JAVA, "a/B", "c", "(I)V", ""},   {METHOD_JAVA, "a/Bc", "", "()V", ""},
        {METHOD_NATIVE, "", "init", "", "x.so"}, {METHOD_NATIVE, "", "init", "", "y.so"},
        {METHOD_CPP, "a/B", "d", "", ""},
    };
    static const bool equal[] = {true, false, true, false, true, true, false};
    struct overloads o = {0};
    for (uint32_t count = 1; count <= 7; count++) /* one at a time, as they are met */
        assert_int_equal(overloads_add(&o, m, count), 0);
    for (uint32_t i = 0; i < 7; i++)
        assert_int_equal(overloads_has(&o, i), equal[i]);
    assert_false(overloads_has(&o, 7));
    assert_false(overloads_has(&o, METHOD_NONE));
    overloads_free(&o);
}

/* Every third name comes twice, far apart: the table has grown in between. */
static void many(void **unused) {
    (void)unused;
    enum { NAMES = 9000, COUNT = NAMES + NAMES / 3 };
    struct method *m = calloc(COUNT, sizeof *m);
    char(*name)[12] = calloc(NAMES, sizeof *name);
    struct overloads o = {0};
    assert_true(m && name);
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t n = i < NAMES ? i : (i - NAMES) * 3;
        snprintf(name[n], sizeof name[n], "m%u", n);
        m[i] = (struct method){METHOD_JAVA, "C", name[n], i < NAMES ? "()V" : "(J)V", ""};
    }
    for (uint32_t count = 0; count <= COUNT; count += 500)
        assert_int_equal(overloads_add(&o, m, count), 0);
    for (uint32_t i = 0; i < COUNT; i++)
        assert_int_equal(overloads_has(&o, i), i >= NAMES || i % 3 == 0);
    overloads_free(&o);
    free(name);
    free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_of_equal),
        cmocka_unit_test(many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
