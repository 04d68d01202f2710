#include "core/agent/patch/crash_watch.h"

#include "core/agent/patch/imports.h"
#include "core/agent/process/chain.h"
#include "core/agent/process/memory_map.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef int sigaction_function(int signo, const struct sigaction *action, struct sigaction *old);

/* What the slot had before us, the first time: another tool may have put its function in front of
 * ours since, and calls ours. */
static sigaction_function *_Atomic real;
static void (*_Atomic told)(void);
static struct import_slot slot;
static pid_t pid;
static bool on;

static int watched_sigaction(int signo, const struct sigaction *action, struct sigaction *old) {
    void (*tell)(void) = atomic_load(&told);
    /* The counters of a forked child are those of its parent. */
    if (action && signo == SIGSEGV && tell && getpid() == pid)
        tell();
    bool ours = signo == SIGSEGV || signo == SIGBUS || signo == SIGTRAP;
    if (action && ours && chain_put_behind(signo, action, old))
        return 0;
    return atomic_load(&real)(signo, action, old);
}

/* Another tool may have sealed or unsealed its page. */
static bool read_slot(uintptr_t address, struct import_slot *out) {
    int protection = memory_protection(address);
    if (protection < 0 || !(protection & PROT_READ))
        return false;
    *out = (struct import_slot){address, __atomic_load_n((uintptr_t *)address, __ATOMIC_RELAXED),
                                protection};
    return true;
}

/* libjvm is never unloaded: its slot is searched for only once. */
static bool find_slot(struct import_slot *out) {
    static uintptr_t address;
    if (address)
        return read_slot(address, out);
    bool found = imports_find_slot("libjvm", "sigaction", out);
    address = found ? out->address : 0;
    return found;
}

void crash_watch_begin(void (*tell)(void)) {
    sigaction_function *before;
    if (on || !find_slot(&slot))
        return;
    memcpy(&before, &slot.before, sizeof before);
    pid = getpid();
    if (!atomic_load(&real) || before == sigaction)
        atomic_store(&real, before);
    else if (before == watched_sigaction) /* it could not be restored */
        slot.before = (uintptr_t)atomic_load(&real);
    atomic_store(&told, tell);
    on = imports_write_slot(&slot, (uintptr_t)&watched_sigaction);
}

void crash_watch_end(void) {
    struct import_slot now;
    atomic_store(&told, NULL);
    if (on && find_slot(&now) && now.before == (uintptr_t)&watched_sigaction)
        imports_write_slot(&now, slot.before);
    on = false;
}

bool crash_watch_is_on(void) {
    return on;
}
