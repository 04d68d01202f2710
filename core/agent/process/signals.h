/*
 * The signals that engines use: whose handler was there before, and how many engines share one.
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
    uint64_t ignored; /* bits of signals that we left ignored, and that were not */
    uint64_t left;    /* bits of signals of which another handler may call ours forever */
};

/* Puts the handler in place for the first user of a signal. 0, or -errno with the reason in `why`:
 * another handler is there. With `in_front` ours is put in front of that one, and signals_pass_on
 * gives it the signals that are not ours. */
int signals_take(struct signals *s, int signo, bool in_front, signals_handler *handler, char *why,
                 size_t why_bytes);

/* A real-time signal that nobody uses; 0: there is none. Real-time signals are queued with a value,
 * and few programs use them; glibc and the JDK's network code have the outermost ones. */
int signals_find_queued(void);

/* Whether our handler is still installed, and no other one in its place. */
bool signals_has(const struct signals *s, int signo);

/* Passes a signal that is not ours to the handler before ours. Signal-safe. */
void signals_pass_on(const struct signals *s, int signo, siginfo_t *info, void *context);

/* When the last user is gone the handler goes, and what was there before comes back; under a
 * debugger (ptrace) the signal is ignored from then on instead. By then nothing sends it any more.
 * */
void signals_give_back(struct signals *s, int signo);

#endif
