#include "core/http/push/protocol/receiver_url.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static void expect(const char *text, const char *path, const char *query, const char *made) {
    struct receiver_url u;
    struct err e = {0};
    char out[2048];
    assert_int_equal(receiver_url_parse(text, &u, &e), 0);
    assert_int_equal(receiver_url_make(&u, path, query, out, sizeof out), 0);
    assert_string_equal(out, made);
}

static void test_a_path_of_its_own_wins(void **state) {
    (void)state;
    expect("http://h:4318", "/v1/p", "", "http://h:4318/v1/p");
    expect("http://h:4318/", "/v1/p", "", "http://h:4318/v1/p");
    expect("https://h/prefix/", "/v1/p", "a=b&c", "https://h/prefix/v1/p?a=b&c");
    expect("https://h/prefix/own", "/v1/p", "a=b", "https://h/prefix/own?a=b");
    expect("HTTP://[::1]:80", "/x", "", "HTTP://[::1]:80/x");
}

static void test_what_is_no_receiver_is_refused(void **state) {
    (void)state;
    static const char *const bad[] = {"",
                                      "h:4318",
                                      "ftp://h",
                                      "file:///etc/passwd",
                                      "http://",
                                      "http:///path",
                                      "http:/h",
                                      "http://h:0",
                                      "http://h:65536",
                                      "http://h:",
                                      "http://h:12x",
                                      "http://h:99999999999999999999",
                                      "http://h x",
                                      "http://h\r\nX: y",
                                      "http://h/\x80",
                                      "http://u:p@h",
                                      "http://u@h/p",
                                      "http://h?x",
                                      "http://h/p#x",
                                      "http://[::1",
                                      "http://[zz]",
                                      "http://[::1]x",
                                      "http://h{}"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct receiver_url u;
        struct err e = {0};
        assert_int_equal(receiver_url_parse(bad[i], &u, &e), -EINVAL);
        assert_non_null(strstr(e.message, "--to"));
        assert_null(strchr(e.message, '\n'));
    }
    struct receiver_url u;
    struct err e = {0};
    char text[2000] = "http://h/";
    memset(text + 9, 'a', sizeof text - 10);
    text[sizeof text - 1] = '\0';
    assert_int_equal(receiver_url_parse(text, &u, &e), -EINVAL);
}

static void test_a_password_is_not_repeated(void **state) {
    (void)state;
    struct receiver_url u;
    struct err e = {0};
    assert_int_equal(receiver_url_parse("https://me:geheim@h/p", &u, &e), -EINVAL);
    assert_null(strstr(e.message, "geheim"));
    assert_non_null(strstr(e.message, "--token-file"));
}

static void test_loopback_is_what_never_is_another_machine(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool loopback, tls;
    } all[] = {{"http://127.0.0.1:1", true, false},
               {"http://127.9.8.7", true, false},
               {"http://localhost/", true, false},
               {"http://LocalHost", true, false},
               {"https://[::1]:2/p", true, true},
               {"http://127.0.0.1.example.com", false, false},
               {"http://localhost.example", false, false},
               {"http://10.0.0.1", false, false},
               {"http://127.1", true, false}, /* that is where libcurl connects to */
               {"http://2130706433", true, false},
               {"http://0.0.0.0", false, false},
               {"https://[::2]", false, true},
               {"http://[::ffff:10.0.0.1]", false, false}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        struct receiver_url u;
        struct err e = {0};
        assert_int_equal(receiver_url_parse(all[i].text, &u, &e), 0);
        assert_int_equal(u.loopback, all[i].loopback);
        assert_int_equal(u.tls, all[i].tls);
    }
}

static void test_no_room_is_said(void **state) {
    (void)state;
    struct receiver_url u;
    struct err e = {0};
    char out[16];
    assert_int_equal(receiver_url_parse("http://host:1234", &u, &e), 0);
    assert_int_equal(receiver_url_make(&u, "/long/path", "", out, sizeof out), -ENAMETOOLONG);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_path_of_its_own_wins),
        cmocka_unit_test(test_what_is_no_receiver_is_refused),
        cmocka_unit_test(test_a_password_is_not_repeated),
        cmocka_unit_test(test_loopback_is_what_never_is_another_machine),
        cmocka_unit_test(test_no_room_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
