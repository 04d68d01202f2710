#include "core/http/serve/api/api_sources.h"

#include "core/base/clock.h"
#include "core/source/line_rows.h"
#include "core/source/source_finder.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
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

/* False: no memory. Called with the lock. */
static bool renew_finder(struct api_sources *s) {
    const uint64_t now = clock_now_ns();
    forget_old(s, now);
    if (!s->finder) {
        s->finder = source_finder_new();
        s->made_ns = now;
    }
    return s->finder;
}

/* Whether the rows fit in an answer. */
static bool build(struct line_rows *rows, const struct snapshot_line *line, uint32_t lines,
                  uint32_t source_lines, uint32_t context) {
    line_rows_build(rows, line, lines, source_lines, context);
    return rows->count <= API_SOURCES_ROWS_MAX;
}

/* Lowers the context until all lines with samples fit: less context never makes more rows. False:
 * they do not fit without any context. */
static bool build_with_context(struct line_rows *rows, const struct snapshot_line *line,
                               uint32_t lines, uint32_t source_lines, uint32_t *context) {
    uint32_t fits = 0, too_much = *context;
    if (build(rows, line, lines, source_lines, *context))
        return true;
    *context = 0;
    if (!build(rows, line, lines, source_lines, 0))
        return false;
    while (too_much - fits > 1) {
        const uint32_t middle = fits + (too_much - fits) / 2;
        if (build(rows, line, lines, source_lines, middle))
            fits = middle;
        else
            too_much = middle;
    }
    *context = fits;
    return build(rows, line, lines, source_lines, fits);
}

static int by_heat(const void *a, const void *b) {
    const struct snapshot_line *x = a, *y = b;
    if (x->self != y->self)
        return x->self < y->self ? 1 : -1;
    if (x->total != y->total)
        return x->total < y->total ? 1 : -1;
    return (x->line > y->line) - (x->line < y->line);
}

static int by_line(const void *a, const void *b) {
    const struct snapshot_line *x = a, *y = b;
    return (x->line > y->line) - (x->line < y->line);
}

/* The rows of the first `n` of these lines, which are sorted by heat. `kept` has room for them. */
static bool build_first(struct line_rows *rows, const struct snapshot_line *hottest, uint32_t n,
                        struct snapshot_line *kept, uint32_t source_lines) {
    memcpy(kept, hottest, n * sizeof *kept);
    qsort(kept, n, sizeof *kept, by_line);
    return build(rows, kept, n, source_lines, 0);
}

/* The rows of the hottest lines, as many as fit without context: not all. None if
 * memory runs out. */
static void build_hottest(struct line_rows *rows, const struct snapshot_line *line, uint32_t lines,
                          uint32_t source_lines) {
    struct snapshot_line *hottest = malloc(lines * sizeof *hottest);
    struct snapshot_line *kept = malloc(API_SOURCES_ROWS_MAX * sizeof *kept);
    rows->count = 0;
    if (hottest && kept) {
        uint32_t fits = 0;
        uint32_t too_many = lines <= API_SOURCES_ROWS_MAX ? lines : API_SOURCES_ROWS_MAX + 1;
        memcpy(hottest, line, lines * sizeof *hottest);
        qsort(hottest, lines, sizeof *hottest, by_heat);
        while (too_many - fits > 1) {
            const uint32_t middle = fits + (too_many - fits) / 2;
            if (build_first(rows, hottest, middle, kept, source_lines))
                fits = middle;
            else
                too_many = middle;
        }
        build_first(rows, hottest, fits, kept, source_lines);
    }
    free(hottest);
    free(kept);
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
    const bool whole = build_with_context(&rows, line, lines, f->lines, &context);
    if (!whole)
        build_hottest(&rows, line, lines, f->lines);
    json_begin(j, "source", '{');
    json_string(j, "origin", f->origin);
    json_number(j, "lines", f->lines);
    json_number(j, "context", context);
    json_begin(j, "rows", '[');
    for (uint32_t i = 0; i < rows.count; i++)
        write_row(j, &rows.row[i], f);
    json_end(j, ']');
    json_bool(j, "cut", !whole);
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
    const bool wanted = s && class_name[0];
    const bool locked = wanted && pthread_mutex_timedlock(&s->lock, &until) == 0;
    const bool ready = locked && renew_finder(s);
    if (ready)
        f = source_finder_find(s->finder, s->path, pid, class_name);
    if (f) {
        write_source(j, f, line, lines, context);
    } else {
        json_null(j, "source");
        json_string(j, "reason", ready || !wanted ? "not found" : "busy");
    }
    if (locked)
        pthread_mutex_unlock(&s->lock);
}
