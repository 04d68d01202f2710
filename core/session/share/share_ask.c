/* The client's side. */
#include "core/session/share/holder.h"
#include "core/session/share/share_socket.h"

#include "attach/proc/proc.h"
#include "core/base/clock.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ANSWER_MS 300000 /* a large profile in many formats takes a while */
#define TEXT_MAX (256u << 20)
#define ROOM_STEP_NS 20000000
#define ROOM_SOON_NS 500000 /* most readers have ended within milliseconds */
#define ROOM_SOON_STEPS 40
#define ROOM_STEPS 250
#define AWAIT_STEP_NS 50000000
#define AWAIT_STEPS 40
#define AGAIN_STEP_NS 20000000
#define AGAIN_STEPS 250
#define BROKEN_MAX 3
#define APART_NS UINT64_C(5000000000) /* another process may be about to end */

static void pause_for(long ns) {
    nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
}

pid_t share_find(pid_t jvm) {
    pid_t reader = 0;
    int fd = share_connect(jvm, &reader, NULL);
    if (fd < 0)
        return 0;
    close(fd);
    return reader;
}

pid_t share_await(pid_t jvm) {
    pid_t reader = share_find(jvm);
    for (int i = 0; i < AWAIT_STEPS && !reader && holder_find(jvm); i++) {
        pause_for(AWAIT_STEP_NS);
        reader = share_find(jvm);
    }
    return reader;
}

int share_just_ending(pid_t jvm, struct err *e) {
    return err_exit_as(e, ERR_EXIT_PROFILER, EAGAIN,
                       "the profile of JVM %d is just ending or restarting (--loop): try again",
                       (int)jvm);
}

struct answers {
    int (*each)(void *arg, enum share_part part, const char *path, const void *data, size_t bytes);
    void *arg;
    bool heard; /* a part of the answer has arrived */
    bool file;  /* a file has begun */
    struct share_exit exit;
};

/* Decides by the kind of the frame, and for a file by its path, before memory is allocated for
 * the rest. */
static int is_wanted(void *arg, uint32_t kind, const char *head, size_t head_bytes, size_t bytes) {
    struct answers *a = arg;
    size_t path = strlen(head) + 1;
    a->heard = a->heard || kind != SHARE_EXIT;
    switch (kind) {
    case SHARE_OUT:
    case SHARE_ERROR:
        return bytes > TEXT_MAX ? -EPROTO : 0;
    case SHARE_MORE:
        return a->file ? 0 : -EPROTO;
    case SHARE_END:
        return a->file && bytes == 0 ? 0 : -EPROTO;
    case SHARE_FILE:
        if (path > head_bytes || path == 1)
            return -EPROTO;
        return a->each(a->arg, SHARE_PATH, head, NULL, bytes - path);
    case SHARE_EXIT:
        return bytes != sizeof a->exit ? -EPROTO : 0;
    default:
        return -EPROTO;
    }
}

/* 0: more frames follow; 1: the end. */
static int take_answer(struct answers *a, uint32_t kind, char *data, size_t bytes) {
    size_t path = kind == SHARE_FILE ? strlen(data) + 1 : 0;
    switch (kind) {
    case SHARE_OUT:
    case SHARE_ERROR:
        return a->each(a->arg, (enum share_part)kind, NULL, data, bytes);
    case SHARE_FILE:
        a->file = true;
        return a->each(a->arg, SHARE_FILE, data, data + path, bytes - path);
    case SHARE_MORE:
        return a->each(a->arg, SHARE_MORE, NULL, data, bytes);
    case SHARE_END:
        a->file = false;
        return a->each(a->arg, SHARE_END, NULL, data, 0);
    case SHARE_EXIT:
        memcpy(&a->exit, data, sizeof a->exit);
        return 1;
    default:
        return -EPROTO;
    }
}

static int take_answers(int fd, struct answers *a) {
    int rc = 0;
    while (rc == 0) {
        uint32_t kind;
        char *data;
        size_t bytes;
        rc = share_receive_wanted(fd, is_wanted, a, &kind, &data, &bytes, ANSWER_MS);
        if (rc == 0)
            rc = take_answer(a, kind, data, bytes);
        free(data);
    }
    return rc < 0 ? rc : 0;
}

/* Packs directory and arguments into one malloc'ed block. */
static int pack(int argc, char **argv, char **out, size_t *bytes) {
    char cwd[PATH_MAX];
    if (!getcwd(cwd, sizeof cwd))
        cwd[0] = '\0';
    size_t size = strlen(cwd) + 1, at = size;
    for (int i = 0; i < argc; i++)
        size += strlen(argv[i]) + 1;
    *bytes = size;
    if (size > SHARE_REQUEST_MAX || argc > SHARE_ARGUMENTS_MAX)
        return -E2BIG;
    *out = malloc(size);
    if (!*out)
        return -ENOMEM;
    memcpy(*out, cwd, at);
    for (int i = 0; i < argc; i++) {
        size_t n = strlen(argv[i]) + 1;
        memcpy(*out + at, argv[i], n);
        at += n;
    }
    return 0;
}

static int ask(int fd, int argc, char **argv, struct answers *a) {
    const struct share_hello hello = share_hello();
    char *request = NULL;
    size_t bytes;
    int rc = pack(argc, argv, &request, &bytes);
    if (rc == 0)
        rc = share_send_frame(fd, SHARE_HELLO, &hello, sizeof hello, NULL, 0);
    if (rc == 0)
        rc = share_send_frame(fd, SHARE_ASK, request, bytes, NULL, 0);
    /* A reader that did not receive the whole request may have sent the reason. */
    if (rc == 0 || rc == -EPIPE)
        rc = take_answers(fd, a);
    free(request);
    return rc;
}

/* 0, the other side's result, or -errno with a message. */
static int ask_once(pid_t jvm, int argc, char **argv, struct answers *a, pid_t *reader,
                    struct err *e) {
    int fd = share_connect(jvm, reader, e);
    if (fd < 0)
        return fd;
    a->exit = (struct share_exit){.result = -EPIPE};
    int rc = ask(fd, argc, argv, a);
    close(fd);
    if (rc == -EPIPE)
        return err_exit_as(
            e, ERR_EXIT_PROFILER, EPIPE,
            "process %d, which profiles JVM %d, closed the connection before it answered",
            (int)*reader, (int)jvm);
    if (rc < 0)
        return err_exit_as(e, ERR_EXIT_PROFILER, -rc,
                           "the request to process %d, which profiles JVM %d, failed: %s",
                           (int)*reader, (int)jvm, strerror(-rc));
    share_exit_to_err(&a->exit, e);
    return a->exit.result;
}

/* Waits for a process that shares the JVM, as long as the process that has just ended may still
 * begin its next turn. */
static bool await_next(pid_t jvm, pid_t reader, int *steps) {
    struct proc_stat st;
    while ((*steps)++ < AGAIN_STEPS) {
        pause_for(AGAIN_STEP_NS);
        if (share_find(jvm))
            return true;
        if (reader <= 0 || proc_stat(reader, &st) != 0 || st.state == 'Z')
            return false;
    }
    return false;
}

int share_ask(pid_t jvm, int argc, char **argv,
              int (*each)(void *arg, enum share_part part, const char *path, const void *data,
                          size_t bytes),
              void *arg, struct err *e) {
    struct answers a = {.each = each, .arg = arg};
    for (int steps = 0, broken = 0;;) {
        pid_t reader = 0;
        int r = ask_once(jvm, argc, argv, &a, &reader, e);
        broken += r == -EPIPE; /* or the process refuses to serve us */
        bool ended = !a.heard && (r == -EAGAIN || (r == -EPIPE && broken < BROKEN_MAX));
        if (!ended || !await_next(jvm, reader, &steps))
            return ended && r == -EAGAIN && !share_find(jvm) ? -ESRCH : r;
    }
}

static int hear_nothing(void *arg, enum share_part part, const char *path, const void *data,
                        size_t bytes) {
    (void)arg, (void)part, (void)path, (void)data, (void)bytes;
    return 0;
}

int share_make_room(pid_t jvm, struct err *e) {
    char *argv[] = {(char[]){"jtop-prof"}, (char[]){SHARE_MAKE_ROOM}, NULL};
    if (!share_find(jvm))
        return 0;
    int r = share_ask(jvm, 2, argv, hear_nothing, NULL, e);
    if (r < 0)
        return r == -ESRCH || r == -EPIPE ? 0 : r;
    for (int i = 0; i < ROOM_STEPS && share_find(jvm); i++)
        pause_for(i < ROOM_SOON_STEPS ? ROOM_SOON_NS : ROOM_STEP_NS);
    return 0;
}

/* Another process was faster: the process that shares the JVM can report more than the agent. */
int share_tell_of_other(pid_t jvm, struct err *e) {
    struct err other;
    if (share_await(jvm) && share_make_room(jvm, &other) < 0)
        *e = other;
    return -EBUSY;
}

int share_attach_alone(const struct jvm *j, const struct session_options *o, struct session **out,
                       struct err *e) {
    int r = share_make_room(j->pid, e);
    if (r == 0)
        r = session_attach(j, o, out, e);
    return r == -EBUSY ? share_tell_of_other(j->pid, e) : r;
}

/* Whether the agent is busy although nobody reads it: one process has just ended, and another one is
 * about to take its place. */
static bool is_between(pid_t jvm) {
    return !holder_find(jvm) && !holder_hidden(jvm);
}

int share_attach_apart(const struct jvm *j, const struct session_options *o, struct session **out,
                       struct err *e) {
    uint64_t end = clock_now_ns() + APART_NS;
    int r;
    do {
        r = share_make_room(j->pid, e);
        bool other = r == -EBUSY;
        if (r == 0) {
            r = session_attach(j, o, out, e);
            other = r == -EBUSY && share_await(j->pid); /* another process was faster */
        }
        if (r == -EBUSY && !other && is_between(j->pid)) {
            pause_for(AGAIN_STEP_NS);
            continue;
        }
        if (!other)
            return r;
        r = session_join(j, o, out, e);
        if (r != -ESRCH && r != -EPIPE && r != -EAGAIN) /* otherwise that process ends just now */
            return r;
        pause_for(AGAIN_STEP_NS);
    } while (clock_now_ns() < end);
    return r;
}

static int join(const struct jvm *j, const struct session_options *o, struct session **out) {
    pid_t reader = share_await(j->pid);
    return reader && reader != getpid() ? session_join(j, o, out, NULL) : -ESRCH;
}

int share_attach_or_join(const struct jvm *j, const struct session_options *o, struct session **out,
                         bool *joined, struct err *e) {
    *joined = share_make_room(j->pid, NULL) < 0 && join(j, o, out) == 0;
    int result = *joined ? 0 : session_attach(j, o, out, e);
    if (result != -EBUSY)
        return result;
    *joined = join(j, o, out) == 0; /* another process was faster */
    return *joined ? 0 : result;
}
