/*
 * The protocol of sharing, both ways: a hostile reader before one who looks on, and a hostile
 * client before a reader.
 *
 * Input: one byte of flags (1: as the client; 2: which introduces itself first), then frames: a
 * byte for the kind, two for the length, and so many bytes of it as there are.
 */
#include "core/base/clock.h"
#include "core/record/feed.h"
#include "core/session/share/join.h"
#include "core/session/share/share.h"
#include "core/session/share/share_socket.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define TURN_NS UINT64_C(2000000000)
#define PATIENCE_MS 4000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds) {
    if (!holds)
        abort();
}

static struct session *make_session(pid_t pid) {
    struct session *s = NULL;
    struct session_options o = {.history_seconds = 10};
    struct err e;
    check(session_new(&o, &s, &e) == 0);
    s->jvm.pid = s->jvm.inner_pid = pid;
    return s;
}

/* The next frame of the input. Few kinds are any, and sizes that are checked are often right. */
static size_t next_frame(const uint8_t **data, size_t *size, uint32_t *kind, const uint8_t **out) {
    static const uint8_t some[] = {SHARE_RECORDS, SHARE_STATUS, SHARE_ANSWER, SHARE_EXIT,
                                   SHARE_ASK,     SHARE_JOIN,   SHARE_HELLO,  SHARE_ENGINES};
    *kind = (*data)[0] < 0xf0 ? some[(*data)[0] % sizeof some] : (*data)[0];
    size_t length = (size_t)(*data)[1] | (size_t)(*data)[2] << 8;
    *data += 3;
    *size -= 3;
    length = length < *size ? length : *size;
    *out = *data;
    *data += length;
    *size -= length;
    return length;
}

/* Padded to what the frame must have: else no status would ever be taken. */
static void send_padded(int fd, uint32_t kind, const uint8_t *bytes, size_t length) {
    size_t whole = kind == SHARE_STATUS                         ? sizeof(struct share_status)
                   : kind == SHARE_ANSWER || kind == SHARE_EXIT ? sizeof(struct share_exit)
                   : kind == SHARE_JOIN                         ? sizeof(struct share_join)
                   : kind == SHARE_RECORDS                      ? (length + 7) & ~(size_t)7
                                                                : length;
    uint8_t *frame = calloc(1, whole + 1);
    check(frame != NULL);
    memcpy(frame, bytes, length < whole ? length : whole);
    share_send_frame(fd, kind, frame, whole, NULL, 0);
    free(frame);
}

static void as_reader(const uint8_t *data, size_t size) {
    int pair[2];
    struct session *s = make_session(getpid());
    struct session_status st;
    check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
    s->joined = true;
    s->drain.decoder->replay = true;
    s->drain.decoder->now_ns = clock_now_ns();
    s->join = calloc(1, sizeof *s->join);
    check(s->join != NULL);
    s->join->fd = pair[1];
    s->join->reader = getpid();
    while (size > 3 && !s->join->over) {
        uint32_t kind;
        const uint8_t *bytes;
        size_t length = next_frame(&data, &size, &kind, &bytes);
        send_padded(pair[0], kind, bytes, length);
        join_hear(s, s->join);
    }
    close(pair[0]);
    join_hear(s, s->join);
    check(s->join->over);
    session_status(s, &st);
    check(st.phase <= SESSION_FAILED && strnlen(st.message, sizeof st.message) < sizeof st.message);
    for (int i = 0; i < EVENT_KINDS; i++)
        check(strnlen(st.engine[i].name, sizeof st.engine[i].name) < sizeof st.engine[i].name);
    session_close(s);
}

static int handler(void *arg, struct share_reply *r, const char *cwd, int argc, char **argv,
                   struct err *e) {
    (void)arg;
    size_t bytes = strlen(cwd);
    for (int i = 0; i < argc; i++)
        bytes += strlen(argv[i]) + 1;
    check(argv[argc] == NULL && bytes <= SHARE_REQUEST_MAX);
    share_say(r, SHARE_OUT, cwd);
    return argc > 1 ? err_set(e, 1, "%s", argv[1]) : 0;
}

static void as_client(const uint8_t *data, size_t size, bool hello) {
    static struct session *s; /* one for all inputs: threads cost more than what is tested */
    static uint64_t now;
    struct err e;
    pid_t reader;
    if (!s) {
        s = make_session(0x40000000 | getpid());
        check(share_begin(s, -1, handler, NULL, &e) == 0);
    }
    int fd = share_connect(s->jvm.pid, &reader, &e);
    check(fd >= 0 && reader == getpid());
    const struct share_hello mine = share_hello();
    if (hello)
        share_send_frame(fd, SHARE_HELLO, &mine, sizeof mine, NULL, 0);
    while (size > 3) {
        uint32_t kind;
        const uint8_t *bytes;
        size_t length = next_frame(&data, &size, &kind, &bytes);
        send_padded(fd, kind, bytes, length);
    }
    shutdown(fd, SHUT_WR);
    drain_feed(s, now += TURN_NS);
    char answer[4096];
    int rc;
    do
        rc = share_receive(fd, answer, 1, PATIENCE_MS);
    while (rc == 0);
    check(rc == -EPIPE); /* it is sent away, in time */
    close(fd);
    drain_feed(s, now += TURN_NS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1)
        return 0;
    if (data[0] & 1)
        as_client(data + 1, size - 1, data[0] & 2);
    else
        as_reader(data + 1, size - 1);
    return 0;
}
