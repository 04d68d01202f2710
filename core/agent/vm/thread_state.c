#include "core/agent/vm/thread_state.h"

#include "core/agent/process/exported_size.h"
#include "core/agent/process/guarded.h"
#include "core/agent/vm/vm_tables.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LINE_BYTES 512
#define LINKS_MAX 16 /* native frames between a system call and Java */

/* By what a call waits for. Calls that only some architectures have are left out where they are
 * missing; what is not listed is OTHER. */
static const struct {
    short number;
    unsigned char state; /* enum wire_thread_state */
} call[] = {
    {SYS_futex, WIRE_THREAD_FUTEX},
    {SYS_nanosleep, WIRE_THREAD_SLEEPING},
    {SYS_clock_nanosleep, WIRE_THREAD_SLEEPING},
    {SYS_ppoll, WIRE_THREAD_POLL},
    {SYS_pselect6, WIRE_THREAD_POLL},
    {SYS_epoll_pwait, WIRE_THREAD_POLL},
    {SYS_accept, WIRE_THREAD_POLL}, /* waits until there is something to do, as a poll does */
    {SYS_accept4, WIRE_THREAD_POLL},
#ifdef SYS_poll
    {SYS_poll, WIRE_THREAD_POLL},
    {SYS_select, WIRE_THREAD_POLL},
    {SYS_epoll_wait, WIRE_THREAD_POLL},
#endif
#ifdef SYS_epoll_pwait2
    {SYS_epoll_pwait2, WIRE_THREAD_POLL},
#endif
    {SYS_read, WIRE_THREAD_IO},
    {SYS_write, WIRE_THREAD_IO},
    {SYS_readv, WIRE_THREAD_IO},
    {SYS_writev, WIRE_THREAD_IO},
    {SYS_pread64, WIRE_THREAD_IO},
    {SYS_pwrite64, WIRE_THREAD_IO},
    {SYS_preadv, WIRE_THREAD_IO},
    {SYS_pwritev, WIRE_THREAD_IO},
    {SYS_recvfrom, WIRE_THREAD_IO},
    {SYS_recvmsg, WIRE_THREAD_IO},
    {SYS_recvmmsg, WIRE_THREAD_IO},
    {SYS_sendto, WIRE_THREAD_IO},
    {SYS_sendmsg, WIRE_THREAD_IO},
    {SYS_connect, WIRE_THREAD_IO},
    {SYS_sendfile, WIRE_THREAD_IO},
    {SYS_splice, WIRE_THREAD_IO},
    {SYS_fsync, WIRE_THREAD_IO},
    {SYS_fdatasync, WIRE_THREAD_IO},
    {SYS_openat, WIRE_THREAD_IO},
};

static enum wire_thread_state state_of_call(long number) {
    for (size_t i = 0; i < sizeof call / sizeof call[0]; i++)
        if (call[i].number == number)
            return (enum wire_thread_state)call[i].state;
    return number < 0 ? WIRE_THREAD_UNKNOWN : WIRE_THREAD_OTHER;
}

/* Functions of the VM's that Java's native methods are. A park's is not exported: what waits as one
 * and is none of these is a park. */
static void find_calls(struct thread_states *s) {
    static const struct {
        const char *name;
        enum wire_thread_state state;
    } wanted[THREAD_STATE_CALLS] = {
        {"JVM_Sleep", WIRE_THREAD_SLEEPING},      /* JDK 8-20 */
        {"JVM_SleepNanos", WIRE_THREAD_SLEEPING}, /* JDK 21+ */
        {"JVM_MonitorWait", WIRE_THREAD_WAITING},
        {"JVM_WaitForReferencePendingList", WIRE_THREAD_FUTEX},
    };
    void *jvm = dlopen("libjvm.so", RTLD_LAZY | RTLD_NOLOAD);
    for (int i = 0; i < THREAD_STATE_CALLS; i++) {
        void *begin = dlsym(jvm ? jvm : RTLD_DEFAULT, wanted[i].name);
        if (!begin)
            continue;
        s->call[i].begin = (uintptr_t)begin;
        s->call[i].end = (uintptr_t)begin + exported_size(wanted[i].name, (uintptr_t)begin);
        s->call[i].state = wanted[i].state;
    }
    if (jvm)
        dlclose(jvm);
}

int thread_states_open(struct thread_states *s) {
    struct vm_tables t;
    *s = (struct thread_states){.state_offset = -1};
    s->tasks_fd = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (s->tasks_fd < 0)
        return -errno;
    find_calls(s);
    if (vm_tables_open(&t) < 0)
        return 0;
    s->state_offset = vm_offset(&t, "OSThread", "_state");
    int32_t next = vm_offset(&t, "OSThread", "_interrupted");
    if (s->state_offset < 0 && next >= 4)
        s->state_offset = next - 4; /* JDK 8 exports only the field behind it */
    s->monitor_wait = (uint32_t)vm_constant(&t, "MONITOR_WAIT", 3);
    s->condvar_wait = (uint32_t)vm_constant(&t, "CONDVAR_WAIT", 4);
    s->object_wait = (uint32_t)vm_constant(&t, "OBJECT_WAIT", 5);
    s->sleeping = (uint32_t)vm_constant(&t, "SLEEPING", 7);
    return 0;
}

void thread_states_close(struct thread_states *s) {
    close(s->tasks_fd);
    s->tasks_fd = -1;
}

/* The beginning of a task's file; its length, or -errno. */
static int read_task(const struct thread_states *s, uint32_t tid, const char *file,
                     char line[LINE_BYTES]) {
    char path[32];
    snprintf(path, sizeof path, "%u/%s", tid, file);
    int fd = openat(s->tasks_fd, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    ssize_t n = read(fd, line, LINE_BYTES - 1);
    int e = errno;
    close(fd);
    if (n < 0)
        return -e;
    line[n] = '\0';
    return (int)n;
}

/* The letter for the state, behind the name, which may contain anything. 0: the task is gone. */
static char state_letter(const struct thread_states *s, uint32_t tid) {
    char line[LINE_BYTES];
    if (read_task(s, tid, "stat", line) <= 0)
        return 0;
    const char *end = strrchr(line, ')');
    return end && end[1] == ' ' ? end[2] : 0;
}

/* "number six-arguments sp pc", "-1 sp pc" outside of system calls, or "running". */
static enum thread_look parse_call(const char *line, struct thread_sleep *out) {
    char *end;
    long number = strtol(line, &end, 10);
    uint64_t value[8];
    int n = 0;
    if (end == line)
        return THREAD_RUNS;
    while (n < 8 && *end == ' ')
        value[n++] = strtoull(end, &end, 16);
    if (number < 0 || n < 8)
        return THREAD_RUNS;
    *out = (struct thread_sleep){.syscall = number, .sp = value[6], .pc = value[7]};
    return THREAD_SLEEPS;
}

enum thread_look thread_state_look(struct thread_states *s, uint32_t tid,
                                   struct thread_sleep *out) {
    char line[LINE_BYTES];
    int n = s->hidden ? -EACCES : read_task(s, tid, "syscall", line);
    if (n > 0) {
        enum thread_look look = parse_call(line, out);
        if (look == THREAD_SLEEPS && state_of_call(out->syscall) == WIRE_THREAD_IO)
            out->disk = state_letter(s, tid) == 'D';
        return look;
    }
    char letter = state_letter(s, tid);
    if (!letter)
        return THREAD_GONE;
    if (n != -ESRCH && n != -EINTR)
        s->hidden = true; /* the task is there, and its file is not for us */
    *out = (struct thread_sleep){.syscall = -1, .disk = letter == 'D'};
    return letter == 'S' || letter == 'D' ? THREAD_HIDDEN : THREAD_RUNS;
}

/* Of a thread that waits in the VM, by the frames between it and its last Java frame. */
static enum wire_thread_state state_of_frames(const struct thread_states *s, uintptr_t fp,
                                              uintptr_t java_sp) {
    for (int i = 0; i < LINKS_MAX && fp && fp < java_sp && fp % sizeof fp == 0; i++) {
        uintptr_t pc = registers_code_address(guarded_load64(fp + sizeof fp));
        for (int k = 0; k < THREAD_STATE_CALLS; k++)
            if (pc > s->call[k].begin && pc <= s->call[k].end)
                return s->call[k].state;
        uintptr_t next = guarded_load64(fp);
        fp = next > fp ? next : 0;
    }
    return java_sp ? WIRE_THREAD_PARKED : WIRE_THREAD_UNKNOWN;
}

/* The VM's own note. UNKNOWN: it is not one of these. */
static enum wire_thread_state state_of_vm(const struct thread_states *s, const struct vm *vm,
                                          uintptr_t java, uintptr_t fp) {
    if (!java || s->state_offset < 0 || !vm->heaps)
        return WIRE_THREAD_UNKNOWN;
    uintptr_t anchor = java + (uintptr_t)(vm->at.thread_anchor + vm->at.anchor_sp);
    uintptr_t os = guarded_load64(java + (uintptr_t)vm->at.thread_osthread);
    uint32_t state = os ? guarded_load32(os + (uintptr_t)s->state_offset) : 0;
    return state == 0                 ? WIRE_THREAD_UNKNOWN
           : state == s->monitor_wait ? WIRE_THREAD_BLOCKED
           : state == s->object_wait  ? WIRE_THREAD_WAITING
           : state == s->condvar_wait ? state_of_frames(s, fp, guarded_load64(anchor))
           : state == s->sleeping     ? WIRE_THREAD_SLEEPING
                                      : WIRE_THREAD_UNKNOWN;
}

enum wire_thread_state thread_state_of_sleep(const struct thread_states *s, const struct vm *vm,
                                             uintptr_t java, const struct thread_sleep *sleep,
                                             uintptr_t fp) {
    if (sleep->disk)
        return WIRE_THREAD_DISK;
    enum wire_thread_state by_call = state_of_call(sleep->syscall);
    /* The VM waits in a futex only; its note may be older than what the thread does now. */
    bool may_be_vm = by_call == WIRE_THREAD_FUTEX || by_call == WIRE_THREAD_UNKNOWN;
    enum wire_thread_state by_vm = may_be_vm ? state_of_vm(s, vm, java, fp) : WIRE_THREAD_UNKNOWN;
    return by_vm ? by_vm : by_call ? by_call : WIRE_THREAD_OTHER;
}

#if defined(__x86_64__)

/* A call that will be made again has its number back in rax and pc in front of the instruction; one
 * that will not, -EINTR and pc behind it. */
static bool slept_in_call(const void *context, long *number) {
    const greg_t *r = ((const ucontext_t *)context)->uc_mcontext.gregs;
    uintptr_t pc = (uintptr_t)r[REG_RIP];
    *number = -1;
    if ((guarded_load32(pc) & 0xffff) == 0x050f) {
        *number = (long)r[REG_RAX];
        return true;
    }
    return r[REG_RAX] == -EINTR && (guarded_load32(pc - 2) & 0xffff) == 0x050f;
}

#else

/* As on x86_64; the number stays in x8. */
static bool slept_in_call(const void *context, long *number) {
    const mcontext_t *m = &((const ucontext_t *)context)->uc_mcontext;
    const uint32_t svc = 0xd4000001;
    bool again = guarded_load32((uintptr_t)m->pc) == svc;
    *number = (long)m->regs[8];
    return again || ((long)m->regs[0] == -EINTR && guarded_load32((uintptr_t)m->pc - 4) == svc);
}

#endif

enum wire_thread_state thread_state_of_registers(const struct thread_states *s, const struct vm *vm,
                                                 uintptr_t java, const void *context) {
    struct thread_sleep sleep = {0};
    if (!slept_in_call(context, &sleep.syscall))
        return WIRE_THREAD_RUNNING;
    enum wire_thread_state state =
        thread_state_of_sleep(s, vm, java, &sleep, registers_read(context).fp);
    /* Calls that are not made again wait for descriptors, nearly all. */
    return sleep.syscall < 0 && state == WIRE_THREAD_OTHER ? WIRE_THREAD_POLL : state;
}
