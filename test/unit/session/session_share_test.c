/* Asking whoever profiles a JVM: answers, files, errors, and callers who do not behave. */
#include "test/unit/session/session_fixture.h"

#include "core/session/share/share.h"
#include "core/session/share/share_name.h"
#include "core/session/share/share_socket.h"

#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>

#define BIG (3u << 20)

static void agent_main(struct wire_mapping *m) {
    struct ring_writer w;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    ring_writer_init(&w, m, RING);
    atomic_store(&m->control.status.state, WIRE_STATE_RUNNING);
    for (;;)
        pause();
}

struct stage {
    pid_t agent;
    struct wire_mapping *mapping;
    struct session *session;
    _Atomic unsigned calls;
};

static void begin(struct stage *st) {
    struct err e = {0};
    struct session_options o = {0};
    int fd;
    st->mapping = make_mapping(&fd);
    atomic_store(&st->calls, 0);
    st->agent = fork();
    if (st->agent == 0)
        agent_main(st->mapping);
    assert_true(st->agent > 0);
    if (session_adopt(fd, st->agent, &o, &st->session, &e) != 0)
        fail_msg("adopt: %s", e.message);
}

static void end(struct stage *st) {
    kill(st->agent, SIGKILL);
    session_close(st->session);
    waitpid(st->agent, NULL, 0);
    munmap(st->mapping, WIRE_RING_OFFSET + RING);
    assert_int_equal(share_find(st->agent), 0);
}

/* Does what the first argument says. */
static int handler(void *arg, struct share_reply *r, const char *cwd, int argc, char **argv,
                   struct err *e) {
    struct stage *st = arg;
    char text[64];
    atomic_fetch_add(&st->calls, 1);
    if (argc < 2)
        return err_exit_as(e, ERR_EXIT_ARGUMENT, EINVAL, "nothing asked");
    if (strcmp(argv[1], "echo") == 0) {
        snprintf(text, sizeof text, "%d", argc);
        share_say(r, SHARE_OUT, text);
        share_say(r, SHARE_OUT, cwd);
        return share_say(r, SHARE_ERROR, argc > 2 ? argv[argc - 1] : "");
    }
    if (strcmp(argv[1], "file") == 0) {
        char *data = malloc(BIG);
        memset(data, 'x', BIG);
        int rc = share_file(r, "out.svg", data, BIG);
        rc = rc ? rc : share_file_more(r, data, BIG / 2);
        rc = rc ? rc : share_file_more(r, "", 0);
        rc = rc ? rc : share_file_end(r);
        rc = rc ? rc : share_file(r, "empty", "", 0);
        rc = rc ? rc : share_file_end(r);
        free(data);
        return rc;
    }
    if (strcmp(argv[1], "peer") == 0)
        return share_peer(r) == getpid() ? 0 : -EIO;
    if (strcmp(argv[1], "more of nothing") == 0)
        return share_file_more(r, "x", 1);
    if (strcmp(argv[1], "end of nothing") == 0)
        return share_file_end(r);
    if (strcmp(argv[1], "file in a file") == 0) {
        int rc = share_file(r, "out.svg", "x", 1);
        return rc ? rc : share_file(r, "empty", "", 0);
    }
    if (strcmp(argv[1], "bad part") == 0)
        return share_say(r, SHARE_EXIT, "x") == -EINVAL ? 0 : -EIO;
    return err_exit_as(e, ERR_EXIT_PROFILER, EIO, "no such thing: %s", argv[1]);
}

struct heard {
    char out[4096], error[4096];
    size_t files, ends, bytes;
    char path[64], asked[64];
    int stop;
    const char *unwanted; /* a path */
};

static int hear(void *arg, enum share_part part, const char *path, const void *data, size_t bytes) {
    struct heard *h = arg;
    char *to = part == SHARE_OUT ? h->out : h->error;
    if (h->stop)
        return h->stop;
    if (part == SHARE_PATH) {
        assert_null(data);
        strncat(h->asked, path, sizeof h->asked - strlen(h->asked) - 1);
        return h->unwanted && strcmp(path, h->unwanted) == 0 ? -EACCES : 0;
    }
    if (part == SHARE_END) {
        h->ends++;
        assert_int_equal(h->ends, h->files);
        return 0;
    }
    if (part != SHARE_FILE && part != SHARE_MORE) {
        assert_null(path);
        strncat(to, data, sizeof h->out - strlen(to) - 1);
        strncat(to, "|", sizeof h->out - strlen(to) - 1);
        return 0;
    }
    h->files += part == SHARE_FILE;
    h->bytes += bytes;
    if (part == SHARE_FILE)
        strncat(h->path, path, sizeof h->path - strlen(h->path) - 1);
    else
        assert_null(path);
    for (size_t i = 0; i < bytes; i += 4097)
        assert_int_equal(((const char *)data)[i], 'x');
    return 0;
}

static int ask(pid_t jvm, struct heard *h, struct err *e, int argc, ...) {
    char *argv[8] = {"jtop-prof"};
    va_list ap;
    *e = (struct err){0};
    va_start(ap, argc);
    for (int i = 1; i <= argc; i++)
        argv[i] = va_arg(ap, char *);
    va_end(ap);
    return share_ask(jvm, argc + 1, argv, hear, h, e);
}

static void test_answers(void **state) {
    (void)state;
    struct stage st;
    struct heard h = {0};
    struct err e;
    char cwd[2048], want[2060];
    begin(&st);
    assert_int_equal(share_find(st.agent), 0);
    assert_int_equal(ask(st.agent, &h, &e, 1, "echo"), -ESRCH);
    assert_int_equal(session_share(st.session, handler, &st, &e), 0);
    assert_int_equal(session_share(st.session, handler, &st, &e), 0); /* it is already */
    assert_int_equal(share_find(st.agent), getpid());
    assert_int_equal(ask(st.agent, &h, &e, 3, "echo", "", "two words"), 0);
    assert_non_null(getcwd(cwd, sizeof cwd));
    snprintf(want, sizeof want, "4|%s|", cwd);
    assert_string_equal(h.out, want);
    assert_string_equal(h.error, "two words|");
    assert_int_equal(ask(st.agent, &h, &e, 1, "file"), 0);
    assert_int_equal(h.files, 2);
    assert_int_equal(h.ends, 2);
    assert_int_equal(h.bytes, BIG + BIG / 2);
    assert_string_equal(h.path, "out.svgempty");
    assert_string_equal(h.asked, "out.svgempty");
    h = (struct heard){.unwanted = "out.svg"}; /* of which no byte is handed over */
    assert_int_equal(ask(st.agent, &h, &e, 1, "file"), -EACCES);
    assert_int_equal(h.files, 0);
    assert_int_equal(ask(st.agent, &h, &e, 1, "peer"), 0);
    assert_int_equal(ask(st.agent, &h, &e, 1, "more of nothing"), -EPROTO);
    assert_int_equal(ask(st.agent, &h, &e, 1, "end of nothing"), -EPROTO);
    h = (struct heard){0};
    assert_int_equal(ask(st.agent, &h, &e, 1, "file in a file"), 0); /* the first one failed */
    assert_int_equal(h.files, 2);
    assert_int_equal(h.ends, 0);
    assert_int_equal(ask(st.agent, &h, &e, 1, "bad part"), 0);
    assert_int_equal(ask(st.agent, &h, &e, 0), -EINVAL);
    assert_int_equal(e.exit_code, ERR_EXIT_ARGUMENT);
    assert_string_equal(e.message, "nothing asked");
    assert_int_equal(ask(st.agent, &h, &e, 1, "fly"), -EIO);
    assert_int_equal(e.exit_code, ERR_EXIT_PROFILER);
    assert_string_equal(e.message, "no such thing: fly");
    end(&st);
}

/* Who only looks at a screen takes no commands. */
static void test_no_handler(void **state) {
    (void)state;
    struct stage st;
    struct heard h = {0};
    struct err e;
    begin(&st);
    assert_int_equal(session_share(st.session, NULL, NULL, &e), 0);
    assert_int_equal(ask(st.agent, &h, &e, 1, "dump"), -EBUSY);
    assert_non_null(strstr(e.message, "quit that one first"));
    end(&st);
}

static int connected(pid_t jvm) {
    struct err e;
    pid_t reader;
    int fd = share_connect(jvm, &reader, &e);
    assert_true(fd >= 0);
    assert_int_equal(reader, getpid());
    return fd;
}

/* Nothing comes but the end. */
static void is_sent_away(int fd) {
    char c;
    assert_int_equal(share_receive(fd, &c, 1, 20000), -EPIPE);
    close(fd);
}

static void test_callers_who_do_not_behave(void **state) {
    (void)state;
    struct stage st;
    struct heard h = {0};
    struct err e;
    begin(&st);
    assert_int_equal(session_share(st.session, handler, &st, &e), 0);
    int idle = connected(st.agent), half = connected(st.agent), deaf = connected(st.agent);
    struct share_header header = {.kind = SHARE_ASK, .bytes = 2};
    struct share_hello hello = share_hello();
    /* not introduced */
    int fd = connected(st.agent);
    assert_int_equal(share_send_frame(fd, SHARE_ASK, "\0x\0", 3, NULL, 0), 0);
    is_sent_away(fd);
    /* too long */
    fd = connected(st.agent);
    header.bytes = SHARE_REQUEST_MAX + 1;
    assert_int_equal(share_send(fd, &header, sizeof header, 1000), 0);
    is_sent_away(fd);
    /* half a request, and a reader who does not read: they keep nobody from being served */
    header = (struct share_header){.kind = SHARE_HELLO, .bytes = sizeof hello};
    assert_int_equal(share_send(half, &header, sizeof header, 1000), 0);
    assert_int_equal(share_send_frame(deaf, SHARE_HELLO, &hello, sizeof hello, NULL, 0), 0);
    assert_int_equal(share_send_frame(deaf, SHARE_ASK, "\0a\0file\0", 8, NULL, 0), 0);
    while (atomic_load(&st.calls) == 0)
        usleep(1000);
    close(deaf);
    assert_int_equal(ask(st.agent, &h, &e, 1, "echo"), 0);
    h.stop = -ECANCELED; /* who has heard enough */
    assert_int_equal(ask(st.agent, &h, &e, 1, "file"), -ECANCELED);
    h.stop = 0;
    assert_int_equal(ask(st.agent, &h, &e, 1, "echo"), 0);
    /* an argument list without an end */
    fd = connected(st.agent);
    assert_int_equal(share_send_frame(fd, SHARE_HELLO, &hello, sizeof hello, NULL, 0), 0);
    assert_int_equal(share_send_frame(fd, SHARE_ASK, "/\0abc", 5, NULL, 0), 0);
    uint32_t kind;
    char *data;
    size_t bytes;
    assert_int_equal(share_receive_frame(fd, &kind, &data, &bytes, 20000), 0);
    assert_int_equal(kind, SHARE_EXIT);
    free(data);
    is_sent_away(fd);
    close(idle);
    close(half);
    end(&st);
}

static void test_another_build(void **state) {
    (void)state;
    struct stage st;
    struct err e;
    uint32_t kind;
    char *data;
    size_t bytes;
    struct share_exit x;
    begin(&st);
    assert_int_equal(session_share(st.session, handler, &st, &e), 0);
    int fd = connected(st.agent);
    struct share_hello hello = share_hello();
    hello.status_bytes++;
    assert_int_equal(share_send_frame(fd, SHARE_HELLO, &hello, sizeof hello, NULL, 0), 0);
    assert_int_equal(share_receive_frame(fd, &kind, &data, &bytes, 20000), 0);
    assert_int_equal(bytes, sizeof x);
    memcpy(&x, data, sizeof x);
    assert_int_equal(x.result, -EPROTO);
    assert_non_null(strstr(x.message, "another build"));
    free(data);
    is_sent_away(fd);
    end(&st);
}

/* What a reader says is checked as well. */
static void test_lies(void **state) {
    (void)state;
    struct err e = {0};
    struct share_exit x = {.result = 17, .exit_code = -4};
    memset(x.message, 'm', sizeof x.message);
    x.message[0] = '\033';
    share_exit_to_err(&x, &e);
    assert_int_equal(x.result, -EPROTO);
    assert_int_equal(e.exit_code, ERR_EXIT_USAGE);
    assert_int_not_equal(e.message[0], '\033');
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    struct share_header header = {.kind = SHARE_FILE, .bytes = UINT32_MAX};
    uint32_t kind;
    char *data;
    size_t bytes;
    assert_int_equal(share_send(pair[0], &header, sizeof header, 100), 0);
    assert_int_equal(share_receive_frame(pair[1], &kind, &data, &bytes, 100), -EPROTO);
    header.bytes = SHARE_REPLY_MAX; /* says a lot, sends little */
    assert_int_equal(share_send(pair[0], &header, sizeof header, 100), 0);
    assert_int_equal(share_receive_frame(pair[1], &kind, &data, &bytes, 100), -ETIMEDOUT);
    assert_int_equal(share_send_frame(pair[0], SHARE_OUT, "", SHARE_REPLY_MAX, "", 1), -EFBIG);
    close(pair[0]);
    assert_int_equal(share_receive(pair[1], &header, sizeof header, 100), -EPIPE);
    close(pair[1]);
}

/* Another user's socket of that name is neither served nor believed. */
static void test_another_user(void **state) {
    (void)state;
    struct stage st;
    struct err e;
    int go[2], status;
    char c;
    if (geteuid() != 0)
        skip();
    begin(&st);
    assert_int_equal(session_share(st.session, handler, &st, &e), 0);
    assert_int_equal(pipe(go), 0);
    pid_t stranger = fork();
    if (stranger == 0) {
        struct heard h = {0};
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (setresuid(65534, 65534, 65534) != 0)
            _exit(9);
        /* root he believes, and is not served by */
        int rc = ask(st.agent, &h, &e, 1, "echo");
        int fd = share_listen(st.agent + 100000000, &e);
        if (write(go[1], "g", 1) != 1 || fd < 0)
            _exit(8);
        pause();
        _exit(rc);
    }
    assert_int_equal(read(go[0], &c, 1), 1);
    assert_int_equal(atomic_load(&st.calls), 0);
    assert_int_equal(share_find(st.agent + 100000000), 0);
    struct heard h = {0};
    assert_int_equal(ask(st.agent + 100000000, &h, &e, 1, "echo"), -EPERM);
    assert_non_null(strstr(e.message, "65534"));
    /* he forbids nobody to share it */
    int ours = share_listen(st.agent + 100000000, &e);
    assert_true(ours >= 0);
    assert_int_equal(share_find(st.agent + 100000000), getpid());
    assert_int_equal(share_listen(st.agent + 100000000, &e), -EADDRINUSE);
    close(ours);
    assert_int_equal(share_find(st.agent + 100000000), 0);
    kill(stranger, SIGKILL);
    waitpid(stranger, &status, 0);
    assert_true(WIFSIGNALED(status));
    close(go[0]);
    close(go[1]);
    end(&st);
}

static int listen_by(const struct share_name *n) {
    struct sockaddr_un a;
    socklen_t length = share_name_address(n, &a);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&a, length), 0);
    assert_int_equal(listen(fd, 1), 0);
    return fd;
}

/* Another process of the number, before it or in another pid namespace, is another one; of one that
 * is gone there is only the number. */
static void test_one_number_for_several(void **state) {
    (void)state;
    struct stage st;
    struct err e;
    begin(&st);
    struct share_name n = share_name_of(st.agent), other = n, list[SHARE_NAMES_MAX];
    bool found;
    assert_true(n.ticks > 0 && n.space > 0);
    other.ticks--;
    int before = listen_by(&other);
    other = n;
    other.space++;
    int elsewhere = listen_by(&other);
    assert_int_equal(share_find(st.agent), 0);
    assert_int_equal(session_share(st.session, handler, &st, &e), 0);
    assert_int_equal(share_find(st.agent), getpid());
    close(elsewhere);
    kill(st.agent, SIGKILL);
    waitpid(st.agent, NULL, 0);
    assert_int_equal(share_find(st.agent), getpid());
    assert_int_equal(share_name_list(st.agent, list, &found), 2);
    assert_true(found && list[0].ticks == n.ticks && list[1].ticks == n.ticks - 1);
    close(before);
    session_close(st.session);
    munmap(st.mapping, WIRE_RING_OFFSET + RING);
    assert_int_equal(share_find(st.agent), 0);
}

static int is_small(void *arg, uint32_t kind, const char *head, size_t head_bytes, size_t bytes) {
    (void)arg, (void)kind;
    assert_int_equal(strlen(head), head_bytes);
    return bytes > SHARE_HEAD_MAX ? -EACCES : 0;
}

static void test_unwanted_frame(void **state) {
    (void)state;
    int pair[2];
    char text[SHARE_HEAD_MAX + 1] = {0}, *data;
    uint32_t kind;
    size_t bytes;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    memset(text, 'x', SHARE_HEAD_MAX);
    assert_int_equal(share_send_frame(pair[0], SHARE_OUT, text, SHARE_HEAD_MAX, NULL, 0), 0);
    assert_int_equal(share_receive_wanted(pair[1], is_small, NULL, &kind, &data, &bytes, 1000), 0);
    assert_string_equal(data, text);
    free(data);
    /* of which no more than this ever comes */
    struct share_header header = {.kind = SHARE_FILE, .bytes = SHARE_REPLY_MAX};
    assert_int_equal(share_send(pair[0], &header, sizeof header, 100), 0);
    assert_int_equal(share_send(pair[0], text, SHARE_HEAD_MAX, 100), 0);
    assert_int_equal(share_receive_wanted(pair[1], is_small, NULL, &kind, &data, &bytes, 60000),
                     -EACCES);
    close(pair[0]);
    close(pair[1]);
}

static void is_told_of_the_end(int fd) {
    struct share_exit x;
    uint32_t kind;
    char *data;
    size_t bytes;
    assert_int_equal(share_receive_frame(fd, &kind, &data, &bytes, 5000), 0);
    assert_int_equal(kind, SHARE_EXIT);
    assert_int_equal(bytes, sizeof x);
    memcpy(&x, data, sizeof x);
    free(data);
    close(fd);
    assert_int_equal(x.result, -EAGAIN);
    assert_int_equal(x.exit_code, ERR_EXIT_PROFILER);
    x.message[sizeof x.message - 1] = '\0';
    assert_non_null(strstr(x.message, "just ending"));
}

/* Whoever is connected when the session ends is told; the socket may outlive it. */
static void test_the_end_is_told(void **state) {
    (void)state;
    struct stage st;
    struct err e;
    struct share_hello hello = share_hello();
    begin(&st);
    assert_int_equal(session_share(st.session, handler, &st, &e), 0);
    int silent = connected(st.agent), greeted = connected(st.agent);
    assert_int_equal(share_send_frame(greeted, SHARE_HELLO, &hello, sizeof hello, NULL, 0), 0);
    int socket = session_share_socket(st.session);
    assert_true(socket >= 0);
    session_close(st.session);
    is_told_of_the_end(silent);
    is_told_of_the_end(greeted);
    int next = connected(st.agent); /* waits for who comes next */
    close(socket);
    is_sent_away(next);
    kill(st.agent, SIGKILL);
    waitpid(st.agent, NULL, 0);
    munmap(st.mapping, WIRE_RING_OFFSET + RING);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_no_handler),
        cmocka_unit_test(test_callers_who_do_not_behave),
        cmocka_unit_test(test_another_build),
        cmocka_unit_test(test_lies),
        cmocka_unit_test(test_another_user),
        cmocka_unit_test(test_one_number_for_several),
        cmocka_unit_test(test_unwanted_frame),
        cmocka_unit_test(test_the_end_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
