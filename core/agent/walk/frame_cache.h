/*
 * What was found before at return addresses in compiled code: the frame words of the methods there
 * and the frame's size. A walk finds the same return addresses again and again, and to look one up
 * takes a third of the time that it takes to read the VM's structures.
 *
 * An entry is used only while the code it was read from is there: its block in the code heap is in
 * use, and has the same compile id, which the VM gives only once. The id alone does not tell: it
 * stays in a block that was freed, while other code is put at the block's end.
 *
 * Context: signal-safe, any thread; entries are written by the handler that finds them first, and
 * no handler waits for another.
 */
#ifndef JTOP_AGENT_WALK_FRAME_CACHE_H
#define JTOP_AGENT_WALK_FRAME_CACHE_H

#include "core/agent/process/guarded.h"
#include "core/agent/vm/vm_code.h"

#define CACHED_FRAMES_MAX 5 /* with more methods inlined at a place, it is not kept */

struct cached_place {
    uintptr_t pc;         /* the return address */
    uintptr_t blob;       /* its code */
    uint32_t compile_id;  /* of the code */
    uint32_t frame_words; /* size of the frame */
    uint32_t turn;        /* of the table of method ids */
    uint32_t frames;
    uint64_t frame[CACHED_FRAMES_MAX]; /* frame words, innermost method first */
};

struct frame_cache;

/* Whether compiled code is still there. */
static inline bool frame_cache_stands(const struct vm *vm, uintptr_t blob, uint32_t compile_id) {
    uintptr_t block = blob - (uintptr_t)vm->at.heap_header_bytes;
    return guarded_load32(blob + (uintptr_t)vm->at.nmethod_compile_id) == compile_id &&
           guarded_load8(block + (uintptr_t)vm->at.heap_used);
}

/* Maps an empty cache, 256 KB that are touched as needed. NULL: no memory; a NULL cache is
 * valid and stays empty. Not signal-safe, as frame_cache_unmap. */
struct frame_cache *frame_cache_map(void);
void frame_cache_unmap(struct frame_cache *c);

/* Copies what is known about the return address `pc`. False: nothing, or it is no longer true.
 * `turn`: the present turn of the table of method ids. */
bool frame_cache_find(struct frame_cache *c, const struct vm *vm, uintptr_t pc, uint32_t turn,
                      struct cached_place *out);

/* Begins an entry for a return address in the compiled code `code`, before anything is read of it.
 * False: this VM's code can't be told apart. */
bool frame_cache_begin(const struct vm *vm, const struct code *code, uintptr_t pc, uint32_t turn,
                       struct cached_place *place);
/* Keeps it. The caller has filled `frames` and `frame`. */
void frame_cache_keep(struct frame_cache *c, const struct vm *vm, const struct cached_place *place);

#endif
