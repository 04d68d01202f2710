/*
 * A flight recording that grows while sampling continues. It can be read at any moment, also after
 * a kill -9 of the process that writes it.
 *
 *      chunk: header │ events, checkpoint │ events, checkpoint │ … │ filler
 *                          one flush
 *
 * The file ends with a filler: an event that every reader skips. It is mostly a hole that uses no
 * disk space. A flush has three steps. It writes the new events into the filler, behind the
 * filler's first 16 bytes. It writes the position of the new checkpoint into the header. It writes
 * the first 16 bytes, which lie in one page and turn filler into events. The file is inconsistent
 * only for the microseconds between two system calls: when a chunk begins, when a chunk gets more
 * filler (every 8 MB), and when the filler is cut off at the end.
 *
 * A separate thread writes the file, so a slow disk delays nobody. At most 64 MB wait for that
 * thread. If more wait, samples are dropped, and jfr_stream_end reports this. A sample that stands
 * for several is written as that many events, but all samples together get at most
 * JFR_STREAM_REPEATS_MAX events beyond their first ones: the count comes from the sampled process,
 * which must not be able to fill the disk with one number.
 *
 * Context: frontend only. Functions that take a profile need it locked.
 */
#ifndef JTOP_EXPORT_JFR_JFR_STREAM_H
#define JTOP_EXPORT_JFR_JFR_STREAM_H

#include "core/export/jfr/jfr_chunk.h"
#include "core/export/jfr/jfr_notes.h"
#include "core/export/jfr_rate.h"

#define JFR_STREAM_FLUSH_MS 100 /* maximum age of a sample before it is in the file */
#define JFR_STREAM_CHUNK_BYTES (UINT64_C(100) << 20)
#define JFR_STREAM_CHUNK_MS UINT64_C(3600000)

/* Maximum number of events for one sample, and for all samples together beyond their
 * first events. */
#define JFR_STREAM_SAMPLE_MAX (UINT64_C(1) << 14)
#define JFR_STREAM_REPEATS_MAX (UINT64_C(1) << 24)

struct jfr_stream;

struct jfr_stream_options {
    uint64_t chunk_bytes, chunk_ms; /* limits after which a new chunk begins; 0: the
                                       defaults above */
    struct jfr_limits limits;
    uint64_t start_ns; /* on the samples' clock */
    int64_t day;       /* offset that turns that clock into the time of day */
    struct jfr_vm vm;  /* its strings need not outlive the call */
    /* The stream's thread calls it about once a second until jfr_stream_stop. It returns false if
     * the values are unknown. NULL: not called. */
    bool (*figures)(void *arg, struct jfr_figures *out);
    /* Adds notes to the beginning of a chunk. Called by the caller of jfr_stream_begin or by the
     * stream's thread. NULL: no notes. */
    void (*describe)(void *arg, struct jfr_chunk *c, uint64_t time_ns);
    /* The stream's thread calls it about ten times a second until jfr_stream_stop. It may lock the
     * stream and add notes. NULL: not called. */
    void (*turn)(void *arg);
    void *arg;
};

/* Creates the file, or replaces an existing one; the file exists when the function returns.
 * -EOPNOTSUPP: not a regular file; other errors come with a message. */
int jfr_stream_begin(const char *path, const struct jfr_stream_options *o, struct jfr_stream **out,
                     struct err *e);

/* Any thread. Locks the stream and returns the chunk that samples are to be added to until unlock.
 * NULL: there is no room for `samples` more now; they are counted as left out, and the stream is
 * not locked. */
struct jfr_chunk *jfr_stream_lock(struct jfr_stream *w, uint64_t samples);
void jfr_stream_unlock(struct jfr_stream *w, uint64_t newest_ns);
/* Call it between lock and unlock. If it writes fewer events than the sample stands for, these
 * events together have the full weight. */
void jfr_stream_add(struct jfr_stream *w, const struct jfr_sample *s);
/* Call it between lock and unlock. Returns a number that changes with each chunk: numbers of
 * threads and stacks are valid in one chunk only. */
uint32_t jfr_stream_chunk(const struct jfr_stream *w);

/* Tells the stream that no more samples come, and waits for its thread. The caller must not hold a
 * lock that `figures` takes. Idempotent. */
void jfr_stream_stop(struct jfr_stream *w);

/* errno of the write that failed, after which nothing more is written to the file; 0: no
 * write failed. */
int jfr_stream_failure(struct jfr_stream *w);
/* Number of events left out because of JFR_STREAM_SAMPLE_MAX and JFR_STREAM_REPEATS_MAX. */
uint64_t jfr_stream_beyond(struct jfr_stream *w);

/* Tells the stream that samples of another event follow, starting with its first sample. The rate
 * limits start again. */
void jfr_stream_anew(struct jfr_stream *w);

/* Number of samples without an event because they exceeded the rate limits. */
uint64_t jfr_stream_refused(struct jfr_stream *w);

/* Call it after jfr_stream_stop. Writes what is still in memory, adds how good the profile is, and
 * ends the file. parts 0: adds nothing about the quality. The profile need not be locked: only
 * texts of the parts are used. -ENOBUFS with a message: the file is good, except for samples that
 * there was no room for. Other -errno: the file ends with the last flush. */
int jfr_stream_end(struct jfr_stream *w, const struct export_part *part, int parts,
                   const struct export_options *o, struct err *e);
/* Call it after jfr_stream_end. Continues the same file with a new chunk. -ESTALE: the file at the
 * path is not the file that was ended (it was moved, or another process wrote to it), or writing to
 * it had failed. */
int jfr_stream_resume(struct jfr_stream *w);
/* Frees everything. If the file was not ended, it ends with what has been written so far. NULL
 * is fine. */
void jfr_stream_leave(struct jfr_stream *w);

#endif
