/*
 * How samples of an event are written: the type of the JFR event, and its fields.
 *
 * Context: as export.h; only for the files of this directory.
 */
#ifndef JTOP_EXPORT_JFR_JFR_KIND_H
#define JTOP_EXPORT_JFR_JFR_KIND_H

#include "core/export/jfr/jfr_chunk.h"
#include "core/export/jfr_rate.h"

/* Facts about the leaf of a sample's stack. */
struct jfr_leaf {
    uint32_t class;  /* class of the allocated object or of the lock; 0: none */
    uint32_t method; /* the leaf's method, if the leaf is not a class */
    bool other;      /* the thread waits in LockSupport.park instead of for a monitor; or the object
                        was allocated outside a TLAB */
};

/* `weight`: the weight of this one event. */
typedef void jfr_fields(struct text *event, const struct jfr_sample *s, const struct jfr_leaf *leaf,
                        uint64_t weight);

struct jfr_kind {
    const char *event; /* the event's name in the profile; NULL: every other event */
    const char *type;
    const char *other;    /* type used if the leaf is `other`; NULL: the same type */
    const char *interval; /* async-profiler's name for the setting */
    bool lasts;           /* the weight is a duration, and a sample's time is the end of it */
    bool sum;             /* one event stands for several samples */
    enum jfr_category category;
    jfr_fields *fields;
};

#endif
