#include "core/agent/signals.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>

static int find(const struct signals *s, int signo) {
    for (int i = 0; i < SIGNALS_MAX; i++)
        if (s->slot[i].users && s->slot[i].signo == signo)
            return i;
    return -1;
}

static int take(struct signals *s, int i, int signo, signals_handler *handler, char *why,
                size_t why_bytes) {
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
    if (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN &&
        before->sa_sigaction != handler) {
        snprintf(why, why_bytes, "signal %d is in use by another profiler in this JVM", signo);
        return -EBUSY;
    }
    if (sigaction(signo, &ours, NULL) != 0) {
        int e = errno;
        snprintf(why, why_bytes, "signal %d cannot be used (errno %d)", signo, e);
        return -e;
    }
    s->slot[i].signo = signo;
    s->slot[i].handler = handler;
    return 0;
}

int signals_take(struct signals *s, int signo, signals_handler *handler, char *why,
                 size_t why_bytes) {
    int i = find(s, signo);
    for (int k = 0; k < SIGNALS_MAX && i < 0; k++)
        if (!s->slot[k].users)
            i = k;
    if (i < 0) {
        snprintf(why, why_bytes, "no room for one more signal");
        return -EMFILE;
    }
    if (s->slot[i].users && s->slot[i].handler != handler) {
        snprintf(why, why_bytes, "signal %d is in use by another event", signo);
        return -EBUSY;
    }
    int r = s->slot[i].users ? 0 : take(s, i, signo, handler, why, why_bytes);
    if (r == 0)
        s->slot[i].users++;
    return r;
}

/* What is still pending must not meet the default action, which ends the process: ignoring a
 * signal discards it from every thread's queue. */
void signals_give_back(struct signals *s, int signo) {
    int i = find(s, signo);
    struct sigaction now;
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    if (i < 0 || --s->slot[i].users)
        return;
    if (sigaction(signo, NULL, &now) != 0 || now.sa_sigaction != s->slot[i].handler)
        return; /* somebody put a handler in front of ours: it may still call us */
    sigaction(signo, &ignore, NULL);
    sigaction(signo, &s->slot[i].before, NULL);
}
