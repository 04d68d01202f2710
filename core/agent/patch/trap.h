/*
 * Files:
 *   bytecode        class file rewriting that adds calls at method entry and exit
 *   bytecode_code   rewriting of one method's Code attribute
 *   imports         redirecting calls between libraries by patching their import tables
 *   method_targets  parser of the wanted methods: class, name, signature, minimum time
 *   trap            breakpoints in native code, with a callback when one is hit
 *   trap_process    process checks for breakpoints: page protection, blocked signals
 *   trap_step       emulation of the instruction that a breakpoint replaced
 *
 * Breakpoints in the process's own native code: a function of ours is called when a thread is about
 * to run the function there. Written over the function's first instruction, which is then done for
 * the thread (trap_step.h), so that the breakpoint stays and no call is missed, however many
 * threads come at once. Where that instruction is one that cannot be done so, there is either the
 * way back to the caller (TRAP_RETURN), or taking the breakpoint out (trap_lift).
 *
 *   trap_install ─▶ int3 ─▶ SIGTRAP ─▶ on_trap ─▶ hit() ─▶ the instruction's effect, or "return"
 *
 * The signal's handler comes with the first breakpoint, in front of the one that was there, and
 * goes after the last one, when no thread can be on its way to it any more. A breakpoint ends a
 * process whose thread blocks SIGTRAP: where one does, none is installed. Children of a fork find
 * the breakpoints in their copy: they go on as if there were none, and hit() is not called.
 *
 * Context: trap_install and trap_remove belong to the agent's thread and VMDeath, one at a time.
 */
#ifndef JTOP_AGENT_PATCH_TRAP_H
#define JTOP_AGENT_PATCH_TRAP_H

#include "core/agent/patch/trap_step.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRAPS_MAX 64 /* those of before keep a place until it is needed */

enum trap_then {
    TRAP_GO_ON,  /* run the function. Not where trap_goes_on() is false and it was not lifted */
    TRAP_RETURN, /* do not: go on behind the call */
};

/* Signal-safe; the thread stands before the first instruction, of which `context` is the
 * ucontext_t. Must not call what has a breakpoint. */
typedef enum trap_then trap_hit(void *arg, void *context);

/* Puts a breakpoint at the beginning of a function. With `lifts`, trap_lift and trap_set may be
 * used: the page of code stays writable for as long. Returns its number, or -errno with the reason
 * in `why` and nothing changed. */
int trap_install(uintptr_t address, trap_hit *hit, void *arg, bool lifts, char *why,
                 size_t why_bytes);
/* Puts the bytes of all these back; no hit() runs any more, and none will be called. Numbers
 * below 0 are passed over. */
void trap_remove(const int *trap, uint32_t n);

/* Whether TRAP_GO_ON works at this address without trap_lift. False if it cannot be read. */
bool trap_goes_on(uintptr_t address);

/* Takes the breakpoint out and puts it in again; signal-safe, in hit() too. Threads that ran into
 * it before it was lifted still come to hit(). A number below 0 is passed over. */
void trap_lift(int trap);
void trap_set(int trap);

#endif
