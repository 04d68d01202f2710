#include "core/http/push/protocol/bearer.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static char path[64];

static void put(const char *text, size_t bytes, mode_t mode) {
    unlink(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, bytes), bytes);
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
}

static void refused(const char *text, size_t bytes, mode_t mode, const char *why) {
    struct bearer b = {.path = path};
    struct err e = {0};
    put(text, bytes, mode);
    assert_true(bearer_read(&b, &e) < 0);
    if (!strstr(e.message, why))
        fail_msg("%s", e.message);
    assert_non_null(strstr(e.message, path));
    assert_null(strstr(e.message, "SECRET"));
    assert_string_equal(b.header, "");
}

static void test_the_first_line_is_the_token(void **state) {
    (void)state;
    static const char *const forms[] = {"SECRET", "SECRET\n", "SECRET\r\n", "SECRET \nmore\n"};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        struct bearer b = {.path = path};
        struct err e = {0};
        put(forms[i], strlen(forms[i]), i % 2 ? 0400 : 0640);
        assert_int_equal(bearer_read(&b, &e), 1);
        assert_string_equal(b.header, "Authorization: Bearer SECRET");
        bearer_forget(&b);
        assert_string_equal(b.header, "");
    }
}

static void test_what_cannot_be_one_is_refused(void **state) {
    (void)state;
    refused("", 0, 0600, "not a token");
    refused("\nSECRET\n", 8, 0600, "not a token");
    refused("SECRET two\n", 11, 0600, "not a token");
    refused("SECRET\0\n", 8, 0600, "not a token");
    refused("SECRET\x80\n", 8, 0600, "not a token");
    refused("SECRET\n", 7, 0644, "chmod 600");
    refused("SECRET\n", 7, 0620, "chmod 600");
    static char much[BEARER_MAX + 10];
    memset(much, 'x', sizeof much);
    refused(much, sizeof much, 0600, "longer than 4 KB");
}

static void test_a_missing_one_is_said(void **state) {
    (void)state;
    struct bearer b = {.path = "/nonexistent/token"};
    struct err e = {0};
    assert_int_equal(bearer_read(&b, &e), -ENOENT);
    b.path = "/tmp";
    assert_int_equal(bearer_read(&b, &e), -EINVAL);
    b.path = NULL;
    assert_int_equal(bearer_read(&b, &e), 0);
}

static void test_a_new_one_is_read_and_a_bad_one_changes_nothing(void **state) {
    (void)state;
    struct bearer b = {.path = path};
    struct err e = {0};
    put("one\n", 4, 0600);
    assert_int_equal(bearer_read(&b, &e), 1);
    assert_int_equal(bearer_read(&b, &e), 0);
    put("two\n", 4, 0600);
    assert_int_equal(bearer_read(&b, &e), 1);
    assert_string_equal(b.header, "Authorization: Bearer two");
    put("not a token\n", 12, 0600);
    assert_true(bearer_read(&b, &e) < 0);
    assert_string_equal(b.header, "Authorization: Bearer two");
    unlink(path);
    assert_int_equal(bearer_read(&b, &e), -ENOENT);
    put("three\n", 6, 0600);
    assert_int_equal(bearer_read(&b, &e), 1);
    assert_string_equal(b.header, "Authorization: Bearer three");
}

static int begin(void **state) {
    (void)state;
    snprintf(path, sizeof path, "/tmp/push-bearer-%d", (int)getpid());
    return 0;
}

static int end(void **state) {
    (void)state;
    unlink(path);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_first_line_is_the_token),
        cmocka_unit_test(test_what_cannot_be_one_is_refused),
        cmocka_unit_test(test_a_missing_one_is_said),
        cmocka_unit_test(test_a_new_one_is_read_and_a_bad_one_changes_nothing),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
