/*
 * Files:
 *   jfr_chunk         a JFR chunk being made: events, and constants they refer to
 *   jfr_export        JFR export of a finished profile, as one chunk
 *   jfr_kind          how the samples of each event are written: type and fields
 *   jfr_metadata      writing of the JFR metadata event from the table of types
 *   jfr_notes         JFR events on the machine, the JVM, settings and profile quality
 *   jfr_paths         frames of whole call paths, measured and written
 *   jfr_stream        JFR file that grows while sampling and is readable at any time
 *   jfr_stream_state  internal struct of a growing JFR file, also for its test
 *   jfr_types         table of all JFR types and their fields
 *   jfr_write         low-level writing of JFR numbers, strings and events
 *
 * Builds one chunk of a flight recording: events, and the constants that they refer to by number.
 *
 *      jfr_chunk_thread, _stack   number of a thread or stack; a new one becomes a constant
 *      jfr_chunk_add              adds a sample, with the fields that the kind of its event needs
 *      jfr_chunk_checkpoint       writes the constants added since the last checkpoint
 *
 * A checkpoint refers to the one before it, so a file can be closed and read after each checkpoint.
 * Times are those of the samples' clock in ns; they are also the file's ticks.
 *
 * Context: as export.h. One thread at a time. Functions that take a profile need it locked.
 */
#ifndef JTOP_EXPORT_JFR_JFR_CHUNK_H
#define JTOP_EXPORT_JFR_JFR_CHUNK_H

#include "core/export/export.h"
#include "core/export/jfr/jfr_write.h"

struct jfr_chunk;
struct jfr_kind;

/* Numbers of a file's thread state constants. Readers treat samples with the default state as CPU
 * time, and samples with the other two states as wall clock time. */
enum jfr_state { JFR_STATE_DEFAULT, JFR_STATE_RUNNABLE, JFR_STATE_SLEEPING };

/* Converts a profile's state. A thread in an unknown state counts as runnable. */
enum jfr_state jfr_state_of(uint8_t state);

struct jfr_sample {
    const struct jfr_kind *kind;
    uint64_t time_ns;
    uint64_t weight;
    uint64_t count;           /* for wall clock samples; other samples are written once for
                                 each count */
    uint32_t thread, stack;   /* numbers from jfr_chunk_thread and jfr_chunk_stack */
    enum jfr_state state;     /* for wall clock samples; others have the default state */
    uint64_t address;         /* identifies a memory block or lock; 0: not known */
    const char *event, *unit; /* for event samples: "page-faults", "total"; NULL: not known */
};

/* Returns how samples of an event of the profile ("cpu", "alloc", "trace" …) are written. Never
 * NULL: an event without a kind of its own is written as execution samples. */
const struct jfr_kind *jfr_kind_of(const char *event);
/* Does the same for a file with several events. The caller asks for each event in order. Only the
 * first event without a kind of its own is written as execution samples; the later ones are written
 * as event samples, which name their event. `taken`: whether an event is already written as
 * execution samples; false before the first event. */
const struct jfr_kind *jfr_kind_among(const char *event, bool *taken);
/* Does the same for an event that is to be exported. */
const struct jfr_kind *jfr_kind_for(const struct export_quality *q, bool *taken);
const char *jfr_kind_type(const struct jfr_kind *k);     /* "jdk.ExecutionSample" */
const char *jfr_kind_interval(const struct jfr_kind *k); /* name of its setting: "alloc" */
/* The limit of its category. */
uint32_t jfr_kind_limit(const struct jfr_kind *k, const struct jfr_limits *limits);
/* Reports whether one event stands for all samples of one moment. */
bool jfr_kind_is_sum(const struct jfr_kind *k);

/* Returns NULL if there is no memory. */
struct jfr_chunk *jfr_chunk_new(void);
void jfr_chunk_free(struct jfr_chunk *c);
/* Makes `c` the next chunk after `before` in the same file. Call it right after jfr_chunk_new. The
 * new chunk uses other numbers, because the JDK's reader (since 14) treats equal numbers in two
 * chunks as the same constant. */
void jfr_chunk_follow(struct jfr_chunk *c, const struct jfr_chunk *before);
/* True if memory ran out at any time since the start: the chunk is incomplete. */
bool jfr_chunk_failed(const struct jfr_chunk *c);

/* Sets the text that events are appended to. It belongs to the caller and must outlive the chunk or
 * the next call. */
void jfr_chunk_to(struct jfr_chunk *c, struct text *events);

/* Drops samples that exceed these limits. `rate` belongs to the caller and must outlive
 * the chunk. */
struct jfr_rate;
void jfr_chunk_limit(struct jfr_chunk *c, struct jfr_rate *rate);

/* Returns the number of a thread. Threads for which all arguments are equal share one number. 0 if
 * there is no memory. */
uint32_t jfr_chunk_thread(struct jfr_chunk *c, uint32_t tid, uint64_t java_id, bool is_virtual,
                          const char *name);
/* Returns the number of a call path of the profile, see history_stack. 0 if there is no memory. */
uint32_t jfr_chunk_stack(struct jfr_chunk *c, const struct profile *p, const struct query *q,
                         uint32_t node);

void jfr_chunk_add(struct jfr_chunk *c, const struct jfr_sample *s);
/* Adds an event for memory at this address that was freed. */
void jfr_chunk_add_free(struct jfr_chunk *c, uint64_t time_ns, uint32_t thread, uint64_t address);

/* For other events: begin one with its time, add its fields with jfr_number and similar
 * functions, end it. */
struct text *jfr_chunk_begin(struct jfr_chunk *c, const char *type, uint64_t time_ns);
void jfr_chunk_end(struct jfr_chunk *c);

/* For a file with one checkpoint: stacks take no memory, because they are read from the profile again
 * when they are written. Call it right after jfr_chunk_new; the questions must outlive the chunk. The
 * checkpoint then ends where its stacks begin, and `jfr_chunk_write_stacks` appends them: there are
 * jfr_chunk_late_bytes of them. That text may have a sink. */
void jfr_chunk_stacks_later(struct jfr_chunk *c);
size_t jfr_chunk_late_bytes(const struct jfr_chunk *c);
void jfr_chunk_write_stacks(struct jfr_chunk *c, const struct profile *p, struct text *out);

/* Returns the size in bytes of the constants that are not written yet. */
size_t jfr_chunk_pending(const struct jfr_chunk *c);
/* Appends a checkpoint event with these constants. `before`: distance in bytes from this event to
 * the last checkpoint; it is negative, or 0 for the first checkpoint. */
void jfr_chunk_checkpoint(struct jfr_chunk *c, struct text *out, uint64_t time_ns, int64_t before);

#endif
