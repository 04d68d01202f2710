/*
 * Tells when the VM begins to report a fatal error. It then installs handlers of its own for the
 * signals of faults and for SIGTRAP, whatever the reason of the error is (source: vmError.cpp,
 * install_secondary_signal_handler). A SIGTRAP of ours would from then on be an error in the report,
 * which would break off, or wait forever for a lock that the interrupted code holds.
 *
 * It is the VM's import of sigaction that is replaced by a function of ours (imports.h).
 *
 * Context: the agent's thread. `tell` runs in any thread of the VM, and is signal-safe.
 */
#ifndef JTOP_AGENT_PATCH_CRASH_WATCH_H
#define JTOP_AGENT_PATCH_CRASH_WATCH_H

#include <stdbool.h>

/* `tell` is called before the VM installs a handler for `signo`: SIGSEGV, SIGBUS or SIGTRAP. */
void crash_watch_begin(void (*tell)(int signo));
void crash_watch_end(void);
/* False: the import was not found, or could not be replaced. */
bool crash_watch_is_on(void);

#endif
