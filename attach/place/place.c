#include "attach/place/place.h"

#include "attach/place/place_parts.h"
#include "attach/proc/credentials.h"
#include "attach/proc/inside.h"
#include "attach/proc/proc.h"
#include "core/base/text.h"
#include "core/base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A copy that the JVM loaded before: its file is gone, but its name is still among the mapped
 * files. */

#define START "/.jtop-prof-"
#define ENDING ".so"
#define GONE " (deleted)"
#define HEX 8

/* Whether the first `n` bytes are "/DIR/.jtop-prof-01234567-DIGEST.so". GONE may follow them. */
static bool is_copy(const char *path, size_t n, const char *digest) {
    static const size_t own = sizeof START - 1 + HEX + 1 + HEX + sizeof ENDING - 1;
    if (n < own)
        return false;
    const char *p = path + n - own;
    if (memcmp(p, START, sizeof START - 1) != 0)
        return false;
    p += sizeof START - 1;
    return strspn(p, "0123456789abcdef") == HEX && p[HEX] == '-' &&
           memcmp(p + HEX + 1, digest, HEX) == 0 &&
           memcmp(p + HEX + 1 + HEX, ENDING, sizeof ENDING - 1) == 0;
}

/* The file that a line of /proc/PID/maps names; *length is without GONE. NULL: no file. */
static const char *file_of(const char *line, size_t *length) {
    const char *path = strstr(line, " /");
    if (!path)
        return NULL;
    size_t n = strlen(++path);
    if (n > sizeof GONE - 1 && strcmp(path + n - (sizeof GONE - 1), GONE) == 0)
        n -= sizeof GONE - 1;
    *length = n;
    return path;
}

/* Checks one line. False: this C library does not find what it has loaded by its name. */
static bool look_at(const char *line, const struct place_task *t, char *out, size_t size) {
    size_t n;
    const char *path = file_of(line, &n);
    if (path && strstr(path, "/ld-musl-"))
        return false;
    if (path && !*out && n < size && is_copy(path, n, t->digest)) {
        memcpy(out, path, n);
        out[n] = '\0';
    }
    return true;
}

/* Lines that do not fit into the buffer are skipped in pieces: none of them is a copy of ours. */
bool place_loaded(struct place_task *t, char *out, size_t size) {
    size_t kept = 0;
    ssize_t n;
    *out = '\0';
    while (t->maps >= 0 && (n = read(t->maps, t->buffer + kept, sizeof t->buffer - 1 - kept)) > 0) {
        char *line = t->buffer, *end;
        t->buffer[kept += (size_t)n] = '\0';
        for (; (end = memchr(line, '\n', kept)); line = end + 1) {
            *end = '\0';
            kept -= (size_t)(end + 1 - line);
            if (!look_at(line, t, out, size)) {
                *out = '\0';
                return false;
            }
        }
        if (kept == sizeof t->buffer - 1)
            kept = 0;
        memmove(t->buffer, line, kept);
    }
    return *out != '\0';
}

#define LIBRARY_MAX (64u << 20)
#define SWEEP_MS 1000

static int open_library(struct place_task *t, struct err *e) {
    struct stat st;
    t->library_fd = open(t->library, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (t->library_fd < 0 || fstat(t->library_fd, &st) != 0)
        return err_set(e, errno, "cannot read the agent library %s: %s", t->library,
                       strerror(errno));
    if (!S_ISREG(st.st_mode) || st.st_size <= 0 || st.st_size > LIBRARY_MAX)
        return err_set(e, EINVAL,
                       "the agent library %s is not a regular file, or empty, or too large",
                       t->library);
    t->library_bytes = (uint64_t)st.st_size;
    return 0;
}

static const char *fault_text(const struct place_try *try) {
    switch (try->fault) {
    case PLACE_FAULT_NOEXEC:
        return "mounted noexec";
    case PLACE_FAULT_FULL:
        return "no space";
    case PLACE_FAULT_NAME:
        return "its path cannot be passed to the JVM";
    case PLACE_FAULT_OWNER:
        return "files there get another owner or mode";
    default:
        return strerror(try->error);
    }
}

static bool same_fault(const struct place_try *a, const struct place_try *b) {
    return a->fault == b->fault && a->error == b->error;
}

static void add_all_of(struct text *out, const struct place_report *r, uint32_t first) {
    const struct place_try *try = &r->tried[first];
    for (uint32_t i = 0; i < first; i++)
        if (same_fault(&r->tried[i], try))
            return; /* already listed with that one */
    text_addf(out, "%s%s", out->len ? "; " : "", try->dir);
    for (uint32_t i = first + 1; i < r->tries; i++)
        if (same_fault(&r->tried[i], try))
            text_addf(out, ", %s", r->tried[i].dir);
    text_addf(out, ": %s", fault_text(try));
}

static int nowhere(const struct place_task *t, struct err *e) {
    struct text looked = {0};
    struct place_report *r = t->report;
    for (uint32_t i = 0; i < r->tries; i++)
        utf8_clean(r->tried[i].dir);
    for (uint32_t i = 0; i < r->tries; i++)
        add_all_of(&looked, r, i);
    int result = err_set(
        e, ENOENT,
        "no directory where JVM %d can load the agent from (%.250s); mount a tmpfs without noexec "
        "at its /tmp, or put %s where the JVM can read it and give that path with --libpath",
        (int)t->jvm.pid, looked.data ? looked.data : "none was found", t->library);
    text_free(&looked);
    return result;
}

static int settle(const struct place_task *t, uint32_t outcome, struct place *out, struct err *e) {
    const struct place_report *r = t->report;
    switch (outcome) {
    case PLACE_DONE:
        memcpy(out->path, r->path, sizeof out->path);
        memcpy(out->socket_path, r->socket_path, sizeof out->socket_path);
        out->path[PLACE_PATH - 1] = out->socket_path[PLACE_PATH - 1] = '\0';
        out->copied = r->copied;
        out->loaded = r->loaded;
        return 0;
    case PLACE_UNSEEN:
        snprintf(out->path, sizeof out->path, "%s", t->library);
        return 0;
    case PLACE_UNREADABLE:
        return err_set(e, r->error ? r->error : EIO, "cannot read the agent library %s: %s",
                       t->library, strerror(r->error ? r->error : EIO));
    case PLACE_NOWHERE:
        return nowhere(t, e);
    default:
        return err_set(
            e, ETIMEDOUT,
            "the file systems of JVM %d did not answer, so the agent library was not placed; check "
            "whether one of them (/tmp, its working directory, its home) is on an unreachable "
            "server, or name with --libpath a file that the JVM can read",
            (int)t->jvm.pid);
    }
}

static struct place_task *make_task(const struct jvm *j, const char *library, unsigned wants) {
    struct place_task *t = calloc(1, sizeof *t);
    void *report =
        mmap(NULL, sizeof *t->report, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!t || report == MAP_FAILED) {
        free(t);
        if (report != MAP_FAILED)
            munmap(report, sizeof *t->report);
        return NULL;
    }
    t->jvm = *j;
    t->library = library;
    t->wants = wants;
    t->inner_uid = place_inner_uid(j);
    t->report = report;
    t->library_fd = t->root = t->cwd = t->maps = t->environment = t->mounts = -1;
    t->dir = t->socket_dir = t->listener = -1;
    return t;
}

/* The child has its own copy of everything but the report, which it no longer needs. */
static void free_task(struct place_task *t) {
    if (t->library_fd >= 0)
        close(t->library_fd);
    munmap(t->report, sizeof *t->report);
    free(t);
}

int place_agent(const struct jvm *j, const char *library, unsigned wants, uint64_t deadline_ns,
                struct place *out, struct err *e) {
    *out = (struct place){.listener = -1, .keeper.channel = -1};
    out->owner =
        (struct place_owner){j->pid, j->uid, j->gid, j->start_ticks, proc_other_mounts(j->pid)};
    if (strlen(library) >= sizeof out->path)
        return err_set(e, ENAMETOOLONG, "the path of the agent library is too long");
    struct place_task *t = make_task(j, library, wants);
    if (!t)
        return err_set(e, ENOMEM, "no memory to place the agent library");
    uint32_t outcome = PLACE_UNANSWERED;
    int result = open_library(t, e);
    if (result == 0) {
        result = errand_begin(place_child, place_child_after, t, deadline_ns, &outcome,
                              sizeof outcome, &out->listener, &out->keeper);
        if (result < 0)
            err_set(e, -result, "cannot start a process to place the agent library: %s",
                    strerror(-result));
    }
    if (result == 0)
        result = settle(t, outcome, out, e);
    if (result != 0 || (!out->copied && out->listener < 0))
        place_release(out);
    free_task(t);
    return result;
}

/* Opens the JVM's root; or ours, if the JVM has ended and had no mounts of its own. */
static int enter_again(const struct place_owner *o) {
    struct proc_stat st;
    if (proc_stat(o->pid, &st) == 0 && st.start_ticks == o->start_ticks)
        return inside_enter(o->pid, "root");
    return o->own_files ? -ESRCH : open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static void remove_file(int root, const char *path) {
    char dir[PLACE_PATH];
    size_t n = strlen(path);
    while (n > 0 && path[n - 1] != '/')
        n--;
    if (n == 0)
        return;
    memcpy(dir, path, n);
    dir[n] = '\0';
    int fd = inside_open(root, dir, O_DIRECTORY);
    if (fd < 0)
        return;
    unlinkat(fd, path + n, 0);
    close(fd);
}

/* Removes what a killed keeper left. The user who killed the keeper may not signal this process. */
static void sweep(void *context, void *result, int *fd) {
    const struct place *p = context;
    (void)result;
    *fd = -1;
    int root = enter_again(&p->owner);
    if (credentials_take_for_files(p->owner.uid, p->owner.gid) < 0)
        return;
    if (root < 0)
        root = enter_again(&p->owner);
    if (root >= 0 && p->copied)
        remove_file(root, p->path);
    if (root >= 0)
        remove_file(root, p->socket_path);
}

void place_release(struct place *p) {
    int fd = -1;
    char none = 0;
    if (p->listener >= 0)
        close(p->listener);
    p->listener = -1;
    if (!errand_end(&p->keeper))
        errand_run(sweep, p, proc_now_ns() + SWEEP_MS * UINT64_C(1000000), &none, sizeof none, &fd);
    if (fd >= 0)
        close(fd);
}

struct check {
    const struct jvm *jvm;
    const char *path;
};

/* The result is 1 if there is no such file. */
static void look(void *context, void *result, int *fd) {
    const struct check *c = context;
    uint32_t missing = 0;
    *fd = -1;
    int root = inside_enter(c->jvm->pid, "root");
    if (credentials_take(c->jvm->pid, c->jvm->uid, c->jvm->gid) == 0 && root < 0)
        root = inside_enter(c->jvm->pid, "root");
    int found = root >= 0 ? inside_open(root, c->path, 0) : 0;
    missing = found == -ENOENT || found == -ENOTDIR;
    memcpy(result, &missing, sizeof missing);
}

int place_check(const struct jvm *j, const char *path, uint64_t deadline_ns, struct err *e) {
    struct check c = {j, path};
    uint32_t missing = 0;
    int fd = -1;
    errand_run(look, &c, deadline_ns, &missing, sizeof missing, &fd);
    if (fd >= 0)
        close(fd);
    if (!missing)
        return 0;
    return err_set(e, ENOENT,
                   "JVM %d has no file %s; --libpath is the path of the agent library as the JVM "
                   "sees it; without --libpath, jtop-prof puts it where the JVM can load it",
                   (int)j->pid, path);
}
