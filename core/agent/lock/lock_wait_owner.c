#include "core/agent/lock/lock_wait_owner.h"

#include "core/agent/process/reserve.h"
#include "core/agent/walk/virtual_thread.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A slot's state: step in bits 0-2, then how often the slot was used, which tells the answer
 * from one to another waiter. A ticket is the slot's number + 1 in bits 0-7, and that count above.
 * */
enum step { FREE = 0, ASKED, WALKING, DONE, READ, LEFT };
#define STEP_BITS 3
#define SLOT_BITS 8
#define USES_MASK ((1u << (32 - SLOT_BITS)) - 1)
#define SPACING_NS (1000000000u / OWNERS_PER_SECOND)
#define ALTERNATE_STACK_MIN 16384u /* as in sampler.c */

static_assert(OWNER_SLOTS < 1u << SLOT_BITS, "tickets");

static uint32_t state(uint32_t uses, enum step step) {
    return (uses & USES_MASK) << STEP_BITS | step;
}

static uint32_t uses_of(uint32_t s) {
    return s >> STEP_BITS & USES_MASK;
}

static enum step step_of(uint32_t s) {
    return (enum step)(s & ((1u << STEP_BITS) - 1));
}

static bool change(struct owner_slot *slot, uint32_t uses, enum step from, enum step to) {
    uint32_t expected = state(uses, from);
    return atomic_compare_exchange_strong(&slot->state, &expected, state(uses, to));
}

int lock_owners_open(struct lock_owners *o, struct sampler *s, struct signals *signals,
                     signals_handler *handler) {
    char why[64];
    void *p = reserve(OWNER_SLOTS * sizeof *o->slot);
    if (!p)
        return -errno;
    o->slot = p;
    o->sampler = s;
    o->next_ns = 0;
    o->signo = signals_find_queued();
    if (o->signo && signals_take(signals, o->signo, false, handler, why, sizeof why) < 0)
        o->signo = 0;
    return 0;
}

void lock_owners_close(struct lock_owners *o, struct signals *signals) {
    if (o->signo)
        signals_give_back(signals, o->signo);
    o->signo = 0;
    if (o->slot)
        munmap(o->slot, OWNER_SLOTS * sizeof *o->slot);
    o->slot = NULL;
}

bool lock_owners_may_ask(struct lock_owners *o, uint64_t now_ns) {
    uint64_t next = atomic_load_explicit(&o->next_ns, memory_order_relaxed);
    return o->signo && now_ns >= next &&
           atomic_compare_exchange_strong(&o->next_ns, &next, now_ns + SPACING_NS);
}

/* Makes slot i ours, from any of the steps in which nobody is at it. The uses, 0: it is busy. */
static uint32_t occupy(struct lock_owners *o, uint32_t i, bool old_ones) {
    uint32_t s = atomic_load_explicit(&o->slot[i].state, memory_order_relaxed);
    enum step step = step_of(s);
    if (step != FREE && !(old_ones && (step == ASKED || step == DONE)))
        return 0;
    uint32_t uses = (uses_of(s) + 1) & USES_MASK;
    uses += uses == 0;
    return atomic_compare_exchange_strong(&o->slot[i].state, &s, state(uses, READ)) ? uses : 0;
}

static int queue(int signo, uint32_t tid, uint32_t ticket) {
    siginfo_t info;
    pid_t pid = getpid();
    memset(&info, 0, sizeof info);
    info.si_signo = signo;
    info.si_code = SI_QUEUE;
    info.si_pid = pid;
    info.si_uid = getuid();
    info.si_value.sival_int = (int)ticket;
    return (int)syscall(SYS_rt_tgsigqueueinfo, pid, (pid_t)tid, signo, &info);
}

uint32_t lock_owners_ask(struct lock_owners *o, const struct lock_owner *owner) {
    uint32_t begin = atomic_fetch_add_explicit(&o->turn, 1, memory_order_relaxed);
    uint32_t uses = 0;
    uint32_t i = 0;
    for (uint32_t n = 0; n < 2 * OWNER_SLOTS && !uses; n++) {
        i = (begin + n) % OWNER_SLOTS;
        uses = occupy(o, i, n >= OWNER_SLOTS);
    }
    if (!uses || !owner->java || !owner->tid) {
        if (uses)
            change(&o->slot[i], uses, READ, FREE);
        return 0;
    }
    struct owner_slot *slot = &o->slot[i];
    uint32_t ticket = uses << SLOT_BITS | (i + 1);
    slot->java = owner->java;
    slot->tid = owner->tid;
    slot->virtual_id = owner->virtual_id;
    change(slot, uses, READ, ASKED);
    if (queue(o->signo, owner->tid, ticket) == 0)
        return ticket;
    change(slot, uses, ASKED, FREE);
    return 0;
}

static struct owner_slot *slot_of(struct lock_owners *o, uint32_t ticket) {
    uint32_t i = ticket & ((1u << SLOT_BITS) - 1);
    return o->slot && i >= 1 && i <= OWNER_SLOTS ? &o->slot[i - 1] : NULL;
}

struct owner_slot *lock_owners_take(struct lock_owners *o, uint32_t ticket) {
    struct owner_slot *slot = slot_of(o, ticket);
    uint32_t uses = ticket >> SLOT_BITS;
    if (!slot)
        return NULL;
    if (change(slot, uses, DONE, READ))
        return slot;
    /* Too late, or at it just now: then the handler frees the slot. */
    if (!change(slot, uses, ASKED, FREE))
        change(slot, uses, WALKING, LEFT);
    return NULL;
}

void lock_owners_give_back(struct owner_slot *slot) {
    change(slot, uses_of(atomic_load(&slot->state)), READ, FREE);
}

/* Guarded loads need their faults, a walk some stack. */
static bool may_walk(const ucontext_t *u) {
    const stack_t *alternate = &u->uc_stack;
    return !sigismember(&u->uc_sigmask, SIGSEGV) && !sigismember(&u->uc_sigmask, SIGBUS) &&
           (alternate->ss_flags & SS_DISABLE || alternate->ss_size >= ALTERNATE_STACK_MIN);
}

static void walk(struct sampler *s, struct owner_slot *slot, void *context) {
    struct walker w = s->walker;
    struct registers r = registers_read(context);
    struct stack st = {.frame = slot->frame, .max = OWNER_FRAMES, .java_max = s->depth};
    if (w.walk == WIRE_WALK_ASGCT)
        walk_asgct(&s->asgct, &w, context, &r, &st);
    else
        walk_vm(&w, &r, &st);
    slot->frames = st.n;
}

void lock_owners_handle(struct lock_owners *o, const siginfo_t *info, void *context) {
    uint32_t ticket = (uint32_t)info->si_value.sival_int;
    struct owner_slot *slot = info->si_code == SI_QUEUE ? slot_of(o, ticket) : NULL;
    uint32_t uses = ticket >> SLOT_BITS;
    if (!slot || !change(slot, uses, ASKED, WALKING))
        return;
    const struct vm *vm = o->sampler->walker.vm;
    slot->frames = 0;
    if (may_walk(context) && vm_current_java_thread(vm) == slot->java &&
        virtual_thread_current(vm, &o->sampler->names, slot->java, slot->tid) == slot->virtual_id)
        walk(o->sampler, slot, context);
    if (!change(slot, uses, WALKING, DONE))
        change(slot, uses, LEFT, FREE);
}
