#include "core/profile/table/method_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void test_same_names_same_id(void **state) {
    (void)state;
    struct method_table *t = method_table_new();
    char name[] = "run";
    assert_int_equal(method_table_intern(t, METHOD_JAVA, "a/B", name, "()V", NULL), 0);
    assert_int_equal(method_table_intern(t, METHOD_JAVA, "a/B", "run", "(I)V", ""), 1);
    assert_int_equal(method_table_intern(t, METHOD_NATIVE, "a/B", "run", "()V", ""), 2);
    assert_int_equal(method_table_intern(t, METHOD_JAVA, "a/", "Brun", "()V", ""), 3);
    assert_int_equal(method_table_intern(t, METHOD_NATIVE, NULL, "run", NULL, "libc.so"), 4);
    memset(name, 'x', 3); /* the table has its own copy */
    assert_int_equal(method_table_intern(t, METHOD_JAVA, "a/B", "run", "()V", ""), 0);
    assert_int_equal(method_table_intern(t, METHOD_NATIVE, "", "run", "", "libc.so"), 4);
    assert_int_equal(method_table_count(t), 5);
    const struct method *m = method_table_get(t, 4);
    assert_int_equal(m->kind, METHOD_NATIVE);
    assert_string_equal(m->class_name, "");
    assert_string_equal(m->name, "run");
    assert_string_equal(m->signature, "");
    assert_string_equal(m->module, "libc.so");
    method_table_free(t);
}

static void test_ids_not_given_out(void **state) {
    (void)state;
    struct method_table *t = method_table_new();
    assert_string_equal(method_table_get(t, 0)->name, "[unknown]");
    assert_int_equal(method_table_get(t, METHOD_NONE)->kind, METHOD_ERROR);
    assert_int_equal(method_table_intern(t, (enum method_kind)77, "", "x", "", ""), 0);
    assert_int_equal(method_table_get(t, 0)->kind, METHOD_ERROR);
    method_table_free(t);
    method_table_free(NULL);
}

/* Many names, some long, some bytes that are no text: all found again, strings stay in place. */
static void test_many(void **state) {
    (void)state;
    enum { MANY = 30000 };
    struct method_table *t = method_table_new();
    char *long_name = malloc(100001), name[64];
    memset(long_name, '\xff', 100000);
    long_name[100000] = '\0';
    uint32_t id = method_table_intern(t, METHOD_CPP, "", long_name, "", "");
    const char *kept = method_table_get(t, id)->name;
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < MANY; i++) {
            snprintf(name, sizeof name, "m\x01\xc3%u", i);
            assert_int_equal(
                method_table_intern(t, METHOD_JAVA, i % 2 ? "x/Y" : "x/Z", name, "()V", ""), i + 1);
        }
    }
    assert_int_equal(method_table_intern(t, METHOD_CPP, "", long_name, "", ""), id);
    assert_ptr_equal(method_table_get(t, id)->name, kept);
    assert_string_equal(kept, long_name);
    assert_int_equal(method_table_count(t), MANY + 1);
    assert_string_equal(method_table_get(t, 12346)->name, "m\x01\xc3"
                                                          "12345");
    free(long_name);
    method_table_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_names_same_id),
        cmocka_unit_test(test_ids_not_given_out),
        cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
