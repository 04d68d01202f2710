/*
 * The internal struct of a growing recording, for jfr_stream.c and its test.
 *
 * Context: as jfr_stream.h.
 */
#ifndef JTOP_EXPORT_JFR_JFR_STREAM_STATE_H
#define JTOP_EXPORT_JFR_JFR_STREAM_STATE_H

#include "core/export/jfr/jfr_stream.h"

#include <pthread.h>

struct jfr_stream {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    bool threaded;
    struct jfr_stream_options o;
    char *strings[3]; /* copies for o.vm */
    char *path;
    /* protected by `lock` */
    struct jfr_chunk *chunk;
    struct text events;
    uint32_t chunks;
    uint64_t newest_ns;
    uint64_t left_out; /* samples that there was no room for */
    uint64_t beyond;   /* events that were left out, because their sample or the file already had
                          its maximum, see jfr_stream.h */
    uint64_t repeats;  /* events that were not the first of their sample */
    struct jfr_rate rate;
    bool quit, ended;
    int failure; /* errno of the first write that failed; 0: none */
    /* owned by the stream's thread, or by the thread that has joined it */
    int fd;
    unsigned turns;
    uint64_t start;      /* offset of the chunk in the file */
    uint64_t end, file;  /* offsets: end of the chunk's events; end of the filler behind them, which
                            is the end of the file */
    uint64_t checkpoint; /* offset of the last checkpoint, from the chunk's start */
    uint64_t begun_ns;   /* when the chunk began, on the clock of this process */
    struct jfr_header header;
};

/* Called by the stream's thread; 0 or -errno. */
int jfr_stream_flush(struct jfr_stream *w);
int jfr_stream_next_chunk(struct jfr_stream *w);
bool jfr_stream_is_full(const struct jfr_stream *w);

#endif
