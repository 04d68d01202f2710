/* The start of a reader that leaves the shell. */
#include "tui/cli/background/background_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The reader's message to its starter, sent in one piece. */
struct news {
    int result;
    struct err e;
};

/* The reader: its profile, and what its answers do not need. */
struct reader {
    struct background b;
    struct options o;
    struct text file[OPTIONS_OUTPUTS_MAX], record; /* absolute paths for o.file and
                                                      o.session.record */
    struct outputs files;
    struct jvm jvm;
    struct watch watch;
    char library[4096];
};

/* Makes a path absolute: names are relative to the directory where the profile was started. */
static int make_absolute(const char **path, struct text *own, bool pattern, struct err *e) {
    char cwd[4096];
    if (**path == '/')
        return 0;
    if (!getcwd(cwd, sizeof cwd))
        return err_exit_as(e, ERR_EXIT_ARGUMENT, errno, "%s: no working directory: %s", *path,
                           strerror(errno));
    for (const char *p = cwd; *p; p++)
        text_add(own, pattern && *p == '%' ? "%%" : (char[]){*p, '\0'});
    text_addf(own, "/%s", *path);
    if (own->failed)
        return err_exit_as(e, ERR_EXIT_PROFILER, ENOMEM, "no memory for a file name");
    *path = own->data;
    return 0;
}

/* Plans the files. Standard output is not one of them: `stop` and `dump` give reports without a
 * file. */
static int settle_files(struct reader *rd, struct err *e) {
    struct options *o = &rd->o;
    int r = 0, kept = 0;
    for (int i = 0; i < o->files && r == 0; i++) {
        if (strcmp(o->file[i], "-") == 0)
            continue;
        o->file[kept] = o->file[i];
        r = make_absolute(&o->file[kept], &rd->file[kept], true, e);
        kept++;
    }
    o->files = kept;
    if (r == 0 && o->session.record)
        r = make_absolute(&o->session.record, &rd->record, false, e);
    if (r == 0 && o->session.library && *o->session.library != '/' &&
        realpath(o->session.library, rd->library))
        o->session.library = rd->library;
    if (r == 0 && o->files) {
        rd->b.files = &rd->files;
        r = outputs_plan(&rd->files, o, (int)rd->jvm.pid, 0, NULL, e);
    }
    return r;
}

static int settle(struct reader *rd, int argc, char **argv, struct err *e) {
    int r = options_parse(&rd->o, argc, argv, e);
    if (r < 0)
        return r;
    struct options *o = &rd->o;
    o->session.all_or_none = true;
    o->session.apart = true;
    if (o->duration_ms && !o->timeout.ms && !o->timeout.of_day && !background_is_asprof(argv[0]))
        o->timeout.ms = o->duration_ms;
    return settle_files(rd, e);
}

/* Leaves the terminal: closes all inherited descriptors except `news_fd`, and ignores Ctrl-C. */
static int leave_terminal(int *news_fd) {
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0)
        return -errno;
    setsid();
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGTERM, SIG_DFL);
    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        dup2(null, fd);
    int moved = fcntl(*news_fd, F_DUPFD_CLOEXEC, 10);
    if (moved < 0)
        return -errno;
    close_range(3, (unsigned)moved - 1, 0);
    close_range((unsigned)moved + 1, ~0U, 0);
    *news_fd = moved;
    return 0;
}

/* Reports the result to the starter. False: the starter has ended, and so wants no profile. */
static bool tell(int fd, int r, const struct err *e) {
    struct news n = {.result = r};
    if (r < 0)
        n.e = *e;
    bool heard = write(fd, &n, sizeof n) == (ssize_t)sizeof n;
    close(fd);
    return heard;
}

static void stay(struct reader *rd, int argc, char **argv, int news_fd) {
    struct err e = {0};
    int r = settle(rd, argc, argv, &e);
    if (r == 0 && (r = leave_terminal(&news_fd)) < 0)
        err_exit_as(&e, ERR_EXIT_PROFILER, -r, "cannot leave the terminal: %s", strerror(-r));
    if (r == 0)
        r = watch_open(&rd->watch, &e);
    if (r == 0)
        r = background_open(&rd->b, &rd->o, &e);
    if (r < 0) {
        tell(news_fd, r, &e);
        return;
    }
    r = background_begin_turn(&rd->b, &rd->o, &rd->jvm, false, &e);
    bool heard = tell(news_fd, r, &e);
    if (r == 0 && heard && chdir("/") == 0)
        background_go_on(&rd->b, &rd->o, &rd->jvm, &rd->watch, &e);
    else
        background_close_turn(&rd->b);
    background_close(&rd->b);
}

static int hear(int fd, pid_t child, struct err *e) {
    struct news n = {0};
    ssize_t got;
    do
        got = read(fd, &n, sizeof n);
    while (got < 0 && errno == EINTR);
    if (got == (ssize_t)sizeof n && n.result == 0)
        return 0;
    waitpid(child, NULL, 0);
    if (got != (ssize_t)sizeof n)
        return err_exit_as(
            e, ERR_EXIT_PROFILER, ECHILD,
            "the profiler process in the background ended before it began to sample");
    *e = n.e;
    return n.result;
}

int background_begin(const struct jvm *j, int argc, char **argv, bool *child, struct err *e) {
    int fd[2];
    *child = false;
    struct reader *rd = calloc(1, sizeof *rd);
    if (!rd || pipe2(fd, O_CLOEXEC) < 0) {
        free(rd);
        return err_exit_as(e, ERR_EXIT_PROFILER, ENOMEM, "no memory, or no descriptor, for a pipe");
    }
    rd->jvm = *j;
    rd->watch.signal_fd = -1;
    fflush(NULL);
    pid_t pid = fork();
    int r = pid < 0 ? err_exit_as(e, ERR_EXIT_PROFILER, errno, "fork: %s", strerror(errno)) : 0;
    if (pid == 0) {
        *child = true;
        close(fd[0]);
        stay(rd, argc, argv, fd[1]);
        watch_close(&rd->watch);
        outputs_free(&rd->files);
    } else {
        close(fd[1]);
        if (pid > 0)
            r = hear(fd[0], pid, e);
        close(fd[0]);
    }
    for (int i = 0; i < OPTIONS_OUTPUTS_MAX; i++)
        text_free(&rd->file[i]);
    text_free(&rd->record);
    free(rd);
    return r;
}
