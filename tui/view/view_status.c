/*
 * The status view: how good the profile is, and what it costs. It has lines of text under heads,
 * which are made again for each picture: long reasons are wrapped to the width.
 */
#include "attach/proc/proc.h"
#include "core/report/quality.h"
#include "core/wire/wire_names.h"
#include "tui/view/view.h"
#include "tui/widget/cursor.h"
#include "core/base/format.h"
#include "core/report/event_trouble.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROWS_MAX 256
#define TABLE_COLS 78 /* width for all columns of the events */
enum { TEXT_BYTES = 200, LABEL_BYTES = 24, LABEL_COLS = 18, INDENT = 2, REASON_INDENT = 4 };

struct status_row {
    enum role role; /* of the text */
    int at;         /* column of the text */
    char label[LABEL_BYTES], text[TEXT_BYTES];
};

struct status_state {
    struct cursor cursor;
    struct status_row row[ROWS_MAX + 1]; /* the last one receives all rows beyond ROWS_MAX */
    uint32_t count;
    uint64_t memory_bytes; /* of this process; 0: not known */
    uint32_t stacks, threads;
};

/* The meaning of each failure. Index: enum wire_failure. */
static const char *const meaning[WIRE_FAILURES] = {
    [WIRE_FAILURE_TRUNCATED] = "not a failure: deeper than -j, cut at the root",
    [WIRE_FAILURE_UNKNOWN_PC] = "the code is in no method, stub or library",
    [WIRE_FAILURE_NO_CALLER] = "the caller's frame could not be found",
    [WIRE_FAILURE_BAD_FRAME] = "the data in a frame is inconsistent",
    [WIRE_FAILURE_UNMAPPED] = "a frame pointed to memory that is not mapped",
    [WIRE_FAILURE_NO_STRUCTS] = "this VM has no usable vmStructs: try --cstack asgct",
    [WIRE_FAILURE_NO_SCRATCH] = "too many threads were sampled at the same moment",
    [WIRE_FAILURE_METHODS_FULL] = "there are more methods than the agent can hold",
    [WIRE_FAILURE_SEGV_BLOCKED] = "the thread blocks SIGSEGV: its stack is not read",
    [WIRE_FAILURE_NO_NAME] = "no room for a name in the sample buffer: use a larger -b",
    [WIRE_FAILURE_SMALL_STACK] = "small signal stack: only the top frame was read",
    [WIRE_FAILURE_LOOP] = "the frames did not lead towards the stack's base",
    [WIRE_FAILURE_NO_JAVA] = "not a failure: only Java frames were requested",
    [WIRE_FAILURE_SWITCHING] = "a virtual thread was just being mounted or unmounted",
    [WIRE_FAILURE_ASGCT_GC] = "AsyncGetCallTrace: during a garbage collection",
    [WIRE_FAILURE_ASGCT_UNKNOWN_JAVA] = "AsyncGetCallTrace: the thread's PC is unknown",
    [WIRE_FAILURE_ASGCT_NOT_WALKABLE] = "AsyncGetCallTrace: the stack cannot be walked",
    [WIRE_FAILURE_ASGCT_STATE] = "AsyncGetCallTrace: the thread's state forbids it",
};

static uint64_t item(const void *arg, uint32_t row) {
    (void)arg;
    return row;
}

static struct cursor_rows rows_of(const struct status_state *v) {
    return (struct cursor_rows){.count = v->count, .item = item, .arg = v};
}

static void *open_status(const struct model *m) {
    (void)m;
    return calloc(1, sizeof(struct status_state));
}

static void want(void *state, struct model_question *q) {
    (void)state, (void)q;
}

static void update(void *state, const struct model *m) {
    struct status_state *v = state;
    const struct profile *p = m->source.lock(m->source.arg);
    v->stacks = profile_node_count(p);
    v->threads = profile_thread_count(p);
    m->source.unlock(m->source.arg);
    v->memory_bytes = proc_rss_bytes(getpid());
}

static struct status_row *add_row(struct status_state *v, enum role role, int at) {
    struct status_row *r = &v->row[v->count];
    v->count += v->count < ROWS_MAX;
    *r = (struct status_row){.role = role, .at = at};
    return r;
}

/* Returns where a piece of at most `cols` bytes ends: at a blank, if there is one in its second
 * half. */
static size_t piece(const char *s, size_t cols) {
    size_t n = strlen(s);
    if (n <= cols)
        return n;
    size_t end = cols;
    while (end > cols / 2 && s[end] != ' ')
        end--;
    if (end > cols / 2)
        return end;
    for (end = cols; end && ((unsigned char)s[end] & 0xc0) == 0x80;)
        end--;
    return end;
}

/* Adds as many rows as the text needs from column `at` on. */
static void add_text(struct status_state *v, int cols, enum role role, int at, const char *label,
                     const char *text) {
    size_t room = cols > at + 10 ? (size_t)(cols - at) : 10;
    room = room < TEXT_BYTES ? room : TEXT_BYTES - 1;
    do {
        struct status_row *r = add_row(v, role, at);
        size_t n = piece(text, room);
        snprintf(r->label, sizeof r->label, "%s", label);
        snprintf(r->text, sizeof r->text, "%.*s", (int)n, text);
        text += n + strspn(text + n, " ");
        label = "";
    } while (*text);
}

__attribute__((format(printf, 5, 6))) static void
add(struct status_state *v, int cols, enum role role, const char *label, const char *fmt, ...) {
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    add_text(v, cols, role, INDENT + LABEL_COLS, label, text);
}

static void add_head(struct status_state *v, const char *head) {
    if (v->count)
        add_row(v, ROLE_TEXT, INDENT);
    struct status_row *r = add_row(v, ROLE_TITLE, INDENT);
    snprintf(r->text, sizeof r->text, "%s", head);
}

static bool is_known(const struct model *m, int event) {
    const struct session_engine *e = &m->status.engine[event];
    return e->asked || e->runs || e->error || m->counted[event];
}

static void add_event(struct status_state *v, int cols, const struct model *m, int event) {
    const struct session_engine *e = &m->status.engine[event];
    const char *unit = event_kind_unit[event];
    bool fails = event_trouble_fails(e), made = event >= WIRE_EVENTS;
    bool off = m->status.phase == SESSION_RUNNING && !e->runs; /* a past session: as it was */
    const char *how = fails                     ? "fails"
                      : e->mechanism[0] && !off ? e->mechanism
                      : made                    ? ""
                      : off                     ? "off"
                                                : "-";
    struct format step = {""}, samples = {""}, rate = {""}, drops = {""}, share = {""};
    char threads[16] = "";
    if (e->interval)
        format_step(&step, unit, e->interval);
    format_count(&samples, m->counted[event]);
    format_count(&rate, (uint64_t)(m->samples_per_second[event] + 0.5));
    format_count(&drops, e->dropped);
    if (event == WIRE_EVENT_WALL && e->coverage >= 0)
        snprintf(share.s, sizeof share.s, "%.1f%%", 100 * e->coverage);
    if (e->threads)
        snprintf(threads, sizeof threads, "%u", e->threads);
    struct status_row *r = add_row(v, fails || e->biased ? ROLE_WARNING : ROLE_VALUE, INDENT);
    if (cols < TABLE_COLS)
        snprintf(r->text, sizeof r->text, "%-12.12s %-8.8s %6s %9s", model_event_name(m, event),
                 how, step.s, samples.s);
    else
        snprintf(r->text, sizeof r->text, "%-13.13s %-9.9s %8s %11s %7s %7s %8s %6s",
                 model_event_name(m, event), how, step.s, samples.s, made ? "" : rate.s, threads,
                 made ? "" : drops.s, share.s);
    if (e->biased)
        add_text(v, cols, ROLE_WARNING, REASON_INDENT, "", "biased: at safepoints only");
    const char *why = event_trouble_why(e);
    if (why[0] && !made)
        add_text(v, cols, fails ? ROLE_WARNING : ROLE_DIM, REASON_INDENT, "", why);
}

static void add_events(struct status_state *v, int cols, const struct model *m) {
    add_head(v, "EVENTS");
    struct status_row *r = add_row(v, ROLE_LABEL, INDENT);
    if (cols < TABLE_COLS)
        snprintf(r->text, sizeof r->text, "%-12s %-8s %6s %9s", "event", "how", "every", "samples");
    else
        snprintf(r->text, sizeof r->text, "%-13s %-9s %8s %11s %7s %7s %8s %6s", "event",
                 "mechanism", "interval", "samples", "/s", "threads", "dropped", "cover");
    for (int i = 0; i < EVENT_KINDS; i++)
        if (is_known(m, i))
            add_event(v, cols, m, i);
}

static void add_failures(struct status_state *v, int cols, const struct model *m) {
    const struct session_status *s = &m->status;
    struct format f = {""}, g = {""};
    for (uint32_t i = 1; i < WIRE_FAILURES; i++) {
        if (!s->failed[i])
            continue;
        struct status_row *r =
            add_row(v, wire_failure_is_error(i) ? ROLE_VALUE : ROLE_TEXT, INDENT + LABEL_COLS);
        snprintf(r->label, sizeof r->label, "  %s", wire_failure_name[i]);
        int n = snprintf(r->text, sizeof r->text, "%9s %5s%%", format_count(&f, s->failed[i]),
                         format_percent(&g, percent_of(s->failed[i], s->samples)));
        const char *what = meaning[i] ? meaning[i] : "";
        if (INDENT + LABEL_COLS + n + 2 + (int)strlen(what) <= cols)
            snprintf(r->text + n, sizeof r->text - (size_t)n, "  %s", what);
        else
            add_text(v, cols, ROLE_DIM, REASON_INDENT + 2, "", what);
    }
}

static void add_stacks(struct status_state *v, int cols, const struct model *m) {
    const struct session_status *s = &m->status;
    struct format f = {""};
    char walker[400];
    bool recording = s->phase == SESSION_REPLAYED;
    add_head(v, "STACKS");
    quality_walker(s, m->settings.walk, walker, sizeof walker);
    add(v, cols, walker[0] ? ROLE_WARNING : ROLE_VALUE, "walker", "%s",
        walker[0]      ? walker
        : s->walker[0] ? s->walker
                       : "none yet");
    add(v, cols, ROLE_VALUE, "distinct stacks", "%s", format_count(&f, v->stacks));
    add(v, cols, s->dropped ? ROLE_WARNING : ROLE_VALUE, "dropped", "%s%s",
        format_count(&f, s->dropped),
        s->dropped ? " samples: the sample buffer was full, use a larger -b" : "");
    if (s->discarded)
        add(v, cols, ROLE_VALUE, "left out", "%s samples of the profiler's own handler",
            format_count(&f, s->discarded));
    uint64_t failed = model_failed(m);
    double share = percent_of(failed, s->samples);
    struct format g = {""};
    add(v, cols, share >= 5 ? ROLE_WARNING : ROLE_VALUE, "failed walks", "%9s %5s%%",
        format_count(&f, failed), format_percent(&g, share));
    add_failures(v, cols, m);
    if (s->recompiled || (m->settings.precise && !recording)) {
        char text[96];
        add(v, cols, ROLE_VALUE, "precise", "%s", quality_precise(s, text, sizeof text));
    }
    if (s->windows)
        add(v, cols, ROLE_VALUE, "windows", "%" PRIu64 " from --begin to --end, %s in all",
            s->windows, format_duration(&f, s->window_ns));
}

static void add_cost(struct status_state *v, int cols, const struct model *m) {
    const struct session_status *s = &m->status;
    struct format f = {""}, g = {""};
    add_head(v, "COST");
    if (s->phase != SESSION_REPLAYED) {
        add(v, cols, ROLE_VALUE, "in the JVM", "%s%% of a core now, %s CPU in all",
            format_percent(&f, m->agent_percent), format_duration(&g, s->agent_ns));
        if (s->samples)
            add(v, cols, ROLE_VALUE, "", "%s a sample",
                format_duration(&f, s->agent_ns / s->samples));
    }
    add(v, cols, ROLE_VALUE, "this process", "%s%% of a core now, %s CPU in all",
        format_percent(&f, m->frontend_percent), format_duration(&g, s->frontend_ns));
    if (v->memory_bytes)
        add(v, cols, ROLE_VALUE, "", "%s of memory", format_bytes(&f, v->memory_bytes));
    if (s->missed_ns)
        add(v, cols, ROLE_WARNING, "", "was stopped for %s: nothing was sampled then",
            format_duration(&f, s->missed_ns));
}

static const char *phase_word(const struct model *m) {
    static const char *const word[] = {
        [SESSION_RUNNING] = "samples come in",
        [SESSION_STOPPED] = "stopped: the profile is complete",
        [SESSION_JVM_GONE] = "the JVM is gone: all that it had written was read",
        [SESSION_REPLAYED] = "a recording",
        [SESSION_FAILED] = "failed",
    };
    static const char *const still[] = {
        [STANDSTILL_STOPPED] = "no samples come in: the JVM is stopped by a signal",
        [STANDSTILL_TRACED] = "no samples come in: the JVM is held by a debugger",
        [STANDSTILL_FROZEN] = "no samples come in: the JVM is frozen with its control group",
    };
    if (m->standstill)
        return still[m->standstill];
    return m->status.phase <= SESSION_FAILED ? word[m->status.phase] : "?";
}

/* Why the threads view has no Java states. */
static const char *const no_states[WIRE_JAVA_REPORTS] = {
    [WIRE_JAVA_REPORT_NO_FIELD] = "this VM's java.lang.Thread has no field threadStatus",
    [WIRE_JAVA_REPORT_NO_TIDS] = "this VM does not tell which native thread a Java thread is",
};

static void add_session(struct status_state *v, int cols, const struct model *m) {
    const struct session_status *s = &m->status;
    struct format f = {""}, g = {""};
    add_head(v, "SESSION");
    add(v, cols, s->phase == SESSION_FAILED || m->standstill ? ROLE_WARNING : ROLE_VALUE, "state",
        "%s", phase_word(m));
    if (s->reader)
        add(v, cols, ROLE_VALUE, "sampled by",
            "process %d; this is a viewer, event changes apply to both", (int)s->reader);
    add(v, cols, ROLE_VALUE, "sampling for", "%s", format_clock(&f, s->elapsed_ns / 1000000));
    if (m->newest_second && m->oldest_second)
        add(v, cols, ROLE_VALUE, "history", "%s of %s are available",
            format_age(&f, (m->newest_second - m->oldest_second + 1) * 1000),
            format_age(&g, (m->newest_second - m->first_second + 1) * 1000));
    add(v, cols, ROLE_VALUE, "threads", "%u seen so far, including ended ones", v->threads);
    if (no_states[s->java_states])
        add(v, cols, ROLE_WARNING, "Java states", "not known: %s", no_states[s->java_states]);
    if (s->message[0])
        add(v, cols, ROLE_WARNING, "message", "%s", s->message);
    if (s->news[0])
        add(v, cols, ROLE_VALUE, "news", "%s", s->news);
}

/* Adds the budget for the agent's CPU time. add_limit adds the CPU quota of the JVM's control
 * groups, and how often they throttled the JVM. */
static void add_budget(struct status_state *v, int cols, const struct session_budget *b) {
    if (!b->limit_ppm)
        return;
    add(v, cols, b->exhausted ? ROLE_WARNING : ROLE_VALUE, "budget",
        "%.2f%% of a CPU, limit %g%%; %s", (double)b->measured_ppm / 1e4,
        (double)b->limit_ppm / 1e4, b->text[0] ? b->text : "intervals as requested");
}

static void add_limit(struct status_state *v, int cols, const struct session_cpu *cpu) {
    struct format share = {""}, out = {""}, all = {""}, still = {""};
    if (!cpu->known)
        return;
    if (cpu->quota <= 0) {
        add(v, cols, ROLE_VALUE, "CPU quota", "none");
        return;
    }
    add(v, cols, ROLE_VALUE, "CPU quota", "%.4g%% of a core, by group %s", 100 * cpu->quota,
        cpu->group);
    add(v, cols, cpu->share >= 0.05 ? ROLE_WARNING : ROLE_VALUE, "throttled",
        "in %s%% of the periods now, in %s of %s so far; stopped for %s",
        format_percent(&share, 100 * cpu->share), format_count(&out, cpu->throttled),
        format_count(&all, cpu->periods), format_duration(&still, cpu->throttled_ns));
}

static void add_jvm(struct status_state *v, int cols, const struct model *m) {
    const struct jvm *j = &m->jvm;
    struct format f = {""}, g = {""};
    add_head(v, "JVM");
    add(v, cols, ROLE_VALUE, "name", "%s %s", j->name, j->arguments);
    if (j->vm_name[0] || j->version[0])
        add(v, cols, ROLE_VALUE, "VM", "%s%s%s", j->vm_name, j->vm_name[0] ? " " : "", j->version);
    add(v, cols, ROLE_VALUE, "process", "%d%s%s%s", (int)j->pid,
        !j->container ? ""
        : j->user[0]  ? ", in a container,"
                      : ", in a container",
        j->user[0] ? " of " : "", j->user);
    if (m->status.phase == SESSION_REPLAYED)
        return;
    add_limit(v, cols, &m->cpu);
    add_budget(v, cols, &m->status.budget);
    if (j->heap_capacity_bytes || j->heap_max_bytes)
        add(v, cols, ROLE_VALUE, "heap", "%s",
            format_heap(&f, j->heap_used_bytes,
                        j->heap_max_bytes ? j->heap_max_bytes : j->heap_capacity_bytes));
    if (!j->perf_data)
        return;
    add(v, cols, ROLE_VALUE, "collections", "%s, %.2f s", format_count(&f, j->gc_count),
        (double)j->gc_time_ms / 1e3);
    add(v, cols, ROLE_VALUE, "safepoints", "%s, %.2f s", format_count(&f, j->safepoint_count),
        (double)j->safepoint_time_ms / 1e3);
    add(v, cols, ROLE_VALUE, "classes", "%s", format_count(&g, j->classes_loaded));
}

static void build(struct status_state *v, int cols, const struct model *m) {
    v->count = 0;
    add_events(v, cols, m);
    add_stacks(v, cols, m);
    add_cost(v, cols, m);
    add_session(v, cols, m);
    add_jvm(v, cols, m);
}

static void draw_row(struct canvas *c, struct area a, int y, const struct status_row *r,
                     const struct model *m) {
    canvas_text(c, y, a.col + INDENT, LABEL_COLS, ROLE_LABEL, r->label);
    canvas_text(c, y, a.col + r->at, a.cols - r->at, r->role, r->text);
    const char *hit = m->search[0] ? strcasestr(r->text, m->search) : NULL;
    if (!hit)
        return;
    int whole = canvas_width(c, r->text), from = whole - canvas_width(c, hit);
    int to = whole - canvas_width(c, hit + strlen(m->search));
    canvas_role(c, y, a.col + r->at + from, to - from, ROLE_MATCH);
}

static int draw(void *state, struct canvas *c, struct area a, const struct model *m) {
    struct status_state *v = state;
    view_heads(c, a, "  STATUS: how good the profile is, and what it costs");
    build(v, a.cols - 1, m);
    uint32_t page = a.rows > 1 ? (uint32_t)a.rows - 1 : 0;
    cursor_fit(&v->cursor, v->count, page);
    for (uint32_t i = 0; i < page && v->cursor.top + i < v->count; i++)
        draw_row(c, a, a.row + 1 + (int)i, &v->row[v->cursor.top + i], m);
    int at = a.row + 1 + (int)(v->cursor.row - v->cursor.top);
    if (page)
        view_cursor_row(c, a, at);
    return at;
}

static enum view_outcome command(void *state, enum command cmd, struct model *m) {
    (void)m;
    struct status_state *v = state;
    struct cursor_rows rows = rows_of(v);
    return cursor_command(&v->cursor, cmd, &rows) ? VIEW_DONE : VIEW_IGNORED;
}

static enum view_outcome mouse(void *state, struct area a, const struct mouse *press,
                               struct model *m) {
    (void)m;
    struct status_state *v = state;
    struct cursor_rows rows = rows_of(v);
    bool enter;
    return view_mouse_list(&v->cursor, a, 1, press, &rows, &enter) ? VIEW_DONE : VIEW_IGNORED;
}

static const char *row_text(const void *arg, uint32_t row, char *out, size_t size) {
    const struct status_row *r = &((const struct status_state *)arg)->row[row];
    snprintf(out, size, "%s%s%s", r->label, r->label[0] ? ": " : "", r->text);
    return out;
}

static bool find(void *state, int by, const struct model *m) {
    struct status_state *v = state;
    struct cursor_rows rows = rows_of(v);
    return view_find_row(&v->cursor, &rows, by, m, row_text, v);
}

static void copy(const void *state, const struct model *m, uint32_t row, struct text *out) {
    (void)row; /* the cursor's */
    const struct status_state *v = state;
    char text[LABEL_BYTES + TEXT_BYTES + 4];
    (void)m;
    if (v->cursor.row < v->count)
        text_addf(out, "%s\n", row_text(v, v->cursor.row, text, sizeof text));
}

const struct view_type view_status = {
    .title = "status",
    .name = "status",
    .key = '8',
    .scope = SCOPE_STATUS,
    .event = -1,
    .open = open_status,
    .close = free,
    .want = want,
    .update = update,
    .draw = draw,
    .command = command,
    .mouse = mouse,
    .find = find,
    .copy = copy,
};
