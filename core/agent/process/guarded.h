/*
 * Files:
 *   bytes          big-endian reader and writer for class files
 *   chain          signal handler put before existing ones, which passes signals on
 *   exported_size  size of an exported function, from ELF dynamic symbols
 *   glob           text match against a pattern with * as wildcard
 *   guarded        memory reads that survive unmapped addresses, and the fault handler
 *   id_table       lock-free hash set that gives small IDs to 64-bit identities
 *   libraries      address ranges of the code of all loaded libraries
 *   mapping        the shared memory of agent and reader, from the agent's side
 *   memory_map     snapshot of the process's address ranges and their protection
 *   other_copy     test whether another copy of the agent is active in this JVM
 *   recent_set     fixed-size set of recently seen hashes
 *   registers      CPU registers of a signal context, for x86_64 and aarch64
 *   reserve        address space that takes memory when it is touched
 *   signals        signals taken by engines, and the handlers they replaced
 *   sigtrap        the handler of SIGTRAP, shared by breakpoints and perf_events
 *   trap_process   process checks for breakpoints: page protection, blocked signals
 *
 * Reads of memory that may be unmapped. The walker follows pointers while the VM keeps running, so
 * any pointer may be stale. A load by these functions never kills the process: the fault handler
 * recognizes their instructions, and the functions return.
 *
 * The handler is put in front of the VM's own SIGSEGV and SIGBUS handlers, with the same flags and
 * mask. It passes every other fault on to them unchanged.
 *
 * Context: loads are signal-safe, any thread whose SIGSEGV and SIGBUS are not blocked.
 */
#ifndef JTOP_AGENT_PROCESS_GUARDED_H
#define JTOP_AGENT_PROCESS_GUARDED_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the value at `address`, or 0 if it cannot be read. Unaligned addresses are allowed. */
uint64_t guarded_load64(uintptr_t address);
uint32_t guarded_load32(uintptr_t address);

/* Copies n bytes. Returns the number of bytes at the end that could not be read (0: all copied). */
size_t guarded_copy(void *to, uintptr_t from, size_t n);

/* Narrow loads read the aligned word that contains them, which is never in two pages. */
static inline uint16_t guarded_load16(uintptr_t address) {
    return (uint16_t)(guarded_load32(address & ~(uintptr_t)3) >> (address & 2) * 8);
}

static inline uint8_t guarded_load8(uintptr_t address) {
    return (uint8_t)(guarded_load32(address & ~(uintptr_t)3) >> (address & 3) * 8);
}

/* Installs the fault handler in front of all others (chain.h), and removes it. It is installed from
 * agent_begin to the end of sampling. If it is in front already, guarded_install does nothing. */
int guarded_install(void);
void guarded_remove(void);
/* Sets the VM's own function for faults, which is called if handlers call each other in a circle.
 * NULL: not known. */
void guarded_know_vm(int (*handle)(int signo, siginfo_t *info, void *context, int abort));

/* Returns the number of guarded loads that have hit unmapped memory so far. */
uint64_t guarded_faults(void);

#endif
