/*
 * The last stack that was walked in each thread. Most of a stack is the same at the next sample: if
 * a walk comes to a frame from which on nothing has changed, it takes the other frames from here.
 *
 * A stack is kept as places, one for each Java frame on the thread's stack, and with each place
 * everything that the walk has read to get from it to its caller:
 *
 *      return address, and what else was read on the stack   a word of the stack, unchanged
 *      compiled code                                         its compile id, as in frame_cache.h
 *      interpreted method                                    its identity (vm_method.h)
 *
 * From the thread's entry upwards, places whose words are all unchanged are valid. A walk that
 * stands at a valid place would find what the last one has found.
 *
 *      leaf                                                         thread's entry
 *      new places ▶      … dropped …      │ valid places of the last stack │
 *      └ written here from 0 on             └ kept at the end of the arrays
 *
 * Context: signal-safe, for the calling thread's own stack: the words between its stack pointer and
 * the stack's base are read without a guard.
 */
#ifndef JTOP_AGENT_WALK_LAST_STACK_H
#define JTOP_AGENT_WALK_LAST_STACK_H

#include "core/agent/vm/vm_method.h"
#include "core/wire/layout.h"

#define LAST_PLACES 2048u /* kept of a stack, those next to the thread's entry */
#define LAST_CHECKS 6144u
#define LAST_NONE UINT32_MAX

/* One for a compiled frame, so that those of a deep stack fit into the processor's cache. */
struct last_check {
    uint32_t at;    /* where the word is on the stack, and what else is checked: see last_stack.c */
    uint32_t id;    /* the code's compile id, or of a method's identity */
    uint64_t value; /* of the word; or of what it says */
};

struct last_place {
    uintptr_t pc, sp;
    uintptr_t fp;   /* 0: it does not matter there */
    uint32_t check; /* the first of its checks */
    uint32_t frame; /* the first of its frame words; those of its callers follow */
};

struct last_stack {
    _Atomic uint32_t busy;
    uint32_t turn;  /* of the table of method ids */
    uintptr_t base; /* of the thread's stack */
    const struct vm *vm;
    _Atomic uintptr_t thread; /* JavaThread* */
    uint32_t first;           /* the last stack's places are those from here to the end */
    uint32_t valid;           /* from here on they are valid now */
    uint32_t places, checks;  /* of the walk going on */
    bool fresh;               /* nothing could be known: it is the first walk (of this turn) */
    uint32_t pause;           /* walks to leave out */
    uint32_t useless;         /* the last such number; 0: the last walk has found enough here */
    struct last_place place[2 * LAST_PLACES];
    struct last_check check[2 * LAST_CHECKS];
    uint64_t frame[WIRE_FRAMES_MAX];
};

/* Maps an empty table for 64 threads, of which only what is used takes memory: for each thread 24
 * KB, and 100 bytes for each frame (interpreted: 270), 350 KB at most. More threads take turns.
 * NULL: no memory; then no stack is kept. Not signal-safe, as last_stacks_unmap. */
struct last_stack *last_stacks_map(void);
void last_stacks_unmap(struct last_stack *table);

/* Begins a walk of the calling thread. NULL: the place is in use, or was of no use lately. `low`,
 * `base`: the live part of its stack. `turn`: the present turn of the table of method ids. To be
 * followed by last_stack_leave. */
struct last_stack *last_stack_enter(struct last_stack *table, const struct vm *vm, uintptr_t thread,
                                    uint32_t turn, uintptr_t low, uintptr_t base);
void last_stack_leave(struct last_stack *l);

/* The valid place where a walk is that has come to these registers; LAST_NONE: there is none. The
 * walk comes to ever higher addresses. */
uint32_t last_stack_find(struct last_stack *l, uintptr_t pc, uintptr_t sp, uintptr_t fp);

/* Notes where the walk has come, with `frames` frame words so far, and then what it reads. A place
 * or check for which there is no room makes last_stack_drop. */
void last_stack_arrive(struct last_stack *l, uintptr_t pc, uintptr_t sp, uint32_t frames);
void last_stack_note(struct last_stack *l, uintptr_t slot, uint64_t word);
/* A return address, a word at `slot`, into a frame of compiled code. */
void last_stack_note_code(struct last_stack *l, uintptr_t slot, uint64_t word, uintptr_t blob,
                          uint32_t compile_id);
void last_stack_note_method(struct last_stack *l, const struct method_view *m);
/* The frame pointer matters at this place. It was read from `slot`; 0: not from the stack. */
void last_stack_note_fp(struct last_stack *l, uintptr_t fp, uintptr_t slot);

/* What the walk was going to note can't be checked: forgets the places noted so far. */
void last_stack_drop(struct last_stack *l);

/* The walk has ended before the thread's entry: nothing is kept of it. */
void last_stack_give_up(struct last_stack *l);
/* Keeps the stack. The walk has added the frame words frame[0..frames), then those of the valid
 * place `from` (LAST_NONE: it went on to the thread's entry). */
void last_stack_keep(struct last_stack *l, const uint64_t *frame, uint32_t frames, uint32_t from);

#endif
