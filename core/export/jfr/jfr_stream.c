#include "core/export/jfr/jfr_stream.h"

#include "core/base/clock.h"
#include "core/export/jfr/jfr_stream_state.h"
#include "core/export/output_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NS UINT64_C(1000000000)
#define STEP ((size_t)8 << 20) /* the file grows by this much filler */
#define STEP_MIN ((size_t)64 << 10)
#define PAGE 4096
#define COMMIT 16                 /* bytes whose writing turns filler into events at once */
#define FILLER_BYTES ((size_t)16) /* the bytes of a filler that are really written */
#define TAIL 80                   /* some readers stop looking for events this close to the end */

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

/* Appends the beginning of an empty checkpoint of `bytes` bytes. No reader uses the bytes
 * behind its few fields. */
static void add_filler(struct text *out, uint64_t bytes) {
    char filler[FILLER_BYTES] = {0}; /* the last field means that there are no pools */
    for (int i = 0; i < JFR_SIZE_BYTES; i++)
        filler[i] = (char)((bytes >> 7 * i & 0x7f) | (i < JFR_SIZE_BYTES - 1 ? 0x80u : 0u));
    filler[JFR_SIZE_BYTES] = JFR_EVENT_CHECKPOINT;
    text_add_n(out, filler, sizeof filler);
}

/* Adds filler behind a checkpoint: at least TAIL bytes, and as many as align the next event to
 * COMMIT. `at`: where the checkpoint ends in the chunk. */
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

/* Makes room for `bytes` more bytes, followed by a filler. */
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

/* Writes the beginning of a chunk and a filler; the header contains the chunk's future length. The
 * lock is held. */
static void jfr_stream_begin_chunk(struct jfr_stream *w, struct text *out, uint64_t start_ns) {
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

/* Removes the filler: the file gets its final size. */
static int jfr_stream_trim(struct jfr_stream *w) {
    w->header.last = true;
    return cut(w, w->end);
}

/* The lock is held while the new chunk is built, not while it is written. */
int jfr_stream_next_chunk(struct jfr_stream *w) {
    struct text out = {0};
    struct jfr_chunk *chunk = jfr_chunk_new();
    if (!chunk)
        return -ENOMEM;
    int r = cut(w, w->end + PAGE + COMMIT - (w->end + COMMIT) % PAGE); /* chunks begin shortly
                                                                          behind a page boundary */
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
    if (!empty) { /* more events for the old chunk arrived meanwhile: try again at the next flush */
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

/* Takes the events and constants that wait to be written, in the form they will have in the file.
 * False: nothing waits. */
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
    w->checkpoint = before; /* the old one until the new one is written */
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

#define WAITING_MAX ((size_t)64 << 20)

static bool wait_a_moment(struct jfr_stream *w) {
    struct timespec until = clock_after_ms(CLOCK_MONOTONIC, JFR_STREAM_FLUSH_MS);
    pthread_mutex_lock(&w->lock);
    while (!w->quit && pthread_cond_timedwait(&w->changed, &w->lock, &until) == 0)
        ;
    bool quit = w->quit;
    pthread_mutex_unlock(&w->lock);
    return !quit;
}

static void add_figures(struct jfr_stream *w) {
    struct jfr_figures f;
    if (!w->o.figures || ++w->turns % (1000 / JFR_STREAM_FLUSH_MS) || !w->o.figures(w->o.arg, &f))
        return;
    pthread_mutex_lock(&w->lock);
    if (w->newest_ns)
        jfr_note_figures(w->chunk, w->newest_ns, &f);
    pthread_mutex_unlock(&w->lock);
}

static void *stream_main(void *arg) {
    struct jfr_stream *w = arg;
    int r = 0;
    for (bool more = true; more && r == 0;) {
        more = wait_a_moment(w);
        if (more)
            add_figures(w);
        if (more && w->o.turn)
            w->o.turn(w->o.arg);
        r = jfr_stream_flush(w);
        if (r == 0 && more && jfr_stream_is_full(w))
            r = jfr_stream_next_chunk(w);
    }
    pthread_mutex_lock(&w->lock);
    w->failure = -r;
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* ---- the public functions ---- */

static void free_all(struct jfr_stream *w) {
    if (w->fd >= 0)
        close(w->fd);
    jfr_chunk_free(w->chunk);
    text_free(&w->events);
    for (size_t i = 0; i < sizeof w->strings / sizeof w->strings[0]; i++)
        free(w->strings[i]);
    free(w->path);
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    free(w);
}

/* Such a file must not be opened yet: opening blocks until a reader appears, and that reader would
 * see the end of the file too early. */
static bool is_direct(const char *path) {
    struct stat st;
    return lstat(path, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode));
}

/* The file appears under its name with the first chunk's beginning already in it. */
static int create(struct jfr_stream *w, struct err *e) {
    struct output_file f;
    if (is_direct(w->path))
        return -EOPNOTSUPP;
    struct text out = {0};
    int r = output_file_open(&f, w->path, ERR_EXIT_PROFILER, e);
    if (r < 0)
        return r;
    if (f.dir < 0) {
        output_file_abort(&f);
        return -EOPNOTSUPP;
    }
    jfr_stream_begin_chunk(w, &out, w->o.start_ns);
    r = out.failed ? err_exit_as(e, ERR_EXIT_PROFILER, ENOMEM, "no memory for %s", w->path)
                   : output_file_write(&f, out.data, out.len, e);
    if (r == 0 && (ftruncate(f.fd, (off_t)w->file) != 0 || (w->fd = dup(f.fd)) < 0))
        r = err_exit_as(e, ERR_EXIT_PROFILER, errno, "%s: %s", w->path, strerror(errno));
    text_free(&out);
    if (r == 0)
        return output_file_commit(&f, e);
    output_file_abort(&f);
    return r;
}

static bool copy_strings(struct jfr_stream *w, const char *path) {
    const char **of[] = {&w->o.vm.name, &w->o.vm.version, &w->o.vm.arguments};
    bool all = (w->path = strdup(path)) != NULL;
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
        w->strings[i] = *of[i] ? strdup(*of[i]) : NULL;
        all &= w->strings[i] || !*of[i];
        *of[i] = w->strings[i];
    }
    return all;
}

static int start_thread(struct jfr_stream *w) {
    w->quit = false;
    int r = pthread_create(&w->thread, NULL, stream_main, w);
    w->threaded = r == 0;
    return -r;
}

int jfr_stream_begin(const char *path, const struct jfr_stream_options *o, struct jfr_stream **out,
                     struct err *e) {
    struct jfr_stream *w = calloc(1, sizeof *w);
    pthread_condattr_t monotonic;
    if (!w)
        return err_exit_as(e, ERR_EXIT_PROFILER, ENOMEM, "no memory for %s", path);
    w->fd = -1;
    w->o = *o;
    w->o.chunk_bytes = o->chunk_bytes ? o->chunk_bytes : JFR_STREAM_CHUNK_BYTES;
    w->o.chunk_ms = o->chunk_ms ? o->chunk_ms : JFR_STREAM_CHUNK_MS;
    pthread_mutex_init(&w->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&w->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    w->rate.limits = o->limits;
    w->chunk = jfr_chunk_new();
    if (w->chunk)
        jfr_chunk_limit(w->chunk, &w->rate);
    int r = w->chunk && copy_strings(w, path)
                ? create(w, e)
                : err_exit_as(e, ERR_EXIT_PROFILER, ENOMEM, "no memory for %s", path);
    if (r == 0 && (r = start_thread(w)) < 0)
        r = err_exit_as(e, ERR_EXIT_PROFILER, -r, "no thread to write %s", path);
    if (r < 0) {
        free_all(w);
        return r;
    }
    *out = w;
    return 0;
}

struct jfr_chunk *jfr_stream_lock(struct jfr_stream *w, uint64_t samples) {
    pthread_mutex_lock(&w->lock);
    if (!w->failure && w->events.len + jfr_chunk_pending(w->chunk) < WAITING_MAX)
        return w->chunk;
    w->left_out += samples;
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

void jfr_stream_unlock(struct jfr_stream *w, uint64_t newest_ns) {
    if (newest_ns > w->newest_ns)
        w->newest_ns = newest_ns;
    pthread_mutex_unlock(&w->lock);
}

void jfr_stream_add(struct jfr_stream *w, const struct jfr_sample *s) {
    struct jfr_sample fewer = *s;
    if (s->count > 1 && !jfr_kind_is_sum(s->kind)) {
        uint64_t room = 1 + JFR_STREAM_REPEATS_MAX - w->repeats;
        room = room < JFR_STREAM_SAMPLE_MAX ? room : JFR_STREAM_SAMPLE_MAX;
        fewer.count = s->count < room ? s->count : room;
        w->beyond += s->count - fewer.count;
        w->repeats += fewer.count - 1;
    }
    jfr_chunk_add(w->chunk, &fewer);
}

uint32_t jfr_stream_chunk(const struct jfr_stream *w) {
    return w->chunks;
}

int jfr_stream_failure(struct jfr_stream *w) {
    pthread_mutex_lock(&w->lock);
    int failure = w->failure;
    pthread_mutex_unlock(&w->lock);
    return failure;
}

uint64_t jfr_stream_beyond(struct jfr_stream *w) {
    pthread_mutex_lock(&w->lock);
    uint64_t beyond = w->beyond;
    pthread_mutex_unlock(&w->lock);
    return beyond;
}

void jfr_stream_anew(struct jfr_stream *w) {
    pthread_mutex_lock(&w->lock);
    jfr_rate_anew(&w->rate);
    pthread_mutex_unlock(&w->lock);
}

uint64_t jfr_stream_refused(struct jfr_stream *w) {
    pthread_mutex_lock(&w->lock);
    uint64_t refused = w->rate.refused;
    pthread_mutex_unlock(&w->lock);
    return refused;
}

void jfr_stream_stop(struct jfr_stream *w) {
    if (!w->threaded)
        return;
    pthread_mutex_lock(&w->lock);
    w->quit = true;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    w->threaded = false;
}

static int finish(struct jfr_stream *w) {
    int r = w->failure ? -w->failure : w->ended ? 0 : jfr_stream_flush(w);
    if (r == 0 && !w->ended)
        r = jfr_stream_trim(w);
    w->failure = -r;
    w->ended = true;
    return r;
}

int jfr_stream_end(struct jfr_stream *w, const struct export_part *part, int parts,
                   const struct export_options *o, struct err *e) {
    jfr_stream_stop(w);
    uint64_t at = w->newest_ns > w->header.start_ns ? w->newest_ns : w->header.start_ns;
    bool taken = false;
    for (int i = 0; i < parts; i++)
        jfr_note_quality(w->chunk, at, jfr_kind_for(part[i].quality, &taken), &part[i], o,
                         i == 0 ? w->left_out + w->beyond : 0);
    int r = finish(w);
    if (r < 0)
        r = err_exit_as(e, ERR_EXIT_PROFILER, -r,
                        "%s: %s; the file can be read up to the last flush", w->path, strerror(-r));
    else if (w->left_out)
        r = err_exit_as(e, ERR_EXIT_PROFILER, ENOBUFS,
                        "%s lacks %" PRIu64 " samples: it could not be written fast enough",
                        w->path, w->left_out);
    w->left_out = w->beyond = 0; /* both have been reported */
    return r;
}

/* Reports whether the file at the path is the file that was ended, with nothing added to it. */
static bool is_as_ended(const struct jfr_stream *w) {
    struct stat own, there;
    return fstat(w->fd, &own) == 0 && lstat(w->path, &there) == 0 && own.st_dev == there.st_dev &&
           own.st_ino == there.st_ino && (uint64_t)own.st_size == w->end;
}

int jfr_stream_resume(struct jfr_stream *w) {
    if (w->failure || !w->ended || !is_as_ended(w))
        return -ESTALE;
    w->ended = w->header.last = false;
    int r = jfr_stream_next_chunk(w);
    if (r == 0)
        r = start_thread(w);
    w->failure = -r;
    return r;
}

void jfr_stream_leave(struct jfr_stream *w) {
    if (!w)
        return;
    jfr_stream_stop(w);
    finish(w);
    free_all(w);
}
