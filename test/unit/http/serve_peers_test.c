#include "core/http/serve/server/listen.h"
#include "core/http/serve/server/peers.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#define SECOND 1000000000ull
#define ENDS (2 * PEERS_CONNECTIONS)

/* Connections: ours[] is the server's end. */
static int ours[ENDS], theirs[ENDS];

static struct sockaddr_storage at(const char *text) {
    struct sockaddr_storage s;
    memset(&s, 0, sizeof s);
    struct sockaddr_in *in = (void *)&s;
    struct sockaddr_in6 *in6 = (void *)&s;
    if (inet_pton(AF_INET, text, &in->sin_addr) == 1)
        in->sin_family = AF_INET;
    else if (inet_pton(AF_INET6, text, &in6->sin6_addr) == 1)
        in6->sin6_family = AF_INET6;
    else
        fail_msg("%s", text);
    return s;
}

static int admit(struct peers *p, int i, const char *address, uint64_t now) {
    struct sockaddr_storage s = at(address);
    return peers_admit(p, ours[i], (struct sockaddr *)&s, now);
}

/* Whether the client sees its end. */
static bool ended(int i) {
    char c;
    return recv(theirs[i], &c, 1, MSG_DONTWAIT) == 0;
}

static int open_all(void **state) {
    for (int i = 0; i < ENDS; i++) {
        int pair[2];
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
        ours[i] = pair[0];
        theirs[i] = pair[1];
    }
    *state = peers_new();
    return *state ? 0 : -1;
}

static int close_all(void **state) {
    for (int i = 0; i < ENDS; i++) {
        close(ours[i]);
        close(theirs[i]);
    }
    peers_free(*state);
    return 0;
}

static void test_the_oldest_unfinished_gives_way(void **state) {
    struct peers *p = *state;
    for (int i = 0; i < PEERS_CONNECTIONS; i++)
        assert_int_equal(admit(p, i, "127.0.0.1", (uint64_t)(i + 1)), 0);
    assert_int_equal(peers_count(p), PEERS_CONNECTIONS);
    peers_note(p, ours[0], PEERS_BUSY, 1000);
    peers_note(p, ours[1], PEERS_SENDING, 1000);
    assert_int_equal(admit(p, PEERS_CONNECTIONS, "127.0.0.1", 2000), 0);
    assert_false(ended(0));
    assert_false(ended(1));
    assert_true(ended(2));
    assert_false(ended(3));
    assert_int_equal(peers_count(p), PEERS_CONNECTIONS);
    /* Its descriptor is closed later, and says so then. */
    peers_forget(p, ours[2]);
    assert_int_equal(admit(p, 2, "127.0.0.1", 3000), 0);
    assert_true(ended(3));
}

static void test_who_is_at_work_does_not(void **state) {
    struct peers *p = *state;
    for (int i = 0; i < PEERS_CONNECTIONS; i++) {
        assert_int_equal(admit(p, i, "::1", 1), 0);
        peers_note(p, ours[i], PEERS_BUSY, 2);
    }
    assert_int_equal(admit(p, PEERS_CONNECTIONS, "::1", 60 * SECOND), -EUSERS);
    assert_int_equal(admit(p, PEERS_CONNECTIONS, "192.0.2.1", 60 * SECOND), -EUSERS);
    /* An answer that is not taken does, after a while. */
    peers_note(p, ours[7], PEERS_SENDING, 55 * SECOND);
    assert_int_equal(admit(p, PEERS_CONNECTIONS, "::1", 60 * SECOND), -EUSERS);
    assert_int_equal(admit(p, PEERS_CONNECTIONS, "::1", 66 * SECOND), 0);
    assert_true(ended(7));
}

static void test_one_address_does_not_take_all(void **state) {
    struct peers *p = *state;
    for (int i = 0; i < PEERS_EACH; i++)
        assert_int_equal(admit(p, i, "192.0.2.1", (uint64_t)(i + 1)), 0);
    assert_int_equal(admit(p, 100, "192.0.2.2", 100), 0);
    assert_false(ended(0));
    assert_int_equal(admit(p, 101, "::ffff:192.0.2.1", 101), 0); /* the same one */
    assert_true(ended(0));
    for (int i = 1; i < PEERS_EACH; i++)
        peers_note(p, ours[i], PEERS_BUSY, 102);
    peers_note(p, ours[101], PEERS_BUSY, 102);
    assert_int_equal(admit(p, 102, "192.0.2.1", 103), -EUSERS);
    assert_int_equal(admit(p, 102, "192.0.2.3", 103), 0);
    assert_int_equal(admit(p, 103, "127.0.0.2", 103), 0);
}

static void test_a_network_of_ipv6_is_one_address(void **state) {
    struct peers *p = *state;
    char address[64];
    for (int i = 0; i < PEERS_EACH; i++) {
        snprintf(address, sizeof address, "2001:db8::%x", i + 1);
        assert_int_equal(admit(p, i, address, (uint64_t)(i + 1)), 0);
    }
    assert_int_equal(admit(p, 100, "2001:db8:0:1::1", 100), 0);
    assert_false(ended(0));
    assert_int_equal(admit(p, 101, "2001:db8::ffff", 100), 0);
    assert_true(ended(0));
}

static void test_time_runs_out(void **state) {
    struct peers *p = *state;
    uint64_t t = 100 * SECOND;
    for (int i = 0; i < 3; i++)
        assert_int_equal(admit(p, i, "127.0.0.1", t), 0);
    peers_note(p, ours[1], PEERS_BUSY, t);
    peers_note(p, ours[2], PEERS_SENDING, t);
    peers_sweep(p, t + PEERS_WAIT_NS - 1);
    assert_false(ended(0));
    peers_sweep(p, t + PEERS_WAIT_NS);
    assert_true(ended(0));
    assert_false(ended(2));
    assert_int_equal(peers_answering(p), 2);
    peers_sweep(p, t + PEERS_SEND_NS);
    assert_true(ended(2));
    peers_sweep(p, t + 100 * PEERS_SEND_NS);
    assert_false(ended(1));
    assert_int_equal(peers_answering(p), 1);
    /* The next request on it has its own ten seconds. */
    peers_note(p, ours[1], PEERS_WAITING, t + 200 * PEERS_SEND_NS);
    peers_sweep(p, t + 200 * PEERS_SEND_NS + 1);
    assert_false(ended(1));
}

static void test_wrong_tokens_are_counted(void **state) {
    struct peers *p = *state;
    struct sockaddr_storage a = at("192.0.2.1"), b = at("192.0.2.2");
    const struct sockaddr *one = (void *)&a, *other = (void *)&b;
    uint64_t t = 50 * SECOND;
    for (int i = 0; i < PEERS_GUESSES; i++) {
        assert_true(peers_may_guess(p, one, t));
        peers_guessed_wrong(p, one, t);
    }
    assert_false(peers_may_guess(p, one, t));
    assert_true(peers_may_guess(p, other, t));
    assert_false(peers_may_guess(p, one, t + SECOND - 1));
    assert_true(peers_may_guess(p, one, t + SECOND));
    peers_guessed_wrong(p, one, t + SECOND);
    assert_false(peers_may_guess(p, one, t + SECOND));
    /* All is forgiven in the end. */
    t += 100 * SECOND;
    for (int i = 0; i < PEERS_GUESSES; i++) {
        assert_true(peers_may_guess(p, one, t));
        peers_guessed_wrong(p, one, t);
    }
    assert_false(peers_may_guess(p, one, t));
}

static void test_many_who_guess_push_out_the_oldest(void **state) {
    struct peers *p = *state;
    char address[64];
    for (int i = 0; i < 1000; i++) {
        snprintf(address, sizeof address, "10.0.%d.%d", i / 200, i % 200);
        struct sockaddr_storage a = at(address);
        for (int n = 0; n < PEERS_GUESSES; n++)
            peers_guessed_wrong(p, (void *)&a, SECOND + (unsigned)i);
    }
    struct sockaddr_storage a = at("10.0.4.199"), b = at("10.0.0.0");
    assert_false(peers_may_guess(p, (void *)&a, SECOND + 1000));
    assert_true(peers_may_guess(p, (void *)&b, SECOND + 1000));
}

static void check_address(const char *text, uint16_t port, bool loopback, bool any) {
    struct listen_at l;
    struct err e = {0};
    if (listen_parse(text, &l, &e) != 0)
        fail_msg("%s: %s", text, e.message);
    assert_int_equal(l.port, port);
    assert_int_equal(l.loopback, loopback);
    assert_int_equal(l.any, any);
}

static void test_addresses(void **state) {
    (void)state;
    check_address("8071", 8071, true, false);
    check_address(":8071", 8071, true, false);
    check_address("localhost:1", 1, true, false);
    check_address("127.9.9.9:65535", 65535, true, false);
    check_address("[::1]:0", 0, true, false);
    check_address("[::ffff:127.0.0.1]:5", 5, true, false);
    check_address("0.0.0.0:80", 80, false, true);
    check_address("[::]:80", 80, false, true);
    check_address("192.0.2.7:80", 80, false, false);
    check_address("[2001:db8::1]:80", 80, false, false);
    static const char *const bad[] = {"",        ":",       "::1:80",  "[::1]",       "[::1]80",
                                      "[::1:80", "a:b",     "1:65536", "127.0.0.1",   "127.0.0.1:",
                                      "1.2.3:4", "host:80", "1:-1",    "1.2.3.4:8 0", "[]:80x"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct listen_at l;
        struct err e = {0};
        if (listen_parse(bad[i], &l, &e) != -EINVAL || !e.message[0])
            fail_msg("%s is taken", bad[i]);
    }
}

static void test_urls(void **state) {
    (void)state;
    struct listen_at l;
    struct err e;
    char url[300];
    assert_int_equal(listen_parse("[2001:db8::1]:80", &l, &e), 0);
    listen_url(&l, true, url, sizeof url);
    assert_string_equal(url, "https://[2001:db8::1]:80/");
    assert_int_equal(listen_parse("127.0.0.1:8071", &l, &e), 0);
    listen_url(&l, false, url, sizeof url);
    assert_string_equal(url, "http://127.0.0.1:8071/");
}

static void test_a_port_that_is_taken(void **state) {
    (void)state;
    struct listen_at l;
    struct err e;
    char mine[32];
    assert_int_equal(listen_parse("127.0.0.1:0", &l, &e), 0);
    int fd = listen_open(&l, &e);
    assert_true(fd >= 0);
    assert_true(l.port > 0);
    snprintf(mine, sizeof mine, "process %d (", getpid());
    assert_int_equal(listen_open(&l, &e), -EADDRINUSE);
    assert_non_null(strstr(e.message, mine));
    close(fd);
    fd = listen_open(&l, &e);
    assert_true(fd >= 0);
    close(fd);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_oldest_unfinished_gives_way, open_all, close_all),
        cmocka_unit_test_setup_teardown(test_who_is_at_work_does_not, open_all, close_all),
        cmocka_unit_test_setup_teardown(test_one_address_does_not_take_all, open_all, close_all),
        cmocka_unit_test_setup_teardown(test_a_network_of_ipv6_is_one_address, open_all, close_all),
        cmocka_unit_test_setup_teardown(test_time_runs_out, open_all, close_all),
        cmocka_unit_test_setup_teardown(test_wrong_tokens_are_counted, open_all, close_all),
        cmocka_unit_test_setup_teardown(test_many_who_guess_push_out_the_oldest, open_all,
                                        close_all),
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_urls),
        cmocka_unit_test(test_a_port_that_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
