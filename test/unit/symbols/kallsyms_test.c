#include "symbols/kallsyms.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void read_text(const char *text, size_t length, struct kallsyms *k) {
    char path[] = "/tmp/kallsyms_test.XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, length), length);
    close(fd);
    *k = (struct kallsyms){0};
    kallsyms_read_once(k, path);
    unlink(path);
}

static const char *find(const struct kallsyms *k, uint64_t address, const char *module) {
    const char *in = "";
    const char *name = kallsyms_find(k, address, &in);
    if (name)
        assert_string_equal(in, module);
    return name ? name : "none";
}

static void test_names_and_modules(void **state) {
    (void)state;
    static const char text[] = "ffffffff81000000 T _stext\n"
                               "ffffffff81000000 T startup_64\n"
                               "ffffffff81000100 t helper.isra.0\n"
                               "ffffffff81000180 D some_data\n"
                               "ffffffff81000200 W weak_one\n"
                               "not a line\n"
                               "ffffffff8100zzzz T broken\n"
                               "fffffffffffffffff T too_long\n"
                               "ffffffff81000300 T \n"
                               "ffffffffc0203000 t ext4_read\t[ext4]\n"
                               "ffffffffc0203100 w ext4_weak\t[ext4]\n"
                               "ffffffffc0203180 t no_newline_is_left_out";
    struct kallsyms k;
    read_text(text, sizeof text - 1, &k);
    assert_string_equal(k.trouble, "");
    assert_string_equal(find(&k, 0xffffffff80ffffff, ""), "none");
    assert_string_equal(find(&k, 0xffffffff81000000, "kernel"), "startup_64");
    assert_string_equal(find(&k, 0xffffffff810001ff, "kernel"), "helper.isra.0");
    assert_string_equal(find(&k, 0xffffffff81000200, "kernel"), "weak_one");
    assert_string_equal(find(&k, 0xffffffff820fffff, ""), "none"); /* 16 MiB behind any function */
    assert_string_equal(find(&k, 0xffffffffc0203000, "[ext4]"), "ext4_read");
    assert_string_equal(find(&k, 0xffffffffc0203190, "[ext4]"), "ext4_weak");
    kallsyms_free(&k);
}

static void test_hidden_addresses(void **state) {
    (void)state;
    static const char text[] = "0000000000000000 T _stext\n0000000000000000 t helper\n"
                               "0000000000000000 t ext4_read\t[ext4]\n";
    struct kallsyms k;
    read_text(text, sizeof text - 1, &k);
    assert_non_null(strstr(k.trouble, "/proc/sys/kernel/kptr_restrict is "));
    assert_non_null(strstr(k.trouble, "perf_event_paranoid is "));
    assert_non_null(strstr(k.trouble, "sysctl kernel.kptr_restrict=0"));
    assert_null(strchr(k.trouble, '\n'));
    assert_string_equal(find(&k, 0, ""), "none");
    kallsyms_free(&k);
    read_text("", 0, &k);
    assert_string_not_equal(k.trouble, "");
    kallsyms_free(&k);
}

static void test_no_file(void **state) {
    (void)state;
    struct kallsyms k = {0};
    kallsyms_read_once(&k, "/proc/no such file");
    assert_non_null(strstr(k.trouble, "cannot read /proc/no such file: No such file"));
    assert_string_equal(find(&k, 0xffffffff81000000, ""), "none");
    kallsyms_free(&k);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_and_modules),
        cmocka_unit_test(test_hidden_addresses),
        cmocka_unit_test(test_no_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
