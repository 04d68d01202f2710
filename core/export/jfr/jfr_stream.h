/*
 * A flight recording that grows while sampling goes on, and can be read at any moment: after a
 * kill -9 of whoever writes it, too.
 *
 *      chunk: header │ events, checkpoint │ events, checkpoint │ … │ filler
 *                          one flush
 *
 * The file ends with a filler: an event that every reader skips, mostly a hole that takes no room on
 * the disk. What is flushed is written into the filler, behind its first 16 bytes; then the header
 * gets to know the new checkpoint; then those 16 bytes, which lie in one page, turn filler into
 * events. Only when a chunk begins, or gets a further filler (every 8 MB), and when the filler is
 * cut off at the end, is the file in disorder for the microseconds between two system calls.
 *
 * A thread of its own writes, so that a slow disk holds up nobody: at most 64 MB wait for it.
 * Beyond that samples are not taken, and jfr_stream_end says so. A sample that stands for several is
 * as many events, but no more than JFR_STREAM_REPEATS_MAX beyond the first ones in all: who is
 * sampled says how many, and may not fill the disk with a word.
 *
 * Context: frontend only. What takes a profile wants it locked.
 */
#ifndef JTOP_EXPORT_JFR_JFR_STREAM_H
#define JTOP_EXPORT_JFR_JFR_STREAM_H

#include "core/export/jfr/jfr_chunk.h"
#include "core/export/jfr/jfr_notes.h"
#include "core/export/jfr_rate.h"

#define JFR_STREAM_FLUSH_MS 100 /* how old a sample gets before it is in the file */
#define JFR_STREAM_CHUNK_BYTES (UINT64_C(100) << 20)
#define JFR_STREAM_CHUNK_MS UINT64_C(3600000)

/* Events of one sample, and those of all samples that are not their first. */
#define JFR_STREAM_SAMPLE_MAX (UINT64_C(1) << 14)
#define JFR_STREAM_REPEATS_MAX (UINT64_C(1) << 24)

struct jfr_stream;

struct jfr_stream_options {
    uint64_t chunk_bytes, chunk_ms; /* a new chunk after so much; 0: the above */
    struct jfr_limits limits;
    uint64_t start_ns; /* of the samples' clock */
    int64_t day;       /* what makes that the time of day */
    struct jfr_vm vm;  /* strings need not outlive the call */
    /* Asked about once a second by the stream's thread until jfr_stream_stop; false: not known.
     * NULL: nobody to ask. */
    bool (*figures)(void *arg, struct jfr_figures *out);
    /* Adds notes to the beginning of a chunk; the caller of jfr_stream_begin, or the stream's thread.
     * NULL: none. */
    void (*describe)(void *arg, struct jfr_chunk *c, uint64_t time_ns);
    /* Called about ten times a second by the stream's thread until jfr_stream_stop; may lock the
     * stream and add notes. NULL: no need. */
    void (*turn)(void *arg);
    void *arg;
};

/* The file is there when it returns, in place of what was there. -EOPNOTSUPP: it is no regular
 * file; others with a message. */
int jfr_stream_begin(const char *path, const struct jfr_stream_options *o, struct jfr_stream **out,
                     struct err *e);

/* Any thread. The chunk that samples are to be added to, between lock and unlock. NULL: there is no
 * room for `samples` more now; they are counted as left out. */
struct jfr_chunk *jfr_stream_lock(struct jfr_stream *w, uint64_t samples);
void jfr_stream_unlock(struct jfr_stream *w, uint64_t newest_ns);
/* Between lock and unlock. Where there are fewer events than samples, they weigh as much. */
void jfr_stream_add(struct jfr_stream *w, const struct jfr_sample *s);
/* Between lock and unlock. Changes with each chunk: numbers of threads and stacks are a chunk's own. */
uint32_t jfr_stream_chunk(const struct jfr_stream *w);

/* Nothing more comes. Waits for the thread, so what its `figures` locks must not be held. Idempotent. */
void jfr_stream_stop(struct jfr_stream *w);

/* errno of the write that failed, after which nothing more gets into the file; 0: none has. */
int jfr_stream_failure(struct jfr_stream *w);
/* Samples that are no events, for others of theirs stand for them. */
uint64_t jfr_stream_beyond(struct jfr_stream *w);

/* Samples of another event come next, from the first one on: the limits begin anew. */
void jfr_stream_anew(struct jfr_stream *w);

/* Samples that are no events, for they were beyond the limits. */
uint64_t jfr_stream_refused(struct jfr_stream *w);

/* After jfr_stream_stop: writes what waits, says how good it was, and ends the file; parts 0:
 * nothing more is to be said. The profile need not be locked: only texts of the parts are used.
 * -ENOBUFS with a message: the file is good, but for samples there was no room for; other -errno:
 * it ends with the last flush. */
int jfr_stream_end(struct jfr_stream *w, const struct export_part *part, int parts,
                   const struct export_options *o, struct err *e);
/* After jfr_stream_end: the same file goes on, with a new chunk. -ESTALE: it is not the file that
 * was ended (moved away, or somebody has written to it), or it never grew to its end. */
int jfr_stream_resume(struct jfr_stream *w);
/* Frees all; the file ends with what came so far, if it was not ended. NULL is fine. */
void jfr_stream_leave(struct jfr_stream *w);

#endif
