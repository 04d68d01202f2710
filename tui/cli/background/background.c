/* The caller's side: what a shell sees of a profile that another process reads. */
#include "tui/cli/background/background_parts.h"

#include "core/base/clean_text.h"
#include "core/event/event.h"
#include "core/export/export.h"
#include "core/export/output_file.h"
#include "core/session/share/holder.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A report that is written when the whole answer has arrived. */
struct gathered {
    char *path; /* "-": standard output */
    struct text data;
};

#define GATHERED_MAX (1u << 30) /* bytes of all of them */

/* The reader's answer, on its way to this shell. */
struct arrival {
    const struct options *o;
    const struct text *pattern; /* of o->file, as sent to the reader */
    int result;                 /* first failure here: -errno */
    struct err e;               /* the reason of `result` */
    char *path;                 /* of the file that arrives; "-": standard output; NULL: none, or
                                   it is not wanted any more */
    bool gathers;               /* it goes to item[items] */
    struct gathered item[OUTPUTS_MAX];
    int items;
    size_t bytes; /* in them */
    struct output_file file;
};

/* The file that is being written; NULL: none. For a signal that ends this process. */
static const struct output_file *_Atomic written_now;

bool background_is_asprof(const char *program) {
    const char *slash = strrchr(program, '/');
    const char *base = slash ? slash + 1 : program;
    return strcmp(base, "asprof") == 0 || strcmp(base, "profiler.sh") == 0;
}

static bool is_expected(const struct arrival *a, const char *path) {
    for (int i = 0; i < a->o->files; i++)
        if (background_expects(a->pattern[i].data, path))
            return true;
    return false;
}

/* Checks a file's path before its data is received. */
static int check_arrival(struct arrival *a, const char *path) {
    if (strcmp(path, "-") == 0 || is_expected(a, path))
        return 0;
    a->result =
        err_exit_as(&a->e, ERR_EXIT_PROFILER, EPROTO,
                    "the profiler process of JVM %s sent a file that was not requested: %.200s",
                    a->o->target, path);
    return a->result;
}

size_t background_clean(char *out, const char *data, size_t bytes) {
    size_t written = 0;
    for (size_t at = 0; at < bytes; at++) {
        size_t length = 0;
        while (at + length < bytes && data[at + length] != '\n' && data[at + length] != '\t')
            length++;
        written += clean_text(out + written, length + 1, data + at, length);
        at += length;
        if (at < bytes)
            out[written++] = data[at];
    }
    return written;
}

/* Prints data. A terminal gets clean text only, because the answering process may not be a genuine
 * reader. A closed pipe (| head) is no failure. */
static int put(FILE *f, const char *data, size_t bytes) {
    bool terminal = isatty(fileno(f)) == 1;
    char *text = terminal ? malloc(bytes + 1) : NULL;
    if (terminal && !text)
        return -ENOMEM;
    size_t length = terminal ? background_clean(text, data, bytes) : bytes;
    int r = fwrite(terminal ? text : data, 1, length, f) == length ? 0 : -errno;
    free(text);
    return r == -EPIPE ? 0 : r;
}

static int put_on_stdout(struct arrival *a, const char *data, size_t bytes) {
    int r = put(stdout, data, bytes);
    return r < 0 ? err_set(&a->e, -r, "cannot write to standard output: %s", strerror(-r)) : 0;
}

static void remove_unfinished(int signo) {
    const struct output_file *f = atomic_load(&written_now);
    if (f && f->temp[0])
        unlinkat(f->dir, f->temp, 0);
    signal(signo, SIG_DFL);
    raise(signo);
}

/* A signal that ends this process leaves no part of a file behind. */
static void catch_ends(void) {
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        struct sigaction now, ours = {.sa_handler = remove_unfinished};
        if (sigaction(ends[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
            sigaction(ends[i], &ours, NULL);
    }
}

static void drop_file(struct arrival *a) {
    bool open = atomic_exchange(&written_now, NULL) != NULL;
    if (open)
        output_file_abort(&a->file);
    if (a->gathers)
        text_free(&a->item[a->items].data);
    a->gathers = false;
    free(a->path);
    a->path = NULL;
}

/* Pipes and terminals may be read slowly, and the reader must not wait for that. */
static bool must_gather(const char *path) {
    struct stat st;
    if (strcmp(path, "-") == 0)
        return fstat(STDOUT_FILENO, &st) != 0 || !S_ISREG(st.st_mode);
    return stat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

/* A file that has no end before the next one begins is not complete. */
static int begin_file(struct arrival *a, const char *path) {
    drop_file(a);
    a->path = strdup(path);
    if (!a->path || a->items == OUTPUTS_MAX)
        return err_exit_as(&a->e, ERR_EXIT_PROFILER, ENOMEM, "no memory for %s", path);
    a->gathers = must_gather(path);
    if (strcmp(path, "-") == 0)
        return 0;
    int r = export_check_path(path, &a->e);
    if (r == 0 && !a->gathers) {
        a->file.temp[0] = '\0';
        atomic_store(&written_now, &a->file); /* before there is one */
        r = output_file_open(&a->file, a->path, ERR_EXIT_PROFILER, &a->e);
    }
    return r;
}

static int gather(struct arrival *a, const void *data, size_t bytes) {
    struct text *t = &a->item[a->items].data;
    a->bytes += bytes;
    if (a->bytes <= GATHERED_MAX)
        text_add_n(t, data, bytes);
    return a->bytes <= GATHERED_MAX && !t->failed
               ? 0
               : err_exit_as(&a->e, ERR_EXIT_PROFILER, ENOMEM,
                             "no memory for a report that is not written to a regular file");
}

static int add_to_file(struct arrival *a, const void *data, size_t bytes) {
    if (!a->path)
        return 0;
    if (a->gathers)
        return gather(a, data, bytes);
    if (strcmp(a->path, "-") == 0)
        return put_on_stdout(a, data, bytes);
    return output_file_write(&a->file, data, bytes, &a->e);
}

static void say_written(const struct arrival *a, const char *path) {
    if (!background_is_asprof(program_invocation_name))
        output_say_written(a->o, path, OUTPUT_SAMPLES_UNKNOWN);
}

/* The file appears only now. */
static int end_file(struct arrival *a) {
    int r = 0;
    if (a->path && a->gathers) {
        a->item[a->items++].path = a->path;
        a->path = NULL;
        a->gathers = false;
    } else if (a->path && strcmp(a->path, "-") != 0) {
        r = output_file_commit(&a->file, &a->e);
        atomic_store(&written_now, NULL); /* it has its name, or was removed */
        if (r == 0)
            say_written(a, a->path);
    }
    drop_file(a);
    return r;
}

static int write_one(struct arrival *a, const struct gathered *g) {
    if (strcmp(g->path, "-") == 0)
        return put_on_stdout(a, g->data.data ? g->data.data : "", g->data.len);
    int r = export_write(g->path, &g->data, &a->e);
    if (r == 0)
        say_written(a, g->path);
    return r;
}

static void write_gathered(struct arrival *a) {
    for (int i = 0; i < a->items; i++) {
        int r = write_one(a, &a->item[i]);
        if (r < 0 && a->result == 0)
            a->result = r;
        text_free(&a->item[i].data);
        free(a->item[i].path);
    }
    a->items = 0;
}

static void say_error(const char *data, size_t bytes) {
    if (!background_is_asprof(program_invocation_name))
        fputs("jtop-prof: ", stderr);
    (void)put(stderr, data, bytes);
    putc('\n', stderr);
}

static int arrives(void *arg, enum share_part part, const char *path, const void *data,
                   size_t bytes) {
    struct arrival *a = arg;
    int r = 0;
    switch (part) {
    case SHARE_PATH:
        return check_arrival(a, path);
    case SHARE_OUT:
        r = put_on_stdout(a, data, bytes);
        break;
    case SHARE_ERROR:
        say_error(data, bytes);
        break;
    case SHARE_FILE:
        r = begin_file(a, path);
        r = r == 0 ? add_to_file(a, data, bytes) : r;
        break;
    case SHARE_MORE:
        r = add_to_file(a, data, bytes);
        break;
    case SHARE_END:
        r = end_file(a);
        break;
    default:
        break;
    }
    if (r < 0) /* the rest of this file is not wanted any more */
        drop_file(a);
    if (r < 0 && a->result == 0)
        a->result = r;
    return 0;
}

/* Makes the arguments for the reader: file names as it needs them. `kept` owns the changed ones. */
static int settle_arguments(const struct options *o, int argc, char **argv, char **sent,
                            struct text *pattern, struct text *kept, struct err *e) {
    int r = 0;
    for (int i = 0; i < argc; i++)
        sent[i] = argv[i];
    for (int f = 0; f < o->files && r == 0; f++) {
        r = background_settle_pattern(o->file[f], &pattern[f], e);
        for (int i = 0; i < argc && r == 0; i++) {
            size_t n = strlen(argv[i]);
            if (o->file[f] < argv[i] || o->file[f] > argv[i] + n)
                continue;
            text_add_n(&kept[f], argv[i], (size_t)(o->file[f] - argv[i]));
            text_add(&kept[f], pattern[f].data ? pattern[f].data : "");
            sent[i] = kept[f].data;
            if (kept[f].failed)
                r = err_exit_as(e, ERR_EXIT_PROFILER, ENOMEM, "no memory");
        }
    }
    return r;
}

/* Reports bad names before anything is stopped. */
static int check_files(const struct options *o, const struct jvm *j, struct err *e) {
    struct outputs *out = calloc(1, sizeof *out);
    if (!out)
        return err_exit_as(e, ERR_EXIT_PROFILER, ENOMEM, "no memory");
    int r = o->files ? outputs_plan(out, o, (int)j->pid, 0, NULL, e) : 0;
    outputs_free(out);
    free(out);
    return r;
}

/* Explains a closed connection: a reader disconnects users that it does not serve without a
 * message. */
static int explain_silence(const struct jvm *j, struct err *e) {
    char path[32];
    struct stat st;
    pid_t reader = share_find(j->pid);
    snprintf(path, sizeof path, "/proc/%d", (int)reader);
    if (!reader || stat(path, &st) < 0 || st.st_uid == geteuid() || geteuid() == 0)
        return -EPIPE; /* keep the error as it is */
    return err_exit_as(e, ERR_EXIT_PROFILER, EACCES,
                       "process %d, which profiles JVM %d, answers only its own user (uid %u) and "
                       "root",
                       (int)reader, (int)j->pid, (unsigned)st.st_uid);
}

/* `word` stands before the words of the command line; NULL: none. */
static int ask(const struct options *o, const struct jvm *j, char *word, int argc, char **argv,
               struct err *e) {
    struct text pattern[OPTIONS_OUTPUTS_MAX] = {0}, kept[OPTIONS_OUTPUTS_MAX] = {0};
    struct arrival a = {.o = o, .pattern = pattern};
    int before = word ? 1 : 0;
    char **sent = calloc((size_t)(argc + before) + 1, sizeof *sent);
    if (!sent)
        return err_exit_as(e, ERR_EXIT_PROFILER, ENOMEM, "no memory");
    int r = check_files(o, j, e);
    if (r == 0)
        r = settle_arguments(o, argc, argv, sent + before, pattern, kept, e);
    if (word) {
        sent[0] = argv[0];
        sent[1] = word;
    }
    catch_ends();
    if (r == 0)
        r = share_ask(j->pid, argc + before, sent, arrives, &a, e);
    drop_file(&a); /* not complete */
    write_gathered(&a);
    if (r == -EPIPE)
        r = explain_silence(j, e);
    if (a.result < 0 && (r == 0 || r == a.result)) {
        r = a.result;
        *e = a.e;
    }
    if (fflush(stdout) != 0 && errno != EPIPE && r == 0)
        r = err_set(e, errno, "cannot write to standard output: %s", strerror(errno));
    for (int i = 0; i < OPTIONS_OUTPUTS_MAX; i++) {
        text_free(&pattern[i]);
        text_free(&kept[i]);
    }
    free(sent);
    return r;
}

bool background_remembers(const char *target, struct jvm *j) {
    char *end;
    errno = 0;
    long pid = strtol(target, &end, 10);
    if (errno || end == target || *end || pid <= 0 || pid > INT32_MAX || !share_find((pid_t)pid))
        return false;
    *j = (struct jvm){.pid = (pid_t)pid, .inner_pid = (pid_t)pid};
    snprintf(j->name, sizeof j->name, "%ld", pid);
    return true;
}

static void say_started(const struct options *o) {
    if (!o->quiet)
        fputs("Profiling started\n", stderr);
}

/* Begins the profile in another process: a finished one of this JVM ends. */
static int begin_elsewhere(const struct jvm *j, int argc, char **argv, bool *child, struct err *e) {
    int r = share_make_room(j->pid, e);
    if (r == 0)
        r = background_begin(j, argc, argv, child, e);
    return r == -EBUSY && !*child ? share_tell_of_other(j->pid, e) /* it was faster */ : r;
}

static int begin(const struct options *o, const struct jvm *j, pid_t reader, int argc, char **argv,
                 struct err *e) {
    bool child = false;
    int r = event_check(o->session.engine, o->session.engines, j->pid,
                        event_java_version(j->version), e);
    if (r < 0)
        return r;
    r = reader && background_is_like_us(reader)
            ? ask(o, j, (char[]){BACKGROUND_BEGIN_HERE}, argc, argv, e)
            : -ENOTCONN;
    if (r == -ENOTCONN || r == -ESRCH || r == -EPIPE || r == -EPROTO)
        r = begin_elsewhere(j, argc, argv, &child, e);
    if (r == 0 && !child)
        say_started(o);
    return r;
}

/* Answers if no reader of the JVM was found, or none that answers. */
static int answer_for_nobody(const struct options *o, const struct jvm *j, struct err *e) {
    pid_t holder = holder_find(j->pid);
    if (strcmp(o->word, "status") == 0) {
        puts("Profiler is not active");
        if (holder && !o->collect)
            printf("process %d profiles this JVM, but does not answer\n", (int)holder);
        else if (!o->collect && holder_hidden(j->pid))
            puts("a jtop-prof that is not visible from here profiles this JVM: on the host, or "
                 "in another container");
        return 0;
    }
    if (holder)
        return err_exit_as(e, ERR_EXIT_PROFILER, EBUSY,
                           "process %d profiles JVM %d and does not answer: end that process",
                           (int)holder, (int)j->pid);
    if (holder_hidden(j->pid))
        return err_exit_as(e, ERR_EXIT_PROFILER, EBUSY,
                           "a jtop-prof that is not visible from here profiles JVM %d: control it "
                           "where it runs, on the host or in another container",
                           (int)j->pid);
    return err_exit_as(
        e, ERR_EXIT_PROFILER, ESRCH,
        "Profiler has not started: JVM %d is not being profiled; \"start\" begins a profile",
        (int)j->pid);
}

int background_act(const struct options *o, const struct jvm *j, int argc, char **argv,
                   struct err *e) {
    pid_t reader = share_await(j->pid);
    if (strcmp(o->word, "start") == 0 || (strcmp(o->word, "resume") == 0 && !reader))
        return begin(o, j, reader, argc, argv, e);
    int r = reader ? ask(o, j, NULL, argc, argv, e) : -ESRCH;
    if (r == -EPIPE && strcmp(o->word, "status") == 0) /* the reader has ended, and with it the
                                                          profile */
        r = -ESRCH;
    if (r == 0 && strcmp(o->word, "resume") == 0)
        say_started(o);
    return r == -ESRCH && (!reader || share_find(j->pid) == 0) ? answer_for_nobody(o, j, e) : r;
}
