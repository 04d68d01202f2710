/*
 * Files:
 *   bytecode        class file rewriting that adds calls at method entry and exit
 *   bytecode_code   rewriting of one method's Code attribute
 *   crash_watch     tells when the VM begins to report a fatal error
 *   imports         redirecting calls between libraries by patching their import tables
 *   method_targets  parser of the wanted methods: class, name, signature, minimum time
 *   trap            breakpoints in native code, with a callback when one is hit
 *   trap_step       emulation of the instruction that a breakpoint replaced
 *
 * Breakpoints in the process's own native code. A callback is called when a thread is about to run
 * the function there. The breakpoint overwrites the function's first instruction, and the handler
 * emulates this instruction for the thread (trap_step.h). So the breakpoint stays in place, and no
 * call is missed, however many threads run into it at once. If the instruction cannot be emulated,
 * the callback can make the function return at once (TRAP_RETURN), or take the breakpoint out
 * (trap_lift).
 *
 *   trap_install ─▶ int3 ─▶ SIGTRAP ─▶ on_trap ─▶ hit() ─▶ the instruction's effect, or "return"
 *
 * The signal handler is installed with the first breakpoint (core/agent/process/sigtrap.h). It is
 * removed when sampling has ended and no thread can still be on its way to it. If a thread that
 * blocks SIGTRAP runs into a breakpoint, the kernel ends the process. So no breakpoint is
 * installed if a thread blocks it. A child after fork has the breakpoints in its copy of the code;
 * it continues as if there were none, and hit() is not called.
 *
 * Context: trap_install and trap_remove belong to the agent's thread and VMDeath, one at a time.
 */
#ifndef JTOP_AGENT_PATCH_TRAP_H
#define JTOP_AGENT_PATCH_TRAP_H

#include "core/agent/patch/trap_step.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRAPS_MAX 64 /* removed ones keep their place until it is needed */

enum trap_then {
    TRAP_GO_ON,  /* run the function; only if trap_goes_on() is true or the breakpoint is lifted */
    TRAP_RETURN, /* do not run it: continue after the call */
};

/* Called before the function's first instruction; `context` is the ucontext_t there. It must be
 * signal-safe, and must not call a function with a breakpoint. */
typedef enum trap_then trap_hit(void *arg, void *context);

/* Puts a breakpoint at the beginning of a function. With `lifts`, trap_lift and trap_set may be
 * used, and the page of code stays writable until trap_remove. Returns the breakpoint's number, or
 * -errno with the reason in `why` and nothing changed. */
int trap_install(uintptr_t address, trap_hit *hit, void *arg, bool lifts, char *why,
                 size_t why_bytes);
/* Removes all these breakpoints. When it returns, no hit() is running, and none will be called.
 * Numbers below 0 are ignored. */
void trap_remove(const int *trap, uint32_t n);

/* Whether TRAP_GO_ON works at this address without trap_lift. False also if it cannot be read. */
bool trap_goes_on(uintptr_t address);

/* trap_lift takes the breakpoint out, trap_set puts it in again. Signal-safe, also in hit(). For
 * threads that ran into it before it was lifted, hit() is still called. Numbers below 0 are
 * ignored. */
void trap_lift(int trap);
void trap_set(int trap);

#endif
