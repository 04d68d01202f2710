#include "core/agent/walk/last_stack.h"

#include "core/agent/process/registers.h"
#include "core/agent/process/reserve.h"
#include "core/agent/walk/frame_cache.h"

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
    return reserve(THREADS * sizeof(struct last_stack));
}

void last_stacks_unmap(struct last_stack *table) {
    if (table)
        munmap(table, THREADS * sizeof *table);
}

/* last_check.at: words from the stack's base to the word, shifted by KIND_BITS, and the kind.
 *
 *      WORD     value: the word
 *      CODE     value: offsets in the code cache, of the code (high half) and of the return address
 *               that the word is; id: the code's compile id
 *      METHOD   no word; value: Method*; id: the low half of its identity */
enum check_kind { CHECK_WORD = 0, CHECK_CODE, CHECK_METHOD };
#define KIND_BITS 2
#define KIND_MASK 3u

/* The code that was checked last: the same few methods are deep in a recursion. */
struct seen {
    uint64_t code[2];
    uint32_t id[2], next;
};

static bool is_code(const struct vm *vm, const struct last_check *c, struct seen *seen) {
    uint64_t code = c->value >> 32;
    for (uint32_t i = 0; i < 2; i++)
        if (seen->code[i] == code && seen->id[i] == c->id)
            return true;
    uintptr_t blob = vm->code_low + code;
    if (!frame_cache_stands(vm, blob, c->id))
        return false;
    seen->code[seen->next] = code;
    seen->id[seen->next] = c->id;
    seen->next ^= 1;
    return true;
}

static bool holds(const struct last_stack *l, const struct last_check *c, uintptr_t low,
                  struct seen *seen) {
    struct method_view m;
    if ((c->at & KIND_MASK) == CHECK_METHOD)
        return method_look(l->vm, c->value, false, &m) && (uint32_t)m.identity == c->id;
    uintptr_t slot = l->base - (uintptr_t)(c->at >> KIND_BITS) * sizeof(uint64_t);
    if (slot < low || slot >= l->base)
        return false;
    uint64_t word = *(const volatile uint64_t *)slot;
    if ((c->at & KIND_MASK) == CHECK_WORD)
        return word == c->value;
    return registers_code_address(word) == l->vm->code_low + (uint32_t)c->value &&
           is_code(l->vm, c, seen);
}

/* The first place all of whose checks are behind `check`. */
static uint32_t place_behind(const struct last_stack *l, uint32_t check) {
    uint32_t low = l->first, high = PLACES_END;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (l->place[middle].check > check)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* From the thread's entry upwards, as far as nothing has changed. */
static uint32_t find_valid(const struct last_stack *l, uintptr_t low) {
    uint32_t first = l->first < PLACES_END ? l->place[l->first].check : CHECKS_END;
    uint32_t check = CHECKS_END, place = l->first;
    struct seen seen = {.code = {UINT64_MAX, UINT64_MAX}};
    while (check > first && holds(l, &l->check[check - 1], low, &seen))
        check--;
    if (check > first)
        place = place_behind(l, check - 1);
    while (place < PLACES_END && l->place[place].sp < low)
        place++;
    return place;
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
    if (owner != thread || l->turn != turn || l->base != base) {
        l->first = PLACES_END;
        atomic_store_explicit(&l->thread, thread, memory_order_relaxed);
        l->turn = turn;
    }
    l->places = l->checks = 0;
    l->vm = vm;
    l->base = base;
    l->valid = find_valid(l, low);
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

static void note(struct last_stack *l, struct last_check c) {
    if (l->checks == LAST_CHECKS)
        last_stack_drop(l);
    else if (l->places)
        l->check[l->checks++] = c;
}

/* last_check.at of a word on the stack. */
static uint32_t place_of_word(const struct last_stack *l, uintptr_t slot, enum check_kind kind) {
    uintptr_t words = (l->base - slot) / sizeof(uint64_t);
    return slot < l->base && words <= UINT32_MAX >> KIND_BITS
               ? (uint32_t)words << KIND_BITS | (uint32_t)kind
               : (uint32_t)kind; /* beyond the base: it never holds */
}

void last_stack_note(struct last_stack *l, uintptr_t slot, uint64_t word) {
    note(l, (struct last_check){.at = place_of_word(l, slot, CHECK_WORD), .value = word});
}

void last_stack_note_code(struct last_stack *l, uintptr_t slot, uint64_t word, uintptr_t blob,
                          uint32_t compile_id) {
    uintptr_t pc = registers_code_address(word) - l->vm->code_low;
    uintptr_t code = blob - l->vm->code_low;
    if (pc > UINT32_MAX || code > UINT32_MAX)
        last_stack_drop(l);
    else
        note(l, (struct last_check){.at = place_of_word(l, slot, CHECK_CODE),
                                    .id = compile_id,
                                    .value = (uint64_t)code << 32 | pc});
}

void last_stack_note_method(struct last_stack *l, const struct method_view *m) {
    note(l,
         (struct last_check){.at = CHECK_METHOD, .id = (uint32_t)m->identity, .value = m->method});
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
