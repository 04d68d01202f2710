/*
 * From records to the profile. One decoder serves one stream: what the agent's method, class and
 * stub ids mean is kept here, and samples whose names come late are held back for a while.
 *
 * Nothing in a record is believed: records that contradict themselves are counted and skipped,
 * tables are bounded, a sample that fits nowhere still counts as one.
 *
 * Two steps a record, so that the profile's lock is never held while files are read:
 *      decoder_prepare   without the lock: symbols are looked up, the recording is written
 *      decoder_decode    with the lock: the profile changes
 *
 * Context: drain thread, or the thread that replays. The record is a private, aligned copy.
 */
#ifndef JTOP_SESSION_DECODER_H
#define JTOP_SESSION_DECODER_H

#include "core/profile/profile.h"
#include "core/session/address_names.h"
#include "core/session/held_samples.h"
#include "core/session/id_map.h"
#include "core/session/name_table.h"
#include "core/session/recording.h"
#include "core/wire/record.h"

#define DECODER_NAMES_MAX (2u << 20)        /* methods, classes and stubs */
#define DECODER_THREADS_MAX (1u << 20)      /* thread ids */
#define DECODER_TEXT_BYTES_MAX (256u << 20) /* of all names ever accepted */
#define DECODER_LINE_BYTES_MAX (64u << 20)  /* of the line tables of all ids in use */
#define DECODER_HOLD_NS UINT64_C(2000000000)

struct decoder_counts {
    uint64_t samples;               /* delivered into the profile */
    uint64_t failed[WIRE_FAILURES]; /* of them, by the reason their walk ended */
    uint64_t lost;                  /* the agent found the ring full (WIRE_LOST) */
    uint64_t bad;                   /* records that contradict themselves */
    uint64_t refused;               /* names, lines, threads or samples there was no room for */
    uint64_t first_ns, last_ns;     /* time of the earliest and latest sample */
};

#define DECODER_NEWS_BYTES 4096

/* What a recording or the agent says about itself. */
struct decoder_notes {
    char log[256];                 /* last WIRE_LOG of level error or warning, clean */
    uint32_t logs;                 /* how many there were */
    char news[DECODER_NEWS_BYTES]; /* WIRE_LOGs of level information, clean, a line each */
    size_t news_bytes;
    char latest[256];       /* the last of them */
    uint32_t news_left_out; /* lines that did not fit */
    uint32_t pid;           /* from WIRE_JVM; 0: none seen */
    char jvm_name[256];
    char jvm_version[96];
    bool marked; /* `mark` is there: the last WIRE_MARK, not checked */
    uint64_t first_mark_ns;
    struct wire_mark mark;
};

struct decoder {
    struct profile *profile;            /* not owned */
    struct recording_writer *recording; /* not owned; NULL: none is made */
    bool replay;                        /* records that only readers write are believed */
    uint64_t now_ns;   /* CLOCK_MONOTONIC; samples are not later than this. 0: any time */
    uint64_t since_ns; /* and not earlier than this */
    struct decoder_counts counts;
    struct decoder_notes notes;
    bool nameless_threads; /* a thread without a name has shown up; the caller resets it */
    /* internal */
    struct address_names addresses;
    struct name_table names; /* by tagged id of a method, class or stub */
    struct id_map threads;   /* tid → what is known of its name */
    struct held_samples held;
    uint64_t text_bytes;
    uint32_t failure_method[WIRE_FAILURES];
    uint32_t unknown[8];
    struct profile_frame frame[WIRE_FRAMES_MAX];
    uint64_t key[WIRE_FRAMES_MAX];
};

/* NULL: no memory. `symbols` is not owned; NULL in a replay. Interns a few names: hold the lock. */
struct decoder *decoder_new(struct profile *p, struct symbols *symbols);
void decoder_free(struct decoder *d);

/* The bytes of `record` are what its header word says; the caller checked that they are there. */
void decoder_prepare(struct decoder *d, const void *record);
void decoder_decode(struct decoder *d, const void *record);

/* After a WIRE_LIBRARY record and everything before it were decoded; without the lock. */
void decoder_libraries_changed(struct decoder *d);

/* Delivers held samples older than DECODER_HOLD_NS, or all of them, with what is known. */
void decoder_expire(struct decoder *d);
void decoder_flush(struct decoder *d);

/* Another agent's stream follows: its ids are its own. Flushes. */
void decoder_new_stream(struct decoder *d);

/* Whether samples of this thread came and no name did. */
bool decoder_lacks_name(const struct decoder *d, uint32_t tid);

#endif
