#include "core/export/jfr/jfr_stream_state.h"

#include "core/base/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define NS UINT64_C(1000000000)
#define STEP ((size_t)8 << 20) /* of filler */
#define STEP_MIN ((size_t)64 << 10)
#define PAGE 4096
#define COMMIT 16                 /* bytes that turn filler into events at once */
#define FILLER_BYTES ((size_t)16) /* what of a filler is written */
#define TAIL 80                   /* some readers stop looking for events that near to the end */

static size_t step_of(const struct jfr_stream *w) {
    size_t step = w->o.chunk_bytes / 4 < STEP ? (size_t)w->o.chunk_bytes / 4 : STEP;
    step -= step % STEP_MIN;
    return step < STEP_MIN ? STEP_MIN : step;
}

/* ---- bytes ---- */

static int write_at(struct jfr_stream *w, const void *data, size_t bytes, uint64_t at) {
    const char *from = data;
    while (bytes) {
        ssize_t n = pwrite(w->fd, from, bytes, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : -EIO;
        from += n;
        at += (uint64_t)n;
        bytes -= (size_t)n;
    }
    return 0;
}

/* An empty checkpoint of that size: what is behind its few fields nobody looks at. */
static void add_filler(struct text *out, uint64_t bytes) {
    char filler[FILLER_BYTES] = {0}; /* no pools, in the end */
    for (int i = 0; i < JFR_SIZE_BYTES; i++)
        filler[i] = (char)((bytes >> 7 * i & 0x7f) | (i < JFR_SIZE_BYTES - 1 ? 0x80u : 0u));
    filler[JFR_SIZE_BYTES] = JFR_EVENT_CHECKPOINT;
    text_add_n(out, filler, sizeof filler);
}

/* Behind a checkpoint, whose own size must fit. `at`: where it ends in the chunk. */
static void align(struct text *out, uint64_t at) {
    static const char zeroes[TAIL + COMMIT] = {0};
    size_t bytes = TAIL + (size_t)(COMMIT - (at + TAIL) % COMMIT) % COMMIT;
    add_filler(out, bytes);
    text_add_n(out, zeroes, bytes - FILLER_BYTES);
}

static int write_filler(struct jfr_stream *w) {
    struct text filler = {0};
    add_filler(&filler, w->file - w->end);
    int r = filler.failed ? -ENOMEM : write_at(w, filler.data, filler.len, w->end);
    text_free(&filler);
    return r;
}

static int write_header(struct jfr_stream *w) {
    char header[JFR_HEADER_BYTES];
    w->header.bytes = w->file - w->start;
    w->header.checkpoint = w->checkpoint;
    jfr_header_write(header, &w->header);
    return write_at(w, header + 8, sizeof header - 8, w->start + 8);
}

/* Room for so many bytes and a filler behind them. */
static int make_room(struct jfr_stream *w, size_t bytes) {
    size_t step = step_of(w);
    if (w->file - w->end >= bytes + 2 * FILLER_BYTES)
        return 0;
    w->file += (bytes / step + 1) * step;
    int r = ftruncate(w->fd, (off_t)w->file) == 0 ? 0 : -errno;
    if (r == 0)
        r = write_header(w);
    return r == 0 ? write_filler(w) : r;
}

/* ---- a chunk ---- */

static void add_beginning(struct jfr_stream *w, struct text *out, struct text *notes) {
    static const char header[JFR_HEADER_BYTES] = {0};
    uint64_t at = w->header.start_ns;
    struct text *before = &w->events;
    jfr_chunk_to(w->chunk, notes);
    jfr_note_recording(w->chunk, at, w->o.day, 0);
    jfr_note_vm(w->chunk, at, &w->o.vm);
    jfr_note_machine(w->chunk, at);
    if (w->o.describe)
        w->o.describe(w->o.arg, w->chunk, at);
    jfr_chunk_to(w->chunk, before);
    text_add_n(out, header, sizeof header);
    text_add_n(out, notes->data, notes->len);
    w->header.metadata = out->len;
    jfr_metadata(out, at);
    w->checkpoint = out->len;
    jfr_chunk_checkpoint(w->chunk, out, at, 0);
    align(out, out->len);
}

void jfr_stream_begin_chunk(struct jfr_stream *w, struct text *out, uint64_t start_ns) {
    struct text notes = {0};
    w->header = (struct jfr_header){.start_ns = start_ns, .duration_ns = NS, .day = w->o.day};
    w->start = w->file;
    w->begun_ns = clock_now_ns();
    add_beginning(w, out, &notes);
    w->end = w->start + out->len;
    w->file = w->end - w->end % step_of(w) + step_of(w);
    if (w->file - w->end < 2 * FILLER_BYTES)
        w->file += step_of(w);
    add_filler(out, w->file - w->end);
    w->header.bytes = w->file - w->start;
    w->header.checkpoint = w->checkpoint;
    if (!out->failed)
        jfr_header_write(out->data, &w->header);
    out->failed |= notes.failed;
    w->chunks++;
    text_free(&notes);
}

bool jfr_stream_is_full(const struct jfr_stream *w) {
    return w->end - w->start >= w->o.chunk_bytes ||
           clock_now_ns() - w->begun_ns >= w->o.chunk_ms * 1000000;
}

static int cut(struct jfr_stream *w, uint64_t to) {
    w->file = to;
    int r = to > w->end ? write_filler(w) : 0;
    if (r == 0)
        r = write_header(w);
    return r < 0 ? r : ftruncate(w->fd, (off_t)to) == 0 ? 0 : -errno;
}

int jfr_stream_trim(struct jfr_stream *w) {
    w->header.last = true;
    return cut(w, w->end);
}

/* The lock is held for as long as the new chunk is being made, not while it is written. */
int jfr_stream_next_chunk(struct jfr_stream *w) {
    struct text out = {0};
    struct jfr_chunk *chunk = jfr_chunk_new();
    if (!chunk)
        return -ENOMEM;
    int r = cut(w, w->end + PAGE + COMMIT - (w->end + COMMIT) % PAGE); /* chunks begin a page */
    pthread_mutex_lock(&w->lock);
    bool empty = r == 0 && w->events.len == 0;
    if (empty) {
        jfr_chunk_follow(chunk, w->chunk);
        jfr_chunk_free(w->chunk);
        w->chunk = chunk;
        jfr_chunk_to(chunk, &w->events);
        jfr_stream_begin_chunk(w, &out,
                               w->newest_ns > w->o.start_ns ? w->newest_ns : w->o.start_ns);
    }
    pthread_mutex_unlock(&w->lock);
    if (!empty) { /* more came meanwhile, for the old one: the next time */
        jfr_chunk_free(chunk);
        return r;
    }
    r = out.failed ? -ENOMEM : write_at(w, out.data, out.len, w->start);
    if (r == 0 && ftruncate(w->fd, (off_t)w->file) != 0)
        r = -errno;
    text_free(&out);
    return r;
}

/* ---- flushing ---- */

/* Takes what waits, as it will be in the file. False: nothing does. */
static bool take(struct jfr_stream *w, struct text *out) {
    bool any = false;
    pthread_mutex_lock(&w->lock);
    if (w->events.len || jfr_chunk_pending(w->chunk)) {
        any = true;
        *out = w->events;
        w->events = (struct text){0};
        uint64_t at = w->end + out->len - w->start;
        jfr_chunk_checkpoint(w->chunk, out, w->newest_ns, (int64_t)(w->checkpoint - at));
        align(out, w->end - w->start + out->len);
        w->checkpoint = at;
        if (w->newest_ns > w->header.start_ns)
            w->header.duration_ns = w->newest_ns - w->header.start_ns + NS / 1000;
        out->failed |= jfr_chunk_failed(w->chunk);
    }
    pthread_mutex_unlock(&w->lock);
    return any;
}

int jfr_stream_flush(struct jfr_stream *w) {
    struct text out = {0};
    uint64_t before = w->checkpoint;
    if (!take(w, &out))
        return 0;
    int r = out.failed ? -ENOMEM : 0;
    uint64_t taken = w->checkpoint, bytes = out.len;
    w->checkpoint = before; /* until it is there */
    if (r == 0)
        r = make_room(w, out.len);
    add_filler(&out, w->file - w->end - bytes);
    if (r == 0)
        r = out.failed ? -ENOMEM
                       : write_at(w, out.data + COMMIT, out.len - COMMIT, w->end + COMMIT);
    w->checkpoint = taken;
    if (r == 0)
        r = write_header(w);
    if (r == 0)
        r = write_at(w, out.data, COMMIT, w->end);
    if (r == 0)
        w->end += bytes;
    text_free(&out);
    return r;
}
