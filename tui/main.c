/* jtop-prof: a profiler for Java that you watch. The only file that exits. */
#include "core/base/text.h"
#include "tui/batch.h"
#include "tui/list.h"
#include "tui/live.h"
#include "tui/options.h"
#include "tui/reader.h"

#include "core/wire/record.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int print(struct text *t, struct err *e) {
    if (t->failed)
        return err_set(e, ENOMEM, "no memory");
    bool bad = fwrite(t->data ? t->data : "", 1, t->len, stdout) != t->len || fflush(stdout) != 0;
    if (bad && errno != EPIPE) /* that one: who reads us has seen enough */
        return err_set(e, errno, "cannot write to standard output: %s", strerror(errno));
    return 0;
}

/* A main class may have the name of a file in this directory, so a file is taken for a recording
 * only when it begins like one. */
static bool is_recording(const char *path) {
    uint64_t magic = 0;
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return false;
    bool yes = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
               read(fd, &magic, sizeof magic) == (ssize_t)sizeof magic && magic == WIRE_FILE_MAGIC;
    close(fd);
    return yes;
}

/* What the command line names: a recording (true in *recording), or a JVM. */
static int find_target(const struct options *o, bool *recording, struct jvm *j, struct err *e) {
    *recording = is_recording(o->target);
    if (*recording)
        return 0;
    int r = jvm_find(o->target, j, e);
    if (r < 0 && strchr(o->target, '/') && access(o->target, F_OK) == 0)
        return err_set(e, EINVAL, "%s: neither a recording of jtop-prof nor the name of a JVM",
                       o->target);
    return r;
}

static int collect(const struct options *o, struct err *e) {
    struct jvm j;
    bool recording;
    int r = find_target(o, &recording, &j, e);
    if (r < 0)
        return r;
    return recording ? batch_convert(o, o->target, e) : batch_collect(o, &j, e);
}

static int look(const struct options *o, struct err *e) {
    struct jvm j;
    bool frames = o->action == ACTION_FRAMES, recording = false;
    if (!frames && !isatty(STDOUT_FILENO))
        return err_set(e, ENOTTY,
                       "standard output is no terminal: use --batch for frames as text, or -d "
                       "TIME for a report");
    struct live_options live = {
        .session = o->session,
        .view = o->export.threads ? LIVE_THREADS : LIVE_METHODS,
        .refresh_ms = o->refresh_ms,
        .ascii = o->ascii,
        .mono = o->mono,
        .simple = o->export.simple,
        .carriers = o->export.carriers,
        .frames = o->frames,
    };
    if (o->target) {
        int r = find_target(o, &recording, &j, e);
        if (r < 0)
            return r;
        live.jvm = recording ? NULL : &j;
        live.replay = recording ? o->target : NULL;
    }
    return frames ? live_batch(&live, e) : live_run(&live, e);
}

static int run(struct options *o, struct err *e) {
    struct text t = {0};
    int r = 0;
    switch (o->action) {
    case ACTION_HELP:
        options_help(&t);
        r = print(&t, e);
        break;
    case ACTION_VERSION:
        text_add(&t, "jtop-prof " JTOP_VERSION "\n");
        r = print(&t, e);
        break;
    case ACTION_LIST:
        r = list_jvms(o->json, &t, e);
        if (r == 0)
            r = print(&t, e);
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

/* One line, whatever was quoted in it. */
static void complain(struct err *e) {
    for (char *p = e->message; *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            *p = '?';
    fprintf(stderr, "jtop-prof: %s\n", e->message[0] ? e->message : strerror(e->code));
}

int main(int argc, char **argv) {
    struct options o;
    struct err e = {0};
    signal(SIGPIPE, SIG_IGN); /* a closed pipe must not keep us from letting go of the JVM */
    int r = options_parse(&o, argc, argv, &e);
    if (r == 0)
        r = run(&o, &e);
    if (r == 0)
        return 0;
    complain(&e);
    return e.exit_code ? e.exit_code : ERR_EXIT_USAGE;
}
