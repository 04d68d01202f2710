#include "core/agent/walk/frame_cache.h"

#include "core/agent/process/reserve.h"

#include <assert.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#define ENTRIES 4096u /* power of two */

/* One cache line: samples are so far apart that most of what a walk reads is not in the cache. */
struct entry {
    _Atomic uint32_t version; /* odd: it is being written */
    uint32_t pc, blob;        /* offsets from vm.code_low; pc is not 0 */
    uint32_t compile_id, turn;
    uint16_t frame_words, frames;
    uint64_t frame[CACHED_FRAMES_MAX];
};

static_assert(sizeof(struct entry) == 64, "a cache line");

#define WORDS (sizeof(struct entry) / sizeof(uint64_t))

struct frame_cache {
    struct entry entry[ENTRIES];
};

struct frame_cache *frame_cache_map(void) {
    return reserve(sizeof(struct frame_cache));
}

void frame_cache_unmap(struct frame_cache *c) {
    if (c)
        munmap(c, sizeof *c);
}

static struct entry *entry_of(struct frame_cache *c, uintptr_t pc) {
    uint64_t h = (uint64_t)pc * UINT64_C(0x9e3779b97f4a7c15);
    return &c->entry[h >> 32 & (ENTRIES - 1)];
}

bool frame_cache_find(struct frame_cache *c, const struct vm *vm, uintptr_t pc, uint32_t turn,
                      struct cached_place *out) {
    uintptr_t offset = pc - vm->code_low;
    const struct entry *e = c && offset <= UINT32_MAX ? entry_of(c, pc) : NULL;
    struct entry copy;
    uint64_t word[WORDS];
    if (!e || __atomic_load_n(&e->pc, __ATOMIC_RELAXED) != offset)
        return false;
    uint32_t version = atomic_load_explicit(&e->version, memory_order_acquire);
    for (size_t i = 0; i < WORDS; i++)
        word[i] = __atomic_load_n((const uint64_t *)(const void *)e + i, __ATOMIC_RELAXED);
    memcpy(&copy, word, sizeof copy);
    atomic_thread_fence(memory_order_acquire);
    if (version & 1 || atomic_load_explicit(&e->version, memory_order_relaxed) != version ||
        copy.pc != offset || copy.turn != turn || copy.frames > CACHED_FRAMES_MAX)
        return false;
    *out = (struct cached_place){.pc = pc,
                                 .blob = vm->code_low + copy.blob,
                                 .compile_id = copy.compile_id,
                                 .frame_words = copy.frame_words,
                                 .turn = turn,
                                 .frames = copy.frames};
    memcpy(out->frame, copy.frame, sizeof out->frame);
    return frame_cache_stands(vm, out->blob, out->compile_id);
}

bool frame_cache_begin(const struct vm *vm, const struct code *code, uintptr_t pc, uint32_t turn,
                       struct cached_place *place) {
    if (vm->at.nmethod_compile_id < 0)
        return false;
    place->pc = pc;
    place->turn = turn;
    place->blob = code->blob;
    place->frame_words = code->frame_words;
    place->compile_id = guarded_load32(code->blob + (uintptr_t)vm->at.nmethod_compile_id);
    return place->compile_id != 0;
}

void frame_cache_keep(struct frame_cache *c, const struct vm *vm,
                      const struct cached_place *place) {
    struct entry *e = c ? entry_of(c, place->pc) : NULL;
    uintptr_t pc = place->pc - vm->code_low, blob = place->blob - vm->code_low;
    if (!e || pc > UINT32_MAX || blob > UINT32_MAX || place->frame_words > UINT16_MAX ||
        place->frames > CACHED_FRAMES_MAX ||
        !frame_cache_stands(vm, place->blob, place->compile_id))
        return;
    uint32_t version = atomic_load_explicit(&e->version, memory_order_relaxed);
    if (version & 1 ||
        !atomic_compare_exchange_strong_explicit(&e->version, &version, version + 1,
                                                 memory_order_acquire, memory_order_relaxed))
        return;
    atomic_thread_fence(memory_order_release);
    struct entry now = {.version = version + 1,
                        .pc = (uint32_t)pc,
                        .blob = (uint32_t)blob,
                        .compile_id = place->compile_id,
                        .turn = place->turn,
                        .frame_words = (uint16_t)place->frame_words,
                        .frames = (uint16_t)place->frames};
    uint64_t word[WORDS];
    memcpy(now.frame, place->frame, sizeof now.frame);
    memcpy(word, &now, sizeof word);
    for (size_t i = 0; i < WORDS; i++)
        __atomic_store_n((uint64_t *)(void *)e + i, word[i], __ATOMIC_RELAXED);
    atomic_store_explicit(&e->version, version + 2, memory_order_release);
}
