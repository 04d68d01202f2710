#include "core/export/jfr/jfr_stream_state.h"

#include "core/base/clock.h"
#include "core/export/output_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

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

/* ---- the outside ---- */

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

/* Not to be opened before its time: that blocks until somebody reads, who is told of an end then. */
static bool is_direct(const char *path) {
    struct stat st;
    return lstat(path, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode));
}

/* The beginning appears under its name at once. */
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
                        "%s: %s; what is in it can be read, up to the last flush", w->path,
                        strerror(-r));
    else if (w->left_out)
        r = err_exit_as(e, ERR_EXIT_PROFILER, ENOBUFS,
                        "%s has not got %" PRIu64 " samples: it could not be written fast enough",
                        w->path, w->left_out);
    w->left_out = w->beyond = 0; /* it is told */
    return r;
}

/* Whether what is at the path is what was ended, and nothing more. */
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
