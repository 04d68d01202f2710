#include "core/agent/process/chain.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>

#define CHAINS_MAX 4
#define PASSING_MAX 64 /* signals on their way at once, and those that never came back */

/* By signal; entries find theirs here. */
static struct chain *_Atomic chains[CHAINS_MAX];

/* A signal that goes on, by the place of its context, which lies on its thread's stack; and the
 * entries it has been to. One whose handler jumped away (siglongjmp) stays. The stack
 * distinguishes a later signal at the same place from one that comes back: what comes back is
 * called from deeper down than `frame`, where the signal first came to us. */
static struct {
    _Atomic uintptr_t context;
    _Atomic uintptr_t frame;
    _Atomic uint32_t entries;
} passing[PASSING_MAX];

static struct chain *chain_of(int signo) {
    for (int i = 0; i < CHAINS_MAX; i++) {
        struct chain *c = atomic_load(&chains[i]);
        if (c && c->signo == signo)
            return c;
    }
    return NULL;
}

/* -1: not on its way. */
static int find_passing(uintptr_t context) {
    for (int i = 0; i < PASSING_MAX; i++)
        if (atomic_load(&passing[i].context) == context)
            return i;
    return -1;
}

/* `at` is its place if it has one. -1: no room. */
static int begin_passing(int at, uintptr_t context, uintptr_t frame) {
    for (int i = 0; i < PASSING_MAX && at < 0; i++) {
        uintptr_t nobody = 0;
        if (atomic_compare_exchange_strong(&passing[i].context, &nobody, context))
            at = i;
    }
    if (at >= 0) {
        atomic_store(&passing[at].frame, frame);
        atomic_store(&passing[at].entries, 0);
    }
    return at;
}

/* Nobody would have handled it. */
static void end_process(const struct chain *c) {
    struct sigaction dfl = {.sa_handler = SIG_DFL};
    sigaction(c->signo, &dfl, NULL);
    if (c->ends_by_raise)
        raise(c->signo);
}

static void call(const struct chain *c, const struct sigaction *to, siginfo_t *info,
                 void *context) {
    /* The VM sets SA_SIGINFO with SIG_IGN and SIG_DFL, too. */
    if (to->sa_handler == SIG_DFL || (to->sa_handler == SIG_IGN && !c->ends_by_raise))
        end_process(c);
    else if (to->sa_handler != SIG_IGN && to->sa_flags & SA_SIGINFO)
        to->sa_sigaction(c->signo, info, context);
    else if (to->sa_handler != SIG_IGN)
        to->sa_handler(c->signo);
}

/* It came back to an entry: the way leads round and round. */
static void leave_circle(const struct chain *c, bool once_more, siginfo_t *info, void *context) {
    if (c->vm)
        c->vm(c->signo, info, context, 1);
    else if (!once_more)
        call(c, &c->first, info, context);
    else
        end_process(c);
}

/* `frame`: of the function that the entry called. */
static void pass_on(const struct chain *c, int entry, uintptr_t frame, siginfo_t *info,
                    void *context) {
    int at = find_passing((uintptr_t)context);
    bool began = at < 0 || frame >= atomic_load(&passing[at].frame);
    if (began)
        at = begin_passing(at, (uintptr_t)context, frame);
    uint32_t bit = 1u << entry, circle = 1u << CHAIN_PLACES;
    uint32_t been = at < 0 ? 0 : atomic_fetch_or(&passing[at].entries, bit);
    if (been & bit)
        leave_circle(c, (atomic_fetch_or(&passing[at].entries, circle) & circle) != 0, info,
                     context);
    else
        call(c, &c->place[entry].before, info, context);
    if (began && at >= 0)
        atomic_store(&passing[at].context, 0);
}

static __attribute__((noinline)) void enter(int entry, int signo, siginfo_t *info, void *context) {
    int saved = errno;
    struct chain *c = chain_of(signo);
    if (c && !c->handle(info, context))
        pass_on(c, entry, (uintptr_t)__builtin_frame_address(0), info, context);
    errno = saved;
}

#define ENTRY(n)                                                                                   \
    static void entry_##n(int signo, siginfo_t *info, void *context) {                             \
        enter(n, signo, info, context);                                                            \
    }
#define ENTRY8(a, b, c, d, e, f, g, h)                                                             \
    ENTRY(a) ENTRY(b) ENTRY(c) ENTRY(d) ENTRY(e) ENTRY(f) ENTRY(g) ENTRY(h)
ENTRY8(0, 1, 2, 3, 4, 5, 6, 7)
ENTRY8(8, 9, 10, 11, 12, 13, 14, 15)

static void (*const entries[CHAIN_PLACES])(int, siginfo_t *, void *) = {
    entry_0, entry_1, entry_2,  entry_3,  entry_4,  entry_5,  entry_6,  entry_7,
    entry_8, entry_9, entry_10, entry_11, entry_12, entry_13, entry_14, entry_15};

/* -1: it is not ours. */
static int entry_of(const struct sigaction *action) {
    for (int i = 0; i < CHAIN_PLACES; i++)
        if (action->sa_flags & SA_SIGINFO && action->sa_sigaction == entries[i])
            return i;
    return -1;
}

/* ---- coming and going ---- */

static void register_chain(struct chain *c) {
    for (int i = 0; i < CHAINS_MAX; i++) {
        struct chain *nobody = NULL;
        if (atomic_load(&chains[i]) == c || atomic_compare_exchange_strong(&chains[i], &nobody, c))
            return;
    }
}

static int free_place(const struct chain *c) {
    for (int i = 0; i < CHAIN_PLACES; i++)
        if (!c->place[i].in)
            return i;
    return -1;
}

static bool is_in(const struct chain *c) {
    for (int i = 0; i < CHAIN_PLACES; i++)
        if (c->place[i].in)
            return true;
    return false;
}

bool chain_is_front(const struct chain *c) {
    struct sigaction now;
    return sigaction(c->signo, NULL, &now) == 0 && entry_of(&now) >= 0;
}

int chain_enter(struct chain *c) {
    struct sigaction now, ours;
    if (sigaction(c->signo, NULL, &now) != 0)
        return -errno;
    if (entry_of(&now) >= 0)
        return 0;
    int i = free_place(c);
    if (i < 0)
        return -EBUSY;
    if (!is_in(c))
        c->first = now;
    register_chain(c);
    c->place[i].before = now;
    ours = now;
    if (c->flags >= 0) {
        sigemptyset(&ours.sa_mask);
        ours.sa_flags = c->flags;
    }
    ours.sa_flags |= SA_SIGINFO;
    ours.sa_sigaction = entries[i];
    if (sigaction(c->signo, &ours, NULL) != 0)
        return -errno;
    c->place[i].in = true;
    return 0;
}

bool chain_put_behind(int signo, const struct sigaction *action, struct sigaction *old) {
    struct chain *c = chain_of(signo);
    struct sigaction now;
    int at = c && sigaction(signo, NULL, &now) == 0 ? entry_of(&now) : -1;
    if (at < 0)
        return false;
    const struct sigaction before = c->place[at].before;
    c->place[at].before = *action;
    if (sigaction(signo, NULL, &now) != 0 || entry_of(&now) != at)
        return false; /* ours has just been removed */
    if (old)
        *old = before;
    return true;
}

void chain_leave(struct chain *c) {
    struct sigaction now;
    /* What was before one of ours may be another one, when who was in between is gone. */
    for (int i = 0; i < CHAIN_PLACES; i++) {
        int at = sigaction(c->signo, NULL, &now) == 0 ? entry_of(&now) : -1;
        if (at < 0 || sigaction(c->signo, &c->place[at].before, NULL) != 0)
            return;
        c->place[at].in = false;
    }
}
