/* The reader's side: answers to requests about its profile. */
#include "tui/cli/background/background_parts.h"

#include "attach/proc/proc.h"
#include "core/base/clock.h"
#include "core/report/metrics.h"
#include "tui/cli/output/growing.h"
#include "tui/cli/output/jfr_sync.h"
#include "core/base/format.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Checking of names: files are requested here, and written from what another process sends. */

#define DIGITS "0123456789"
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define EVENT LETTERS DIGITS "-_." /* as export_path_expand writes them */

/* A path, and how far the part of the pattern handled so far can match it. */
struct match {
    const char *path;
    size_t length;
    bool reach[PATH_MAX]; /* it can match up to this character */
};

static void take_character(struct match *m, char c) {
    for (size_t i = m->length; i > 0; i--)
        m->reach[i] = m->reach[i - 1] && m->path[i - 1] == c;
    m->reach[0] = false;
}

/* Matches one or more characters of `of`; the first must not be a dot. */
static void take_many(struct match *m, const char *of) {
    bool before = m->reach[0];
    m->reach[0] = false;
    for (size_t i = 0; i < m->length; i++) {
        bool here = m->reach[i + 1];
        char c = m->path[i];
        m->reach[i + 1] = ((before && c != '.') || m->reach[i]) && strchr(of, c);
        before = here;
    }
}

/* Matches what the '%' at `p` stands for. Returns where the pattern goes on. */
static const char *take_letter(struct match *m, const char *p) {
    const char *end = p[1] == 'n' && p[2] == '{' ? strchr(p, '}') : NULL;
    if (p[1] == '%')
        take_character(m, '%');
    else if (p[1] == 'p' || p[1] == 'n')
        take_many(m, DIGITS);
    else if (p[1] == 't')
        take_many(m, DIGITS "-");
    else if (p[1] == 'e')
        take_many(m, EVENT);
    else
        memset(m->reach, 0, sizeof m->reach); /* no name is made from that */
    return end ? end + 1 : p[1] ? p + 2 : p + 1;
}

/* True if the pattern matches the path. `event` is a place in the pattern where the event's name is
 * added; NULL: without it. */
static bool fits(struct match *m, const char *pattern, const char *event) {
    memset(m->reach, 0, sizeof m->reach);
    m->reach[0] = true;
    for (const char *p = pattern;;) {
        if (event && p == event) {
            take_character(m, '-');
            take_many(m, EVENT);
        }
        if (!*p)
            return m->reach[m->length];
        if (*p == '%')
            p = take_letter(m, p);
        else
            take_character(m, *p++);
    }
}

bool background_expects(const char *pattern, const char *path) {
    struct match m = {.path = path, .length = strlen(path)};
    if (m.length >= sizeof m.reach)
        return false;
    if (fits(&m, pattern, NULL))
        return true;
    /* The event's name stands before an extension, or at the end. */
    const char *slash = strrchr(pattern, '/');
    for (const char *p = slash ? slash + 1 : pattern;; p++) {
        if ((!*p || *p == '.') && fits(&m, pattern, p))
            return true;
        if (!*p)
            return false;
    }
}

int background_settle_pattern(const char *pattern, struct text *out, struct err *e) {
    for (const char *p = pattern; *p; p++) {
        const char *end = p[0] == '%' && p[1] == '{' ? strchr(p, '}') : NULL;
        char name[256];
        if (!end || (size_t)(end - p - 2) >= sizeof name) {
            text_add_n(out, p, p[0] == '%' && p[1] ? 2 : 1);
            p += p[0] == '%' && p[1];
            continue;
        }
        size_t n = (size_t)(end - p - 2);
        memcpy(name, p + 2, n);
        name[n] = '\0';
        for (const char *v = getenv(name); v && *v; v++)
            text_add(out, *v == '%' ? "%%" : (char[]){*v, '\0'});
        p = end;
    }
    return out->failed ? err_exit_as(e, ERR_EXIT_PROFILER, ENOMEM, "no memory for a file name") : 0;
}

/* The answer to `status`. */

static void add_engine(struct text *out, const struct session_engine *engine, int event) {
    struct format f = {0};
    const char *name = engine->name[0] ? engine->name : event_kind_name[event];
    text_addf(out, "%s: ", name);
    if (event >= WIRE_EVENTS)
        text_add(out, "derived from the other events");
    else if (engine->mechanism[0])
        text_addf(out, "by %s, every %s", engine->mechanism,
                  format_step(&f, event_kind_unit[event], engine->interval));
    else
        text_addf(out, "not sampled: %s",
                  engine->reason[0] ? engine->reason
                                    : (engine->error ? strerror(engine->error) : "stopped"));
    text_addf(out, "; %" PRIu64 " sample%s, %" PRIu64 " dropped%s%s\n", engine->samples,
              engine->samples == 1 ? "" : "s", engine->dropped,
              engine->mechanism[0] && engine->reason[0] ? "; " : "",
              engine->mechanism[0] ? engine->reason : "");
}

static void add_limit(struct text *out, struct session *s) {
    struct format f = {0};
    struct session_cpu cpu;
    session_cpu(s, &cpu);
    if (cpu.quota > 0)
        text_addf(out,
                  "CPU quota: %.4g%% of a core, by group %s; throttled in %" PRIu64 " of %" PRIu64
                  " periods, for %s\n",
                  100 * cpu.quota, cpu.group, cpu.throttled, cpu.periods,
                  format_duration(&f, cpu.throttled_ns));
}

static void add_budget(struct text *out, const struct session_budget *b) {
    if (b->limit_ppm)
        text_addf(out, "budget: the agent uses %.2f%% of a CPU, limit %g%%; %s\n",
                  (double)b->measured_ppm / 1e4, (double)b->limit_ppm / 1e4,
                  b->text[0] ? b->text : "intervals as requested");
}

static void add_files(struct text *out, const struct background *b) {
    if (b->files) {
        for (int i = 0; i < b->files->count; i++)
            text_addf(out, "file: %s%s\n", b->files->item[i].path.data,
                      b->written ? ", written" : "");
        return;
    }
    for (int i = 0; b->o && i < b->o->files; i++)
        text_addf(out, "file: %s\n", b->o->file[i]);
}

/* Writes the status; `brief`: only its first line, as asprof does. The lock is held. */
static void background_status(const struct background *b, const struct session_status *st,
                              bool brief, struct text *out) {
    bool runs = st->phase == SESSION_RUNNING;
    if (runs)
        text_addf(out, "Profiling is running for %" PRIu64 " seconds\n",
                  st->elapsed_ns / 1000000000u);
    else
        text_add(out, "Profiler is not active\n");
    if (brief)
        return;
    if (!runs)
        text_addf(out,
                  "%" PRIu64
                  " sample%s from %.1f s %s kept: \"dump\" or \"stop\" writes them%s%s%s\n",
                  st->samples, st->samples == 1 ? "" : "s", (double)st->elapsed_ns / 1e9,
                  st->samples == 1 ? "is" : "are",
                  st->phase == SESSION_JVM_GONE ? "" : ", \"resume\" continues",
                  st->message[0] ? "; " : "", st->message);
    for (int i = 0; i < EVENT_KINDS; i++)
        if (st->engine[i].asked || st->engine[i].samples)
            add_engine(out, &st->engine[i], i);
    add_limit(out, b->s);
    add_budget(out, &st->budget);
    add_files(out, b);
    if (st->recording[0])
        text_addf(out, "recording: %s\n", st->recording);
    text_addf(out, "profiler process: %d%s\n", (int)getpid(),
              !b->o           ? ", with a live screen"
              : b->foreground ? ", in the foreground"
                              : "");
}

/* An answer: made with the lock held, except for reports, and sent without it. */
struct answer {
    struct background *b;
    struct share_reply *reply;
    struct options *o; /* the options of the request */
    struct session_status st;
    struct jvm jvm;
    const char *program;
    struct text out, remark; /* out: for stdout; remark: a line for stderr */
    struct outputs files;
    bool ends; /* the profile is to end after the answer was sent */
};

static void wake(struct background *b) {
    uint64_t one = 1;
    if (b->wake_fd >= 0 && write(b->wake_fd, &one, sizeof one) < 0)
        return; /* it is awake anyway */
}

static void add_events(struct text *out, const struct session_status *st) {
    int n = 0;
    for (int i = 0; i < WIRE_EVENTS; i++)
        if (st->engine[i].asked)
            text_addf(out, "%s%s", n++ ? "," : "", st->engine[i].name);
}

static int on_screen(const struct jvm *j, struct err *e) {
    return err_exit_as(e, ERR_EXIT_PROFILER, EBUSY,
                       "JVM %d is on the screen of process %d: quit that one first, or join as "
                       "viewer: jtop-prof %d",
                       (int)j->pid, (int)getpid(), (int)j->pid);
}

static int already_started(struct background *b, const struct session_status *st,
                           const struct jvm *j, struct err *e) {
    struct text events = {0};
    char clock[32] = "";
    struct tm tm;
    if (!b->o)
        return on_screen(j, e);
    if (localtime_r(&b->since, &tm))
        strftime(clock, sizeof clock, "%H:%M:%S", &tm);
    add_events(&events, st);
    int r = err_exit_as(e, ERR_EXIT_PROFILER, EBUSY,
                        "Profiler already started: process %d samples %s of JVM %d since %s; "
                        "\"stop\" ends it",
                        (int)getpid(), events.data ? events.data : "nothing", (int)j->pid, clock);
    text_free(&events);
    return r;
}

static int answer_status(struct answer *a, struct err *e) {
    (void)e;
    background_status(a->b, &a->st, background_is_asprof(a->program), &a->out);
    return 0;
}

static int answer_metrics(struct answer *a, struct err *e) {
    (void)e;
    metrics_write(&a->out, &a->st, &a->jvm, proc_rss_bytes(getpid()));
    return 0;
}

/* Reports. */

/* After a failure, nobody is left to read a message. */
static int pass_on(void *arg, const struct output_piece *piece, struct err *e) {
    struct answer *a = arg;
    (void)e;
    int r = piece->first
                ? share_file(a->reply, piece->path ? piece->path : "-", piece->data, piece->bytes)
                : share_file_more(a->reply, piece->data, piece->bytes);
    return r == 0 && piece->last ? share_file_end(a->reply) : r;
}

/* Takes the events of the start, unless the request names others. */
static void take_events(struct options *o, const struct options *started) {
    if (o->events_given || !started)
        return;
    memcpy(o->session.engine, started->session.engine, sizeof o->session.engine);
    o->session.engines = started->session.engines;
    o->all_user = started->all_user;
    o->all_kernel = started->all_kernel;
    o->live = o->live || started->live;
}

/* Plans the reports before anything is stopped: after a bad name or format, nothing has changed. */
static int plan_reports(struct answer *a, struct err *e) {
    const struct options *started = a->b->o;
    take_events(a->o, started);
    a->files.put = pass_on;
    a->files.put_arg = a;
    return outputs_plan(&a->files, a->o, (int)a->jvm.pid, a->b->turn, started ? NULL : &a->st, e);
}

/* Reports are sent while they are made. Other threads do not wait for that: the lock is not held
 * meanwhile. */
static int make_reports(struct answer *a, struct err *e) {
    /* The session cannot be closed before the request is answered. */
    pthread_mutex_unlock(&a->b->lock);
    int r = outputs_write(&a->files, a->o, a->b->s, e);
    session_status(a->b->s, &a->st); /* of what has been read meanwhile, too */
    pthread_mutex_lock(&a->b->lock);
    if (r == 0 && a->st.phase == SESSION_JVM_GONE)
        text_addf(&a->remark, "%s; the report has all %" PRIu64 " samples of its last %.1f s",
                  a->st.message[0] ? a->st.message : "the JVM ended", a->st.samples,
                  (double)a->st.elapsed_ns / 1e9);
    else if (r == 0 && a->st.dropped)
        text_addf(&a->remark,
                  "%" PRIu64 " of %" PRIu64
                  " samples were dropped: sample less often (-i) or give more memory (-b)",
                  a->st.dropped, a->st.dropped + a->st.samples);
    return r;
}

static int answer_dump(struct answer *a, struct err *e) {
    int r = plan_reports(a, e);
    return r < 0 ? r : make_reports(a, e);
}

/* Stops a profile in the foreground. It writes its own files, so the request gets reports only if
 * it names files or formats, or if there are no own files. */
static int stop_foreground(struct answer *a, struct err *e) {
    if (!a->b->o)
        return on_screen(&a->jvm, e);
    if (a->b->closing)
        return share_just_ending(a->jvm.pid, e);
    bool own = a->b->o->files > 0;
    int r = own && !a->o->files && !a->o->formats ? 0 : answer_dump(a, e);
    if (r < 0)
        return r;
    if (own)
        text_addf(&a->remark, "%sprocess %d ends its profile and writes its own files",
                  a->remark.len ? "; " : "", (int)getpid());
    a->ends = true;
    return 0;
}

/* Stops a profile in the background. `own`: the files named at the start are written; otherwise the
 * request gets reports. */
static int stop_background(struct answer *a, bool own, struct err *e) {
    struct background *b = a->b;
    int r = own ? 0 : plan_reports(a, e);
    if (r < 0)
        return r;
    if (a->st.phase == SESSION_RUNNING)
        session_stop(b->s, NULL); /* the report is also made if the agent does not answer */
    session_status(b->s, &a->st);
    b->active_ms = clock_now_ms();
    if (!own)
        return make_reports(a, e);
    /* Write again after a failure: the disk may have room now. The JVM's own recording exists only
     * once. */
    if (b->unwritten < 0 && !b->files->sync)
        b->written = false;
    r = background_write(b);
    if (r < 0)
        *e = b->why;
    return r;
}

static int answer_stop(struct answer *a, struct err *e) {
    struct background *b = a->b;
    if (b->foreground)
        return stop_foreground(a, e);
    if (b->closing)
        return share_just_ending(a->jvm.pid, e);
    bool own = b->files && !a->o->files && !a->o->formats;
    int r = stop_background(a, own, e);
    b->asked_for = b->asked_for || r == 0;
    if (r < 0 || !own)
        return r;
    text_addf(&a->remark, "Profiling stopped after %" PRIu64 " seconds; written:",
              a->st.elapsed_ns / 1000000000u);
    for (int i = 0; i < b->files->count; i++)
        text_addf(&a->remark, "%s %s", i ? "," : "", b->files->item[i].path.data);
    return 0;
}

/* Starting and resuming. */

static int answer_resume(struct answer *a, struct err *e) {
    struct background *b = a->b;
    if (b->foreground || a->st.phase == SESSION_RUNNING)
        return already_started(b, &a->st, &a->jvm, e);
    if (b->closing)
        return share_just_ending(a->jvm.pid, e);
    const struct options *o = a->o->events_given ? a->o : b->o;
    if (b->files)
        growing_resume(b->files->growing);
    int r = session_set_engines(b->s, o->session.engine, o->session.engines, e);
    if (r < 0)
        return r;
    uint64_t now = clock_now_ms();
    uint64_t limit = options_moment_ms(&a->o->timeout, time(NULL));
    b->limit_ms = limit ? now + limit : 0;
    b->loop_ms = 0;
    b->written = b->asked_for = false;
    if (b->files && b->files->sync && !jfr_sync_runs(b->files->sync))
        text_add(&a->remark, "the JVM's own recorder (--jfrsync) does not continue: its events end "
                             "where the profile was stopped");
    return 0;
}

static int answer_start(struct answer *a, struct err *e) {
    return already_started(a->b, &a->st, &a->jvm, e);
}

static int make_room(struct answer *a, struct err *e) {
    struct background *b = a->b;
    if (b->foreground || a->st.phase == SESSION_RUNNING)
        return already_started(b, &a->st, &a->jvm, e);
    b->give_way = true;
    return 0;
}

/* A `start` that was sent to this process, because its profile may have ended. */
static int begin_here(struct answer *a, const char *cwd, int argc, char **argv, struct err *e) {
    struct background *b = a->b;
    if (b->foreground || a->st.phase == SESSION_RUNNING)
        return already_started(b, &a->st, &a->jvm, e);
    /* The files are written with our rights, and a path may mean something else over there. */
    pid_t peer = share_peer(a->reply);
    int r = peer && background_is_like_us(peer) ? background_begin_next(b, cwd, argc, argv, e)
                                                : -ENOTCONN;
    return r == -ENOTCONN ? err_set(e, ENOTCONN, "another process must begin the profile") : r;
}

static const struct {
    const char *word;
    int (*act)(struct answer *a, struct err *e);
} words[] = {
    {"status", answer_status}, {"metrics", answer_metrics}, {"dump", answer_dump},
    {"stop", answer_stop},     {"resume", answer_resume},   {"start", answer_start},
};

static int act(struct answer *a, const char *cwd, int argc, char **argv, struct err *e) {
    if (a->b->next || (a->b->closing && !a->b->foreground))
        return share_just_ending(a->jvm.pid, e);
    if (argc == 2 && strcmp(argv[1], SHARE_MAKE_ROOM) == 0)
        return make_room(a, e);
    if (argc > 2 && strcmp(argv[1], BACKGROUND_BEGIN_HERE) == 0) {
        argv[1] = argv[0];
        return begin_here(a, cwd, argc - 1, argv + 1, e);
    }
    int r = options_parse(a->o, argc, argv, e);
    if (r < 0)
        return r;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (a->o->word && strcmp(a->o->word, words[i].word) == 0)
            return words[i].act(a, e);
    return err_set(e, ENOTSUP, "%s cannot be sent to a profiler process",
                   a->o->word ? a->o->word : "that");
}

static void send(const struct answer *a) {
    if (a->out.len)
        share_say(a->reply, SHARE_OUT, a->out.data);
    if (a->remark.len)
        share_say(a->reply, SHARE_ERROR, a->remark.data);
}

/* Ends a profile in the foreground. If its time was over meanwhile, its files are being written. */
static void end_process(const struct answer *a) {
    struct background *b = a->b;
    if (!a->ends)
        return;
    pthread_mutex_lock(&b->lock);
    if (!b->closing)
        kill(getpid(), SIGTERM);
    b->told = true;
    pthread_mutex_unlock(&b->lock);
}

static void free_answer(struct answer *a) {
    text_free(&a->out);
    text_free(&a->remark);
    outputs_free(&a->files);
    free(a->o);
    free(a);
}

int background_answer(void *arg, struct share_reply *reply, const char *cwd, int argc, char **argv,
                      struct err *e) {
    struct background *b = arg;
    struct answer *a = calloc(1, sizeof *a);
    struct options *o = calloc(1, sizeof *o);
    if (!a || !o || argc < 1) {
        free(a);
        free(o);
        return err_exit_as(e, ERR_EXIT_PROFILER, ENOMEM,
                           "the profiler process has no memory for an answer");
    }
    a->b = b;
    a->reply = reply;
    a->o = o;
    a->program = argv[0];
    pthread_mutex_lock(&b->lock);
    session_status(b->s, &a->st);
    session_jvm(b->s, &a->jvm);
    int r = act(a, cwd, argc, argv, e);
    wake(b);
    pthread_mutex_unlock(&b->lock);
    if (r == 0 && (a->out.failed || a->remark.failed))
        r = err_exit_as(e, ERR_EXIT_PROFILER, ENOMEM,
                        "the profiler process has no memory for an answer");
    if (r == 0)
        send(a);
    end_process(a);
    free_answer(a);
    return r;
}

int background_answer_screen(void *arg, struct share_reply *reply, const char *cwd, int argc,
                             char **argv, struct err *e) {
    struct background b = {.s = arg, .foreground = true, .wake_fd = -1};
    pthread_mutex_init(&b.lock, NULL);
    int r = background_answer(&b, reply, cwd, argc, argv, e);
    pthread_mutex_destroy(&b.lock);
    return r;
}

struct background *background_share(const struct options *o, struct session *s) {
    struct err ignored;
    struct background *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    *b =
        (struct background){.s = s, .o = o, .foreground = true, .wake_fd = -1, .since = time(NULL)};
    pthread_mutex_init(&b->lock, NULL);
    if (session_share(s, background_answer, b, &ignored) == 0)
        return b;
    (void)background_free(b);
    return NULL;
}

bool background_end(struct background *b) {
    if (!b)
        return false;
    pthread_mutex_lock(&b->lock);
    b->closing = true;
    bool told = b->told;
    pthread_mutex_unlock(&b->lock);
    return told;
}

bool background_free(struct background *b) {
    bool told = b && b->told;
    if (!b)
        return false;
    pthread_mutex_destroy(&b->lock);
    free(b);
    return told;
}
