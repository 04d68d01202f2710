#include "tui/cli/output/growing.h"

#include "attach/find/process_list.h"
#include "attach/proc/process_libraries.h"
#include "core/base/clock.h"
#include "core/event/event.h"
#include "core/export/formats.h"
#include "core/export/jfr/jfr_stream.h"
#include "core/profile/snapshot/history_read.h"
#include "core/profile/table/thread_of.h"
#include "core/decode/tap.h"
#include "tui/model/machine_load.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NS UINT64_C(1000000000)

/* A thread's number in the chunk; index: its row in the profile. */
struct row {
    const void *mark; /* mark of its name */
    uint32_t born;
    uint32_t number; /* 0: not known */
};

struct file {
    const struct output *item;
    struct jfr_stream *stream;
    struct machine_load load;
    struct process_list processes;
    uint64_t look_ns, next_look_ns; /* interval and next time of polls of other processes; 0:
                                       none */
    struct session *session;
    pid_t pid;
    uint32_t events; /* set of wire events */
    const struct jfr_kind *kind[WIRE_EVENTS];
    const char *name[WIRE_EVENTS]; /* names from the outputs' events */
    bool carriers;
    uint64_t start_ns; /* no time is earlier */
    uint32_t chunk;    /* the chunk for which `row` is valid */
    struct row *row;
    uint32_t rows;
};

struct growing {
    struct session *session;
    struct decoder_tap tap;
    bool tapped;
    struct file file[OUTPUTS_MAX];
    int files;
    uint32_t history_seconds;
};

/* ---- samples ---- */

static struct row *row_of(struct file *f, uint32_t thread) {
    uint32_t chunk = jfr_stream_chunk(f->stream);
    if (chunk != f->chunk)
        memset(f->row, 0, f->rows * sizeof *f->row);
    f->chunk = chunk;
    if (thread >= f->rows) {
        uint32_t rows = thread + thread / 2 + 64;
        struct row *row = realloc(f->row, rows * sizeof *row);
        if (!row)
            return NULL;
        memset(row + f->rows, 0, (rows - f->rows) * sizeof *row);
        f->row = row;
        f->rows = rows;
    }
    return &f->row[thread];
}

static uint32_t thread_of(struct file *f, struct jfr_chunk *c, const struct profile *p,
                          const struct profile_place *at) {
    char room[THREAD_OF_NAME_SIZE];
    struct profile_thread t = profile_thread_of(p, at, f->carriers, room);
    uint32_t born = f->carriers ? at->carrier_born : at->born;
    struct row *row = row_of(f, f->carriers ? at->carrier : at->thread);
    if (row && row->number && row->born == born && row->mark == t.mark)
        return row->number;
    uint32_t number = jfr_chunk_thread(c, t.tid, t.java_id, t.is_virtual, t.name);
    if (row)
        *row = (struct row){t.mark, born, number};
    return number;
}

static uint64_t not_before(const struct file *f, uint64_t time_ns) {
    return time_ns > f->start_ns ? time_ns : f->start_ns;
}

static void add_sample(struct file *f, const struct profile *p, const struct tap_sample *s) {
    static const struct query everything = {0};
    struct jfr_chunk *c = f->stream ? jfr_stream_lock(f->stream, s->count) : NULL;
    if (!c)
        return;
    const struct jfr_sample sample = {
        .kind = f->kind[s->event],
        .event = f->name[s->event],
        .unit = event_kind_unit[s->event],
        .time_ns = not_before(f, s->time_ns),
        .weight = s->weight,
        .count = s->count,
        .thread = thread_of(f, c, p, s->at),
        .stack = jfr_chunk_stack(c, p, &everything, s->at->node),
        .state = jfr_state_of(s->state),
        .address = s->event == WIRE_EVENT_NATIVEMEM ? s->live_id : 0,
    };
    jfr_stream_add(f->stream, &sample);
    jfr_stream_unlock(f->stream, s->time_ns);
}

static void on_sample(void *arg, const struct profile *p, const struct tap_sample *s) {
    struct growing *g = arg;
    for (int i = 0; i < g->files; i++)
        if (g->file[i].events & 1u << s->event)
            add_sample(&g->file[i], p, s);
}

static void on_gone(void *arg, const struct profile *p, const struct tap_sample *s) {
    struct growing *g = arg;
    for (int i = 0; i < g->files; i++) {
        struct file *f = &g->file[i];
        struct jfr_chunk *c = NULL;
        if (s->event == WIRE_EVENT_NATIVEMEM && f->stream && f->events & 1u << s->event)
            c = jfr_stream_lock(f->stream, 0);
        if (!c)
            continue;
        jfr_chunk_add_free(c, s->time_ns, thread_of(f, c, p, s->at), s->live_id);
        jfr_stream_unlock(f->stream, s->time_ns);
    }
}

static void on_window(void *arg, uint64_t begin_ns, uint64_t end_ns) {
    struct growing *g = arg;
    for (int i = 0; i < g->files; i++) {
        struct file *f = &g->file[i];
        struct jfr_chunk *c = f->stream ? jfr_stream_lock(f->stream, 0) : NULL;
        if (!c)
            continue;
        jfr_note_window(c, begin_ns, end_ns);
        jfr_stream_unlock(f->stream, end_ns);
    }
}

/* Samples that were counted before the tap was set. */

static void add_item(struct file *f, const struct profile *p, const struct history_reading *r,
                     const struct history_item *it, uint32_t event) {
    static const struct query everything = {0};
    const struct history_thread *t = &r->thread[it->thread];
    struct jfr_chunk *c = jfr_stream_lock(f->stream, it->count);
    if (!c)
        return;
    struct jfr_sample s = {
        .kind = f->kind[event],
        .event = f->name[event],
        .unit = event_kind_unit[event],
        .time_ns = not_before(f, it->second * NS), /* the beginning of the second */
        .weight = it->weight,
        .count = it->count,
        .thread = jfr_chunk_thread(c, t->tid, t->java_id, t->is_virtual, t->name),
        .stack = jfr_chunk_stack(c, p, &everything, it->node),
        .state = jfr_state_of(it->state),
    };
    jfr_stream_add(f->stream, &s);
    jfr_stream_unlock(f->stream, s.time_ns);
}

static int catch_up(struct file *f, const struct profile *p) {
    for (uint32_t event = 0; event < WIRE_EVENTS; event++) {
        const struct query q = {.event = (int)event, .carriers = f->carriers};
        if (!(f->events & 1u << event) || !profile_samples(p, (int)event))
            continue;
        struct history_reading *r = history_read(p, &q);
        if (!r)
            return -ENOMEM;
        jfr_stream_anew(f->stream);
        for (size_t i = 0; i < r->items; i++)
            add_item(f, p, r, &r->item[i], event);
        history_reading_free(r);
    }
    return 0;
}

/* ---- files ---- */

static uint32_t events_of(struct file *f, const struct outputs *out, const struct output *item) {
    uint32_t events = 0;
    bool taken = false;
    for (int i = 0; i < out->events; i++) {
        const struct output_event *event = &out->event[i];
        if (item->all ? event->extra : event != item->event)
            continue;
        if (event->event >= WIRE_EVENTS)
            return 0;
        events |= 1u << event->event;
        const char *name = event->trace ? "trace" : event_kind_name[event->event];
        f->kind[event->event] = jfr_kind_among(name, &taken);
        f->name[event->event] = event->name;
    }
    return events;
}

static bool figures(void *arg, struct jfr_figures *out) {
    struct file *f = arg;
    struct jvm j;
    session_jvm(f->session, &j);
    *out = (struct jfr_figures){.heap_used = j.heap_used_bytes,
                                .heap_committed = j.heap_capacity_bytes,
                                .heap_max = j.heap_max_bytes,
                                .collections = j.gc_count};
    machine_load_read(&f->load, j.pid, &out->jvm_user, &out->jvm_system, &out->machine);
    return true;
}

struct description {
    struct jfr_chunk *chunk;
    uint64_t time_ns;
};

static void on_library(void *arg, const char *path, uint64_t begin, uint64_t end) {
    const struct description *d = arg;
    jfr_note_library(d->chunk, d->time_ns, path, begin, end);
}

/* Notes the libraries, as they are when a chunk begins. */
static void describe(void *arg, struct jfr_chunk *c, uint64_t time_ns) {
    const struct file *f = arg;
    struct description d = {c, time_ns};
    process_libraries(f->pid, on_library, &d);
}

static void on_process(void *arg, const struct process_sample *p) {
    struct file *f = arg;
    const struct jfr_process note = {
        .pid = (uint64_t)p->pid,
        .parent = (uint64_t)p->parent,
        .uid = p->uid,
        .threads = p->threads,
        .name = p->name,
        .command = p->command,
        .state = p->state,
        .start_ms = p->start_ms,
        .user_s = p->user_s,
        .system_s = p->system_s,
        .share = p->share,
        .size = p->size,
        .resident = p->resident,
        .anonymous = p->anonymous,
        .files = p->files,
        .shared = p->shared,
        .minor_faults = p->minor_faults,
        .major_faults = p->major_faults,
        .read = p->read,
        .written = p->written,
    };
    uint64_t now = clock_now_ns();
    struct jfr_chunk *c = jfr_stream_lock(f->stream, 0);
    if (!c)
        return;
    jfr_note_process(c, now, &note);
    jfr_stream_unlock(f->stream, now);
}

/* Polls other processes. The first poll, relative to which the next ones count, is half a second
 * after the start. */
static void look_around(void *arg) {
    struct file *f = arg;
    uint64_t now = clock_now_ns();
    if (!f->stream || !f->look_ns || now < f->next_look_ns)
        return;
    f->next_look_ns = now + f->look_ns;
    process_list_look(&f->processes, on_process, f);
}

/* Returns when sampling began, or the profile's first second if that is earlier. */
static uint64_t start_of(struct session *s) {
    struct session_status st;
    uint64_t first, last, oldest;
    session_status(s, &st);
    uint64_t now = clock_now_ns();
    uint64_t start = st.elapsed_ns < now ? now - st.elapsed_ns : now;
    profile_span(session_lock(s), &first, &last, &oldest);
    session_unlock(s);
    return first && first < start / NS ? first * NS : start;
}

/* Begins a file. Returns 1 if it grows, 0 if it cannot grow, or -errno. */
static int begin(struct file *f, const struct options *o, struct session *s, struct err *e) {
    struct jvm j;
    session_jvm(s, &j);
    f->pid = j.pid;
    f->start_ns = start_of(s);
    const struct jfr_stream_options so = {
        .chunk_bytes = o->chunk_bytes,
        .chunk_ms = o->chunk_ms,
        .limits = o->export.limits,
        .start_ns = f->start_ns,
        .day = formats_time_of_day(NULL, 0),
        .vm = {.name = j.vm_name,
               .version = j.version,
               .arguments = j.name,
               .release = event_java_version(j.version),
               .start_ms = (uint64_t)time(NULL) * 1000 - j.uptime_ms,
               .pid = (uint64_t)j.pid},
        .figures = figures,
        .describe = describe,
        .turn = look_around,
        .arg = f,
    };
    if (o->processes_ms && process_list_open(&f->processes, j.pid) == 0) {
        f->look_ns = o->processes_ms * UINT64_C(1000000);
        f->next_look_ns = clock_now_ns() + NS / 2;
    }
    int r = jfr_stream_begin(f->item->path.data, &so, &f->stream, e);
    if (r < 0)
        process_list_close(&f->processes);
    return r == -EOPNOTSUPP ? 0 : r < 0 ? r : 1;
}

static int begin_all(struct growing *g, const struct outputs *out, const struct options *o,
                     struct session *s, struct err *e) {
    for (int i = 0; i < out->count; i++) {
        const struct output *item = &out->item[i];
        struct file *f = &g->file[g->files];
        *f = (struct file){
            .item = item, .session = s, .carriers = o->export.carriers, .processes = {.proc = -1}};
        f->events = events_of(f, out, item);
        if (strcmp(item->exporter->name, "jfr") != 0 || !item->path.data || !f->events)
            continue;
        int r = begin(f, o, s, e);
        if (r < 0)
            return r;
        g->files += r;
    }
    return 0;
}

int growing_begin(struct growing **to, const struct outputs *out, const struct options *o,
                  struct session *s, struct err *e) {
    *to = NULL;
    if (o->includes || o->excludes)
        return 0;
    struct growing *g = calloc(1, sizeof *g);
    if (!g)
        return err_exit_as(e, ERR_EXIT_PROFILER, ENOMEM, "no memory for files that grow");
    g->session = s;
    g->history_seconds =
        o->session.history_seconds ? o->session.history_seconds : PROFILE_HISTORY_SECONDS;
    g->tap =
        (struct decoder_tap){.arg = g, .sample = on_sample, .gone = on_gone, .window = on_window};
    int r = begin_all(g, out, o, s, e);
    if (r == 0 && g->files) {
        struct profile *p = session_lock(s);
        for (int i = 0; i < g->files && r == 0; i++)
            r = catch_up(&g->file[i], p);
        session_tap(s, &g->tap);
        session_unlock(s);
        g->tapped = true;
        if (r < 0)
            err_exit_as(e, ERR_EXIT_PROFILER, ENOMEM, "no memory for files that grow");
    }
    if (r < 0 || !g->files) {
        growing_stop(g);
        growing_free(g);
        return r;
    }
    *to = g;
    return 0;
}

/* Gives up a file that failed and so ends too early. The profile has all samples, but not the times
 * of old ones. */
static void drop_failed(const struct growing *g, struct file *f) {
    int failure = jfr_stream_failure(f->stream);
    if (!failure)
        return;
    fprintf(stderr,
            "jtop-prof: %s could not be written continuously (%s): the times of samples "
            "older than %u s (--history) are lost\n",
            f->item->path.data, strerror(failure), g->history_seconds);
    jfr_stream_leave(f->stream);
    f->stream = NULL;
}

static void stop_all(struct growing *g) {
    if (g->tapped) {
        session_lock(g->session);
        session_tap(g->session, NULL);
        session_unlock(g->session);
        g->tapped = false;
    }
    for (int i = 0; i < g->files; i++)
        if (g->file[i].stream)
            jfr_stream_stop(g->file[i].stream);
}

void growing_stop(struct growing *g) {
    if (!g)
        return;
    stop_all(g);
    for (int i = 0; i < g->files; i++)
        if (g->file[i].stream)
            drop_failed(g, &g->file[i]);
}

void growing_resume(struct growing *g) {
    bool any = false;
    for (int i = 0; g && !g->tapped && i < g->files; i++) {
        struct file *f = &g->file[i];
        if (f->stream && jfr_stream_resume(f->stream) < 0) {
            jfr_stream_leave(f->stream);
            f->stream = NULL;
        }
        any |= f->stream != NULL;
    }
    if (!any)
        return;
    session_lock(g->session);
    session_tap(g->session, &g->tap);
    session_unlock(g->session);
    g->tapped = true;
}

static struct file *find(const struct growing *g, const struct output *item) {
    for (int i = 0; g && i < g->files; i++)
        if (g->file[i].item == item && g->file[i].stream)
            return (struct file *)&g->file[i];
    return NULL;
}

bool growing_has(const struct growing *g, const struct output *item) {
    return find(g, item) != NULL;
}

int growing_end(struct growing *g, const struct output *item, const struct export_part *part,
                int parts, const struct export_options *o, struct err *e) {
    struct file *f = find(g, item);
    uint64_t beyond = jfr_stream_beyond(f->stream), refused = jfr_stream_refused(f->stream);
    int r = jfr_stream_end(f->stream, part, parts, o, e);
    if (beyond)
        fprintf(stderr,
                "jtop-prof: %s: %" PRIu64
                " events were left out (a sample that stands for several samples is written as "
                "several events: at most %" PRIu64 " for one sample, and at most %" PRIu64
                " additional ones in a file)\n",
                item->path.data, beyond, JFR_STREAM_SAMPLE_MAX, JFR_STREAM_REPEATS_MAX);
    if (refused)
        fprintf(stderr, "jtop-prof: %s: %" PRIu64 " events were left out (--ratelimit)\n",
                item->path.data, refused);
    if (r == 0 || r == -ENOBUFS) /* more may come, see growing_resume */
        return r;
    jfr_stream_leave(f->stream);
    f->stream = NULL;
    return r;
}

void growing_free(struct growing *g) {
    if (!g)
        return;
    stop_all(g);
    for (int i = 0; i < g->files; i++) {
        jfr_stream_leave(g->file[i].stream);
        process_list_close(&g->file[i].processes);
        free(g->file[i].row);
    }
    free(g);
}
