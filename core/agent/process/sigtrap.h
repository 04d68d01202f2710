/*
 * SIGTRAP, which two parts of the agent use: breakpoints (core/agent/patch/trap.h), and perf_events
 * that send it to the thread they count (core/agent/engine/engine_perf.h). Signals of neither are
 * passed on to the handler that was installed before (chain.h).
 *
 * The default action of SIGTRAP ends the process. So our handler is only removed when it is certain
 * that no thread can still get one of our signals; otherwise it stays, and ignores them.
 *
 * Context: any thread; they take a lock, except those that are signal-safe.
 */
#ifndef JTOP_AGENT_PROCESS_SIGTRAP_H
#define JTOP_AGENT_PROCESS_SIGTRAP_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

enum sigtrap_user { SIGTRAP_OF_BREAKPOINTS, SIGTRAP_OF_EVENTS, SIGTRAP_USERS };

/* True: the signal was this user's. Signal-safe. It may also be called after sigtrap_give_back. It
 * runs with SIGTRAP blocked: a breakpoint that it ran into would end the process. */
typedef bool sigtrap_handler(siginfo_t *info, void *context);
/* Sees each SIGTRAP before its users do. Signal-safe. */
typedef void sigtrap_look(const siginfo_t *info, void *context);
void sigtrap_look_first(sigtrap_look *look);

/* Puts our handler in front of all others, unless it is there already. Returns 0 or -errno, as
 * chain_enter. */
int sigtrap_take(enum sigtrap_user user, sigtrap_handler *handle);
/* Whether our handler is in front. */
bool sigtrap_is_front(void);

/* Whether a perf_event sent the signal. *data: its perf_event_attr.sig_data. Signal-safe. */
bool sigtrap_is_event(const siginfo_t *info, uint64_t *data);

/* For a handler that is ready to be interrupted by another SIGTRAP, until it returns. Faults are
 * delivered then, too, even where a handler of SIGSEGV was interrupted: guarded loads may fail.
 * Handlers of faults of JDK 16 and later do not block SIGTRAP, and the kernel may deliver it in spite
 * of that. If one was interrupted at its first instruction, returns the context of the fault;
 * otherwise `context`. Signal-safe. */
void *sigtrap_unblock(void *context);

/* Notes that a thread may still have to handle the SIGTRAP of an event that was closed. The thread
 * is sent another one, which is ignored, so that it handles both now, even if it sleeps. */
void sigtrap_owe(uint32_t tid);

/* Ends a use. The handler stays until sigtrap_leave. */
void sigtrap_give_back(enum sigtrap_user user);

/* Removes the handler if nobody uses it, once all threads have passed the places where one of our
 * signals can reach them; this may take milliseconds. It stays under a debugger, which delivers a
 * signal whenever it likes, and if a thread does not get to run; the next call tries again. */
void sigtrap_leave(void);

#endif
