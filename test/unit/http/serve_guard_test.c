#include "core/http/serve/server/guard.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#define TOKEN "0123456789abcdef0123456789abcdef"

static struct guard_token none, token;
static struct peers *peers;
static struct login *login;
static const struct route page = {.path = "/"}, open_one = {.path = "/healthz", .open = true},
                          form = {.path = "/login", .open = true, .post = true};
static const struct sockaddr_in peer = {.sin_family = AF_INET, .sin_addr = {0x01010101}};

static int begin(void **state) {
    (void)state;
    token = (struct guard_token){.length = strlen(TOKEN)};
    memcpy(token.bytes, TOKEN, strlen(TOKEN));
    peers = peers_new();
    login = peers ? login_new(&token, peers, 8071) : NULL;
    return login ? 0 : -1;
}

static int over(void **state) {
    (void)state;
    login_free(login);
    peers_free(peers);
    return 0;
}

static struct guard_request usual(void) {
    return (struct guard_request){.method = "GET",
                                  .url = "/",
                                  .host = "127.0.0.1:8071",
                                  .hosts = 1,
                                  .headers = 3,
                                  .header_bytes = 200,
                                  .peer = (const struct sockaddr *)&peer};
}

/* The status it is refused with; 0: it passes. */
static unsigned pass(const struct guard_token *t, bool certificates, const struct route *route,
                     const struct guard_request *q) {
    const struct guard g = {
        .token = t, .certificates = certificates, .login = login, .peers = peers};
    struct serve_answer a = {0};
    bool passes = guard_passes(&g, q, route, &a);
    assert_int_equal(passes, a.status == 0);
    assert_int_equal(passes, a.body.len == 0);
    text_free(&a.body);
    return a.status;
}

static unsigned pass_open(const struct guard_request *q) {
    return pass(&none, false, &page, q);
}

static void test_sizes(void **state) {
    (void)state;
    static char url[GUARD_URL_MAX + 2];
    struct guard_request q = usual();
    assert_int_equal(pass_open(&q), 0);
    memset(url, 'a', sizeof url - 1);
    url[0] = '/';
    q.url = url;
    assert_int_equal(pass_open(&q), 414);
    url[GUARD_URL_MAX] = '\0';
    assert_int_equal(pass_open(&q), 0);
    q.cut = true;
    assert_int_equal(pass_open(&q), 414);
    q = usual();
    q.headers = GUARD_HEADERS_MAX + 1;
    assert_int_equal(pass_open(&q), 431);
    q = usual();
    q.header_bytes = GUARD_HEADER_BYTES_MAX + 1;
    assert_int_equal(pass_open(&q), 431);
    static const char *const bad[] = {"",     "x",     "http://127.0.0.1/", "*",
                                      "/a b", "/\x7f", "/\xc3\xa9",         "/\t"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        q = usual();
        q.url = bad[i];
        assert_int_equal(pass_open(&q), 400);
    }
}

static void test_bodies(void **state) {
    (void)state;
    struct guard_request q = usual();
    q.method = "POST";
    q.length = "4096";
    assert_int_equal(pass(&none, false, &form, &q), 0);
    q.length = "4097";
    assert_int_equal(pass(&none, false, &form, &q), 413);
    q.length = "18446744073709551617";
    assert_int_equal(pass(&none, false, &form, &q), 413);
    static const char *const bad[] = {"", "-1", "1a", "0x10", "1,2", " 1"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        q.length = bad[i];
        assert_int_equal(pass(&none, false, &form, &q), 400);
    }
    q.length = NULL;
    q.transfer = "chunked";
    assert_int_equal(pass(&none, false, &form, &q), 411);
}

static void test_methods(void **state) {
    (void)state;
    static const struct {
        const char *method;
        unsigned page, form;
    } expected[] = {{"GET", 0, 0},         {"HEAD", 0, 0},    {"POST", 405, 0},
                    {"OPTIONS", 405, 405}, {"PUT", 405, 405}, {"DELETE", 405, 405},
                    {"?", 405, 405},       {"get", 405, 405}, {"TRACE", 405, 405}};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        struct guard_request q = usual();
        q.method = expected[i].method;
        assert_int_equal(pass(&none, false, &page, &q), expected[i].page);
        assert_int_equal(pass(&none, false, NULL, &q), expected[i].page);
        assert_int_equal(pass(&none, false, &form, &q), expected[i].form);
    }
}

static void test_hosts(void **state) {
    (void)state;
    static const struct {
        const char *host;
        unsigned open, closed; /* without a token, with one */
    } expected[] = {{"localhost", 0, 0},
                    {"LocalHost:80", 0, 0},
                    {"127.0.0.1", 0, 0},
                    {"127.255.0.9:1", 0, 0},
                    {"[::1]", 0, 0},
                    {"[::1]:8071", 0, 0},
                    {"[::ffff:127.0.0.1]:8071", 0, 0},
                    {"10.0.0.1:8071", 421, 0},
                    {"evil.example:8071", 421, 0},
                    {"127.0.0.1.evil.example", 421, 0},
                    {"localhost.evil.example", 421, 0},
                    {"0.0.0.0", 421, 0},
                    {"[::]", 421, 0},
                    {"[::1].evil.example", 421, 0},
                    {"[", 421, 0},
                    {"", 400, 400},
                    {"a b", 400, 400},
                    {"a/b", 400, 400},
                    {"a\"b", 400, 400},
                    {NULL, 400, 400}};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        struct guard_request q = usual();
        q.host = expected[i].host;
        assert_int_equal(pass_open(&q), expected[i].open);
        q.authorization = "Bearer " TOKEN;
        assert_int_equal(pass(&token, false, &page, &q), expected[i].closed);
    }
    struct guard_request q = usual();
    q.hosts = 2;
    assert_int_equal(pass_open(&q), 400);
    static char longest[300];
    memset(longest, 'a', 256);
    q = usual();
    q.host = longest;
    assert_int_equal(pass(&token, false, &open_one, &q), 400);
}

static void test_other_sites(void **state) {
    (void)state;
    struct guard_request q = usual();
    q.origin = "http://127.0.0.1:8071";
    assert_int_equal(pass_open(&q), 0);
    static const char *const bad[] = {"http://127.0.0.1",    "http://127.0.0.1:80710", "null", "",
                                      "http://evil.example", "127.0.0.1:8071"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        q.origin = bad[i];
        assert_int_equal(pass_open(&q), 403);
        assert_int_equal(pass(&none, false, &open_one, &q), 403);
    }
    static const struct {
        const char *site, *mode, *method, *url;
        unsigned status;
    } expected[] = {{"same-origin", "cors", "GET", "/api/v1/jvms", 0},
                    {"none", "navigate", "GET", "/prof?pid=1", 0},
                    {"cross-site", "navigate", "GET", "/", 0},
                    {"same-site", "navigate", "GET", "/live/1?a", 0},
                    {"cross-site", "navigate", "GET", "/prof?pid=1", 403},
                    {"cross-site", "navigate", "GET", "/livery", 403},
                    {"cross-site", "navigate", "POST", "/login", 403},
                    {"cross-site", "no-cors", "GET", "/", 403},
                    {"same-site", "cors", "GET", "/api/v1/jvms", 403},
                    {"cross-site", NULL, "GET", "/", 403},
                    {"", NULL, "GET", "/", 403}};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        q = usual();
        q.fetch_site = expected[i].site;
        q.fetch_mode = expected[i].mode;
        q.method = expected[i].method;
        q.url = expected[i].url;
        assert_int_equal(pass(&none, false, &form, &q), expected[i].status);
    }
}

static void test_tokens(void **state) {
    (void)state;
    struct guard_request q = usual();
    assert_int_equal(pass(&token, false, &page, &q), 401);
    assert_int_equal(pass(&token, false, NULL, &q), 401);
    assert_int_equal(pass(&token, false, &open_one, &q), 0);
    static const char *const good[] = {"Bearer " TOKEN, "bearer " TOKEN, "BEARER   " TOKEN};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        q.authorization = good[i];
        assert_int_equal(pass(&token, false, &page, &q), 0);
    }
    static const char *const bad[] = {("Bearer " TOKEN "0"),
                                      "Bearer 0123456789abcdef0123456789abcde",
                                      "Bearer",
                                      "Bearer ",
                                      ("Basic " TOKEN),
                                      TOKEN,
                                      ""};
    q.peer = NULL;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        q.authorization = bad[i];
        assert_int_equal(pass(&token, false, &page, &q), 401);
    }
}

static void test_a_guesser_has_to_wait(void **state) {
    (void)state;
    struct guard_request q = usual();
    q.authorization = "Bearer 0000000000000000";
    for (int i = 0; i < PEERS_GUESSES; i++)
        assert_int_equal(pass(&token, false, &page, &q), 401);
    assert_int_equal(pass(&token, false, &page, &q), 429);
    q.authorization = "Bearer " TOKEN;
    assert_int_equal(pass(&token, false, &page, &q), 429);
    struct sockaddr_in another = peer;
    another.sin_addr.s_addr++;
    q.peer = (const struct sockaddr *)&another;
    assert_int_equal(pass(&token, false, &page, &q), 0);
}

static void test_certificates(void **state) {
    (void)state;
    struct guard_request q = usual();
    assert_int_equal(pass(&none, true, &page, &q), 403);
    assert_int_equal(pass(&token, true, &page, &q), 401);
    assert_int_equal(pass(&none, true, &open_one, &q), 0);
    q.certified = true;
    assert_int_equal(pass(&none, true, &page, &q), 0);
    assert_int_equal(pass(&token, true, &page, &q), 0);
    assert_int_equal(pass(&token, false, &page, &q), 401);
    q.certified = false;
    q.authorization = "Bearer "; /* no token is an empty one */
    assert_int_equal(pass(&none, true, &page, &q), 403);
}

static void test_logins(void **state) {
    (void)state;
    char cookie[LOGIN_COOKIE_MAX], header[400];
    struct guard_request q = usual();
    assert_int_equal(login_begin(login, true, cookie), 0);
    assert_non_null(strstr(cookie, "; HttpOnly; SameSite=Strict; Secure"));
    assert_non_null(strstr(cookie, "; Path=/;"));
    cookie[strcspn(cookie, ";")] = '\0';
    const char *value = strchr(cookie, '=') + 1;
    q.cookie = cookie;
    assert_int_equal(pass(&token, false, &page, &q), 0);
    static const struct {
        const char *before, *after;
        unsigned status;
    } around[] = {{"a=b; %s%s", "; c=d", 0}, {"%s%s", ";", 0},   {"; ;%s%s", "", 0},
                  {"x%s%s", "", 401},        {"%s%s", "0", 401}, {"\"%s\"%s", "", 401}};
    for (size_t i = 0; i < sizeof around / sizeof around[0]; i++) {
        const char *mark = strchr(around[i].before, '%');
        snprintf(header, sizeof header, "%.*s%s%s", (int)(mark - around[i].before),
                 around[i].before, cookie, around[i].after);
        q.cookie = header;
        assert_int_equal(pass(&token, false, &page, &q), around[i].status);
    }
    q.cookie = value; /* without its name */
    assert_int_equal(pass(&token, false, &page, &q), 401);
    q.cookie = "jtop-prof-8071=0000000000000000000000000000000000000000000000000000000000000000";
    assert_int_equal(pass(&token, false, &page, &q), 401);
    q.cookie = "jtop-prof-8071=";
    assert_int_equal(pass(&token, false, &page, &q), 401);
    /* Another server's. */
    q.cookie = cookie;
    cookie[strlen("jtop-prof-807")] = '2';
    assert_int_equal(pass(&token, false, &page, &q), 401);
    cookie[strlen("jtop-prof-807")] = '1';
    /* Two are never the same; many push out the first. */
    char more[LOGIN_COOKIE_MAX];
    for (int i = 0; i < 64; i++) {
        assert_int_equal(login_begin(login, false, more), 0);
        assert_null(strstr(more, value));
        assert_null(strstr(more, "Secure"));
    }
    assert_int_equal(pass(&token, false, &page, &q), 401);
}

static void write_token(const char *path, const char *text, mode_t mode) {
    unlink(path);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    assert_int_equal(chmod(path, mode), 0);
}

static void test_token_files(void **state) {
    (void)state;
    char path[] = "/tmp/jtop-prof-token-XXXXXX";
    struct guard_token t;
    struct err e;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    write_token(path, TOKEN "\r\nsecond line\n", 0600);
    assert_int_equal(guard_token_read(path, &t, &e), 0);
    assert_true(guard_token_is(&t, TOKEN));
    assert_false(guard_token_is(&t, TOKEN "\r"));
    assert_false(guard_token_is(&t, ""));
    assert_false(guard_token_is(&none, ""));
    write_token(path, TOKEN, 0400);
    assert_int_equal(guard_token_read(path, &t, &e), 0);
    write_token(path, TOKEN, 0640);
    assert_int_equal(guard_token_read(path, &t, &e), -EPERM);
    write_token(path, "0123456789abcde", 0600);
    assert_int_equal(guard_token_read(path, &t, &e), -EINVAL);
    assert_non_null(strstr(e.message, "15 characters"));
    write_token(path, "", 0600);
    assert_int_equal(guard_token_read(path, &t, &e), -EINVAL);
    write_token(path, "0123456789 abcdef", 0600);
    assert_int_equal(guard_token_read(path, &t, &e), -EINVAL);
    static char longest[GUARD_TOKEN_MAX + 100];
    memset(longest, 'x', sizeof longest - 1);
    write_token(path, longest, 0600);
    assert_int_equal(guard_token_read(path, &t, &e), -EINVAL);
    longest[GUARD_TOKEN_MAX] = '\0';
    write_token(path, longest, 0600);
    assert_int_equal(guard_token_read(path, &t, &e), 0);
    assert_true(guard_token_is(&t, longest));
    longest[GUARD_TOKEN_MAX] = 'x';
    assert_false(guard_token_is(&t, longest));
    unlink(path);
    assert_int_equal(guard_token_read(path, &t, &e), -ENOENT);
    assert_int_equal(guard_token_read("/tmp", &t, &e), -EINVAL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, over)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_sizes),       TEST(test_bodies),       TEST(test_methods),
        TEST(test_hosts),       TEST(test_other_sites),  TEST(test_tokens),
        TEST(test_logins),      TEST(test_certificates), TEST(test_a_guesser_has_to_wait),
        TEST(test_token_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
