#include "core/http/serve/api/api_sources.h"

#include "core/base/clock.h"
#include "core/source/line_rows.h"
#include "core/source/source_finder.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define KEPT_NS UINT64_C(60000000000) /* sources change while the server runs */
#define WAIT_S 2                      /* for other searches */

struct api_sources {
    const char *path;
    pthread_mutex_t lock;
    /* protected by the lock: */
    struct source_finder *finder; /* NULL: none yet */
    uint64_t made_ns;
};

struct api_sources *api_sources_new(const char *path) {
    struct api_sources *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->path = path ? path : "";
    pthread_mutex_init(&s->lock, NULL);
    return s;
}

void api_sources_free(struct api_sources *s) {
    if (!s)
        return;
    source_finder_free(s->finder);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

/* Called with the lock. */
static void forget_old(struct api_sources *s, uint64_t now) {
    if (s->finder && now - s->made_ns >= KEPT_NS) {
        source_finder_free(s->finder);
        s->finder = NULL;
    }
}

void api_sources_tidy(struct api_sources *s) {
    if (!s || pthread_mutex_trylock(&s->lock) != 0)
        return; /* a search goes on: later */
    forget_old(s, clock_now_ns());
    pthread_mutex_unlock(&s->lock);
}

/* Returns the source of a class; NULL: none. Called with the lock, until which it lives. */
static const struct source_file *find(struct api_sources *s, pid_t pid, const char *class_name) {
    const uint64_t now = clock_now_ns();
    forget_old(s, now);
    if (!s->finder) {
        s->finder = source_finder_new();
        s->made_ns = now;
    }
    return s->finder ? source_finder_find(s->finder, s->path, pid, class_name) : NULL;
}

static void write_row(struct json *j, const struct line_row *row, const struct source_file *f) {
    const char *text = row->hidden ? NULL : source_file_line(f, row->line);
    json_begin(j, NULL, '{');
    json_number(j, "line", row->line);
    if (row->hidden)
        json_number(j, "hidden", row->hidden);
    else
        json_string(j, "text", text ? text : "");
    json_end(j, '}');
}

static void write_source(struct json *j, const struct source_file *f,
                         const struct snapshot_line *line, uint32_t lines, uint32_t context) {
    struct line_rows rows = {0};
    line_rows_build(&rows, line, lines, f->lines, context);
    json_begin(j, "source", '{');
    json_string(j, "origin", f->origin);
    json_number(j, "lines", f->lines);
    json_begin(j, "rows", '[');
    for (uint32_t i = 0; i < rows.count && i < API_SOURCES_ROWS_MAX; i++)
        write_row(j, &rows.row[i], f);
    json_end(j, ']');
    json_bool(j, "cut", rows.count > API_SOURCES_ROWS_MAX);
    json_end(j, '}');
    line_rows_free(&rows);
}

/* The number of lines in a source is limited, and so is what building their rows costs. */
void api_sources_write(struct json *j, struct api_sources *s, pid_t pid, const char *class_name,
                       const struct snapshot_line *line, uint32_t lines, uint32_t context) {
    struct timespec until;
    const struct source_file *f = NULL;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += WAIT_S;
    const bool locked = s && class_name[0] && pthread_mutex_timedlock(&s->lock, &until) == 0;
    if (locked)
        f = find(s, pid, class_name);
    if (f)
        write_source(j, f, line, lines, context);
    else
        json_null(j, "source");
    if (locked)
        pthread_mutex_unlock(&s->lock);
}
