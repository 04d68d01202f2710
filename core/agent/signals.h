/*
 * The signals that engines use: whose handler was there before, and how many engines share one.
 *
 * Context: the agent's thread, with the engines' lock.
 */
#ifndef JTOP_AGENT_SIGNALS_H
#define JTOP_AGENT_SIGNALS_H

#include <signal.h>
#include <stddef.h>

#define SIGNALS_MAX 4

typedef void signals_handler(int signo, siginfo_t *info, void *context);

struct signals {
    struct {
        int signo, users;
        signals_handler *handler;
        struct sigaction before; /* the disposition before ours */
    } slot[SIGNALS_MAX];
};

/* Puts the handler in place for the first user of a signal. 0, or -errno with the reason in `why`:
 * somebody else's handler is there. */
int signals_take(struct signals *s, int signo, signals_handler *handler, char *why,
                 size_t why_bytes);

/* When the last user is gone the handler goes. By then nothing sends the signal any more. */
void signals_give_back(struct signals *s, int signo);

#endif
