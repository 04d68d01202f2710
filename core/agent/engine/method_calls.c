#include "core/agent/engine/method_calls.h"

#include "core/agent/engine/native_gate.h"
#include "core/agent/patch/bytecode.h"
#include "core/agent/process/reserve.h"
#include "core/agent/threads.h"
#include "core/agent/walk/virtual_thread.h"
#include "core/base/clock.h"
#include "core/base/hash.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CALLERS_MAX (1u << 15) /* threads in the method at a time */
#define PROBES 32u
#define DEPTH_MAX 126u /* calls in each other; deeper ones are part of the one above */
#define TURN_MOST 2000u
#define TURN_LEAST 500u
#define EVERY_MAX (1u << 16)
#define LONG_NS 1000000u /* calls of a millisecond are rare enough to be sampled each */
#define SLACK 4096u      /* bytes that a frame may move by when its method is compiled or is not */

struct call {
    uint64_t since_ns;
    uintptr_t frame; /* where the stack was; platform threads only */
    uint16_t id;
};

/* One thread's calls; only that thread uses them, except `key`. */
struct caller {
    _Atomic uint64_t key; /* 0: free; thread number << 1, virtual thread's << 1 | 1 */
    uint32_t depth;       /* may be more than are kept */
    uint32_t reserved;
    struct call call[DEPTH_MAX];
};

static struct {
    struct native_gate gate;
    struct caller *caller;
    _Atomic uint32_t every;
    _Atomic uint32_t taken; /* since the last turn */
    _Atomic uint32_t calls;
    _Atomic uint64_t counted; /* of request.every */
    uint64_t least[WIRE_METHODS];
} calls;

int method_calls_open(struct engine_run *run, const uint64_t *least, uint32_t targets) {
    void *p = reserve(CALLERS_MAX * sizeof *calls.caller);
    if (!p)
        return -errno;
    calls.caller = p;
    calls.every = 1;
    calls.taken = calls.calls = 0;
    calls.counted = 0;
    for (uint32_t i = 0; i < WIRE_METHODS; i++)
        calls.least[i] = i < targets ? least[i] : 0;
    native_gate_open(&calls.gate, run);
    return 0;
}

void method_calls_shut(void) {
    native_gate_shut(&calls.gate);
    if (calls.caller)
        munmap(calls.caller, CALLERS_MAX * sizeof *calls.caller);
    calls.caller = NULL;
}

void method_calls_turn(void) {
    uint32_t taken = atomic_exchange(&calls.taken, 0);
    uint32_t every = calls.every;
    if (taken > TURN_MOST && every < EVERY_MAX)
        calls.every = 2 * every;
    else if (taken < TURN_LEAST && every > 1)
        calls.every = every / 2;
}

/* The entry with that key, or the first free one in `free_one`. */
static struct caller *look(uint64_t key, struct caller **free_one) {
    uint64_t h = hash_word(key) >> 40;
    *free_one = NULL;
    for (uint32_t i = 0; i < PROBES; i++) {
        struct caller *c = &calls.caller[(h + i) % CALLERS_MAX];
        uint64_t there = atomic_load_explicit(&c->key, memory_order_relaxed);
        if (there == key)
            return c;
        if (!there && !*free_one)
            *free_one = c;
    }
    return NULL;
}

/* The calling thread's entry; NULL: none, or there is no room for one. */
static struct caller *find(uint64_t key, bool make) {
    for (uint32_t i = 0; i < PROBES; i++) {
        struct caller *free_one;
        struct caller *c = look(key, &free_one);
        if (c || !make || !free_one)
            return c;
        uint64_t none = 0;
        if (atomic_compare_exchange_strong(&free_one->key, &none, key)) {
            free_one->depth = 0;
            return free_one;
        }
    }
    return NULL;
}

static uint64_t own_key(const struct engine_run *run, uint32_t tid, bool *is_virtual) {
    const struct sampler *s = run->sampler;
    const struct vm *vm = s->walker.vm;
    uint64_t id = vm->virtual_threads.known
                      ? virtual_thread_current(vm, s->walker.names, vm_current_java_thread(vm), tid)
                      : 0;
    *is_virtual = id != 0;
    return id ? id << 1 | 1 : (uint64_t)tid << 1;
}

/* The end of a constructor by an exception is not reported: its entry stays until a call further
 * out ends. If the constructor begins again at the same place, the old call has ended. */
static void drop_dead(struct caller *c, uintptr_t frame, uint16_t id) {
    uint32_t at = c->depth < DEPTH_MAX ? c->depth : DEPTH_MAX;
    if (c->depth > DEPTH_MAX || !(id & BYTECODE_CONSTRUCTOR))
        return;
    while (at-- > 0 && c->call[at].frame <= frame && c->call[at].id & BYTECODE_CONSTRUCTOR) {
        if (c->call[at].id == id) {
            c->depth = at;
            return;
        }
    }
}

/* What lies much deeper than the stack is now is over. Where a virtual thread's stack lies says
 * nothing: there the constructors go. */
static void make_room(struct caller *c, uintptr_t frame, bool is_virtual) {
    uint32_t kept = DEPTH_MAX;
    while (kept > 0 && (is_virtual ? (c->call[kept - 1].id & BYTECODE_CONSTRUCTOR) != 0
                                   : c->call[kept - 1].frame + SLACK < frame))
        kept--;
    if (kept < DEPTH_MAX)
        c->depth = kept;
}

static void enter(const struct engine_run *run, uintptr_t frame, uint16_t id) {
    bool is_virtual;
    uint32_t tid = (uint32_t)syscall(SYS_gettid);
    struct caller *c = find(own_key(run, tid, &is_virtual), true);
    if (!c)
        return;
    if (!is_virtual)
        drop_dead(c, frame, id);
    if (c->depth >= DEPTH_MAX)
        make_room(c, frame, is_virtual);
    if (c->depth < DEPTH_MAX)
        c->call[c->depth] = (struct call){clock_now_ns(), is_virtual ? UINTPTR_MAX : frame, id};
    c->depth++;
}

static bool is_due(uint32_t every) {
    return every <= 1 ||
           atomic_fetch_add_explicit(&calls.calls, 1, memory_order_relaxed) % every == 0;
}

static void take(struct engine_run *run, uint32_t tid, uint64_t ns, uint32_t every) {
    struct sample_request q = {
        .from = registers_of_caller(__builtin_frame_address(0)),
        .java_only = true,
        .skip_java = 1, /* exit() itself */
        .tid = tid,
        .event = WIRE_EVENT_METHOD,
        .weight = ns * every,
        .count = every,
        .state = WIRE_THREAD_RUNNING,
    };
    if (!sampler_enter(run->sampler))
        return;
    if (sampler_take(run->sampler, &q))
        atomic_fetch_add_explicit(&calls.taken, 1, memory_order_relaxed);
    sampler_leave(run->sampler);
}

/* Whether this is an Nth call (-i N). It stands for itself alone. */
static bool is_counted(uint64_t every) {
    return every <= 1 ||
           (atomic_fetch_add_explicit(&calls.counted, 1, memory_order_relaxed) + 1) % every == 0;
}

/* Takes the call off, with those in it whose end was not told. False: it began before we did, or
 * was too deep to be kept. */
static bool end_call(struct caller *c, uint16_t id, uint64_t *ns) {
    if (c->depth > DEPTH_MAX) {
        c->depth--;
        return false;
    }
    uint32_t at = c->depth;
    while (at > 0 && c->call[at - 1].id != id)
        at--;
    if (at == 0)
        return false;
    c->depth = at - 1;
    *ns = clock_now_ns() - c->call[at - 1].since_ns;
    return true;
}

static void leave(struct engine_run *run, uint32_t target, uint16_t id) {
    bool is_virtual;
    uint32_t tid = (uint32_t)syscall(SYS_gettid);
    struct caller *c = find(own_key(run, tid, &is_virtual), false);
    uint64_t ns = 0;
    if (!c)
        return;
    bool kept = end_call(c, id, &ns);
    if (!c->depth)
        atomic_store_explicit(&c->key, 0, memory_order_release);
    uint32_t every = ns < LONG_NS ? calls.every : 1;
    if (kept && ns >= run->request.interval && ns >= calls.least[target] &&
        is_counted(run->request.every) && is_due(every))
        take(run, tid, ns, every);
}

static void JNICALL on_enter(JNIEnv *jni, jclass c, jint id) {
    (void)jni, (void)c;
    struct native_stripe *stripe = native_gate_enter(&calls.gate);
    if (!stripe)
        return;
    struct engine_run *run = calls.gate.run;
    if (run)
        enter(run, (uintptr_t)__builtin_frame_address(0), (uint16_t)id);
    native_gate_leave(stripe);
}

static __attribute__((noinline)) void on_exit_of(uint32_t target, jint id) {
    struct native_stripe *stripe = native_gate_enter(&calls.gate);
    if (!stripe)
        return;
    struct engine_run *run = calls.gate.run;
    if (run)
        leave(run, target, (uint16_t)id);
    native_gate_leave(stripe);
}

#define EXIT(n)                                                                                    \
    static void JNICALL on_exit_##n(JNIEnv *jni, jclass c, jint id) {                              \
        (void)jni, (void)c;                                                                        \
        on_exit_of(n, id);                                                                         \
    }
#define EXITS(x)                                                                                   \
    x(0) x(1) x(2) x(3) x(4) x(5) x(6) x(7) x(8) x(9) x(10) x(11) x(12) x(13) x(14) x(15)
EXITS(EXIT)

struct method_calls_natives method_calls_natives(void) {
#define NAME(n) {(char *)"exit" #n, (char *)"(I)V", __extension__(void *) on_exit_##n},
    static const JNINativeMethod natives[] = {
        {(char *)"enter", (char *)"(I)V", __extension__(void *) on_enter}, EXITS(NAME)};
    static_assert(sizeof natives / sizeof natives[0] == WIRE_METHODS + 1, "one for each");
    return (struct method_calls_natives){natives, sizeof natives / sizeof natives[0]};
}
