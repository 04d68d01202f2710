/*
 * The agent's handler of a signal, in a chain with the handlers of other tools. Each handler passes
 * the signal on to the one that was installed before it.
 *
 *   kernel ─▶ ours ─▶ the handler installed before ours ─▶ … ─▶ the VM's
 *
 * Other tools also install and remove handlers, and each calls the handler that it found. A tool
 * that put its handler in front of ours keeps calling ours, even after sampling has ended. If we
 * install ours again, another entry function goes to the front, with its own record of the handler
 * before it. The old entry still passes signals on to the handler before it. If a signal comes to
 * the same entry a second time, the handlers call each other in a circle. Then the entry passes it
 * on to the VM itself, or to the handler that was there before our first entry.
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
    bool in; /* this entry is called, or may be */
    struct sigaction before;
};

struct chain {
    int signo; /* SIGSEGV, SIGBUS or SIGTRAP */
    /* True: the signal was ours. False: it is passed on unchanged. */
    bool (*handle)(siginfo_t *info, void *context);
    int flags;          /* of sigaction, beside SA_SIGINFO; -1: those of the handler before, and its
                           mask */
    bool ends_by_raise; /* if there is no other handler, the signal is raised again; false: its
                           instruction runs again, which raises it */
    /* The VM's own function for signals (JVM_handle_linux_signal); NULL: not known. */
    int (*vm)(int signo, siginfo_t *info, void *context, int abort_if_unrecognized);
    struct chain_place *place; /* CHAIN_PLACES of them, zero at first */
    struct sigaction first;    /* the handler before our first entry; set by chain_enter */
};

/* Puts our handler in front of all others, unless it is there already. Returns 0 or -errno. -EBUSY:
 * others put theirs in front so often that no entry is left. */
int chain_enter(struct chain *c);
/* Whether our handler is in front. */
bool chain_is_front(const struct chain *c);
/* As sigaction, for a handler that is to be called after ours: what another function installs with
 * it in our place. False: ours is not in front. Signal-safe, any thread. */
bool chain_put_behind(int signo, const struct sigaction *action, struct sigaction *old);
/* Restores the handler before ours. If another handler is in front of ours, ours stays and passes
 * every signal on. */
void chain_leave(struct chain *c);

#endif
