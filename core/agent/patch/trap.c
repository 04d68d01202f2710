#include "core/agent/patch/trap.h"

#include "core/agent/process/guarded.h"
#include "core/agent/process/registers.h"
#include "core/agent/process/sigtrap.h"
#include "core/agent/process/trap_process.h"

#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define AT_ONCE_MAX 64u /* handlers of a trap; more of them call one another */
#define TRAP_LIVES UINT64_C(0x7ea9)

struct trap {
    _Atomic uintptr_t address; /* kept when it is removed: a thread may have run into it */
    uint64_t removed;          /* how many were before it; of the oldest the place is taken */
    _Atomic(trap_hit *) hit;   /* NULL: removed */
    void *arg;
    struct trap_step step;
    trap_word original;
    bool lifts;
    bool in_place;  /* between trap_install and trap_remove */
    int protection; /* of its page, before */
    void *library;  /* it is in, which stays loaded for as long */
    _Atomic uint32_t at_work;
};

static struct {
    struct trap trap[TRAPS_MAX];
    uint64_t removed;
    _Atomic(uint64_t *) lives; /* TRAP_LIVES, and zero in the child of a fork; stays mapped, since
                                  a thread may be in the handler */
} traps;

static trap_word *code_of(uintptr_t address) {
    return (trap_word *)address; /* one byte, or an aligned word */
}

static bool is_set(uintptr_t address) {
    return __atomic_load_n(code_of(address), __ATOMIC_RELAXED) == (trap_word)TRAP_WORD;
}

static void put(uintptr_t address, trap_word code) {
    __atomic_store_n(code_of(address), code, __ATOMIC_SEQ_CST);
    __builtin___clear_cache((char *)address, (char *)address + TRAP_BYTES);
}

static struct trap *find(uintptr_t address) {
    for (int i = 0; i < TRAPS_MAX; i++)
        if (address && atomic_load(&traps.trap[i].address) == address)
            return &traps.trap[i];
    return NULL;
}

/* One that was removed, or lifted, leads to where the instruction is again. In a child of a fork
 * the code was copied as it was: there a trap that is not stepped over is taken out for good; and
 * so it is where what the trap's function itself calls runs into it without end. */
static void go_on(const struct trap *t, uintptr_t at, bool stays, void *context) {
    if (!is_set(at)) {
        registers_set_pc(context, at);
        return;
    }
    if (t->step.kind == TRAP_STEP_NONE && !stays)
        put(at, t->original);
    trap_step_do(&t->step, at, context);
}

/* Whether the processor raised the signal at a breakpoint (source: do_int3 of x86, brk_handler of
 * arm64). An event of perf may interrupt a thread just behind the first instruction of a function that
 * has or had a breakpoint: if that instruction were carried out again, the stack would be wrong. */
static bool is_breakpoint(const siginfo_t *info) {
    return info->si_code == SI_KERNEL || info->si_code == TRAP_BRKPT;
}

/* Another SIGTRAP may have taken the place of a breakpoint's. Then the thread runs into it again. */
static void look(const siginfo_t *info, void *context) {
    uintptr_t at = registers_pc(context) - TRAP_AHEAD;
    const struct trap *t = is_breakpoint(info) ? NULL : find(at);
    if (t && trap_step_is_to_do(&t->step, context))
        registers_set_pc(context, at);
}

static bool on_trap(siginfo_t *info, void *context) {
    uintptr_t at = registers_pc(context) - TRAP_AHEAD;
    struct trap *t = is_breakpoint(info) ? find(at) : NULL;
    if (!t)
        return false;
    const uint64_t *lives_at = atomic_load(&traps.lives);
    bool lives = lives_at && *lives_at == TRAP_LIVES;
    enum trap_then then = TRAP_GO_ON;
    (void)sigtrap_unblock(context); /* hit() may run into another trap */
    bool few = atomic_fetch_add(&t->at_work, 1) < AT_ONCE_MAX;
    trap_hit *hit = atomic_load(&t->hit);
    if (hit && lives && few)
        then = hit(t->arg, context);
    else if (t->step.kind == TRAP_STEP_NONE && !t->lifts)
        then = is_set(at) ? TRAP_RETURN : TRAP_GO_ON;
    if (then == TRAP_RETURN)
        trap_step_return(context);
    else
        go_on(t, at, lives && few, context);
    atomic_fetch_sub(&t->at_work, 1);
    return true;
}

static int take_lives(void) {
    uint64_t *lives = atomic_load(&traps.lives);
    if (!lives) {
        lives =
            mmap(NULL, sizeof *lives, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (lives == MAP_FAILED)
            return -errno;
        madvise(lives, sizeof *lives, MADV_WIPEONFORK); /* kernels before 4.14 do not */
    }
    *lives = TRAP_LIVES;
    atomic_store(&traps.lives, lives);
    return 0;
}

static int take_signal(char *why, size_t why_bytes) {
    int r = take_lives();
    sigtrap_look_first(look);
    if (r == 0)
        r = sigtrap_take(SIGTRAP_OF_BREAKPOINTS, on_trap);
    if (r == -EBUSY)
        snprintf(why, why_bytes, "other code replaced jtop-prof's SIGTRAP handler too often");
    else if (r < 0)
        snprintf(why, why_bytes, "SIGTRAP cannot be used (errno %d)", -r);
    return r;
}

/* After the last trap. A thread that is at the handler's beginning still finds where its trap
 * was. */
static void give_signal_back(void) {
    for (int i = 0; i < TRAPS_MAX; i++)
        if (atomic_load(&traps.trap[i].hit))
            return;
    sigtrap_give_back(SIGTRAP_OF_BREAKPOINTS);
}

/* The code. */

static uintptr_t page_of(uintptr_t address) {
    return address & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
}

/* Of the traps there are, one whose page this is as well and which needs it writable, or any. */
static const struct trap *neighbour(uintptr_t address, const struct trap *except, bool lifts) {
    for (int i = 0; i < TRAPS_MAX; i++) {
        const struct trap *t = &traps.trap[i];
        uintptr_t there = atomic_load(&t->address);
        if (t != except && t->in_place && page_of(there) == page_of(address) &&
            (t->lifts || !lifts))
            return t;
    }
    return NULL;
}

static int change(uintptr_t address, int protection) {
    void *page = (void *)page_of(address);
    return mprotect(page, (size_t)sysconf(_SC_PAGESIZE), protection) == 0 ? 0 : -errno;
}

static void protect_again(const struct trap *t, uintptr_t address) {
    if (!neighbour(address, t, true))
        change(address, t->protection);
}

/* The C library begins and ends threads with all signals blocked, and allocates meanwhile: a
 * breakpoint there would end the process. */
static bool is_of_c_library(uintptr_t address) {
    static const char *const names[] = {"libc.",    "libc-", "libpthread",
                                        "ld-linux", "ld-2",  "ld-musl"};
    Dl_info info;
    if (!dladdr((void *)address, &info) || !info.dli_fname)
        return false;
    const char *slash = strrchr(info.dli_fname, '/');
    const char *name = slash ? slash + 1 : info.dli_fname;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* Whether it may be written over: code out of a file, that nobody else has a breakpoint in. */
static int check(uintptr_t address, uint8_t *code, int *protection, char *why, size_t why_bytes) {
    if (address % TRAP_BYTES || guarded_copy(code, address, TRAP_CODE_BYTES)) {
        snprintf(why, why_bytes, "there is no code at 0x%lx", (unsigned long)address);
        return -EFAULT;
    }
    const struct trap *same_page = neighbour(address, NULL, false);
    *protection = same_page ? same_page->protection : trap_process_protection(address);
    if (*protection < 0 || !(*protection & PROT_EXEC) || *protection & PROT_WRITE) {
        snprintf(why, why_bytes, "the code at 0x%lx is not in a library", (unsigned long)address);
        return -EFAULT;
    }
    if (is_of_c_library(address)) {
        snprintf(why, why_bytes,
                 "a breakpoint in the C library would end the JVM: its functions also run with "
                 "signals blocked; name one of the VM or of your own library");
        return -EPERM;
    }
    if (is_set(address)) {
        snprintf(why, why_bytes, "another tool has a breakpoint at 0x%lx", (unsigned long)address);
        return -EBUSY;
    }
    uint32_t tid = trap_process_blocked();
    if (tid) {
        snprintf(why, why_bytes, "thread %u blocks SIGTRAP: a breakpoint would end the process",
                 tid);
        return -EPERM;
    }
    return 0;
}

/* NULL: the program itself, which stays without that. */
static void *hold_library(uintptr_t address) {
    Dl_info info;
    if (!dladdr((void *)address, &info) || !info.dli_fname)
        return NULL;
    return dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

static void let_go(struct trap *t) {
    if (t->library)
        dlclose(t->library);
    t->library = NULL;
}

static int free_place(uintptr_t address) {
    int found = -1;
    for (int i = 0; i < TRAPS_MAX; i++) {
        struct trap *t = &traps.trap[i];
        uintptr_t there = atomic_load(&t->address);
        if (there == address)
            return t->in_place ? -1 : i;
        if (t->in_place)
            continue;
        if (found < 0 || t->removed < traps.trap[found].removed)
            found = i;
    }
    return found;
}

int trap_install(uintptr_t address, trap_hit *hit, void *arg, bool lifts, char *why,
                 size_t why_bytes) {
    uint8_t code[TRAP_CODE_BYTES];
    int protection;
    int r = check(address, code, &protection, why, why_bytes);
    if (r < 0)
        return r;
    int i = free_place(address);
    if (i < 0) {
        snprintf(why, why_bytes, "too many breakpoints, or there is already one at 0x%lx",
                 (unsigned long)address);
        return -EBUSY;
    }
    r = take_signal(why, why_bytes);
    if (r < 0)
        return r;
    struct trap *t = &traps.trap[i];
    t->step = trap_step_read(code);
    t->original = *code_of(address);
    t->lifts = lifts;
    t->protection = protection;
    t->arg = arg;
    t->library = hold_library(address);
    atomic_store(&t->hit, hit);
    atomic_store(&t->address, address);
    r = change(address, protection | PROT_WRITE);
    if (r < 0) {
        snprintf(why, why_bytes, "code at 0x%lx cannot be made writable (errno %d)",
                 (unsigned long)address, -r);
        atomic_store(&t->hit, NULL);
        atomic_store(&t->address, 0); /* nobody ran into it */
        let_go(t);
        give_signal_back();
        return r;
    }
    t->in_place = true;
    put(address, (trap_word)TRAP_WORD);
    if (!lifts)
        protect_again(t, address);
    return i;
}

static void restore(struct trap *t) {
    uintptr_t address = atomic_load(&t->address);
    if (t->lifts || change(address, t->protection | PROT_WRITE) == 0) {
        put(address, t->original);
        protect_again(t, address);
    }
    t->in_place = false;
    t->removed = ++traps.removed;
    let_go(t);
}

void trap_remove(const int *trap, uint32_t n) {
    /* First no more hits: the last one of one trap may set another. */
    for (uint32_t i = 0; i < n; i++)
        if (trap[i] >= 0)
            atomic_store(&traps.trap[trap[i]].hit, NULL);
    for (uint32_t i = 0; i < n; i++) {
        struct trap *t = trap[i] >= 0 ? &traps.trap[trap[i]] : NULL;
        while (t && atomic_load(&t->at_work)) {
            /* A thread that hits it now finds nothing; a late hit of the other may have set it. */
            if (t->lifts)
                put(atomic_load(&t->address), t->original);
            sched_yield();
        }
    }
    for (uint32_t i = 0; i < n; i++)
        if (trap[i] >= 0)
            restore(&traps.trap[trap[i]]);
    give_signal_back();
}

bool trap_goes_on(uintptr_t address) {
    uint8_t code[TRAP_CODE_BYTES];
    return guarded_copy(code, address, sizeof code) == 0 &&
           trap_step_read(code).kind != TRAP_STEP_NONE;
}

void trap_lift(int trap) {
    const struct trap *t = &traps.trap[trap < 0 ? 0 : trap];
    if (trap >= 0)
        put(t->address, t->original);
}

void trap_set(int trap) {
    if (trap >= 0)
        put(traps.trap[trap].address, (trap_word)TRAP_WORD);
}
