/* Other uses of the attach mechanism than profiling: `load`, `jcmd`, `threaddump`, `dumpheap`,
 * `inspectheap`. The JVM's answer goes to stdout. */
#include "tui/cli/command/command.h"

#include "attach/load/attach.h"
#include "symbols/elf/target_files.h"
#include "tui/cli/background/background_parts.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE 4096
#define CHARACTER 4 /* bytes, at most */

/* Prints the JVM's answer as it comes. A terminal gets clean text only, because the answer may have
 * text from any source. */
struct listener {
    FILE *out;
    bool terminal;
    char held[PIECE + CHARACTER]; /* the beginning of a character that is not complete */
    size_t bytes;
};

/* Returns how many bytes at the end are the beginning of a longer character. */
static size_t unfinished(const char *data, size_t bytes) {
    for (size_t n = 1; n < CHARACTER && n <= bytes; n++) {
        unsigned char c = (unsigned char)data[bytes - n];
        if (c >= 0xc0)
            return n < (c < 0xe0 ? 2u : c < 0xf0 ? 3u : 4u) ? n : 0;
        if (c < 0x80)
            return 0;
    }
    return 0;
}

static int put(struct listener *l, const char *data, size_t bytes) {
    if (fwrite(data, 1, bytes, l->out) == bytes)
        return 0;
    return errno ? -errno : -EIO;
}

/* Prints all held bytes but the last `keep`. */
static int put_clean(struct listener *l, size_t keep) {
    char clean[sizeof l->held + 1];
    size_t whole = l->bytes - keep;
    int r = put(l, clean, background_clean(clean, l->held, whole));
    memmove(l->held, l->held + whole, keep);
    l->bytes = keep;
    return r;
}

static int print(void *context, const char *data, size_t len) {
    struct listener *l = context;
    int r = l->terminal ? 0 : put(l, data, len);
    while (l->terminal && len > 0 && r == 0) {
        size_t n = len < PIECE ? len : PIECE;
        memcpy(l->held + l->bytes, data, n);
        l->bytes += n;
        data += n;
        len -= n;
        r = put_clean(l, unfinished(l->held, l->bytes));
    }
    return r;
}

static int command(const struct jvm *j, const char *name, const char *const arg[3], struct err *e) {
    struct listener l = {.out = stdout, .terminal = isatty(STDOUT_FILENO) == 1};
    int r = attach_stream(j, name, arg, ATTACH_TIMEOUT_MS, print, &l, e);
    if (l.bytes > 0)
        put_clean(&l, 0);
    bool bad = fflush(stdout) != 0;
    if (r == -EPIPE || (r == 0 && bad && errno == EPIPE))
        return 0; /* the reader of our output has ended */
    return r == 0 && bad ? err_set(e, errno, "cannot write to standard output: %s", strerror(errno))
                         : r;
}

static int too_many(const struct options *o, int most, struct err *e) {
    return o->operands <= most
               ? 0
               : err_set(e, EINVAL, "%s: unexpected word \"%s\"", o->word, o->operand[most]);
}

/* All words together are one argument of the protocol. */
static int run_jcmd(const struct options *o, const struct jvm *j, struct err *e) {
    struct text line = {0};
    for (int i = 0; i < o->operands; i++)
        text_addf(&line, "%s%s", i ? " " : "", o->operand[i]);
    const char *const arg[3] = {line.data ? line.data : "help"};
    int r = line.failed ? err_set(e, ENOMEM, "no memory") : command(j, "jcmd", arg, e);
    text_free(&line);
    return r;
}

static int run_plain(const struct options *o, const struct jvm *j, struct err *e) {
    const char *const arg[3] = {o->operands > 0 ? o->operand[0] : NULL};
    int r = too_many(o, 1, e);
    return r < 0 ? r : command(j, o->word, arg, e);
}

/* Makes a path absolute: it is relative to the caller's directory, not to the JVM's. */
static int absolute(const char *path, struct text *out, struct err *e) {
    char cwd[PATH_MAX];
    if (path[0] != '/') {
        if (!getcwd(cwd, sizeof cwd))
            return err_set(e, errno, "no working directory: %s", strerror(errno));
        text_addf(out, "%s/", cwd);
    }
    text_add(out, path);
    return out->failed ? err_set(e, ENOMEM, "no memory") : 0;
}

/* Gets the status of the file as the JVM sees it, also in a container. No link can lead outside the
 * JVM's root directory. */
static int look(const struct jvm *j, const char *path, struct stat *st) {
    struct target_files files;
    int fd = target_files_open(j->pid, &files, NULL);
    if (fd == 0) {
        fd = target_files_open_below(files.root, path);
        target_files_close(&files);
    }
    int r = fd < 0 ? fd : fstat(fd, st) < 0 ? -errno : 0;
    if (fd >= 0)
        close(fd);
    return r;
}

/* Checks that the dump exists: HotSpot reports success even if the dump failed. */
static int check_dump(const struct jvm *j, const char *path, struct err *e) {
    struct stat st;
    int r = look(j, path, &st);
    if (r == -EACCES || (r == 0 && st.st_size > 0))
        return 0;
    return err_set(
        e, EIO,
        "no heap dump was written to %s: the JVM itself writes this file, as user %s%s; check that "
        "the JVM can write there",
        path, j->user, j->container ? ", in the directories of its container" : "");
}

static int dump_heap(const struct options *o, const struct jvm *j, struct err *e) {
    struct text path = {0};
    struct stat st;
    if (o->operands == 0)
        return err_set(e, EINVAL, "dumpheap: into which file? jtop-prof dumpheap %s FILE [-all]",
                       o->target);
    const char *file = o->operand[0], *which = o->operands > 1 ? o->operand[1] : NULL;
    if (file[0] == '-' && which) { /* "-all FILE" */
        file = which;
        which = o->operand[0];
    }
    int r = too_many(o, 2, e);
    if (r == 0 && which && strcmp(which, "-all") != 0 && strcmp(which, "-live") != 0)
        r = err_set(e, EINVAL, "dumpheap %s: not one of: -live -all", which);
    if (r == 0)
        r = absolute(file, &path, e);
    int found = r == 0 ? look(j, path.data, &st) : r;
    if (r == 0 && (found == 0 || found == -EINVAL)) /* a directory, a FIFO */
        r = err_set(e, EEXIST, "%s exists already: a heap dump does not overwrite files",
                    path.data);
    const char *const arg[3] = {path.data, which};
    if (r == 0)
        r = command(j, "dumpheap", arg, e);
    if (r == 0)
        r = check_dump(j, path.data, e);
    text_free(&path);
    return r;
}

/* "load LIBRARY [OPTIONS]". As in jattach, "true" or "false" may be between them: whether the
 * path is absolute, which is clear from the name. */
static int load(const struct options *o, const struct jvm *j, struct err *e) {
    struct text path = {0};
    int result = 0, next = 1;
    if (o->operands == 0)
        return err_set(e, EINVAL, "load: which library? jtop-prof load %s LIBRARY [OPTIONS]",
                       o->target);
    const char *library = o->operand[0];
    if (next < o->operands &&
        (!strcmp(o->operand[next], "true") || !strcmp(o->operand[next], "false")))
        next++;
    const char *options = next < o->operands ? o->operand[next] : NULL;
    int r = too_many(o, next + 1, e);
    if (r == 0 && strchr(library, '/'))
        r = absolute(library, &path, e);
    if (r == 0)
        r = attach_load(j, path.data ? path.data : library, options, ATTACH_TIMEOUT_MS, &result, e);
    if (r == 0 && result != 0)
        r = err_set(
            e, EPROTO,
            "JVM %d loaded %s, and its Agent_OnAttach returned %d: see the JVM's own output",
            (int)j->pid, library, result);
    if (r == 0)
        printf("Loaded %s\n", path.data ? path.data : library);
    text_free(&path);
    return r;
}

int jvm_command(const struct options *o, const struct jvm *j, struct err *e) {
    static const struct {
        const char *word;
        int (*act)(const struct options *o, const struct jvm *j, struct err *e);
    } acts[] = {
        {"load", load},          {"jcmd", run_jcmd},         {"threaddump", run_plain},
        {"dumpheap", dump_heap}, {"inspectheap", run_plain},
    };
    for (size_t i = 0; i < sizeof acts / sizeof acts[0]; i++)
        if (strcmp(o->word, acts[i].word) == 0)
            return acts[i].act(o, j, e);
    return err_set(e, EINVAL, "%s is not a command for a JVM", o->word);
}
