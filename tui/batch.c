#include "tui/batch.h"

#include "tui/output.h"
#include "tui/quality.h"
#include "tui/watch.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* For people only: a pipe gets none of it. */
static void say_start(const struct options *o, const struct jvm *j, struct session *s,
                      uint64_t duration_ms) {
    struct session_status st;
    if (!isatty(STDERR_FILENO))
        return;
    session_status(s, &st);
    fprintf(stderr, "Profiling for %g seconds: %s (pid %d), %s by %s, walker %s%s%s\n",
            (double)duration_ms / 1000, j->name, (int)j->pid, o->event ? o->event : st.event,
            st.mechanism, st.walker, st.reason[0] ? ": " : "", st.reason);
}

/* What was made to recompile, and when. */
static void say_precise(struct session *s, const char *sum) {
    char news[4096];
    uint32_t more = session_news(s, news, sizeof news);
    for (char *line = news, *end; (end = strchr(line, '\n')); line = end + 1)
        fprintf(stderr, "jtop-prof: %.*s\n", (int)(end - line), line);
    if (more)
        fprintf(stderr, "jtop-prof: … and %" PRIu32 " more\n", more);
    fprintf(stderr, "jtop-prof: precise: %s\n", sum);
}

/* What a person should know before trusting the report. */
static void say_quality(const struct options *o, struct session *s, const struct jvm *j) {
    struct session_status st;
    char text[256];
    session_status(s, &st);
    if (quality_walker(&st, o->session.walk, text, sizeof text)[0])
        fprintf(stderr, "jtop-prof: %s\n", text);
    if (o->session.precise)
        say_precise(s, quality_precise(&st, text, sizeof text));
    if (st.phase == SESSION_JVM_GONE) {
        char ended[64];
        snprintf(ended, sizeof ended, "JVM %d ended", (int)j->pid);
        fprintf(stderr,
                "jtop-prof: %s; the report has all %" PRIu64 " samples of its last %.1f s\n",
                st.message[0] ? st.message : ended, st.samples, (double)st.elapsed_ns / 1e9);
    } else if (st.message[0] && st.phase != SESSION_FAILED) {
        fprintf(stderr, "jtop-prof: %s\n", st.message);
    }
    if (st.dropped)
        fprintf(stderr,
                "jtop-prof: %" PRIu64 " of %" PRIu64
                " samples were dropped: sample less often (-i) or give more memory (-b)\n",
                st.dropped, st.dropped + st.samples);
}

static int failed(struct session *s, struct err *e) {
    struct session_status st;
    session_status(s, &st);
    if (st.phase != SESSION_FAILED)
        return 0;
    return err_exit_as(e, ERR_EXIT_PROFILER, EIO, "the profile ended early: %s",
                       st.message[0] ? st.message : "no reason given");
}

static int profile(const struct options *o, const struct jvm *j, const struct outputs *out,
                   struct watch *w, struct err *e) {
    uint64_t duration_ms = o->duration_ms ? o->duration_ms : BATCH_DURATION_MS;
    struct session *s = NULL;
    int r = session_attach(j, &o->session, &s, e);
    if (r < 0)
        return r;
    say_start(o, j, s, duration_ms);
    watch_run(w, s, duration_ms);
    watch_close(w);

    /* Whatever went wrong, the files come first; then the first failure is told. */
    struct err write_error = {0};
    r = failed(s, e);
    int stopped = session_stop(s, r == 0 ? e : NULL);
    int written = outputs_write(out, o, s, &write_error);
    say_quality(o, s, j);
    if (r == 0)
        r = stopped;
    if (r == 0 && written < 0) {
        r = written;
        *e = write_error;
    }
    session_close(s);
    if (r == 0 && isatty(STDERR_FILENO))
        fprintf(stderr, "Done\n");
    return r;
}

int batch_collect(const struct options *o, const struct jvm *j, struct err *e) {
    struct outputs out;
    struct watch w = {.signal_fd = -1};
    int r = outputs_plan(&out, o, (int)j->pid, e);
    if (r == 0)
        r = watch_open(&w, e);
    if (r == 0)
        r = profile(o, j, &out, &w, e);
    watch_close(&w);
    outputs_free(&out);
    return r;
}

int batch_convert(const struct options *o, const char *recording, struct err *e) {
    struct outputs out;
    struct session *s = NULL;
    struct jvm j = {0};
    int r = session_replay(recording, &o->session, &s, e);
    if (r < 0)
        return r;
    session_jvm(s, &j);
    r = outputs_plan(&out, o, (int)j.pid, e);
    if (r == 0)
        r = outputs_write(&out, o, s, e);
    outputs_free(&out);
    session_close(s);
    return r;
}
