#include "core/agent/process/sigtrap.h"

#include "core/agent/process/chain.h"
#include "core/agent/process/registers.h"
#include "core/agent/process/signals.h"
#include "core/agent/process/trap_process.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Older headers have neither (source: asm-generic/siginfo.h, Linux 5.13: behind si_addr). */
#define CODE_PERF 6
#define DATA_OFFSET 24
#define KICK UINT64_C(0x6a746f704b49434b) /* the value of a signal that sigtrap_owe sends */

static sigtrap_handler *_Atomic handlers[SIGTRAP_USERS]; /* never removed */
static sigtrap_look *_Atomic first_look;                 /* never removed */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects the following */
static bool used[SIGTRAP_USERS];
static bool owed; /* a thread was not seen to have handled its last signal */

bool sigtrap_is_event(const siginfo_t *info, uint64_t *data) {
    if (info->si_code != CODE_PERF)
        return false;
    memcpy(data, (const char *)info + DATA_OFFSET, sizeof *data);
    return true;
}

static bool is_kick(const siginfo_t *info) {
    return info->si_code == SI_QUEUE && info->si_pid == getpid() &&
           (uint64_t)(uintptr_t)info->si_value.sival_ptr == KICK;
}

/* The kernel sends a signal without details if it has no memory for them, and one of another thread
 * also if too many signals are pending. */
static bool is_without_details(const siginfo_t *info) {
    return info->si_code == SI_USER && info->si_pid == 0 && info->si_uid == 0;
}

static bool on_sigtrap(siginfo_t *info, void *context) {
    sigtrap_look *look = atomic_load(&first_look);
    if (look)
        look(info, context);
    if (is_kick(info))
        return true;
    for (int i = 0; i < SIGTRAP_USERS; i++) {
        sigtrap_handler *handle = atomic_load(&handlers[i]);
        if (handle && handle(info, context))
            return true;
    }
    return atomic_load(&handlers[SIGTRAP_OF_EVENTS]) && is_without_details(info);
}

/* A thread with an alternate stack is interrupted on that, as by the VM's own handlers. While the
 * handler runs, SIGTRAP is blocked: otherwise, on a busy machine, events could interrupt it at its
 * first instruction again and again, until the stack is full. */
static struct chain_place places[CHAIN_PLACES];
static struct chain chain = {.signo = SIGTRAP,
                             .handle = on_sigtrap,
                             .flags = SA_RESTART | SA_ONSTACK,
                             .ends_by_raise = true,
                             .place = places};

void *sigtrap_unblock(void *context) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTRAP);
    sigaddset(&set, SIGSEGV);
    sigaddset(&set, SIGBUS);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    return registers_before_handler(context);
}

void sigtrap_look_first(sigtrap_look *look) {
    atomic_store(&first_look, look);
}

int sigtrap_take(enum sigtrap_user user, sigtrap_handler *handle) {
    pthread_mutex_lock(&lock);
    atomic_store(&handlers[user], handle);
    int r = chain_enter(&chain);
    used[user] = used[user] || r == 0;
    pthread_mutex_unlock(&lock);
    return r;
}

bool sigtrap_is_front(void) {
    return chain_is_front(&chain);
}

void sigtrap_owe(uint32_t tid) {
    siginfo_t info = {.si_signo = SIGTRAP, .si_code = SI_QUEUE};
    info.si_pid = getpid();
    info.si_uid = getuid();
    info.si_value.sival_ptr = (void *)(uintptr_t)KICK;
    pthread_mutex_lock(&lock);
    owed = true;
    pthread_mutex_unlock(&lock);
    syscall(SYS_rt_tgsigqueueinfo, getpid(), (pid_t)tid, SIGTRAP, &info);
}

void sigtrap_give_back(enum sigtrap_user user) {
    pthread_mutex_lock(&lock);
    /* Any thread may have run into a breakpoint; the kernel has not chosen the handler yet. */
    owed = owed || (used[user] && user == SIGTRAP_OF_BREAKPOINTS);
    used[user] = false;
    pthread_mutex_unlock(&lock);
}

void sigtrap_leave(void) {
    bool in_use = false;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < SIGTRAP_USERS; i++)
        in_use = in_use || used[i];
    if (!in_use && sigtrap_is_front() && !signals_are_traced() &&
        (!owed || trap_process_passed())) {
        owed = false;
        chain_leave(&chain);
    }
    pthread_mutex_unlock(&lock);
}
