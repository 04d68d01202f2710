#include "tui/cli/batch.h"

#include "core/base/clock.h"
#include "core/event/event.h"
#include "core/report/quality.h"
#include "tui/cli/background/background.h"
#include "tui/cli/output/output.h"
#include "tui/cli/watch.h"
#include "tui/terminal/terminal_signals.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Prints the messages of asprof, also to a pipe, because scripts wait for them. */
static void say_as_asprof(uint64_t duration_ms) {
    if (duration_ms)
        fprintf(stderr, "Profiling for %g seconds\n", (double)duration_ms / 1000);
    else
        fprintf(stderr, "Profiling until interrupted\n");
}

/* Prints the start of the profile on a terminal only, not to a pipe. */
static void say_start(const struct options *o, const struct jvm *j, struct session *s,
                      uint64_t duration_ms) {
    struct session_status st;
    if (o->as_asprof)
        say_as_asprof(duration_ms);
    if (o->as_asprof || !isatty(STDERR_FILENO))
        return;
    session_status(s, &st);
    fprintf(stderr, "Profiling ");
    if (duration_ms)
        fprintf(stderr, "for %g seconds", (double)duration_ms / 1000);
    else
        fprintf(stderr, "until interrupted");
    fprintf(stderr, ": %s (pid %d), ", j->name, (int)j->pid);
    for (uint32_t i = 0; i < o->session.engines; i++) {
        const struct wire_engine_request *q = &o->session.engine[i];
        const struct session_engine *engine = &st.engine[q->event];
        fprintf(stderr, "%s by %s%s%s, ", q->name, engine->mechanism, engine->reason[0] ? ": " : "",
                engine->reason);
    }
    fprintf(stderr, "walker %s", st.walker);
    if (st.reader)
        fprintf(stderr, "; process %d takes the samples", (int)st.reader);
    fputc('\n', stderr);
}

/* Prints what was recompiled, and when. */
static void say_precise(struct session *s, const char *sum) {
    char news[4096];
    uint32_t more = session_news(s, news, sizeof news);
    for (char *line = news, *end; (end = strchr(line, '\n')); line = end + 1)
        fprintf(stderr, "jtop-prof: %.*s\n", (int)(end - line), line);
    if (more)
        fprintf(stderr, "jtop-prof: … and %" PRIu32 " more\n", more);
    fprintf(stderr, "jtop-prof: precise: %s\n", sum);
}

/* Explains an empty report, such as "Foo is not loaded yet". */
static void say_empty(const struct session_status *st) {
    for (int i = 0; i < WIRE_EVENTS; i++) {
        const struct session_engine *engine = &st->engine[i];
        if (engine->asked && !engine->samples && engine->mechanism[0] &&
            session_engine_is_poorer(engine))
            fprintf(stderr, "jtop-prof: no samples of %s by %s: %s\n", engine->name,
                    engine->mechanism, engine->reason);
    }
}

/* Prints events that ended early, because another profiler took what they need. */
static void say_ended(const struct session_status *st) {
    for (int i = 0; i < WIRE_EVENTS; i++) {
        const struct session_engine *engine = &st->engine[i];
        if (engine->asked && engine->error && engine->samples)
            fprintf(stderr, "jtop-prof: %s ended before the profile did%s%s\n", engine->name,
                    engine->reason[0] ? ": " : "", engine->reason);
    }
}

/* Explains that no thread matched. Names are known only of threads that ran, so it cannot be known
 * whether such a thread exists. */
static void say_nobody(const struct options *o, const struct session_status *st) {
    if (o->session.thread_pattern && !st->samples)
        fprintf(stderr,
                "jtop-prof: no samples: no thread with \"%s\" in its name was seen (--thread); -t "
                "without --thread shows the names\n",
                o->session.thread_pattern);
    else if (o->session.tid_ranges && !st->samples)
        fprintf(stderr, "jtop-prof: no samples: none of the threads of --filter was seen\n");
}

/* Prints why the samples end before the profile does. */
static void say_standstill(const struct jvm *j) {
    char text[256];
    pid_t tracer;
    enum standstill why = standstill_of(j->pid, &tracer);
    if (why != STANDSTILL_NONE)
        fprintf(stderr, "jtop-prof: %s\n",
                quality_standstill(why, j->pid, tracer, text, sizeof text));
}

/* Prints what a user must know before trusting the report. `told` is printed elsewhere. */
static void say_quality(const struct options *o, struct session *s, const struct jvm *j,
                        const char *told) {
    struct session_status st;
    char text[256], how[440];
    session_status(s, &st);
    if ((o->as_asprof || !isatty(STDERR_FILENO)) && /* otherwise it was printed at the start */
        !st.engine[WIRE_EVENT_CPU].biased && quality_how(&st, WIRE_EVENT_CPU, how, sizeof how)[0])
        fprintf(stderr, "jtop-prof: %s by %s\n", st.engine[WIRE_EVENT_CPU].name, how);
    if (quality_walker(&st, o->session.walk, text, sizeof text)[0])
        fprintf(stderr, "jtop-prof: %s\n", text);
    if (st.budget.text[0])
        fprintf(stderr, "jtop-prof: budget: %s\n", st.budget.text);
    if (o->session.precise)
        say_precise(s, quality_precise(&st, text, sizeof text));
    for (int i = 0; i < WIRE_EVENTS; i++)
        if (st.engine[i].biased && st.engine[i].samples)
            fprintf(stderr, "jtop-prof: %s is BIASED: sampled at safepoints only%s%s\n",
                    st.engine[i].name, st.engine[i].reason[0] ? ": " : "", st.engine[i].reason);
    say_empty(&st);
    say_ended(&st);
    say_nobody(o, &st);
    if (st.phase != SESSION_JVM_GONE)
        say_standstill(j);
    if (o->session.begin)
        fprintf(stderr, "jtop-prof: %" PRIu64 " window%s from --begin to --end, %.3f ms in all\n",
                st.windows, st.windows == 1 ? "" : "s", (double)st.window_ns / 1e6);
    if (st.phase == SESSION_JVM_GONE) {
        char ended[64];
        snprintf(ended, sizeof ended, "JVM %d ended", (int)j->pid);
        fprintf(stderr,
                "jtop-prof: %s; the report has all %" PRIu64 " samples of its last %.1f s\n",
                st.message[0] ? st.message : ended, st.samples, (double)st.elapsed_ns / 1e9);
    } else if (st.message[0] && st.phase != SESSION_FAILED && strcmp(st.message, told) != 0) {
        fprintf(stderr, "jtop-prof: %s\n", st.message);
    }
    if (st.dropped)
        fprintf(stderr,
                "jtop-prof: %" PRIu64 " of %" PRIu64
                " samples were dropped: sample less often (-i) or give more memory (-b)\n",
                st.dropped, st.dropped + st.samples);
}

int batch_failed(struct session *s, struct err *e) {
    struct session_status st;
    session_status(s, &st);
    if (st.phase != SESSION_FAILED)
        return 0;
    return err_exit_as(e, ERR_EXIT_PROFILER, EIO, "the profile ended early: %s",
                       st.message[0] ? st.message : "no reason given");
}

/* Attaches. A user who stops waiting for that (by a signal) need not wait for its end. */
static int attach(const struct options *o, const struct jvm *j, struct session **s, struct err *e) {
    signals_impatient(SIGNALS_PATIENCE_S);
    int r = share_attach_apart(j, &o->session, s, e);
    signals_patient();
    return r;
}

/* Takes one turn of --loop, or the whole profile. The last turn restores the signals before the
 * files are written, so that a second Ctrl-C works at once. */
static int profile(const struct options *o, const struct jvm *j, struct outputs *out,
                   struct watch *w, uint64_t duration_ms, bool last, struct background_stay *stay,
                   enum watch_end *end, struct err *e) {
    struct session *s = NULL;
    int r = attach(o, j, &s, e);
    if (r < 0)
        return r;
    say_start(o, j, s, duration_ms);
    struct background *shared = background_share(o, s);
    r = outputs_begin(out, o, s, e);
    if (r < 0) {
        session_close(s);
        (void)background_free(shared);
        return r;
    }
    *end = watch_run(w, s, duration_ms);
    if (background_end(shared))
        watch_forget(w); /* the signal may have come after the profile's last moment */
    if (last || *end != WATCH_TIME)
        watch_close(w);

    /* Whatever went wrong, the files are written first; then the first failure is reported. */
    struct err write_error = {0};
    r = batch_failed(s, e);
    int stopped = session_end(s, r == 0 ? e : NULL);
    bool goes_on = stopped == 1; /* for others, from whose session this profile cannot be dumped */
    stopped = stopped < 0 ? stopped : 0;
    struct session_status st;
    session_status(s, &st);
    if (r == 0 && stopped == 0 && st.unrecorded)
        stopped = err_exit_as(e, ERR_EXIT_PROFILER, EIO, "%s", st.message);
    /* Not if the report itself goes to the same terminal. */
    bool apart = o->files > 0 || !isatty(STDOUT_FILENO);
    struct progress_work *work = apart ? progress_work_begin(o->quiet, "writing files") : NULL;
    int written = outputs_write(out, o, s, &write_error);
    progress_work_end(work);
    say_quality(o, s, j, r || stopped ? e->message : "");
    if (r == 0)
        r = stopped;
    if (r == 0 && written < 0) {
        r = written;
        *e = write_error;
    }
    if (r == 0)
        outputs_say_written(out, o);
    if (r == 0 && last && stay && !goes_on && st.phase != SESSION_JVM_GONE) {
        r = session_record(s, NULL, e); /* a recording ends here */
        outputs_free(out);
        if (r == 0)
            background_stay_on(stay, shared, *end);
    }
    session_close(s);
    if (r == 0 && o->session.record)
        output_say_written(o, o->session.record, st.samples);
    if (background_free(shared) && *end == WATCH_TIME)
        *end = WATCH_SIGNAL;
    return r;
}

/* Returns the shorter of two lengths of time; 0 means no limit. */
static uint64_t shorter(uint64_t a, uint64_t b) {
    return a && (!b || a < b) ? a : b;
}

/* Returns how long the whole profile takes; 0: until interrupted. */
static uint64_t whole_ms(const struct options *o) {
    uint64_t whole = shorter(o->duration_ms, options_moment_ms(&o->timeout, time(NULL)));
    bool loops = o->loop.ms || o->loop.of_day;
    return whole || loops ? whole : BATCH_DURATION_MS;
}

/* Takes turn after turn, from number `first` on, for which `out` is already planned. */
static int take_turns(const struct options *o, const struct jvm *j, struct outputs *out,
                      unsigned first, struct watch *w, struct background_stay *stay,
                      enum watch_end *end, struct err *e) {
    uint64_t whole = whole_ms(o), end_ms = clock_now_ms() + whole;
    int r = 0;
    for (unsigned turn = first; r == 0 && *end == WATCH_TIME; turn++) {
        uint64_t now = clock_now_ms(), left = whole && end_ms > now ? end_ms - now : 0;
        uint64_t loop = options_moment_ms(&o->loop, time(NULL));
        bool last = !loop || (whole && left <= loop);
        if (turn > first && whole && !left)
            break;
        if (turn > first) {
            outputs_free(out);
            r = outputs_plan(out, o, (int)j->pid, turn, NULL, e);
        }
        if (r == 0)
            r = profile(o, j, out, w, shorter(left, loop), last, stay, end, e);
        if (last)
            break;
    }
    return r;
}

static int collect(const struct options *o, const struct jvm *j, unsigned first,
                   struct background_stay *stay, enum watch_end *end, struct err *e) {
    struct outputs *out = calloc(1, sizeof *out);
    struct progress progress;
    struct watch w = {.signal_fd = -1, .progress = &progress};
    if (!out)
        return err_exit_as(e, ERR_EXIT_PROFILER, ENOMEM, "no memory");
    progress_open(&progress, o->quiet);
    int r = outputs_plan(out, o, (int)j->pid, first, NULL, e);
    if (r == 0)
        r = event_check(o->session.engine, o->session.engines, j->pid,
                        event_java_version(j->version), e);
    if (r == 0)
        r = watch_open(&w, e);
    if (r == 0)
        r = take_turns(o, j, out, first, &w, stay, end, e);
    watch_close(&w);
    outputs_free(out);
    free(out);
    return r;
}

static int collect_and_stay(const struct options *o, const struct jvm *j,
                            struct background_stay *stay, enum watch_end *end, struct err *e) {
    return collect(o, j, 0, stay, end, e);
}

int batch_collect(const struct options *o, const struct jvm *j, struct err *e) {
    enum watch_end end = WATCH_TIME;
    /* A JVM that is process 1 of its namespace would not reap the process that stays, so none
     * stays. */
    int r = o->as_asprof && j->pid != 1 ? background_stay(o, j, collect_and_stay, &end, e)
                                        : collect(o, j, 0, NULL, &end, e);
    if (r == 0 && o->as_asprof)
        fprintf(stderr, "%s\n",
                end == WATCH_TIME     ? "Done"
                : end == WATCH_SIGNAL ? "Interrupted"
                                      : "Process exited");
    else if (r == 0 && !o->files && isatty(STDERR_FILENO))
        fprintf(stderr, "Done\n");
    return r;
}
