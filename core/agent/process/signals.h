/*
 * The signals that engines use: the handlers that were installed before, and the number of engines
 * that share a signal.
 *
 * Context: the agent's thread, with the engines' lock.
 */
#ifndef JTOP_AGENT_PROCESS_SIGNALS_H
#define JTOP_AGENT_PROCESS_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIGNALS_MAX 4

typedef void signals_handler(int signo, siginfo_t *info, void *context);

struct signals {
    struct {
        int signo, users;
        signals_handler *handler;
        struct sigaction before; /* the disposition before ours */
    } slot[SIGNALS_MAX];
    uint64_t ignored; /* bits of signals that are ignored now but were not before */
    uint64_t
        left; /* bits of signals for which another tool kept our handler's address: it may call it at
                         any time */
};

/* Installs the handler for the first user of a signal. 0, or -errno with the reason in `why`: for
 * example, another tool has a handler. With `in_front`, ours is put in front of that one, and must
 * pass foreign signals on to it with signals_pass_on. */
int signals_take(struct signals *s, int signo, bool in_front, signals_handler *handler, char *why,
                 size_t why_bytes);

/* Returns an unused real-time signal; 0: there is none. Real-time signals are queued with a value,
 * and few programs use them. glibc and the JDK's network code use the lowest and highest ones. */
int signals_find_queued(void);

/* Whether our handler is still installed, and no other one has replaced it. */
bool signals_has(const struct signals *s, int signo);

/* Passes a signal that is not ours on to the handler that was installed before. Signal-safe. */
void signals_pass_on(const struct signals *s, int signo, siginfo_t *info, void *context);

/* Whether a debugger (ptrace) is attached to the process's first thread, and so to all of them. It
 * reads a file of /proc. */
bool signals_are_traced(void);

/* Ends one use. After the last one, the previous handler or action is restored. Under a debugger
 * (ptrace), the default action is not restored; the signal is then ignored. When this is called,
 * nothing may send the signal any more. */
void signals_give_back(struct signals *s, int signo);

#endif
