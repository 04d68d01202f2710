/*
 * A chunk's stacks, threads and classes in the form that records have, each resolved once.
 *
 * The frame types of the JDK, of async-profiler and of this program become tiers:
 *
 *      Interpreted, JIT compiled, C1 compiled, Inlined    the tier
 *      Native         with a class: a native method; otherwise a native function
 *      C++, Kernel    a function
 *      Error          the reason why a walk ended, if it is one of our names for that
 *
 * Context: as import.h.
 */
#ifndef JTOP_IMPORT_JFR_JFR_STACK_H
#define JTOP_IMPORT_JFR_JFR_STACK_H

#include "core/import/jfr/jfr_chunk.h"
#include "core/base/id_map.h"

struct jfr_thread {
    uint32_t tid;        /* for a virtual thread: one invented tid that all of them share */
    uint64_t virtual_id; /* 0: not a virtual thread */
};

struct jfr_names {
    struct jfr_chunk *chunk;
    struct emit *emit;
    import_record *each; /* for records that emit.h has no function for */
    void *arg;
    int failure; /* -ENOMEM, or what `each` returned; errors of emit are in emit_failure() */
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
    bool missing;          /* a name of the current stack is missing */
    struct id_map known;   /* (method, line, tier) → frame */
    struct id_map methods; /* (method, tier) → method number for emit_java_at */
    struct jfr_value
        *classes; /* where the names of the class constants are; `at` NULL: not known yet */
    struct jfr_thread *threads; /* of the thread constants, those that are known */
    uint64_t *frames;           /* of all stacks so far: the number of frames, then the frames,
                                   leaf first */
    size_t count, cap;
};

void jfr_names_open(struct jfr_names *n, struct jfr_chunk *k, struct emit *m, import_record *each,
                    void *arg);
void jfr_names_close(struct jfr_names *n);

/* Returns the stack with this number, valid until the next call. NULL: it is not in the chunk.
 * `whole`: the chunk has the names of all its frames. */
const uint64_t *jfr_names_stack(struct jfr_names *n, uint64_t stack, uint32_t *frames, bool *whole);

/* All zeroes: the thread is not in the chunk. */
struct jfr_thread jfr_names_thread(struct jfr_names *n, uint64_t thread);

/* Returns the class as a frame; 0: it is not in the chunk. */
uint64_t jfr_names_class(struct jfr_names *n, uint64_t class);

#endif
