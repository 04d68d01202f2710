#include "core/session/drain/perf_broker.h"

#include "core/base/clock.h"
#include "core/session/drain/jvm_tids.h"
#include "core/session/drain/sigtrap_proof.h"
#include "core/wire/broker.h"
#include "core/wire/perf_attr.h"
#include "symbols/elf/target_files.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Number of questions at once, and per second: a JVM has that many threads, and starts
 * that many. */
#define BURST 8192u
#define RATE 2000u
/* This many entries of the JVM's list of threads cost as much as one question */
#define ENTRIES_EACH 64u
#define PAUSE_MS 20

struct perf_broker {
    int fd, quit;
    struct jvm_tids tids;
    struct perf_machine machine;
    pthread_t thread;
    double credit; /* number of questions that may be answered now */
    uint64_t credit_ns;
    pthread_mutex_t lock; /* protects the following fields */
    struct wire_engine_request engine[WIRE_EVENTS];
    uint32_t engines, generation;
};

/* Tries an event that counts kernel work, as root on another user's thread: PID 1 is used as an
 * example. */
int perf_broker_right(void) {
    struct perf_event_attr a;
    const struct wire_engine_request cpu = {.event = WIRE_EVENT_CPU, .interval = 10000000};
    perf_attr_fill(&a, &cpu);
    pid_t other = geteuid() == 0 ? 1 : 0;
    long fd = syscall(SYS_perf_event_open, &a, other, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return -errno;
    close((int)fd);
    return 0;
}

bool perf_broker_helps(const struct jvm *j) {
    return j->container || j->uid != geteuid();
}

/* Opening an event. */

/* Opens a uprobe's file as the JVM sees it, which may differ from what we see. The descriptor's
 * name in /proc then replaces the path. */
static int pin_file(const struct perf_broker *b, struct wire_engine_request *q) {
    if (!(q->flags & WIRE_ENGINE_TEXT_CONFIG) || q->text[0] != '/')
        return -1;
    int root = openat(b->tids.proc, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
    int fd = root < 0 ? -errno : target_files_open_below(root, q->text);
    if (root >= 0)
        close(root);
    if (fd >= 0)
        snprintf(q->text, sizeof q->text, "/proc/self/fd/%d", fd);
    return fd < 0 ? -ENOENT : fd;
}

static int open_event(const struct perf_broker *b, struct wire_engine_request *q, uint32_t tid,
                      const struct broker_question *question) {
    struct perf_event_attr a;
    int file = pin_file(b, q);
    if (file < -1)
        return file;
    q->interval = perf_interval(q, perf_kind(q, &b->machine));
    perf_attr_fill(&a, q);
    if (question->event & BROKER_SIGTRAP &&
        !(sigtrap_proof() && perf_attr_trap(&a, perf_trap_data(question->tid)))) {
        if (file >= 0)
            close(file);
        return -EOPNOTSUPP;
    }
    int cpu = q->flags & WIRE_ENGINE_TARGET_CPU ? q->cpu : -1;
    long fd = syscall(SYS_perf_event_open, &a, (pid_t)tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    int result = fd < 0 ? -errno : (int)fd;
    if (file >= 0)
        close(file);
    return result;
}

/* Finds our copy of the request that a question refers to. 0, or -errno for the answer. */
static int find_request(struct perf_broker *b, const struct broker_question *question,
                        struct wire_engine_request *out) {
    int result = -EPERM;
    pthread_mutex_lock(&b->lock);
    if (question->generation != b->generation)
        result = -ESTALE;
    for (uint32_t i = 0; i < b->engines && result == -EPERM; i++) {
        if (b->engine[i].event != (question->event & ~BROKER_SIGTRAP))
            continue;
        *out = b->engine[i];
        out->text[sizeof out->text - 1] = '\0';
        result = 0;
    }
    pthread_mutex_unlock(&b->lock);
    return result;
}

/* By the time the event is opened, the number may belong to another process, so the thread is
 * checked again after that. */
static int answer_with(struct perf_broker *b, const struct broker_question *question) {
    struct wire_engine_request q;
    uint32_t tid = 0;
    int r = find_request(b, question, &q);
    if (r == 0)
        r = jvm_tids_outer(&b->tids, question->tid, &tid);
    if (r < 0)
        return r;
    int fd = open_event(b, &q, tid, question);
    if (fd >= 0 && !jvm_tids_is(&b->tids, tid, question->tid)) {
        close(fd);
        return -ESRCH;
    }
    return fd;
}

/* The conversation with the agent. False: it is over. */

static bool send_answer(const struct perf_broker *b, uint32_t number, int fd) {
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr header;
    } ancillary = {0};
    struct broker_answer a = {number, fd < 0 ? -fd : 0};
    struct iovec part = {&a, sizeof a};
    struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};
    if (fd >= 0) {
        m.msg_control = &ancillary;
        m.msg_controllen = sizeof ancillary;
        ancillary.header = (struct cmsghdr){
            .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof fd)};
        memcpy(CMSG_DATA(&ancillary.header), &fd, sizeof fd);
    }
    /* an agent that does not read its answers gets none */
    return sendmsg(b->fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)sizeof a;
}

static bool serve_one(struct perf_broker *b) {
    struct broker_question q;
    struct iovec part = {&q, sizeof q};
    struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};
    ssize_t n = recvmsg(b->fd, &m, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return true;
    if (n != (ssize_t)sizeof q || m.msg_flags & (MSG_TRUNC | MSG_CTRUNC))
        return false;
    if ((q.event & ~BROKER_SIGTRAP) != WIRE_EVENT_CPU && q.event != WIRE_EVENT_PERF)
        return false;
    int fd = answer_with(b, &q);
    b->credit -= (double)b->tids.looked_at / ENTRIES_EACH;
    b->tids.looked_at = 0;
    bool sent = send_answer(b, q.number, fd);
    if (fd >= 0)
        close(fd);
    return sent;
}

/* Whether one more question is within the limits. */
static bool may_serve(struct perf_broker *b) {
    uint64_t now = clock_now_ns();
    b->credit += (double)(now - b->credit_ns) * RATE / 1e9;
    b->credit_ns = now;
    if (b->credit > BURST)
        b->credit = BURST;
    if (b->credit < 1)
        return false;
    b->credit -= 1;
    return true;
}

static void *serve(void *arg) {
    struct perf_broker *b = arg;
    struct pollfd fds[] = {{.fd = b->quit, .events = POLLIN}, {.fd = b->fd, .events = POLLIN}};
    for (;;) {
        if (poll(fds, 2, -1) < 0 && errno != EINTR)
            break;
        if (fds[0].revents)
            break;
        if (!fds[1].revents)
            continue;
        if (!may_serve(b))
            poll(fds, 1, PAUSE_MS);
        else if (!serve_one(b))
            break;
    }
    shutdown(b->fd, SHUT_RDWR);
    return NULL;
}

/* Start and end. */

static void release(struct perf_broker *b) {
    jvm_tids_close(&b->tids);
    close(b->fd);
    if (b->quit >= 0)
        close(b->quit);
    pthread_mutex_destroy(&b->lock);
    free(b);
}

static int start_thread(struct perf_broker *b) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int code = pthread_create(&b->thread, NULL, serve, b);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return -code;
}

int perf_broker_begin(const struct jvm *j, int fd, struct perf_broker **out) {
    struct perf_broker *b = calloc(1, sizeof *b);
    *out = NULL;
    if (!b) {
        close(fd);
        return -ENOMEM;
    }
    b->fd = fd;
    b->tids.proc = -1;
    b->credit = BURST;
    b->credit_ns = clock_now_ns();
    pthread_mutex_init(&b->lock, NULL);
    perf_machine_read(&b->machine);
    b->quit = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int result = b->quit < 0 ? -errno : jvm_tids_open(&b->tids, j);
    if (result == 0)
        result = start_thread(b);
    if (result == 0)
        *out = b;
    else
        release(b);
    return result;
}

void perf_broker_allow(struct perf_broker *b, const struct wire_engine_request *engine,
                       uint32_t engines, uint32_t generation) {
    if (!b)
        return;
    pthread_mutex_lock(&b->lock);
    b->engines = engines < WIRE_EVENTS ? engines : WIRE_EVENTS;
    if (b->engines)
        memcpy(b->engine, engine, b->engines * sizeof *engine);
    b->generation = generation;
    pthread_mutex_unlock(&b->lock);
}

void perf_broker_end(struct perf_broker *b) {
    if (!b)
        return;
    uint64_t one = 1;
    if (write(b->quit, &one, sizeof one) < 0)
        shutdown(b->fd, SHUT_RDWR);
    pthread_join(b->thread, NULL);
    release(b);
}
