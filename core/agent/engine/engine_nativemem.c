/* Native memory: malloc and its relatives, and anonymous mmap, as the libraries call them. What the
 * C library allocates by itself without such a call (thread stacks) is not seen, and neither is
 * what a library does while it is loaded. */
#include "core/agent/engine/native_blocks.h"
#include "core/agent/engine/native_gate.h"
#include "core/agent/patch/imports.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define UNTOLD_MAX 4096u
#define UNTOLD_TRIES 64u

/* Frees that found the ring full. */
struct untold {
    _Atomic uint64_t live_id[UNTOLD_MAX]; /* 0: free */
    _Atomic uint32_t count;
    _Atomic uint64_t lost;
};

/* Looked up, since nothing else here may allocate by them. */
struct functions {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void (*free)(void *);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    void *(*mmap)(void *, size_t, int, int, int, off_t);
    int (*munmap)(void *, size_t);
};

/* The real ones, and another profiler's hooks. */
static struct functions libc, next;

static struct {
    struct native_gate gate;
    struct imports imports;
    struct native_blocks blocks;
    _Atomic bool follow; /* frees are checked; changed while the gate is shut */
    struct untold untold;
} mem;

static void keep_untold(uint64_t live_id) {
    for (uint32_t i = 0; i < UNTOLD_TRIES && mem.untold.count < UNTOLD_MAX; i++) {
        _Atomic uint64_t *at = &mem.untold.live_id[(live_id + i) % UNTOLD_MAX];
        uint64_t none = 0;
        if (atomic_compare_exchange_strong(at, &none, live_id)) {
            atomic_fetch_add(&mem.untold.count, 1);
            return;
        }
    }
    atomic_fetch_add(&mem.untold.lost, 1);
}

static void tell_untold(struct sampler *s) {
    for (uint32_t i = 0; i < UNTOLD_MAX && atomic_load(&mem.untold.count); i++) {
        uint64_t live_id = atomic_load(&mem.untold.live_id[i]);
        if (!live_id)
            continue;
        if (!sampler_free(s, live_id))
            return;
        atomic_store(&mem.untold.live_id[i], 0);
        atomic_fetch_sub(&mem.untold.count, 1);
    }
}

static void tell_free(struct sampler *s, uint64_t live_id) {
    if (live_id && !sampler_free(s, live_id))
        keep_untold(live_id);
}

/* A sample, and the block is followed. Whatever was followed at that address was given back by ways
 * that are not seen. */
static void take_sample(struct engine_run *run, const void *frame, uintptr_t real, void *block,
                        uint64_t weight) {
    uint64_t live_id = mem.follow ? sampler_live_id(run->sampler) : 0;
    if (!native_gate_sample(&mem.gate, frame, real, weight, live_id) || !live_id)
        return;
    tell_free(run->sampler, native_blocks_take(&mem.blocks, (uintptr_t)block));
    native_blocks_add(&mem.blocks, (uintptr_t)block, live_id);
}

/* `frame`: the hook's own. */
static void allocated(const void *frame, uintptr_t real, void *block, uint64_t bytes) {
    int saved = errno;
    bool is_ours = block && bytes && !imports_is_passed_on(frame);
    struct native_stripe *stripe = is_ours ? native_gate_enter(&mem.gate) : NULL;
    if (!stripe)
        return;
    struct engine_run *run = mem.gate.run;
    uint64_t weight = run ? native_gate_due(stripe, run->request.interval, bytes) : 0;
    if (weight)
        take_sample(run, frame, real, block, weight);
    native_gate_leave(stripe);
    errno = saved;
}

/* Before the block is given back. Its number, where it was followed. */
static uint64_t forget(const void *block) {
    bool follow = atomic_load_explicit(&mem.follow, memory_order_relaxed);
    struct native_stripe *stripe = block && follow ? native_gate_enter(&mem.gate) : NULL;
    if (!stripe)
        return 0;
    uint64_t live_id = mem.follow ? native_blocks_take(&mem.blocks, (uintptr_t)block) : 0;
    native_gate_leave(stripe);
    return live_id;
}

static void freed(uint64_t live_id) {
    int saved = errno;
    struct native_stripe *stripe = live_id ? native_gate_enter(&mem.gate) : NULL;
    if (!stripe)
        return;
    struct engine_run *run = mem.gate.run;
    if (run && (uint32_t)getpid() == mem.gate.pid && sampler_enter(run->sampler)) {
        tell_free(run->sampler, live_id);
        sampler_leave(run->sampler);
    }
    native_gate_leave(stripe);
    errno = saved;
}

/* It was not freed after all. */
static void remember(void *block, uint64_t live_id) {
    struct native_stripe *stripe = live_id ? native_gate_enter(&mem.gate) : NULL;
    if (!stripe)
        return;
    if (mem.follow)
        native_blocks_add(&mem.blocks, (uintptr_t)block, live_id);
    native_gate_leave(stripe);
}

/* What a hook does, calling on by `f`. Its frame is the hook's own. */
#define BODY static inline __attribute__((always_inline))
#define ALLOCATED(function, block, bytes)                                                          \
    allocated(__builtin_frame_address(0), (uintptr_t)libc.function, block, bytes)

BODY void *do_malloc(const struct functions *f, size_t bytes) {
    void *p = f->malloc(bytes);
    ALLOCATED(malloc, p, bytes);
    return p;
}

BODY void *do_calloc(const struct functions *f, size_t n, size_t bytes) {
    void *p = f->calloc(n, bytes);
    ALLOCATED(calloc, p, (uint64_t)n * bytes);
    return p;
}

BODY void *do_realloc(const struct functions *f, void *old, size_t bytes) {
    uint64_t live_id = forget(old);
    void *p = f->realloc(old, bytes);
    if (p || bytes == 0)
        freed(live_id);
    else
        remember(old, live_id);
    ALLOCATED(realloc, p, bytes);
    return p;
}

BODY void do_free(const struct functions *f, void *block) {
    freed(forget(block));
    f->free(block);
}

BODY int do_posix_memalign(const struct functions *f, void **out, size_t alignment, size_t bytes) {
    int r = f->posix_memalign(out, alignment, bytes);
    if (r == 0)
        ALLOCATED(posix_memalign, *out, bytes);
    return r;
}

BODY void *do_aligned_alloc(const struct functions *f, size_t alignment, size_t bytes) {
    void *p = f->aligned_alloc(alignment, bytes);
    ALLOCATED(aligned_alloc, p, bytes);
    return p;
}

/* Address space that nothing can be stored in, and files, are no memory. */
BODY void *do_mmap(const struct functions *f, void *at, size_t bytes, int protection, int flags,
                   int fd, off_t offset) {
    uint64_t live_id = flags & MAP_FIXED ? forget(at) : 0;
    void *p = f->mmap(at, bytes, protection, flags, fd, offset);
    if (p == MAP_FAILED) {
        remember(at, live_id);
        return p;
    }
    freed(live_id);
    if (flags & MAP_ANONYMOUS && protection != PROT_NONE)
        ALLOCATED(mmap, p, bytes);
    return p;
}

BODY int do_munmap(const struct functions *f, void *at, size_t bytes) {
    uint64_t live_id = forget(at);
    int r = f->munmap(at, bytes);
    if (r == 0)
        freed(live_id);
    else
        remember(at, live_id);
    return r;
}

/* The hook, and its form for slots with another profiler's hook. */
#define HOOK(result, name, parameters, ...)                                                        \
    static result hook_##name parameters {                                                         \
        return do_##name(&libc, __VA_ARGS__);                                                      \
    }                                                                                              \
    static result over_##name parameters {                                                         \
        return do_##name(&next, __VA_ARGS__);                                                      \
    }

HOOK(void *, malloc, (size_t bytes), bytes)
HOOK(void *, calloc, (size_t n, size_t bytes), n, bytes)
HOOK(void *, realloc, (void *old, size_t bytes), old, bytes)
HOOK(int, posix_memalign, (void **out, size_t alignment, size_t bytes), out, alignment, bytes)
HOOK(void *, aligned_alloc, (size_t alignment, size_t bytes), alignment, bytes)
HOOK(void *, mmap, (void *at, size_t bytes, int protection, int flags, int fd, off_t offset), at,
     bytes, protection, flags, fd, offset)
HOOK(int, munmap, (void *at, size_t bytes), at, bytes)

static void hook_free(void *block) {
    do_free(&libc, block);
}

static void over_free(void *block) {
    do_free(&next, block);
}

#define ENTRY(symbol, function)                                                                    \
    {                                                                                              \
        .name = (symbol), .hook = (uintptr_t)hook_##function, .over = (uintptr_t)over_##function,  \
        .next = &next.function                                                                     \
    }

static struct import_hook hooks[] = {
    ENTRY("malloc", malloc),
    ENTRY("calloc", calloc),
    ENTRY("realloc", realloc),
    ENTRY("free", free),
    ENTRY("posix_memalign", posix_memalign),
    ENTRY("aligned_alloc", aligned_alloc),
    ENTRY("mmap", mmap),
    ENTRY("mmap64", mmap),
    ENTRY("munmap", munmap),
    {.name = IMPORTS_DLSYM, .hook = (uintptr_t)imports_dlsym},
    {.name = NULL},
};

/* False: one of them is missing. */
static bool find_real_functions(void) {
    void *const to[] = {&libc.malloc, &libc.calloc,         &libc.realloc,
                        &libc.free,   &libc.posix_memalign, &libc.aligned_alloc,
                        &libc.mmap,   &libc.mmap,           &libc.munmap};
    return imports_find_real(hooks, to, sizeof to / sizeof to[0]);
}

static void shut(void) {
    imports_restore(&mem.imports);
    native_gate_shut(&mem.gate);
    mem.follow = false;
    native_blocks_unmap(&mem.blocks);
}

static int start(struct engine_run *run, JNIEnv *jni, char *why, size_t why_bytes) {
    (void)jni;
    bool follow = !(run->request.flags & WIRE_ENGINE_NO_FREE);
    int r = find_real_functions() ? 0 : -ENOENT;
    if (r == 0 && follow)
        r = native_blocks_map(&mem.blocks);
    if (r == 0) {
        mem.follow = follow;
        native_gate_open(&mem.gate, run);
        r = imports_patch(&mem.imports, hooks);
    }
    if (r == 0 && mem.imports.slots > mem.imports.lookups)
        return 0;
    snprintf(why, why_bytes, "no library's import table could be changed (errno %d)", -r);
    shut();
    return r < 0 ? r : -ENOENT;
}

static void stop(struct engine_run *run, JNIEnv *jni) {
    (void)run, (void)jni;
    shut();
    for (uint32_t i = 0; i < UNTOLD_MAX; i++)
        mem.untold.live_id[i] = 0;
    mem.untold.count = 0;
    mem.untold.lost = 0;
}

static void turn(struct engine_run *run, JNIEnv *jni, uint64_t now_ms) {
    (void)jni, (void)now_ms;
    imports_refresh(&mem.imports);
    tell_untold(run->sampler);
    uint64_t not_followed = mem.blocks.not_followed, lost = mem.untold.lost;
    imports_tell(&mem.imports, run->status->reason, sizeof run->status->reason);
    if (not_followed || lost)
        snprintf(run->status->reason, sizeof run->status->reason,
                 "leaks: %" PRIu64 " blocks are not tracked, %" PRIu64
                 " frees were not reported: use a larger interval (--nativemem)",
                 not_followed, lost);
}

const struct engine engine_nativemem = {
    .event = WIRE_EVENT_NATIVEMEM,
    .mechanism = WIRE_MECHANISM_IMPORTS,
    .start = start,
    .stop = stop,
    .turn = turn,
};
