/*
 * What a thread of this process does at the moment, seen from another one: whether it sleeps, in
 * which system call, and what the VM says it waits for.
 *
 * Sources: proc(5) on /proc/PID/task/TID/syscall and stat. OSThread::_state, HotSpot's own note of
 * why a thread waits (osThread.hpp, JDK 8-28), which is the same for Thread.sleep and for
 * LockSupport.park: they are told apart by the VM's function that Java called (jvm.h).
 *
 * Context: any thread of ours; system calls and guarded reads. thread_state_of_registers is
 * signal-safe, in the thread itself.
 */
#ifndef JTOP_AGENT_VM_THREAD_STATE_H
#define JTOP_AGENT_VM_THREAD_STATE_H

#include "core/agent/process/registers.h"
#include "core/agent/vm/vm_structs.h"
#include "core/wire/record.h"

enum thread_look {
    THREAD_GONE,
    THREAD_RUNS,   /* or waits for a processor, or for a page of memory */
    THREAD_SLEEPS, /* in a system call, as told */
    THREAD_HIDDEN, /* it sleeps; more is not visible here */
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
        enum wire_thread_state state; /* of who sleeps in this function of the VM's */
    } call[THREAD_STATE_CALLS];
    int tasks_fd;         /* of /proc/self/task */
    bool hidden;          /* the kernel shows no system calls of ours */
    int32_t state_offset; /* of OSThread::_state; -1: not known */
    uint32_t monitor_wait, condvar_wait, object_wait, sleeping; /* its values */
};

/* Takes one descriptor. 0 or -errno. Needs the VM's tables: the agent's thread. */
int thread_states_open(struct thread_states *s);
void thread_states_close(struct thread_states *s);

/* Three system calls. */
enum thread_look thread_state_look(struct thread_states *s, uint32_t tid, struct thread_sleep *out);

/* What a sleeping thread waits for; `java` is its JavaThread*, 0: none; `fp` its frame pointer, or
 * a frame's further up. */
enum wire_thread_state thread_state_of_sleep(const struct thread_states *s, const struct vm *vm,
                                             uintptr_t java, const struct thread_sleep *sleep,
                                             uintptr_t fp);

/* That of the calling thread as a handler finds it: running, or called away from a system call that
 * it slept in. */
enum wire_thread_state thread_state_of_registers(const struct thread_states *s, const struct vm *vm,
                                                 uintptr_t java, const void *context);

#endif
