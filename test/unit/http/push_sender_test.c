#include "core/http/push/inbox.h"
#include "core/http/push/protocol/message.h"
#include "core/http/push/sender.h"
#include "test/unit/tier.h"

#include <arpa/inet.h>
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
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>
#include <cmocka.h>

#define REQUESTS 512
#define LINES 64

/* A receiver that answers as told, in turn; the last answer stays. "": never, "-": hangs up. */
struct receiver {
    int fd;
    uint16_t port;
    pthread_t thread;
    _Atomic bool end;
    const char *const *answer;
    pthread_mutex_t lock;
    _Atomic unsigned requests;
    unsigned taken;
    int number[REQUESTS]; /* those that were answered with 200 */
    char head[8192];      /* of the last request */
};

static char lines[LINES][512];
static unsigned said;
static pthread_mutex_t said_lock = PTHREAD_MUTEX_INITIALIZER;
static char dir[64];

static void hear(void *arg, const char *line) {
    (void)arg;
    pthread_mutex_lock(&said_lock);
    if (said < LINES)
        snprintf(lines[said++], sizeof lines[0], "%s", line);
    pthread_mutex_unlock(&said_lock);
}

static unsigned lines_with(const char *word) {
    unsigned n = 0;
    pthread_mutex_lock(&said_lock);
    for (unsigned i = 0; i < said; i++)
        n += strstr(lines[i], word) != NULL;
    pthread_mutex_unlock(&said_lock);
    return n;
}

/* ---- the receiver ---- */

static bool wait_readable(struct receiver *r, int fd) {
    while (!atomic_load(&r->end)) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (poll(&p, 1, 20) > 0)
            return true;
    }
    return false;
}

/* Reads one request; the number at the beginning of its body, or -1. */
static int read_request(struct receiver *r, int fd) {
    static char data[1 << 20];
    size_t have = 0;
    char *body = NULL;
    size_t length = 0;
    while (have < sizeof data - 1 && (!body || have < (size_t)(body - data) + length)) {
        ssize_t n = wait_readable(r, fd) ? read(fd, data + have, sizeof data - 1 - have) : 0;
        if (n <= 0)
            return -1;
        have += (size_t)n;
        data[have] = '\0';
        if (!body && (body = strstr(data, "\r\n\r\n"))) {
            const char *l = strstr(data, "Content-Length: ");
            length = l ? strtoul(l + 16, NULL, 10) : 0;
            body += 4;
        }
    }
    pthread_mutex_lock(&r->lock);
    snprintf(r->head, sizeof r->head, "%.*s", (int)(body - data), data);
    pthread_mutex_unlock(&r->lock);
    char plain[65536] = "";
    if (strstr(r->head, "Content-Encoding: gzip")) {
        z_stream z = {.next_in = (unsigned char *)body, .avail_in = (unsigned)length};
        z.next_out = (unsigned char *)plain;
        z.avail_out = sizeof plain - 1;
        inflateInit2(&z, 31);
        int done = inflate(&z, Z_FINISH);
        inflateEnd(&z);
        return done == Z_STREAM_END ? (int)strtol(plain, NULL, 10) : -1;
    }
    return (int)strtol(body, NULL, 10);
}

static void talk(struct receiver *r, int fd) {
    int number;
    while ((number = read_request(r, fd)) >= 0) {
        pthread_mutex_lock(&r->lock);
        const char *answer = r->answer[0];
        if (r->answer[1])
            r->answer++;
        r->requests++;
        if (strncmp(answer, "HTTP/1.1 2", 10) == 0 && r->taken < REQUESTS)
            r->number[r->taken++] = number;
        pthread_mutex_unlock(&r->lock);
        if (answer[0] == '-')
            return;
        if (!answer[0]) {
            wait_readable(r, fd);
            return;
        }
        if (send(fd, answer, strlen(answer), MSG_NOSIGNAL) < 0)
            return;
    }
}

static void *serve(void *arg) {
    struct receiver *r = arg;
    while (wait_readable(r, r->fd)) {
        int fd = accept(r->fd, NULL, NULL);
        if (fd < 0)
            continue;
        talk(r, fd);
        close(fd);
    }
    return NULL;
}

static void listen_at(struct receiver *r) {
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof a;
    int on = 1;
    r->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(r->fd >= 0);
    setsockopt(r->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    a.sin_port = htons(r->port);
    assert_int_equal(bind(r->fd, (struct sockaddr *)&a, sizeof a), 0);
    getsockname(r->fd, (struct sockaddr *)&a, &size);
    r->port = ntohs(a.sin_port);
}

static void start(struct receiver *r, const char *const *answer) {
    r->answer = answer;
    r->end = false;
    pthread_mutex_init(&r->lock, NULL);
    if (r->fd <= 0)
        listen_at(r);
    assert_int_equal(listen(r->fd, 16), 0);
    assert_int_equal(pthread_create(&r->thread, NULL, serve, r), 0);
}

static void stop(struct receiver *r) {
    atomic_store(&r->end, true);
    pthread_join(r->thread, NULL);
    close(r->fd);
    r->fd = -1;
}

static unsigned taken(struct receiver *r) {
    pthread_mutex_lock(&r->lock);
    unsigned n = r->taken;
    pthread_mutex_unlock(&r->lock);
    return n;
}

/* ---- the sender ---- */

static int judge(unsigned status, const char *body, size_t bytes, char *why, size_t size) {
    if (bytes >= 4 && memcmp(body, "part", 4) == 0)
        snprintf(why, size, "2 of 3 samples were not taken");
    return status == 500 ? -EAGAIN : 0;
}

static const struct push_protocol protocol = {.name = "test", .path = "/v1/p", .judge = judge};

static struct sender *sender_to(struct receiver *r, struct sender_options o) {
    char url[64];
    struct sender *s = NULL;
    struct err e = {0};
    if (!r->port)
        listen_at(r);
    snprintf(url, sizeof url, "http://127.0.0.1:%u", r->port);
    o.to = url;
    o.protocol = &protocol;
    o.say = hear;
    if (sender_new(&o, &s, &e) != 0)
        fail_msg("%s", e.message);
    return s;
}

static void put(struct sender *s, int number, size_t bytes) {
    struct push_message m = {.path = "/v1/p", .type = "application/x-protobuf", .gzip = true};
    text_addf(&m.body, "%d ", number);
    while (m.body.len < bytes)
        text_addf(&m.body, "%lx", random());
    assert_int_equal(sender_put(s, &m), 0);
    assert_null(m.body.data);
}

static void pause_ms(unsigned ms) {
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000L}, NULL);
}

static struct sender_status status_of(struct sender *s) {
    struct sender_status t;
    sender_status(s, &t);
    return t;
}

#define WAIT_FOR(condition)                                                                        \
    do {                                                                                           \
        for (int turn = 0; !(condition); turn++) {                                                 \
            if (turn > 3000)                                                                       \
                fail_msg("waited in vain for %s; said: %s", #condition, said ? lines[0] : "");     \
            pause_ms(20);                                                                          \
        }                                                                                          \
    } while (0)

#define OK "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
#define ANSWER(line, body) "HTTP/1.1 " line "\r\nContent-Length: " body

static void expect_numbers(struct receiver *r, int from, int to) {
    assert_int_equal(taken(r), to - from);
    for (int i = from; i < to; i++)
        assert_int_equal(r->number[i - from], i);
}

static void test_each_arrives_once_in_order(void **state) {
    (void)state;
    struct receiver r = {0};
    start(&r, (const char *const[]){OK, NULL});
    struct sender *s = sender_to(&r, (struct sender_options){0});
    for (int i = 0; i < 100; i++)
        put(s, i, 2000);
    WAIT_FOR(status_of(s).sent == 100);
    expect_numbers(&r, 0, 100);
    assert_non_null(strstr(r.head, "POST /v1/p HTTP/1.1\r\n"));
    assert_non_null(strstr(r.head, "Content-Type: application/x-protobuf\r\n"));
    assert_non_null(strstr(r.head, "Content-Encoding: gzip\r\n"));
    assert_null(strstr(r.head, "Authorization"));
    assert_null(strstr(r.head, "Expect"));
    struct sender_status t = status_of(s);
    assert_int_equal(t.waiting, 0);
    assert_int_equal(t.retries, 0);
    assert_true(t.sent_bytes > 0 && t.sent_bytes < 200000);
    assert_string_equal(t.trouble, "");
    sender_free(s, 0);
    assert_int_equal(said, 0);
    stop(&r);
}

static void test_a_receiver_that_is_down_gets_all_later(void **state) {
    (void)state;
    struct receiver r = {0};
    struct sender *s = sender_to(&r, (struct sender_options){.spool = dir});
    for (int i = 0; i < 20; i++)
        put(s, i, 100);
    WAIT_FOR(status_of(s).trouble[0] && status_of(s).retries >= 2);
    assert_int_equal(lines_with("Connection refused"), 1);
    assert_int_equal(said, 1);
    assert_int_equal(status_of(s).waiting, 20);
    start(&r, (const char *const[]){OK, NULL});
    WAIT_FOR(status_of(s).sent == 20);
    expect_numbers(&r, 0, 20);
    WAIT_FOR(!status_of(s).trouble[0]);
    assert_int_equal(lines_with("accepts profiles again: 20 waited"), 1);
    assert_int_equal(said, 2);
    sender_free(s, 0);
    stop(&r);
}

static void test_what_the_receiver_does_not_want_is_given_up_and_said(void **state) {
    (void)state;
    struct receiver r = {0};
    start(&r, (const char *const[]){
                  ANSWER("400 Bad", "9\r\n\r\nno\033[31m!\n"), ANSWER("413 Huge", "0\r\n\r\n"),
                  ANSWER("413 Huge", "0\r\n\r\n"), ANSWER("400 Bad", "0\r\n\r\n"), OK, NULL});
    struct sender *s = sender_to(&r, (struct sender_options){0});
    for (int i = 0; i < 7; i++)
        put(s, i, 3000 + 9000 * (size_t)i); /* the line says how large: it is the same line */
    WAIT_FOR(status_of(s).sent == 3);
    expect_numbers(&r, 4, 7);
    assert_int_equal(status_of(s).refused, 4);
    assert_int_equal(lines_with("answers 400"), 1);
    assert_int_equal(lines_with("\033"), 0);
    assert_int_equal(lines_with("too large"), 1);
    WAIT_FOR(lines_with("4 dropped") == 1);
    sender_free(s, 0);
    stop(&r);
}

static void test_what_may_be_set_right_waits(void **state) {
    (void)state;
    static const char *const all[] = {
        ANSWER("401 No", "0\r\n\r\n"), ANSWER("403 No", "0\r\n\r\n"),
        ANSWER("404 No", "0\r\n\r\n"), ANSWER("429 No", "0\r\nRetry-After: 1\r\n\r\n"),
        ANSWER("503 No", "0\r\n\r\n"), ANSWER("302 There", "0\r\nLocation: http://x/y\r\n\r\n"),
        ANSWER("500 Hm", "0\r\n\r\n"), "-",
        "HTTP/1.1 99999\r\n\r\n",      "SSH-2.0-x\r\n\r\n"};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i += tier_is_fast() ? 3 : 1) { /* 1 s each */
        struct receiver r = {0};
        start(&r, (const char *const[]){all[i], OK, NULL});
        struct sender *s = sender_to(&r, (struct sender_options){0});
        put(s, 0, 100);
        put(s, 1, 100);
        WAIT_FOR(status_of(s).sent == 2);
        expect_numbers(&r, 0, 2);
        assert_int_equal(status_of(s).refused, 0);
        assert_int_equal(status_of(s).retries, 1);
        sender_free(s, 0);
        assert_int_equal(said, 2);
        said = 0;
        stop(&r);
    }
}

static void test_an_answer_that_is_cut_off_is_one(void **state) {
    (void)state;
    static char much[6 << 20];
    static const char *const all[] = {"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhal", much};
    size_t n = (size_t)sprintf(much, "HTTP/1.1 200 OK\r\nContent-Length: 9000000\r\n\r\n");
    memset(much + n, 'x', sizeof much - n - 1);
    for (size_t i = 0; i < 2; i++) {
        struct receiver r = {0};
        start(&r, (const char *const[]){all[i], "-", OK, NULL});
        struct sender *s = sender_to(&r, (struct sender_options){.timeout_ms = 1000});
        put(s, 0, 100);
        WAIT_FOR(status_of(s).sent == 1);
        put(s, 1, 100);
        WAIT_FOR(status_of(s).sent == 2);
        expect_numbers(&r, 0, 2); /* neither twice */
        sender_free(s, 0);
        stop(&r);
    }
}

static void test_what_is_taken_in_part_is_said(void **state) {
    (void)state;
    struct receiver r = {0};
    start(&r, (const char *const[]){ANSWER("200 OK", "4\r\n\r\npart"),
                                    ANSWER("200 OK", "4\r\n\r\npart"), OK, NULL});
    struct sender *s = sender_to(&r, (struct sender_options){0});
    for (int i = 0; i < 3; i++)
        put(s, i, 10);
    WAIT_FOR(status_of(s).sent == 3);
    WAIT_FOR(lines_with("accepts profiles again") == 1);
    assert_int_equal(lines_with("2 of 3 samples"), 1);
    expect_numbers(&r, 0, 3);
    sender_free(s, 0);
    stop(&r);
}

static void test_a_doubtful_one_does_not_hold_up_the_rest_for_ever(void **state) {
    (void)state;
    struct receiver r = {0};
    static const char no[] = ANSWER("500 Hm", "0\r\n\r\n");
    start(&r, (const char *const[]){no, no, no, no, OK, NULL});
    struct sender *s = sender_to(&r, (struct sender_options){0});
    put(s, 0, 10);
    put(s, 1, 10);
    WAIT_FOR(status_of(s).sent == 1);
    assert_int_equal(r.number[0], 1);
    assert_int_equal(status_of(s).refused, 1);
    sender_free(s, 0);
    stop(&r);
}

static void test_the_next_sender_goes_on_where_one_ended(void **state) {
    (void)state;
    struct receiver r = {0};
    struct sender *s = sender_to(&r, (struct sender_options){.spool = dir});
    for (int i = 0; i < 10; i++)
        put(s, i, 1000);
    sender_free(s, 50);
    assert_int_equal(lines_with("10 profiles are kept there for the next push"), 1);
    start(&r, (const char *const[]){OK, NULL});
    s = sender_to(&r, (struct sender_options){.spool = dir});
    for (int i = 10; i < 20; i++)
        put(s, i, 1000);
    sender_free(s, 30000);
    expect_numbers(&r, 0, 20);
    assert_int_equal(lines_with("10 profiles of an earlier push"), 1);
    s = sender_to(&r, (struct sender_options){.spool = dir});
    sender_free(s, 1000);
    expect_numbers(&r, 0, 20); /* and nothing twice */
    stop(&r);
}

static void test_without_a_spool_what_is_left_is_said_to_be_lost(void **state) {
    (void)state;
    struct receiver r = {0};
    struct sender *s = sender_to(&r, (struct sender_options){0});
    put(s, 0, 10);
    put(s, 1, 10);
    sender_free(s, 20);
    assert_int_equal(lines_with("2 profiles were not sent"), 1);
    assert_int_equal(lines_with("--spool"), 1);
    close(r.fd);
}

/* Not only between two tries. */
static void test_it_ends_at_once_when_told(void **state) {
    (void)state;
    struct receiver r = {0};
    struct timespec before, after;
    start(&r, (const char *const[]){"", NULL});
    struct sender *s = sender_to(&r, (struct sender_options){.timeout_ms = 600000, .spool = dir});
    put(s, 0, 10);
    WAIT_FOR(r.requests == 1);
    WAIT_FOR(status_of(s).waiting == 1);
    clock_gettime(CLOCK_MONOTONIC, &before);
    sender_free(s, 0);
    clock_gettime(CLOCK_MONOTONIC, &after);
    assert_true(after.tv_sec - before.tv_sec < 60); /* of ten minutes */
    assert_int_equal(lines_with("1 profiles are kept there"), 1);
    stop(&r);
}

static void test_a_silent_receiver_is_a_trouble(void **state) {
    (void)state;
    struct receiver r = {0};
    start(&r, (const char *const[]){"", "", OK, NULL});
    struct sender *s = sender_to(&r, (struct sender_options){.timeout_ms = 300});
    put(s, 7, 10);
    WAIT_FOR(status_of(s).sent == 1);
    assert_int_equal(r.number[0], 7);
    assert_int_equal(lines_with("did not answer in time"), 1);
    sender_free(s, 0);
    stop(&r);
}

static void test_what_waits_is_bounded(void **state) {
    (void)state;
    for (int disk = 0; disk < 2; disk++) {
        struct receiver r = {0};
        struct sender_options o = {.spool = disk ? dir : NULL, .spool_bytes = 100000};
        struct sender *s = sender_to(&r, o);
        for (int i = 0; i < 200; i++) {
            put(s, i, 5000);
            assert_true(status_of(s).waiting_bytes <= 100000);
        }
        WAIT_FOR(status_of(s).lost > 150 && status_of(s).lost + status_of(s).waiting == 200);
        WAIT_FOR(lines_with("the oldest are dropped") == 1);
        start(&r, (const char *const[]){OK, NULL});
        WAIT_FOR(status_of(s).waiting == 0);
        unsigned n = taken(&r);
        assert_int_equal(n + status_of(s).lost, 200);
        assert_int_equal(r.number[n - 1], 199);
        assert_int_equal(r.number[0], 200 - (int)n);
        sender_free(s, 0);
        stop(&r);
        said = 0;
    }
}

static void test_a_token_goes_along_and_a_new_one_at_once(void **state) {
    (void)state;
    struct receiver r = {0};
    char path[96];
    snprintf(path, sizeof path, "%s-token", dir);
    FILE *f = fopen(path, "w");
    fputs("first\n", f);
    fclose(f);
    chmod(path, 0600);
    start(&r, (const char *const[]){ANSWER("401 No", "0\r\n\r\n"), ANSWER("401 No", "0\r\n\r\n"),
                                    ANSWER("401 No", "0\r\n\r\n"), OK, NULL});
    struct sender *s = sender_to(&r, (struct sender_options){.token_file = path});
    put(s, 1, 10);
    WAIT_FOR(r.requests >= 1);
    assert_non_null(strstr(r.head, "\r\nAuthorization: Bearer first\r\n"));
    f = fopen(path, "w");
    fputs("second\n", f);
    fclose(f);
    WAIT_FOR(status_of(s).sent == 1);
    assert_non_null(strstr(r.head, "\r\nAuthorization: Bearer second\r\n"));
    assert_int_equal(lines_with("first") + lines_with("second"), 0);
    sender_free(s, 0);
    unlink(path);
    stop(&r);
}

static void refused(struct sender_options o, const char *why) {
    struct sender *s = NULL;
    struct err e = {0};
    o.protocol = &protocol;
    assert_true(sender_new(&o, &s, &e) < 0);
    assert_null(s);
    if (!strstr(e.message, why))
        fail_msg("%s", e.message);
}

static void test_what_cannot_work_is_refused_at_the_beginning(void **state) {
    (void)state;
    char path[96];
    snprintf(path, sizeof path, "%s-token", dir);
    FILE *f = fopen(path, "w");
    fputs("secret\n", f);
    fclose(f);
    chmod(path, 0600);
    refused((struct sender_options){.to = "h:1"}, "--to");
    refused((struct sender_options){.to = "http://h", .token_file = path}, "only over https");
    refused((struct sender_options){.to = "https://h", .token_file = "/nonexistent"}, "token file");
    chmod(path, 0644);
    refused((struct sender_options){.to = "https://h", .token_file = path}, "chmod 600");
    refused((struct sender_options){.to = "https://h", .ca = "/nonexistent"}, "--tls-ca");
    refused((struct sender_options){.to = "https://h", .tls_cert = "/nonexistent", .tls_key = path},
            "--tls-cert");
    refused((struct sender_options){.to = "https://h", .tls_cert = path}, "must be given together");
    refused((struct sender_options){.to = "https://h", .spool = "/proc/x/y"}, "spool /proc/x/y");
    unlink(path);
}

static void test_no_message_is_no_crash(void **state) {
    (void)state;
    struct receiver r = {0};
    struct sender *s = sender_to(&r, (struct sender_options){0});
    struct push_message m = {.path = "/x\r\nEvil: 1", .type = "a/b"};
    text_add(&m.body, "x");
    assert_int_equal(sender_put(s, &m), -EINVAL);
    assert_null(m.body.data);
    assert_int_equal(status_of(s).lost, 1);
    sender_free(s, 1000);
    sender_free(NULL, 0);
    close(r.fd);
}

static void test_what_comes_in_is_bounded(void **state) {
    (void)state;
    struct inbox b;
    struct push_message **item, m = {.path = "/x", .type = "a/b"};
    inbox_init(&b);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < INBOX_MESSAGES; i++)
            assert_int_equal(inbox_put(&b, message_take(&m)), 0);
        assert_int_equal(inbox_put(&b, message_take(&m)), -ENOMEM);
        assert_int_equal(inbox_take(&b, &item), INBOX_MESSAGES);
        for (int i = 0; i < INBOX_MESSAGES; i++)
            message_free(item[i]);
        free(item);
        assert_int_equal(inbox_take(&b, &item), 0);
        assert_null(item);
    }
    assert_int_equal(inbox_put(&b, message_take(&m)), 0);
    inbox_free(&b);
}

static int begin(void **state) {
    (void)state;
    said = 0;
    snprintf(dir, sizeof dir, "/tmp/push-sender-%d", (int)getpid());
    return 0;
}

static int end(void **state) {
    (void)state;
    char lock[96];
    snprintf(lock, sizeof lock, "%s/lock", dir);
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", dir);
    unlink(lock);
    return access(dir, F_OK) == 0 && rmdir(dir) != 0 ? system(command) : 0;
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(test_each_arrives_once_in_order),
        CASE(test_a_receiver_that_is_down_gets_all_later),
        CASE(test_what_the_receiver_does_not_want_is_given_up_and_said),
        CASE(test_what_may_be_set_right_waits),
        CASE(test_an_answer_that_is_cut_off_is_one),
        CASE(test_what_is_taken_in_part_is_said),
        CASE(test_a_doubtful_one_does_not_hold_up_the_rest_for_ever),
        CASE(test_the_next_sender_goes_on_where_one_ended),
        CASE(test_without_a_spool_what_is_left_is_said_to_be_lost),
        CASE(test_it_ends_at_once_when_told),
        CASE(test_a_silent_receiver_is_a_trouble),
        CASE(test_what_waits_is_bounded),
        CASE(test_a_token_goes_along_and_a_new_one_at_once),
        CASE(test_what_cannot_work_is_refused_at_the_beginning),
        CASE(test_no_message_is_no_crash),
        CASE(test_what_comes_in_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
