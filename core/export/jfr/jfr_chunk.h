/*
 * Files:
 *   jfr_chunk         a JFR chunk being made: events, and constants they refer to
 *   jfr_export        JFR export of a finished profile, as one chunk
 *   jfr_metadata      writing of the JFR metadata event from the table of types
 *   jfr_notes         JFR events on the machine, the JVM, settings and profile quality
 *   jfr_stream        JFR file that grows while sampling and is readable at any time
 *   jfr_stream_state  internal struct of a growing JFR file, also for its test
 *   jfr_types         table of all JFR types and their fields
 *   jfr_write         low-level writing of JFR numbers, strings and events
 *
 * A chunk of a flight recording being made: events, and the constants they refer to by number.
 *
 *      jfr_chunk_thread, _stack   a thread's and a stack's number; what is new becomes a constant
 *      jfr_chunk_add              a sample, as the kind of its event wants it
 *      jfr_chunk_checkpoint       the constants since the last one
 *
 * A checkpoint names the one before it, so a file can be closed, and read, after each of them. Times
 * are those of the samples' clock, in ns, which are the file's ticks.
 *
 * Context: as export.h; one thread at a time, and the profile locked for what takes a profile.
 */
#ifndef JTOP_EXPORT_JFR_JFR_CHUNK_H
#define JTOP_EXPORT_JFR_JFR_CHUNK_H

#include "core/export/export.h"
#include "core/export/jfr/jfr_write.h"

#define JFR_HEADER_BYTES 68

struct jfr_chunk;
struct jfr_kind;

/* Numbers of a file's constants. Readers know samples of CPU time by the default state, and those of
 * wall clock by the two others. */
enum jfr_state { JFR_STATE_DEFAULT, JFR_STATE_RUNNABLE, JFR_STATE_SLEEPING };

/* Of a profile's state. What is not known to wait counts as runnable. */
enum jfr_state jfr_state_of(uint8_t state);

struct jfr_sample {
    const struct jfr_kind *kind;
    uint64_t time_ns;
    uint64_t weight;
    uint64_t count;           /* of wall clock; others are written once for each */
    uint32_t thread, stack;   /* by jfr_chunk_thread and jfr_chunk_stack */
    enum jfr_state state;     /* of wall clock; others have the default one */
    uint64_t address;         /* tells memory apart; 0: not known */
    const char *event, *unit; /* of event samples: "page-faults", "total"; NULL: not known */
};

/* How samples of an event of the profile ("cpu", "alloc", "trace" …) are written. Never NULL: what
 * is none of those with a kind of their own is an execution sample. */
const struct jfr_kind *jfr_kind_of(const char *event);
/* The same where several events are in one file, asked in their order: the first that is an execution
 * sample is the only one, those after it are event samples, which say what they are of. `taken`:
 * whether there was one; false before the first event. */
const struct jfr_kind *jfr_kind_among(const char *event, bool *taken);
/* The same of an event that is to be exported. */
const struct jfr_kind *jfr_kind_for(const struct export_quality *q, bool *taken);
const char *jfr_kind_type(const struct jfr_kind *k);     /* "jdk.ExecutionSample" */
const char *jfr_kind_interval(const struct jfr_kind *k); /* what its setting is called: "alloc" */
/* Of its category's. */
uint32_t jfr_kind_limit(const struct jfr_kind *k, const struct jfr_limits *limits);
/* Whether one event stands for all samples of one moment. */
bool jfr_kind_is_sum(const struct jfr_kind *k);

/* NULL: no memory. */
struct jfr_chunk *jfr_chunk_new(void);
void jfr_chunk_free(struct jfr_chunk *c);
/* Right after jfr_chunk_new: it comes behind this one in the same file. Its numbers are others, for
 * the JDK's reader takes equal numbers of two chunks for the same thing (since 14). */
void jfr_chunk_follow(struct jfr_chunk *c, const struct jfr_chunk *before);
/* Without memory at any time so far, or of an event: the chunk is not whole. */
bool jfr_chunk_failed(const struct jfr_chunk *c);

/* Where events go; a text of the caller's, which outlives the chunk or the next call. */
void jfr_chunk_to(struct jfr_chunk *c, struct text *events);

/* Samples beyond these limits are no events. `rate` is the caller's and outlives the chunk. */
struct jfr_rate;
void jfr_chunk_limit(struct jfr_chunk *c, struct jfr_rate *rate);

/* Names that are equal in all of it have one number. 0 without memory. */
uint32_t jfr_chunk_thread(struct jfr_chunk *c, uint32_t tid, uint64_t java_id, bool is_virtual,
                          const char *name);
/* A call path of the profile's, see history_stack. 0 without memory. */
uint32_t jfr_chunk_stack(struct jfr_chunk *c, const struct profile *p, const struct query *q,
                         uint32_t node);

void jfr_chunk_add(struct jfr_chunk *c, const struct jfr_sample *s);
/* The memory at this address is free. */
void jfr_chunk_add_free(struct jfr_chunk *c, uint64_t time_ns, uint32_t thread, uint64_t address);

/* Other events: begun with their time, given their fields with jfr_number and the like, ended. */
struct text *jfr_chunk_begin(struct jfr_chunk *c, const char *type, uint64_t time_ns);
void jfr_chunk_end(struct jfr_chunk *c);

/* Bytes of constants not written yet. */
size_t jfr_chunk_pending(const struct jfr_chunk *c);
/* Appends an event with them. `before`: from this event to the last checkpoint, in bytes; negative,
 * or 0 for the first one. */
void jfr_chunk_checkpoint(struct jfr_chunk *c, struct text *out, uint64_t time_ns, int64_t before);

/* What a chunk's header says; source: JfrChunkHeader, JDK 11-26. */
struct jfr_header {
    uint64_t bytes, checkpoint, metadata; /* from the chunk's beginning */
    uint64_t start_ns, duration_ns;       /* of the samples' clock */
    int64_t day;                          /* what makes it the time of day */
    bool last;
};
void jfr_header_write(char to[JFR_HEADER_BYTES], const struct jfr_header *h);

#endif
