/*
 * What another thread of this process is doing at the moment: whether it sleeps, in which system
 * call, and what it waits for according to the VM.
 *
 * Sources: proc(5) on /proc/PID/task/TID/syscall and stat. OSThread::_state, in which HotSpot
 * records why a thread waits (osThread.hpp, JDK 8-28). It is the same for Thread.sleep and for
 * LockSupport.park; the function of the VM that Java called distinguishes them (jvm.h).
 *
 * Context: any thread of the agent; system calls and guarded reads. thread_state_of_registers is
 * signal-safe; a thread calls it for itself.
 */
#ifndef JTOP_AGENT_VM_THREAD_STATE_H
#define JTOP_AGENT_VM_THREAD_STATE_H

#include "core/agent/process/registers.h"
#include "core/agent/vm/vm_structs.h"
#include "core/wire/record.h"

enum thread_look {
    THREAD_GONE,
    THREAD_RUNS,   /* or waits for a processor, or for a page of memory */
    THREAD_SLEEPS, /* in a system call; the result has its number */
    THREAD_HIDDEN, /* it sleeps; the kernel does not show the system call */
};

struct thread_sleep {
    long syscall; /* number; -1: not known */
    uintptr_t sp, pc;
    bool disk; /* it sleeps uninterruptibly */
};

#define THREAD_STATE_CALLS 4

struct thread_states {
    struct {
        uintptr_t begin, end;
        enum wire_thread_state state; /* state of a thread that sleeps in this function of the VM */
    } call[THREAD_STATE_CALLS];
    int tasks_fd;         /* of /proc/self/task */
    bool hidden;          /* the kernel does not show system calls of this process */
    int32_t state_offset; /* of OSThread::_state; -1: not known */
    uint32_t monitor_wait, condvar_wait, object_wait, sleeping; /* its values */
};

/* Opens one descriptor. 0 or -errno. Reads the VM's tables, so only in the agent's thread. */
int thread_states_open(struct thread_states *s);
void thread_states_close(struct thread_states *s);

/* Makes three system calls in the usual case. */
enum thread_look thread_state_look(struct thread_states *s, uint32_t tid, struct thread_sleep *out);

/* Returns what a sleeping thread waits for. `java`: its JavaThread*; 0: none. `fp`: its frame
 * pointer, or that of a caller. */
enum wire_thread_state thread_state_of_sleep(const struct thread_states *s, const struct vm *vm,
                                             uintptr_t java, const struct thread_sleep *sleep,
                                             uintptr_t fp);

/* Returns the state of the calling thread when the signal came: it was running, or it slept in a
 * system call that the signal has interrupted. */
enum wire_thread_state thread_state_of_registers(const struct thread_states *s, const struct vm *vm,
                                                 uintptr_t java, const void *context);

#endif
