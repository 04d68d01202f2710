#include "core/agent/walk/last_stack.h"

#include "core/agent/process/guarded.h"
#include "core/agent/vm/vm_method.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#define THREADS 64u /* power of two */
#define PLACES_END (2 * LAST_PLACES)
#define CHECKS_END (2 * LAST_CHECKS)
#define PAUSE_MAX 15u
#define WORTH_PLACES 8u /* a shorter stack is always worth it */
#define WORTH_PART 4u

struct last_stack *last_stacks_map(void) {
    struct last_stack *table = mmap(NULL, THREADS * sizeof *table, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return table == MAP_FAILED ? NULL : table;
}

void last_stacks_unmap(struct last_stack *table) {
    if (table)
        munmap(table, THREADS * sizeof *table);
}

static bool holds(const struct vm *vm, const struct last_check *c, uintptr_t low, uintptr_t base) {
    uintptr_t at = c->at & ~(uintptr_t)(LAST_CODE | LAST_METHOD);
    struct method_view m;
    if (c->at & LAST_CODE)
        return guarded_load32(at) == c->value;
    if (c->at & LAST_METHOD)
        return method_look(vm, at, false, &m) && m.identity == c->value;
    return at >= low && at < base && *(const volatile uint64_t *)at == c->value;
}

/* From the thread's entry upwards, as far as nothing has changed. */
static uint32_t find_valid(const struct last_stack *l, const struct vm *vm, uintptr_t low,
                           uintptr_t base) {
    uint32_t check = CHECKS_END;
    for (uint32_t i = PLACES_END; i > l->first; i--) {
        const struct last_place *p = &l->place[i - 1];
        if (p->sp < low)
            return i;
        for (; check > p->check; check--)
            if (!holds(vm, &l->check[check - 1], low, base))
                return i;
    }
    return l->first;
}

static uintptr_t owner_of(const struct last_stack *l) {
    return atomic_load_explicit(&l->thread, memory_order_relaxed);
}

/* A thread has one of two places. */
static struct last_stack *place_of(struct last_stack *table, uintptr_t thread) {
    uint64_t h = (uint64_t)thread * UINT64_C(0x9e3779b97f4a7c15);
    struct last_stack *a = &table[h >> 32 & (THREADS - 1)],
                      *b = &table[(h >> 32 & (THREADS - 1)) ^ 1];
    bool other = owner_of(b) == thread || (owner_of(a) != thread && owner_of(a) && !owner_of(b));
    return other ? b : a;
}

struct last_stack *last_stack_enter(struct last_stack *table, const struct vm *vm, uintptr_t thread,
                                    uint32_t turn, uintptr_t low, uintptr_t base) {
    struct last_stack *l = table ? place_of(table, thread) : NULL;
    if (!l || atomic_exchange_explicit(&l->busy, 1, memory_order_acquire))
        return NULL;
    if (l->pause) {
        l->pause--;
        last_stack_leave(l);
        return NULL;
    }
    uintptr_t owner = owner_of(l);
    l->fresh = !owner || (owner == thread && l->turn != turn);
    if (owner != thread || l->turn != turn) {
        l->first = PLACES_END;
        atomic_store_explicit(&l->thread, thread, memory_order_relaxed);
        l->turn = turn;
    }
    l->places = l->checks = 0;
    l->valid = find_valid(l, vm, low, base);
    return l;
}

void last_stack_leave(struct last_stack *l) {
    if (l)
        atomic_store_explicit(&l->busy, 0, memory_order_release);
}

uint32_t last_stack_find(struct last_stack *l, uintptr_t pc, uintptr_t sp, uintptr_t fp) {
    for (; l->valid < PLACES_END && l->place[l->valid].sp <= sp; l->valid++) {
        const struct last_place *p = &l->place[l->valid];
        if (p->sp == sp && p->pc == pc && (!p->fp || p->fp == fp))
            return l->valid;
    }
    return LAST_NONE;
}

void last_stack_arrive(struct last_stack *l, uintptr_t pc, uintptr_t sp, uint32_t frames) {
    if (l->places == LAST_PLACES)
        last_stack_drop(l);
    l->place[l->places++] =
        (struct last_place){.pc = pc, .sp = sp, .check = l->checks, .frame = frames};
}

void last_stack_note(struct last_stack *l, uintptr_t at, uint64_t value) {
    if (l->checks == LAST_CHECKS)
        last_stack_drop(l);
    else if (l->places)
        l->check[l->checks++] = (struct last_check){at, value};
}

void last_stack_note_fp(struct last_stack *l, uintptr_t fp, uintptr_t slot) {
    if (!l->places)
        return;
    l->place[l->places - 1].fp = fp;
    if (slot)
        last_stack_note(l, slot, guarded_load64(slot));
}

void last_stack_drop(struct last_stack *l) {
    l->places = l->checks = 0;
}

/* Walks that find less than a part of the stack here, or nothing, come ever less often. */
static void judge(struct last_stack *l, uint32_t found, uint32_t all) {
    bool worth = l->fresh || all < WORTH_PLACES || found >= all / WORTH_PART;
    l->useless = worth ? 0 : 2 * l->useless + 1 < PAUSE_MAX ? 2 * l->useless + 1 : PAUSE_MAX;
    l->pause = l->useless;
}

void last_stack_give_up(struct last_stack *l) {
    l->fresh = false;
    judge(l, 0, l->places);
}

void last_stack_keep(struct last_stack *l, const uint64_t *frame, uint32_t frames, uint32_t from) {
    bool found = from != LAST_NONE;
    uint32_t place = found ? from : PLACES_END;
    uint32_t check = found ? l->place[from].check : CHECKS_END;
    uint32_t word = found ? l->place[from].frame : WIRE_FRAMES_MAX;
    uint32_t i = 0;
    judge(l, PLACES_END - place, PLACES_END - place + l->places);
    while (i < l->places && (l->places - i + PLACES_END - place > LAST_PLACES ||
                             l->checks - l->place[i].check + CHECKS_END - check > LAST_CHECKS ||
                             frames - l->place[i].frame > word))
        i++;
    l->first = place;
    if (i == l->places)
        return;
    uint32_t new_checks = l->checks - l->place[i].check;
    uint32_t new_words = frames - l->place[i].frame;
    uint32_t by_check = check - l->checks, by_word = word - frames;
    memcpy(&l->check[check - new_checks], &l->check[l->place[i].check],
           new_checks * sizeof l->check[0]);
    memcpy(&l->frame[word - new_words], &frame[frames - new_words], new_words * sizeof l->frame[0]);
    l->first = place - (l->places - i);
    for (uint32_t to = l->first; i < l->places; i++, to++) {
        l->place[to] = l->place[i];
        l->place[to].check += by_check;
        l->place[to].frame += by_word;
    }
}
