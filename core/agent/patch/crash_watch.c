#include "core/agent/patch/crash_watch.h"

#include "core/agent/patch/imports.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>

typedef int sigaction_function(int signo, const struct sigaction *action, struct sigaction *old);

static sigaction_function *_Atomic real = sigaction;
static void (*_Atomic told)(int signo);
static struct import_slot slot;
static bool on;

static int watched_sigaction(int signo, const struct sigaction *action, struct sigaction *old) {
    void (*tell)(int) = atomic_load(&told);
    if (action && tell && (signo == SIGSEGV || signo == SIGBUS || signo == SIGTRAP))
        tell(signo);
    return atomic_load(&real)(signo, action, old);
}

void crash_watch_begin(void (*tell)(int signo)) {
    sigaction_function *before;
    if (on || !imports_find_slot("libjvm", "sigaction", &slot))
        return;
    memcpy(&before, &slot.before, sizeof before);
    if (before != watched_sigaction)
        atomic_store(&real, before);
    atomic_store(&told, tell);
    on = imports_write_slot(&slot, (uintptr_t)&watched_sigaction);
}

void crash_watch_end(void) {
    struct import_slot now;
    atomic_store(&told, NULL);
    if (on && imports_find_slot("libjvm", "sigaction", &now) &&
        now.before == (uintptr_t)&watched_sigaction)
        imports_write_slot(&now, slot.before);
    on = false;
}

bool crash_watch_is_on(void) {
    return on;
}
