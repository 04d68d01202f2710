/*
 * A handler of ours among others of the same signal, which go on to one another.
 *
 *   kernel ─▶ ours ─▶ the handler before us ─▶ … ─▶ the VM's
 *
 * Other libraries install and remove handlers as we do, and keep the handler that they found: one
 * that was put in front of ours while we sampled may call ours forever. When we install ours again,
 * it goes in front again, by another entry, which keeps its own previous handler; the old entry
 * goes on to the same handler as before. If a signal comes to the same entry a second time (two
 * handlers call each other), it goes to the VM itself, or to the handler that was there before the
 * first of ours. So there is no endless circle.
 *
 * Context: chain_enter and chain_leave belong to the agent's thread and its attach callbacks, one
 * at a time; entries are signal-safe.
 */
#ifndef JTOP_AGENT_PROCESS_CHAIN_H
#define JTOP_AGENT_PROCESS_CHAIN_H

#include <signal.h>
#include <stdbool.h>

#define CHAIN_PLACES 16

struct chain_place {
    bool in; /* it is called, or may be */
    struct sigaction before;
};

struct chain {
    int signo; /* SIGSEGV, SIGBUS or SIGTRAP */
    /* True: it was ours. False: it goes on, untouched. */
    bool (*handle)(siginfo_t *info, void *context);
    int flags;          /* of sigaction, beside SA_SIGINFO; -1: flags and mask of who was there */
    bool ends_by_raise; /* without a handler the signal is raised again; else its instruction runs
                           again, and does that */
    /* The VM's own function for signals (JVM_handle_linux_signal); NULL: not known. */
    int (*vm)(int signo, siginfo_t *info, void *context, int abort_if_unrecognized);
    struct chain_place *place; /* CHAIN_PLACES of them, zero at first */
    struct sigaction first;    /* its own */
};

/* Puts our handler in front of all others, unless it is in front. 0, or -EBUSY: others were put in
 * front so often that no entry is left; or another -errno. */
int chain_enter(struct chain *c);
/* Whether we are in front. */
bool chain_is_front(const struct chain *c);
/* Restores the previous handler. If another is in front of ours, ours stays and passes all on. */
void chain_leave(struct chain *c);

#endif
