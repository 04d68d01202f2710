#include "core/agent/process/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TRACER "\nTracerPid:\t"
#define PASSING_MAX 64 /* threads at once */

static int find(const struct signals *s, int signo) {
    for (int i = 0; i < SIGNALS_MAX; i++)
        if (s->slot[i].users && s->slot[i].signo == signo)
            return i;
    return -1;
}

static bool is_function(const struct sigaction *action) {
    /* The VM sets SA_SIGINFO with these, too. */
    return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

static int take(struct signals *s, int i, int signo, bool in_front, signals_handler *handler,
                char *why, size_t why_bytes) {
    /* On the alternate stack where a thread has one: a Go library's threads must not be interrupted
     * on their small stacks. Java's threads have none. */
    struct sigaction ours = {.sa_sigaction = handler,
                             .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    struct sigaction *before = &s->slot[i].before;
    sigemptyset(&ours.sa_mask);
    /* What an instruction raises cannot wait for its turn, and SIGTRAP is that of trap.h. */
    bool raised = signo == SIGTRAP || signo == SIGILL || signo == SIGFPE || signo == SIGSEGV ||
                  signo == SIGBUS || signo == SIGSYS;
    if (raised || sigaction(signo, NULL, before) != 0) {
        int e = raised ? EINVAL : errno;
        snprintf(why, why_bytes, "signal %d cannot be used (errno %d)", signo, e);
        return -e;
    }
    if (!in_front && is_function(before) && before->sa_sigaction != handler) {
        snprintf(why, why_bytes, "signal %d has a handler already, of the JVM or another library",
                 signo);
        return -EBUSY;
    }
    if (sigaction(signo, &ours, NULL) != 0) {
        int e = errno;
        snprintf(why, why_bytes, "signal %d cannot be used (errno %d)", signo, e);
        return -e;
    }
    if (s->ignored >> (signo - 1) & 1 && before->sa_handler == SIG_IGN)
        before->sa_handler = SIG_DFL;
    s->ignored &= ~(UINT64_C(1) << (signo - 1));
    s->slot[i].signo = signo;
    s->slot[i].handler = handler;
    return 0;
}

int signals_take(struct signals *s, int signo, bool in_front, signals_handler *handler, char *why,
                 size_t why_bytes) {
    int i = find(s, signo);
    for (int k = 0; k < SIGNALS_MAX && i < 0; k++)
        if (!s->slot[k].users)
            i = k;
    if (i < 0) {
        snprintf(why, why_bytes, "too many signals in use");
        return -EMFILE;
    }
    if (s->slot[i].users && s->slot[i].handler != handler) {
        snprintf(why, why_bytes, "signal %d is in use by another event", signo);
        return -EBUSY;
    }
    int r = s->slot[i].users ? 0 : take(s, i, signo, in_front, handler, why, why_bytes);
    if (r == 0)
        s->slot[i].users++;
    return r;
}

int signals_find_queued(void) {
    for (int signo = SIGRTMAX - 8; signo > SIGRTMIN + 2; signo--) {
        struct sigaction now;
        if (sigaction(signo, NULL, &now) == 0 && !is_function(&now))
            return signo;
    }
    return 0;
}

bool signals_has(const struct signals *s, int signo) {
    int i = find(s, signo);
    struct sigaction now;
    return i >= 0 && sigaction(signo, NULL, &now) == 0 && now.sa_sigaction == s->slot[i].handler;
}

static void call(const struct sigaction *action, int signo, siginfo_t *info, void *context) {
    if (action->sa_flags & SA_SIGINFO)
        action->sa_sigaction(signo, info, context);
    else
        action->sa_handler(signo);
}

/* Thread and signal that are being passed on to a handler that may call ours. */
static _Atomic uint64_t passing[PASSING_MAX];

/* False: it has come back to us, or too many threads are at it. */
static bool begin_passing(uint64_t who, _Atomic uint64_t **at) {
    for (int i = 0; i < PASSING_MAX; i++)
        if (passing[i] == who)
            return false;
    for (int i = 0; i < PASSING_MAX; i++) {
        uint64_t none = 0;
        *at = &passing[i];
        if (atomic_compare_exchange_strong(*at, &none, who))
            return true;
    }
    return false;
}

void signals_pass_on(const struct signals *s, int signo, siginfo_t *info, void *context) {
    int i = find(s, signo);
    const struct sigaction *before = i < 0 ? NULL : &s->slot[i].before;
    _Atomic uint64_t *at;
    if (!before || !is_function(before) || before->sa_sigaction == s->slot[i].handler)
        return;
    if (!(s->left >> (signo - 1) & 1)) {
        call(before, signo, info, context);
    } else if (begin_passing((uint64_t)syscall(SYS_gettid) << 8 | (uint64_t)signo, &at)) {
        call(before, signo, info, context);
        atomic_store(at, 0);
    }
}

bool signals_are_traced(void) {
    char text[4096];
    int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    const char *tracer = strstr(text, TRACER);
    return tracer && tracer[sizeof TRACER - 1] != '0';
}

/* What is still pending must not meet the default action, which ends the process: ignoring a
 * signal discards it from every thread's queue. What a debugger has taken from there it delivers
 * when it likes: under one the signal stays ignored. */
void signals_give_back(struct signals *s, int signo) {
    int i = find(s, signo);
    struct sigaction now;
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    if (i < 0 || --s->slot[i].users)
        return;
    if (sigaction(signo, NULL, &now) != 0 || now.sa_sigaction != s->slot[i].handler) {
        s->left |= UINT64_C(1) << (signo - 1); /* another handler is in front of ours */
        return;
    }
    sigaction(signo, &ignore, NULL);
    const struct sigaction *before = &s->slot[i].before;
    if (is_function(before) || before->sa_handler == SIG_IGN || !signals_are_traced())
        sigaction(signo, before, NULL);
    else
        s->ignored |= UINT64_C(1) << (signo - 1);
}
