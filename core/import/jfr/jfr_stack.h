/*
 * A chunk's stacks, threads and classes as the records have them, each resolved once.
 *
 * Types of frames, as the JDK and async-profiler name them and as we do, become tiers:
 *
 *      Interpreted, JIT compiled, C1 compiled, Inlined    the tier
 *      Native         of a class: a native method; else a native function
 *      C++, Kernel    a function
 *      Error          why a walk ended, where it is one of our names for that
 *
 * Context: as import.h.
 */
#ifndef JTOP_IMPORT_JFR_JFR_STACK_H
#define JTOP_IMPORT_JFR_JFR_STACK_H

#include "core/import/jfr/jfr_chunk.h"
#include "core/base/id_map.h"

struct jfr_thread {
    uint32_t tid;        /* of a virtual thread one that is made up for all of them */
    uint64_t virtual_id; /* 0: it is none */
};

struct jfr_names {
    struct jfr_chunk *chunk;
    struct emit *emit;
    import_record *each; /* for what emit has no word */
    void *arg;
    int failure; /* -ENOMEM, or what `each` returned; emit's own is emit_failure() */
    /* internal */
    struct jfr_type *stack, *frame, *method, *frame_type, *thread, *class;
    struct {
        int truncated, frames;
    } of_stack;
    struct {
        int method, line, type;
    } of_frame;
    struct {
        int class, name, signature;
    } of_method;
    struct {
        int os_name, tid, name, id, virtual;
    } of_thread;
    int of_class;
    uint32_t carrier;
    bool missing;          /* a name of the stack at hand */
    struct id_map known;   /* (method, line, tier) → frame */
    struct id_map methods; /* (method, tier) → its number for emit_java_at */
    struct jfr_value
        *classes; /* where the names of class's constants are; at NULL: not yet known */
    struct jfr_thread *threads; /* of thread's constants, those that are known */
    uint64_t *frames;           /* of all stacks so far: how many, then they, leaf first */
    size_t count, cap;
};

void jfr_names_open(struct jfr_names *n, struct jfr_chunk *k, struct emit *m, import_record *each,
                    void *arg);
void jfr_names_close(struct jfr_names *n);

/* The stack of that number, valid until the next is asked for. NULL: it is not in the chunk. `whole`:
 * the names of all its frames are. */
const uint64_t *jfr_names_stack(struct jfr_names *n, uint64_t stack, uint32_t *frames, bool *whole);

/* All zeroes: it is not in the chunk. */
struct jfr_thread jfr_names_thread(struct jfr_names *n, uint64_t thread);

/* As a frame; 0: it is not in the chunk. */
uint64_t jfr_names_class(struct jfr_names *n, uint64_t class);

#endif
