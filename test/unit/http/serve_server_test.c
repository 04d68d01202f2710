#include "core/base/gzip.h"
#include "core/http/serve/server/listen.h"
#include "core/http/serve/server/server.h"
#include "core/http/serve/server/server_gzip.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>
#include <cmocka.h>

/* A server whose handlers know of no JVM: /healthz, /login and what is not there. */
struct fixture {
    struct serve_options options;
    struct serve serve;
    struct guard_token token;
    struct tls tls;
    struct guard guard;
    struct listen_at at;
    int fd;
    struct server *server;
};

static int begin(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    struct err e;
    f->serve.options = &f->options;
    f->guard = (struct guard){.token = &f->token, .peers = peers_new()};
    f->guard.login = login_new(&f->token, f->guard.peers, 1);
    f->serve.login = f->guard.login;
    assert_int_equal(listen_parse("127.0.0.1:0", &f->at, &e), 0);
    f->fd = listen_open(&f->at, &e);
    assert_true(f->fd >= 0);
    struct server_options o = {
        .serve = &f->serve, .guard = &f->guard, .tls = &f->tls, .listen_fd = f->fd};
    assert_int_equal(server_new(&o, &f->server, &e), 0);
    *state = f;
    return 0;
}

static int over(void **state) {
    struct fixture *f = *state;
    server_free(f->server);
    assert_int_equal(peers_count(f->guard.peers), 0);
    close(f->fd);
    login_free(f->guard.login);
    peers_free(f->guard.peers);
    free(f);
    return 0;
}

static int dial(const struct fixture *f) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&f->at.address, f->at.length), 0);
    return fd;
}

static void say(int fd, const char *text) {
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* All there is until the other side has enough. */
static size_t hear(int fd, char *out, size_t size) {
    size_t have = 0;
    ssize_t n = 0;
    struct pollfd p = {.fd = fd, .events = POLLIN};
    while (have + 1 < size && poll(&p, 1, 30000) == 1 &&
           (n = recv(fd, out + have, size - 1 - have, 0)) > 0)
        have += (size_t)n;
    out[have] = '\0';
    close(fd);
    return have;
}

static void ask(const struct fixture *f, const char *request, char *out, size_t size) {
    int fd = dial(f);
    say(fd, request);
    hear(fd, out, size);
}

static bool has(const char *text, const char *part) {
    return strstr(text, part) != NULL;
}

#define LAST "Host: localhost\r\nConnection: close\r\n"

static void test_an_answer(void **state) {
    char got[4096];
    ask(*state, "GET /healthz HTTP/1.1\r\n" LAST "\r\n", got, sizeof got);
    assert_int_equal(strncmp(got, "HTTP/1.1 200 OK\r\n", 17), 0);
    assert_true(has(got, "\r\n\r\nok\n"));
    assert_true(has(got, "\r\nX-Content-Type-Options: nosniff\r\n"));
    assert_true(has(got, "\r\nContent-Security-Policy: default-src 'none';"));
    assert_true(has(got, "\r\nCache-Control: no-store\r\n"));
    ask(*state, "HEAD /healthz HTTP/1.1\r\n" LAST "\r\n", got, sizeof got);
    assert_true(has(got, "Content-Length: 3\r\n"));
    assert_false(has(got, "\r\n\r\nok"));
}

static void test_refusals(void **state) {
    char got[4096];
    ask(*state, "GET /%3Cb%3E HTTP/1.1\r\n" LAST "Accept: text/html\r\n\r\n", got, sizeof got);
    assert_true(has(got, "404 Not Found"));
    assert_true(has(got, "Content-Type: text/html"));
    assert_true(has(got, "nothing is at /%3Cb%3E")); /* as it came: nothing was decoded */
    ask(*state, "GET /<b> HTTP/1.1\r\n" LAST "Accept: text/html\r\n\r\n", got, sizeof got);
    assert_true(has(got, "nothing is at /&lt;b&gt;"));
    assert_true(has(got, "Available paths:\n  /")); /* lines stay lines */
    ask(*state, "GET /<b> HTTP/1.1\r\n" LAST "\r\n", got, sizeof got);
    assert_true(has(got, "Content-Type: text/plain"));
    ask(*state, "GET /healthz?a=%zz HTTP/1.1\r\n" LAST "\r\n", got, sizeof got);
    assert_true(has(got, "400 Bad Request"));
    assert_true(has(got, "a: a %"));
    ask(*state, "DELETE /healthz HTTP/1.1\r\n" LAST "\r\n", got, sizeof got);
    assert_true(has(got, "405 Method Not Allowed"));
    assert_true(has(got, "\r\nAllow: GET, HEAD\r\n"));
    ask(*state, "POST /login HTTP/1.1\r\n" LAST "Content-Length: 5000\r\n\r\n", got, sizeof got);
    assert_true(has(got, " 413 "));
}

/* A worker answers, also to a body that comes in pieces. */
static void test_a_form(void **state) {
    char got[4096];
    int fd = dial(*state);
    say(fd, "POST /login HTTP/1.1\r\n" LAST "Content-Length: 12\r\n\r\nnext=");
    poll(NULL, 0, 50);
    say(fd, "/live/7");
    hear(fd, got, sizeof got);
    assert_true(has(got, "303 See Other"));
    assert_true(has(got, "\r\nLocation: /live/7\r\n"));
}

static void test_several_on_one_connection(void **state) {
    char got[65536], all[4096] = "";
    for (int i = 0; i < 20; i++)
        strcat(all, i % 2 ? "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
                          : "GET /login?next=/x HTTP/1.1\r\nHost: localhost\r\n\r\n");
    strcat(all, "GET /healthz HTTP/1.1\r\n" LAST "\r\n");
    ask(*state, all, got, sizeof got);
    int ok = 0, led = 0;
    for (const char *c = got; (c = strstr(c, "HTTP/1.1 200")); c++)
        ok++;
    for (const char *c = got; (c = strstr(c, "Location: /x")); c++)
        led++;
    assert_int_equal(ok, 11);
    assert_int_equal(led, 10);
}

static atomic_int right;

static void *ask_often(void *arg) {
    char got[4096];
    for (int i = 0; i < 40; i++) {
        int fd = dial(arg);
        say(fd,
            i % 4 ? "GET /login?next=/y HTTP/1.1\r\n" LAST "\r\n" : "GET /healthz HTTP/1.1\r\n");
        if (i % 4) {
            hear(fd, got, sizeof got);
            atomic_fetch_add(&right, has(got, "Location: /y"));
        } else {
            close(fd); /* gone in the middle */
        }
    }
    return NULL;
}

static void test_many_at_once(void **state) {
    pthread_t thread[8];
    atomic_store(&right, 0);
    for (int i = 0; i < 8; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, ask_often, *state), 0);
    for (int i = 0; i < 8; i++)
        pthread_join(thread[i], NULL);
    assert_int_equal(atomic_load(&right), 8 * 30);
}

/* It ends with connections open, half a request on one, and answers that nobody takes. */
static void test_its_end_with_connections(void **state) {
    int fd[20];
    for (int i = 0; i < 20; i++) {
        fd[i] = dial(*state);
        say(fd[i], i % 2 ? "GET / HT" : "GET /login HTTP/1.1\r\nHost: localhost\r\n\r\n");
    }
    assert_int_equal(over(state), 0);
    char got[4096];
    for (int i = 0; i < 20; i++)
        assert_true(hear(fd[i], got, sizeof got) < sizeof got - 1);
    assert_int_equal(begin(state), 0);
}

static void test_gzip(void **state) {
    (void)state;
    static const char *const yes[] = {"gzip", "GZIP", "br, gzip", "gzip;q=0.1", "*", "a;q=0,gzip"},
                             *const no[] = {"",        "br",    "gzip;q=0", "gzip; q=0.000",
                                            "gzipped", "*;q=0", "x-gzip"};
    for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++)
        assert_true(server_gzip_taken(yes[i]));
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++)
        assert_false(server_gzip_taken(no[i]));
    assert_false(server_gzip_taken(NULL));
    struct text t = {0};
    for (int i = 0; i < 10000; i++)
        text_addf(&t, "line %d\n", i % 100);
    size_t before = t.len;
    char *copy = strdup(t.data), *back = calloc(1, before + 1);
    assert_int_equal(gzip_text(&t, 5), 0);
    assert_true(t.len < before / 10);
    z_stream z = {.next_in = (Bytef *)t.data, .avail_in = (uInt)t.len};
    z.next_out = (Bytef *)back;
    z.avail_out = (uInt)before;
    assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    inflateEnd(&z);
    assert_string_equal(back, copy);
    free(back);
    free(copy);
    text_free(&t);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, over)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_an_answer),        TEST(test_refusals),
        TEST(test_a_form),           TEST(test_several_on_one_connection),
        TEST(test_many_at_once),     TEST(test_its_end_with_connections),
        cmocka_unit_test(test_gzip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
