/*
 * From a chunk's events to records, in the order of time.
 *
 * Context: as import.h.
 */
#ifndef JTOP_IMPORT_JFR_JFR_SAMPLES_H
#define JTOP_IMPORT_JFR_JFR_SAMPLES_H

#include "core/import/jfr/jfr_events.h"
#include "core/import/jfr/jfr_live.h"
#include "core/import/jfr/jfr_stack.h"

/* What begins before its recording does has this much time. */
#define JFR_LEAD_NS UINT64_C(1000000000)

struct jfr_samples {
    struct emit *emit; /* owned */
    import_record *each;
    void *arg;
    const struct jfr_survey *survey;
    uint64_t base_ns;  /* time of day of sample time 0 */
    uint64_t last_ns;  /* sample time of the latest */
    uint64_t left_out; /* their stack is in the part of the file that is missing */
    /* internal */
    struct id_map blocks; /* address → live_id, of native memory */
    struct jfr_live living;
    uint64_t live; /* last live_id given */
    uint64_t frame[WIRE_FRAMES_MAX];
};

/* -ENOMEM. `survey` is not owned. */
int jfr_samples_open(struct jfr_samples *s, const struct jfr_survey *survey, import_record *each,
                     void *arg);
void jfr_samples_close(struct jfr_samples *s);

/* Learns which objects are alive at the end, where their allocations are told as well; of all chunks
 * before the first one is read. Names may be told. As jfr_samples_read. */
int jfr_samples_read_living(struct jfr_samples *s, struct jfr_chunk *k);

/* -ENOMEM, or what `each` returned. */
int jfr_samples_read(struct jfr_samples *s, struct jfr_chunk *k);

#endif
