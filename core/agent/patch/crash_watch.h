/*
 * Keeps our handlers in front while the VM reports a fatal error, and tells when that begins.
 *
 * The VM then installs handlers of its own for the signals of faults, and since JDK 9 for SIGTRAP,
 * whatever the reason of the error is (source: vmError_posix.cpp, install_secondary_signal_handler or
 * reset_signal_handlers). A SIGTRAP of ours would from then on be an error in the report, which would
 * break off, or wait forever for a lock that the interrupted code holds; and so would a guarded load
 * that fails. So the VM's import of sigaction is replaced by a function of ours (imports.h). It puts
 * the VM's handlers behind ours (chain.h), as libjsig does with handlers of programs.
 *
 * Context: the agent's thread. `tell` runs in any thread of the VM, and is signal-safe.
 */
#ifndef JTOP_AGENT_PATCH_CRASH_WATCH_H
#define JTOP_AGENT_PATCH_CRASH_WATCH_H

#include <stdbool.h>

/* `tell` is called before the VM installs a handler for SIGSEGV, which it does only then. */
void crash_watch_begin(void (*tell)(void));
void crash_watch_end(void);
/* False: the import was not found, or could not be replaced. */
bool crash_watch_is_on(void);

#endif
