/*
 * Turns a chunk's events into records, in the order of time.
 *
 * Context: as import.h.
 */
#ifndef JTOP_IMPORT_JFR_JFR_SAMPLES_H
#define JTOP_IMPORT_JFR_JFR_SAMPLES_H

#include "core/import/jfr/jfr_events.h"
#include "core/import/jfr/jfr_live.h"
#include "core/import/jfr/jfr_stack.h"

/* Events may begin this much earlier than their recording. */
#define JFR_LEAD_NS UINT64_C(1000000000)

struct jfr_samples {
    struct emit *emit; /* owned */
    import_record *each;
    void *arg;
    const struct jfr_survey *survey;
    uint64_t base_ns;  /* time of day at sample time 0 */
    uint64_t last_ns;  /* sample time of the latest sample */
    uint64_t left_out; /* samples whose stack is in the missing part of the file */
    /* internal */
    struct id_map blocks; /* address → live_id, for native memory */
    struct jfr_live living;
    uint64_t live; /* last live_id given */
    uint64_t frame[WIRE_FRAMES_MAX];
};

/* 0 or -ENOMEM. `survey` is not owned. */
int jfr_samples_open(struct jfr_samples *s, const struct jfr_survey *survey, import_record *each,
                     void *arg);
void jfr_samples_close(struct jfr_samples *s);

/* Collects the objects that are alive at the end, if their allocations are reported as well. Call
 * it for all chunks before the first one is read. It may write names. Errors as
 * jfr_samples_read. */
int jfr_samples_read_living(struct jfr_samples *s, struct jfr_chunk *k);

/* 0, -ENOMEM, or what `each` returned. */
int jfr_samples_read(struct jfr_samples *s, struct jfr_chunk *k);

#endif
