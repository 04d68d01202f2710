/* jtop-prof: a profiler for Java with a live view. This file sets the exit code. */
#include "core/base/clean_text.h"
#include "core/base/text.h"
#include "core/event/event.h"
#include "core/import/import.h"
#include "tui/cli/background/background.h"
#include "tui/cli/batch.h"
#include "tui/cli/command/command.h"
#include "tui/cli/command/doctor_command.h"
#include "tui/cli/compare/compare.h"
#include "tui/cli/http/http.h"
#include "tui/cli/option/options.h"
#include "tui/cli/output/piped_input.h"
#include "tui/cli/output/progress.h"
#include "tui/cli/reader.h"
#include "tui/screen/live.h"
#include "tui/view/view.h"

#include "core/wire/record.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int print(struct text *t, struct err *e) {
    if (t->failed)
        return err_set(e, ENOMEM, "no memory");
    bool bad = fwrite(t->data ? t->data : "", 1, t->len, stdout) != t->len || fflush(stdout) != 0;
    if (bad && errno != EPIPE) /* EPIPE: the reader of our output has ended */
        return err_set(e, errno, "cannot write to standard output: %s", strerror(errno));
    return 0;
}

/* True if the file is a recording. A main class may have the name of a file in this directory, so
 * the file must begin like a recording. */
static bool is_recording(const char *path) {
    uint64_t magic = 0;
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return false;
    bool yes = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
               read(fd, &magic, sizeof magic) == (ssize_t)sizeof magic && magic == WIRE_FILE_MAGIC;
    close(fd);
    return yes || import_knows(path);
}

static bool is_file(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* Finds the target of the command line: a recording (*recording is true), or a JVM. */
static int find_target(const struct options *o, bool *recording, struct jvm *j, struct err *e) {
    *recording = is_recording(o->target);
    if (*recording)
        return 0;
    int r = jvm_find(o->target, j, e);
    bool there = r == 0 || access(o->target, F_OK) == 0;
    if (!there && (exporter_by_path(o->target) || strstr(o->target, ".jtop")))
        return err_set(e, ENOENT, "%s: no such file, and no JVM has that name", o->target);
    if (r < 0 && is_file(o->target))
        return err_set(e, EINVAL,
                       "%s: a file, but not in a known format (jtop-prof recording, JFR, pprof, "
                       "collapsed stacks), and no JVM has that name%s",
                       o->target, import_hint(o->target));
    return r;
}

/* Long work on files. The report itself may go to the same terminal. */
static int on_files(struct options *o, const char *path, struct err *e) {
    bool apart = o->files > 0 || o->operands > 1 || !isatty(STDOUT_FILENO);
    const char *what = o->action == ACTION_DIFF ? "comparing files" : "converting the file";
    int inputs = o->action == ACTION_DIFF ? o->operands : o->action == ACTION_CONVERT;
    for (int i = 0; i < inputs && i < o->operands; i++) {
        int r = spool_input(&o->operand[i], e);
        if (r < 0)
            return r;
    }
    if (o->action == ACTION_CONVERT)
        path = o->operand[0];
    struct progress_work *work = apart ? progress_work_begin(o->quiet, what) : NULL;
    int r = o->action == ACTION_DIFF ? compare_files(o, e) : convert_file(o, path, e);
    progress_work_end(work);
    return r;
}

static int collect(struct options *o, struct err *e) {
    struct jvm j;
    bool recording;
    int r = find_target(o, &recording, &j, e);
    if (r < 0)
        return r;
    o->session.all_or_none = true;
    o->session.apart = !recording;
    return recording ? on_files(o, o->target, e) : batch_collect(o, &j, e);
}

/* Carries out "list" and "check". */
static int try_events(const struct options *o, struct text *out, struct err *e) {
    struct jvm j;
    int r = jvm_find(o->target, &j, e);
    if (r == 0)
        r = share_make_room(j.pid, e);
    if (r < 0)
        return r;
    return o->action == ACTION_EVENTS ? list_events(&j, &o->session, out, e)
                                      : check_events(&j, &o->session, out, e);
}

/* The command line overrides the config file. */
static void settle_config(const struct options *o, struct config *c) {
    if (o->theme)
        snprintf(c->theme, sizeof c->theme, "%s", o->theme);
    if (o->source_path)
        snprintf(c->source_path, sizeof c->source_path, "%s", o->source_path);
    for (int i = 0; o->view && i < VIEWS; i++)
        if (!strcmp(views[i]->name, o->view))
            c->view = i;
    if (o->export.threads && !o->view)
        c->view = LIVE_THREADS;
    if (o->refresh_ms)
        c->refresh_ms = o->refresh_ms;
    c->no_mouse |= o->no_mouse;
    c->ascii |= o->ascii;
    c->mono |= o->mono;
    c->simple |= o->export.simple;
}

static int look(const struct options *o, struct err *e) {
    struct jvm j;
    struct config config;
    bool frames = o->action == ACTION_FRAMES, recording = false;
    int r = config_load(&config, e);
    if (r < 0)
        return r;
    settle_config(o, &config);
    struct live_options live = {
        .config = &config,
        .session = o->session,
        .view = config.view >= 0 ? (enum live_view)config.view : LIVE_METHODS,
        .refresh_ms = config.refresh_ms,
        .ascii = config.ascii,
        .mono = config.mono,
        .simple = config.simple,
        .plain = o->plain,
        .no_mouse = config.no_mouse,
        .carriers = o->export.carriers,
        .frames = o->frames,
    };
    if (!live.session.history_seconds)
        live.session.history_seconds = config.history_seconds;
    if (o->target) {
        r = find_target(o, &recording, &j, e);
        if (r < 0)
            return r;
        if (!recording)
            r = event_check(o->session.engine, o->session.engines, j.pid,
                            event_java_version(j.version), e);
        if (r < 0)
            return r;
        live.jvm = recording ? NULL : &j;
        live.replay = recording ? o->target : NULL;
    }
    /* Last, so that it hides no mistake that a terminal would not cure. */
    if (!frames && !o->plain && !isatty(STDOUT_FILENO))
        return err_set(e, ENOTTY,
                       "standard output is not a terminal: use --batch for the screen as text, "
                       "--plain for lines, or -d TIME for a report");
    return frames ? live_batch(&live, e) : live_run(&live, e);
}

/* Messages about a bad theme are printed before the error. */
static int print_self(const struct options *o, struct text *t, struct err *e) {
    struct err trouble;
    int r = self_print(o, t, e);
    int printed = print(t, r == 0 ? e : &trouble);
    return r == 0 ? printed : r;
}

/* A reader knows its JVM: its pid is enough for what begins no profile, also if the JVM has ended. */
static int act_on_jvm(const struct options *o, int argc, char **argv, struct err *e) {
    struct jvm j;
    bool known = o->action == ACTION_BACKGROUND && strcmp(o->word, "start") != 0 &&
                 strcmp(o->word, "resume") != 0 && background_remembers(o->target, &j);
    int r = known ? 0 : jvm_find(o->target, &j, e);
    if (r < 0 && (o->action == ACTION_JVM || !background_remembers(o->target, &j)))
        return r;
    return o->action == ACTION_JVM ? jvm_command(o, &j, e) : background_act(o, &j, argc, argv, e);
}

/* Carries out the action. A positive result is the exit code, although nothing failed. */
static int run(struct options *o, int argc, char **argv, struct err *e) {
    struct text t = {0};
    int r = 0;
    switch (o->action) {
    case ACTION_HELP:
    case ACTION_VERSION:
    case ACTION_CONFIG:
    case ACTION_CHECK_THEME:
    case ACTION_COMPLETION:
    case ACTION_NAMES:
    case ACTION_MANUAL:
        r = print_self(o, &t, e);
        break;
    case ACTION_LIST:
        r = list_jvms(o->json, &t, e);
        if (r == 0)
            r = print(&t, e);
        break;
    case ACTION_DOCTOR: {
        int sick = doctor_command(o, &t, e);
        r = sick < 0 ? sick : print(&t, e);
        r = r == 0 ? sick : r;
        break;
    }
    case ACTION_EVENTS:
    case ACTION_CHECK:
        r = try_events(o, &t, e);
        if (r == 0)
            r = print(&t, e);
        break;
    case ACTION_BACKGROUND:
    case ACTION_JVM:
        r = act_on_jvm(o, argc, argv, e);
        break;
    case ACTION_CONVERT:
    case ACTION_DIFF:
        r = on_files(o, o->operand[0], e);
        break;
    case ACTION_HTTP:
        r = http_run(o, argc, argv, e);
        break;
    case ACTION_READER:
        r = reader_run(o, e);
        break;
    case ACTION_COLLECT:
        r = collect(o, e);
        break;
    case ACTION_LIVE:
    case ACTION_FRAMES:
        r = look(o, e);
        break;
    }
    text_free(&t);
    return r;
}

/* Prints one line, whatever it quotes. */
static void say(int fd, const char *text) {
    char line[1024];
    clean_text(line, sizeof line, text, strlen(text));
    dprintf(fd, "jtop-prof: %s\n", line);
}

/* From now on, only errors are printed. Returns the descriptor for those; remarks of the rest of
 * the program are dropped. */
static int hush(void) {
    int errors = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (errors >= 0 && null >= 0)
        dup2(null, STDERR_FILENO);
    if (null >= 0)
        close(null);
    return errors >= 0 ? errors : STDERR_FILENO;
}

int main(int argc, char **argv) {
    struct options o;
    struct err e = {0};
    /* Memory of one refresh of the screen is used again by the next. glibc would raise these by
     * itself, and keep the memory of large answers. */
    (void)mallopt(M_MMAP_THRESHOLD, 4 << 20);
    (void)mallopt(M_TRIM_THRESHOLD, 8 << 20);
    signal(SIGPIPE, SIG_IGN); /* a closed pipe must not prevent detaching from the JVM */
    signal(SIGXFSZ, SIG_IGN); /* neither must a file at its size limit (ulimit -f) */
    int errors = STDERR_FILENO, r = options_parse(&o, argc, argv, &e);
    if (r == 0 && o.quiet)
        errors = hush();
    if (r == 0 && o.remark[0] && !o.quiet)
        say(STDERR_FILENO, o.remark);
    if (r == 0)
        r = run(&o, argc, argv, &e);
    if (r >= 0)
        return r;
    if (!e.message[0])
        snprintf(e.message, sizeof e.message, "%s", strerror(e.code));
    say(errors, e.message);
    return e.exit_code ? e.exit_code : ERR_EXIT_USAGE;
}
