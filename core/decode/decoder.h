/*
 * Files:
 *   address_names     cache of symbol lookups: the method of a native or kernel address
 *   decoder           decoder that turns the agent's records into a profile
 *   decoder_delivery  adding of decoded samples to the profile; repeats; freed memory
 *   decoder_names     decoding of names, and of stacks into the profile's frames
 *   decoder_parts     declarations shared by the decoder's source files
 *   decoder_restate   writing of all names so far, for a reader that begins in the middle of the stream
 *   held_samples      bounded queue of samples that wait for a name
 *   kept_records      size-limited store of record copies by key, oldest dropped first
 *   line_table        table from bytecode index to source line, for one method
 *   name_table        table from the agent's ids to the methods, classes and stubs meant
 *   past              samples so far as records, for a viewer that joins a running session
 *   place_map         size-limited map from keys to where a sample was counted
 *   tap               callbacks for each counted sample, for files that grow while sampling
 *   thread_filter     which threads are wanted, by name pattern or thread number
 *   time_window       limit to a time range of the stream (--from and --to)
 *
 * From records to the profile. One decoder serves one stream. It keeps what the agent's method,
 * class and stub ids mean. Samples whose names come late are held back for a while.
 *
 * No record is trusted: records that contradict themselves are counted and skipped, and tables and
 * sums are limited. A sample is counted even if there is no room for its names.
 *
 * A sample of allocated memory that is followed (live_id) is counted twice: under its own event,
 * and under EVENT_LIVE or EVENT_LEAK, from which WIRE_FREE removes it. When it is no longer
 * followed, because its engine has stopped or its agent has detached, its last known state remains.
 *
 * A wall clock sample of a thread that is not idle is counted twice too: under its own event, and
 * under EVENT_ACTIVE. No other record or count has these.
 *
 * Each record takes two steps, so that the profile's lock is never held while files are read:
 *      decoder_prepare   without the lock: symbols are looked up, the recording is written
 *      decoder_decode    with the lock: the profile changes
 *
 * Context: drain thread, or the thread that replays. The record is a private, aligned copy.
 */
#ifndef JTOP_DECODE_DECODER_H
#define JTOP_DECODE_DECODER_H

#include "core/base/id_map.h"
#include "core/decode/address_names.h"
#include "core/decode/held_samples.h"
#include "core/decode/kept_records.h"
#include "core/decode/name_table.h"
#include "core/decode/place_map.h"
#include "core/decode/thread_filter.h"
#include "core/decode/time_window.h"
#include "core/event/event_kind.h"
#include "core/profile/profile.h"
#include "core/record/environment.h"
#include "core/record/feed.h"
#include "core/record/recording.h"
#include "core/wire/record.h"

#define DECODER_NAMES_MAX (2u << 20)        /* methods, classes and stubs */
#define DECODER_THREADS_MAX (1u << 20)      /* thread ids */
#define DECODER_TEXT_BYTES_MAX (256u << 20) /* bytes; of all names accepted so far */
#define DECODER_LINE_BYTES_MAX (64u << 20)  /* bytes; of the line tables of all ids in use */
#define DECODER_REPEATS_MAX (1u << 18)      /* (thread, event) whose last sample is known */
#define DECODER_LIVE_MAX (2u << 20)         /* allocations followed at a time */
#define DECODER_EARLY_MAX 1024u             /* ends that came before their samples */
#define DECODER_TAGS 2
#define DECODER_HOLD_NS UINT64_C(2000000000)

/* Limits of one record's weight, of the sum of an event's weights, and of one record's count. */
#define DECODER_WEIGHT_MAX (UINT64_C(1) << 48)
#define DECODER_WEIGHTS_MAX (UINT64_C(1) << 60)
#define DECODER_COUNT_MAX (1u << 20)

struct decoder_counts {
    uint64_t samples;               /* occurrences that the samples in the profile stand for */
    uint64_t event[WIRE_EVENTS];    /* the same for each event */
    uint64_t failed[WIRE_FAILURES]; /* samples by the reason their walk ended */
    uint64_t bad;                   /* records that contradict themselves */
    uint64_t refused;            /* names, lines, threads or samples for which there was no room */
    uint64_t unwanted;           /* samples and waits of threads that the filter leaves out */
    uint64_t unplaced;           /* repeats of samples that were not counted */
    uint64_t unfollowed;         /* samples without room to follow them: in ALLOC, not in LIVE */
    uint64_t windows, window_ns; /* number and total length of WIRE_WINDOWs */
    uint64_t first_ns, last_ns;  /* time of the earliest and latest sample */
};

#define DECODER_NEWS_BYTES 4096

/* What a recording or the agent says about itself. */
struct decoder_notes {
    char log[256];                 /* last WIRE_LOG of level error or warning, cleaned */
    uint32_t logs;                 /* how many there were */
    char news[DECODER_NEWS_BYTES]; /* WIRE_LOGs of level information, cleaned, one per line */
    size_t news_bytes;
    char latest[256];       /* the last of these lines */
    uint32_t news_left_out; /* lines that did not fit */
    uint32_t pid;           /* from WIRE_JVM; 0: none seen */
    char jvm_name[256];
    char jvm_version[96];
    int64_t day_ns; /* from WIRE_JVM: time of day minus the samples' clock; 0: not known */
    bool undated;   /* WIRE_JVM has no time of day */
    char environment[ENVIRONMENT_SIZE]; /* of a recording: lines, cleaned; "": not known */
};

/* The sum of a recording's marks. Marks with the same time belong together. */
struct decoder_marks {
    bool any;
    bool running;                                  /* an engine ran at the time of the last marks */
    uint64_t moment_ns;                            /* time of the last marks */
    uint64_t sampled_ns;                           /* time between marks during which engines ran */
    struct wire_mark last;                         /* only its event was checked */
    uint32_t asked;                                /* set of events in the last marks */
    uint32_t ran;                                  /* set of events that ran at those marks */
    uint32_t known;                                /* set of events in engine[] */
    struct wire_engine_status engine[WIRE_EVENTS]; /* only their events were checked */
    uint32_t replaced; /* how often an event was replaced by another one with its number */
};

/* Copies of earlier records, for a recording that begins later. */
struct decoder_kept {
    struct kept_records threads, virtuals; /* WIRE_THREADs with their names */
    struct kept_records repeated;          /* the last sample per thread, for events with repeats */
};

#define DECODER_FEEDS 8u

struct decoder {
    struct profile *profile;            /* not owned */
    struct recording_writer *recording; /* not owned; NULL: none is made */
    struct feed *feed[DECODER_FEEDS];   /* of viewers; not owned; NULL: none */
    struct time_window window;          /* the caller sets its limits; all 0: all times */
    uint32_t only;                      /* set of events that are counted and recorded, while others
                                           are only sent to viewers; 0: all */
    uint32_t unfollowed;                /* set of events of which nothing is followed (live_id) */
    struct thread_filter *filter;       /* not owned; NULL: all threads are wanted */
    const struct decoder_tap *tap;      /* not owned; NULL: none */
    bool replay;                        /* accept records that only readers write */
    bool tag_cpu, tag_sched;            /* see session_options */
    /* For tag_sched: a thread's SCHED_*, or -errno. Called without the lock. NULL: not known */
    int (*policy)(void *arg, uint32_t tid);
    void *policy_arg;
    uint64_t now_ns;   /* CLOCK_MONOTONIC; samples are not later than this. 0: any time */
    uint64_t since_ns; /* and not earlier than this */
    struct decoder_counts counts;
    struct decoder_notes notes;
    struct decoder_marks marks;
    bool nameless_threads; /* a thread without a name was seen; the caller resets it */
    /* internal */
    struct address_names addresses;
    struct name_table names; /* by tagged id of a method, class or stub */
    struct id_map threads;   /* tid → what is known about its name */
    struct id_map policies;  /* tid → scheduling policy */
    struct held_samples held;
    struct decoder_kept kept;
    struct place_map repeats;          /* (tid, event) → place of the last sample */
    struct place_map live;             /* live_id → where it counts as alive */
    uint64_t early[DECODER_EARLY_MAX]; /* ring buffer of live_ids that ended early; 0: none */
    uint32_t early_at;
    uint64_t weighed[PROFILE_EVENTS]; /* weights so far; derived events share their event's */
    uint64_t waited_ns;               /* sum of all WIRE_LOCKs */
    uint64_t text_bytes;
    uint32_t failure_method[WIRE_FAILURES];
    uint32_t unknown[16];
    struct profile_frame frame[WIRE_FRAMES_MAX + DECODER_TAGS];
    uint64_t key[WIRE_FRAMES_MAX + DECODER_TAGS];
};

/* NULL: no memory. `symbols` is not owned; NULL in a replay. Adds a few names to the profile: call
 * it with the lock. */
struct decoder *decoder_new(struct profile *p, struct symbols *symbols);
void decoder_free(struct decoder *d);
/* Limits how many allocations are followed at a time, so that they take about `bytes` at most; 0:
 * no change. To be called before the first record. */
void decoder_limit_memory(struct decoder *d, uint64_t bytes);

/* The caller has checked that `record` has as many bytes as its header word says. */
void decoder_prepare(struct decoder *d, const void *record);
void decoder_decode(struct decoder *d, const void *record);

/* Writes the names known so far, so that the stream from here on can be read without what came
 * before. The caller sets decoder.recording to `out` right after. Without the lock. -ENOMEM. */
int decoder_restate(struct decoder *d, struct recording_writer *out);
/* The same for decoder.feed[slot]. */
int decoder_restate_feed(struct decoder *d, uint32_t slot, struct feed *out);
/* The same for another decoder that goes on with this stream; names of addresses are not stated. */
int decoder_restate_to(struct decoder *d, struct decoder *out);

/* To be called after a WIRE_LIBRARY record and all records before it were decoded; without the
 * lock. */
void decoder_libraries_changed(struct decoder *d);

/* Delivers held samples, with the names known so far: those older than DECODER_HOLD_NS, or all of
 * them (decoder_flush). */
void decoder_expire(struct decoder *d);
void decoder_flush(struct decoder *d);

/* To be called before the stream of another agent, which has ids of its own. Delivers all held
 * samples. */
void decoder_new_stream(struct decoder *d);

/* Whether the thread has samples, but no name yet. */
bool decoder_lacks_name(const struct decoder *d, uint32_t tid);

#endif
