/* The start of a reader that leaves the shell, and of another profile in it. */
#include "tui/cli/background/background_parts.h"

#include "core/base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
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
    struct jvm jvm;
    struct watch watch;
};

static void free_start(struct start *st) {
    if (!st)
        return;
    outputs_free(&st->files);
    for (int i = 0; i < OPTIONS_OUTPUTS_MAX; i++)
        text_free(&st->file[i]);
    text_free(&st->record);
    free(st->words);
    free(st);
}

/* The same for one whose session is not in use: files grow from the session. */
static void drop_start(struct start *st) {
    if (!st)
        return;
    outputs_free(&st->files);
    session_close(st->s);
    free_start(st);
}

/* Makes a path absolute: names are relative to the directory where the profile was started. */
static int make_absolute(const char **path, const char *cwd, struct text *own, bool pattern,
                         struct err *e) {
    if (strncmp(*path, "/dev/fd/", 8) == 0 || strncmp(*path, "/proc/self/fd/", 14) == 0)
        return err_exit_as(e, ERR_EXIT_ARGUMENT, EBADF,
                           "%s: a profile in the background does not have the open files of its "
                           "start: give the name of a file",
                           *path);
    if (**path == '/')
        return 0;
    if (*cwd != '/')
        return err_exit_as(e, ERR_EXIT_ARGUMENT, ENOENT,
                           "%s: the working directory is not known: give an absolute path", *path);
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
static int settle_files(struct start *st, pid_t jvm, const char *cwd, struct err *e) {
    struct options *o = &st->o;
    int r = 0, kept = 0;
    for (int i = 0; i < o->files && r == 0; i++) {
        if (strcmp(o->file[i], "-") == 0)
            continue;
        o->file[kept] = o->file[i];
        r = make_absolute(&o->file[kept], cwd, &st->file[kept], true, e);
        kept++;
    }
    o->files = kept;
    if (r == 0 && o->session.record)
        r = make_absolute(&o->session.record, cwd, &st->record, false, e);
    if (r == 0 && o->session.library && *o->session.library != '/' &&
        realpath(o->session.library, st->library))
        o->session.library = st->library;
    return r == 0 && o->files ? outputs_plan(&st->files, o, (int)jvm, 0, NULL, e) : r;
}

static int settle(struct start *st, pid_t jvm, const char *cwd, int argc, char **argv,
                  struct err *e) {
    int r = options_parse(&st->o, argc, argv, e);
    if (r < 0)
        return r;
    struct options *o = &st->o;
    o->session.all_or_none = true;
    o->session.apart = true;
    if (o->duration_ms && !o->timeout.ms && !o->timeout.of_day && !background_is_asprof(argv[0]))
        o->timeout.ms = o->duration_ms;
    return settle_files(st, jvm, cwd, e);
}

static void use_start(struct background *b, struct start *st) {
    b->start = st;
    b->o = &st->o;
    b->files = st->o.files ? &st->files : NULL;
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

static void stay(struct reader *rd, struct start *st, int argc, char **argv, int news_fd) {
    struct background *b = &rd->b;
    struct err e = {0};
    char cwd[PATH_MAX];
    if (!getcwd(cwd, sizeof cwd))
        cwd[0] = '\0';
    int r = settle(st, rd->jvm.pid, cwd, argc, argv, &e);
    use_start(b, st);
    if (r == 0 && (r = leave_terminal(&news_fd)) < 0)
        err_exit_as(&e, ERR_EXIT_PROFILER, -r, "cannot leave the terminal: %s", strerror(-r));
    if (r == 0)
        r = watch_open(&rd->watch, &e);
    if (r == 0)
        r = background_open(b, &st->o, &e);
    if (r < 0) {
        tell(news_fd, r, &e);
        return;
    }
    r = background_begin_turn(b, &st->o, &rd->jvm, false, &e);
    bool heard = tell(news_fd, r, &e);
    if (r == 0 && heard && chdir("/") == 0)
        background_go_on(b, &st->o, &rd->jvm, &rd->watch, &e);
    else
        background_close_turn(b);
    drop_start(b->next);
    background_close(b);
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
    int fd[2] = {-1, -1};
    *child = false;
    struct reader *rd = calloc(1, sizeof *rd);
    struct start *st = calloc(1, sizeof *st);
    if (!rd || !st || pipe2(fd, O_CLOEXEC) < 0) {
        free(rd);
        free(st);
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
        stay(rd, st, argc, argv, fd[1]);
        watch_close(&rd->watch);
        free_start(rd->b.start);
    } else {
        free_start(st);
        close(fd[1]);
        if (pid > 0)
            r = hear(fd[0], pid, e);
        close(fd[0]);
    }
    free(rd);
    return r;
}

/* Another profile in the same process. */

/* Copies a command line, because options point into it. */
static struct start *copy_words(int argc, char **argv, char ***words) {
    size_t bytes = ((size_t)argc + 1) * sizeof(char *);
    for (int i = 0; i < argc; i++)
        bytes += strlen(argv[i]) + 1;
    struct start *st = calloc(1, sizeof *st);
    char **copy = malloc(bytes);
    if (!st || !copy) {
        free(st);
        free(copy);
        return NULL;
    }
    char *at = (char *)(copy + argc + 1);
    for (int i = 0; i < argc; i++) {
        size_t n = strlen(argv[i]) + 1;
        copy[i] = memcpy(at, argv[i], n);
        at += n;
    }
    copy[argc] = NULL;
    st->words = (char *)copy;
    *words = copy;
    return st;
}

/* Whether a file's name means something else in another process. */
static bool is_own_name(const char *path) {
    return path && (strncmp(path, "/dev/std", 8) == 0 || strncmp(path, "/proc/", 6) == 0);
}

static bool has_own_names(const struct options *o) {
    bool any = is_own_name(o->session.record);
    for (int i = 0; i < o->files; i++)
        any = any || is_own_name(o->file[i]);
    return any;
}

int background_begin_next(struct background *b, const char *cwd, int argc, char **argv,
                          struct err *e) {
    char **words = NULL;
    struct jvm j;
    if (!b->start)
        return -ENOTCONN;
    struct start *st = copy_words(argc, argv, &words);
    if (!st)
        return -ENOTCONN;
    session_jvm(b->s, &j);
    int r = settle(st, j.pid, cwd, argc, words, e);
    if (r == 0 && has_own_names(&st->o))
        r = -ENOTCONN;
    if (r < 0) {
        free_start(st);
        return r;
    }
    r = session_next(b->s, &st->o.session, &st->s, e);
    if (r == 0 && st->o.files)
        r = outputs_begin(&st->files, &st->o, st->s, e);
    if (r < 0) {
        drop_start(st);
        b->give_way = true;
        return r;
    }
    b->next = st;
    return 0;
}

struct options *background_take_next(struct background *b) {
    struct start *st = b->next;
    struct err ignored;
    int socket = session_share_socket(b->s);
    background_close_turn(b); /* after its last answer, which was to the `start` */
    pthread_mutex_lock(&b->lock);
    free_start(b->start);
    use_start(b, st);
    b->next = NULL;
    b->s = st->s;
    b->since = time(NULL);
    b->active_ms = clock_now_ms();
    b->turn = 0;
    b->unwritten = b->result = 0;
    b->written = b->asked_for = b->give_way = b->closing = false;
    uint64_t loop = options_moment_ms(&st->o.loop, b->since);
    b->loop_ms = loop ? b->active_ms + loop : 0;
    background_set_limit(b, &st->o);
    int r = session_share_on(b->s, socket, background_answer, b, &ignored);
    pthread_mutex_unlock(&b->lock);
    if (r == 0)
        return &st->o;
    background_close_turn(b);
    return NULL;
}
