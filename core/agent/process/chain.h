/*
 * A handler of ours among others of the same signal, which go on to one another.
 *
 *   kernel ─▶ ours ─▶ who was there before us ─▶ … ─▶ the VM's
 *
 * Others come and go as we do, and keep what they found: somebody who was put in front of us while
 * we sampled may call us for ever after. When we come again we go in front once more, by another
 * entry, which has its own idea of what was before it; the old one goes on to what it always did.
 * Where a signal comes to the same entry a second time (somebody found us, and we them), it goes to
 * the VM itself, or to the handler that was there before the first of ours: no circle.
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

/* In front of all others, if it is not there. 0, or -EBUSY: others were put in front so often that
 * no entry is left; or another -errno. */
int chain_enter(struct chain *c);
/* Whether we are in front. */
bool chain_is_front(const struct chain *c);
/* What was before comes back. Where somebody is in front of us, we stay, and pass everything on. */
void chain_leave(struct chain *c);

#endif
