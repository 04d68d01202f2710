#include "core/agent/walk/frame_cache.h"

#include "core/agent/process/guarded.h"

#include <assert.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#define PLACES 4096u /* power of two */

#define WORDS (sizeof(struct cached_place) / sizeof(uint64_t))

static_assert(sizeof(struct cached_place) % sizeof(uint64_t) == 0, "copied in words");

/* Odd versions: it is being written. */
struct entry {
    _Atomic uint32_t version;
    uint64_t word[WORDS]; /* a struct cached_place; the first one is its pc */
};

struct frame_cache {
    struct entry entry[PLACES];
};

struct frame_cache *frame_cache_map(void) {
    void *p = mmap(NULL, sizeof(struct frame_cache), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

void frame_cache_unmap(struct frame_cache *c) {
    if (c)
        munmap(c, sizeof *c);
}

static struct entry *entry_of(struct frame_cache *c, uintptr_t pc) {
    uint64_t h = (uint64_t)pc * UINT64_C(0x9e3779b97f4a7c15);
    return &c->entry[h >> 32 & (PLACES - 1)];
}

static bool stands(const struct vm *vm, const struct cached_place *p) {
    const struct vm_layout *at = &vm->at;
    uintptr_t block = p->blob - (uintptr_t)at->heap_header_bytes;
    return guarded_load64(p->blob + (uintptr_t)at->nmethod_method) == p->method &&
           guarded_load32(p->blob + (uintptr_t)at->nmethod_compile_id) == p->compile_id &&
           guarded_load8(block + (uintptr_t)at->heap_used);
}

bool frame_cache_find(struct frame_cache *c, const struct vm *vm, uintptr_t pc, uint32_t turn,
                      struct cached_place *out) {
    struct entry *e = c ? entry_of(c, pc) : NULL;
    uint64_t word[WORDS];
    if (!e || __atomic_load_n(&e->word[0], __ATOMIC_RELAXED) != pc)
        return false;
    uint32_t version = atomic_load_explicit(&e->version, memory_order_acquire);
    for (size_t i = 0; i < WORDS; i++)
        word[i] = __atomic_load_n(&e->word[i], __ATOMIC_RELAXED);
    memcpy(out, word, sizeof *out);
    atomic_thread_fence(memory_order_acquire);
    return !(version & 1) && atomic_load_explicit(&e->version, memory_order_relaxed) == version &&
           out->pc == pc && out->turn == turn && out->frames <= CACHED_FRAMES_MAX &&
           stands(vm, out);
}

bool frame_cache_begin(const struct vm *vm, const struct code *code, uintptr_t pc, uint32_t turn,
                       struct cached_place *place) {
    const struct vm_layout *at = &vm->at;
    if (at->nmethod_compile_id < 0)
        return false;
    place->pc = pc;
    place->turn = turn;
    place->blob = code->blob;
    place->frame_words = code->frame_words;
    place->method = guarded_load64(code->blob + (uintptr_t)at->nmethod_method);
    place->compile_id = guarded_load32(code->blob + (uintptr_t)at->nmethod_compile_id);
    return true;
}

void frame_cache_keep(struct frame_cache *c, const struct vm *vm,
                      const struct cached_place *place) {
    if (!c || !stands(vm, place))
        return;
    struct entry *e = entry_of(c, place->pc);
    uint64_t word[WORDS];
    uint32_t version = atomic_load_explicit(&e->version, memory_order_relaxed);
    if (version & 1 ||
        !atomic_compare_exchange_strong_explicit(&e->version, &version, version + 1,
                                                 memory_order_acquire, memory_order_relaxed))
        return;
    atomic_thread_fence(memory_order_release);
    memcpy(word, place, sizeof word);
    for (size_t i = 0; i < WORDS; i++)
        __atomic_store_n(&e->word[i], word[i], __ATOMIC_RELAXED);
    atomic_store_explicit(&e->version, version + 2, memory_order_release);
}
