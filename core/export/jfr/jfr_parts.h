/*
 * The inside of a chunk: jfr_chunk.c makes events, jfr_kind.c the fields of each kind of sample,
 * jfr_constants.c what they refer to.
 *
 * Context: as export.h.
 */
#ifndef JTOP_EXPORT_JFR_PARTS_H
#define JTOP_EXPORT_JFR_PARTS_H

#include "core/export/jfr/jfr_chunk.h"
#include "core/export/jfr_rate.h"

/* Of the stack that a sample has. */
struct jfr_leaf {
    uint32_t class;  /* of what was allocated, or of the lock; 0: none */
    uint32_t method; /* where the leaf is no class */
    bool other;      /* it waits in LockSupport.park, not for a monitor; or was allocated outside
                        a TLAB */
};

/* `weight` is of this one event. */
typedef void jfr_fields(struct text *event, const struct jfr_sample *s, const struct jfr_leaf *leaf,
                        uint64_t weight);

struct jfr_kind {
    const char *event; /* the profile's; NULL: any other */
    const char *type;
    const char *other;    /* type for a leaf that is `other`; NULL: the same */
    const char *interval; /* what async-profiler calls that setting */
    bool lasts;           /* the weight is a duration, and the samples come at its end */
    bool sum;             /* one event for several samples */
    enum jfr_category category;
    jfr_fields *fields;
};

enum jfr_pool {
    JFR_THREADS,
    JFR_METHODS,
    JFR_CLASSES,
    JFR_PACKAGES,
    JFR_SYMBOLS,
    JFR_STACKS,
    JFR_POOLS
};

struct jfr_stack {
    uint32_t node;
    struct jfr_leaf leaf;
};

struct jfr_chunk {
    struct text *events;
    struct text event;     /* being made */
    struct jfr_rate *rate; /* the file's; NULL: events without limit */
    bool failed;
    bool told; /* the constants that are always the same are in a checkpoint */
    struct {
        struct text body;
        uint32_t count;
    } pool[JFR_POOLS]; /* of constants that are in no checkpoint yet */
    struct jfr_names symbols, packages, classes, threads;
    uint32_t base[JFR_POOLS]; /* numbers begin behind this; not of methods */
    uint8_t *method_known;    /* by id */
    uint32_t methods;
    struct jfr_stack *stack;
    uint32_t stacks, stack_cap;
    struct index stack_index;
    uint64_t stack_bytes;
    struct profile_frame frame[PROFILE_STACK_MAX];
};

#endif
