#include "attach/place/place_look.h"

#include "attach/place/place_parts.h"
#include "attach/proc/credentials.h"
#include "attach/proc/errand.h"
#include "attach/proc/inside.h"
#include "attach/proc/proc.h"
#include "core/base/utf8.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define LIBRARY_BYTES (512U << 10) /* assumed if the library's size is not known */

enum { PLACES = 3, ERRORS = 134 };

struct look {
    struct place_task task; /* the first member: place_dirs passes it to take() */
    char library[PLACES][PATH_MAX];
    uint64_t bytes;
    struct place_look *out;
    const char *error[ERRORS]; /* strerror takes locks, which the child may not do */
};

static_assert(sizeof(struct place_look) <= ERRAND_RESULT_MAX, "an errand's answer");

static int open_file(pid_t pid, const char *file) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
    return open(path, O_RDONLY | O_CLOEXEC);
}

static void see(struct place_task *t) {
    pid_t pid = t->jvm.pid;
    t->root = t->root < 0 ? inside_enter(pid, "root") : t->root;
    t->cwd = t->cwd < 0 ? inside_enter(pid, "cwd") : t->cwd;
    t->environment = t->environment < 0 ? open_file(pid, "environ") : t->environment;
    t->mounts = t->mounts < 0 ? open_file(pid, "mountinfo") : t->mounts;
}

/* From here on, this process runs as the JVM's user. */
static int enter(struct place_task *t) {
    see(t);
    int rc = credentials_take(t->jvm.pid, t->jvm.uid, t->jvm.gid);
    if (rc < 0)
        return rc;
    see(t);
    if (t->root == -EACCES && t->jvm.inner_pid == t->jvm.pid)
        t->root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    return t->root < 0 ? t->root : 0;
}

static const char *error_text(const struct look *l, int error) {
    return error > 0 && error < ERRORS ? l->error[error] : "an unknown error";
}

/* Whether the same file is there, and the JVM's user may read it and map it as code. */
static bool sees(const struct place_task *t, const char *library) {
    struct stat ours, theirs;
    struct statvfs fs;
    char link[64];
    int fd = inside_open(t->root, library, 0);
    if (fd < 0)
        return false;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    bool same = stat(library, &ours) == 0 && fstat(fd, &theirs) == 0 &&
                ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino &&
                fstatvfs(fd, &fs) == 0 && !(fs.f_flag & ST_NOEXEC) && access(link, R_OK) == 0;
    close(fd);
    return same;
}

static bool sees_ours(const struct look *l) {
    for (size_t i = 0; i < PLACES; i++)
        if (l->library[i][0] && sees(&l->task, l->library[i]))
            return true;
    return false;
}

static bool has_room(const struct look *l, const struct statvfs *fs) {
    uint64_t block = fs->f_frsize ? fs->f_frsize : 1;
    return !fs->f_blocks || fs->f_bavail > l->bytes / block;
}

static bool may_write(int dir) {
    return fchdir(dir) == 0 && faccessat(AT_FDCWD, ".", W_OK | X_OK, AT_EACCESS) == 0;
}

/* Why the directory cannot be used; NULL: it can. */
static const char *fault_of(const struct look *l, const char *dir) {
    struct statvfs fs = {0}; /* stays zero if statvfs fails: then may_write decides */
    int fd = inside_open(l->task.root, dir, O_DIRECTORY);
    if (fd < 0)
        return error_text(l, -fd);
    const char *why = NULL;
    if (fstatvfs(fd, &fs) == 0 && (fs.f_flag & ST_RDONLY))
        why = error_text(l, EROFS);
    else if (fs.f_flag & ST_NOEXEC)
        why = "mounted noexec";
    else if (!has_room(l, &fs))
        why = "no space";
    else if (!may_write(fd))
        why = error_text(l, errno);
    close(fd);
    return why;
}

static bool take(struct place_task *t, const char *dir) {
    struct look *l = (struct look *)t;
    size_t len = strlen(l->out->tried);
    const char *why = fault_of(l, dir);
    if (!why) {
        snprintf(l->out->dir, sizeof l->out->dir, "%s", dir);
        return true;
    }
    snprintf(l->out->tried + len, sizeof l->out->tried - len, "%s%s: %s", len ? "; " : "", dir,
             why);
    return false;
}

static void look(void *context, void *result, int *fd_out) {
    struct look *l = context;
    *fd_out = -1;
    l->out = result;
    int rc = enter(&l->task);
    l->out->error = -rc;
    if (rc < 0)
        l->out->seen = PLACE_LOOK_UNKNOWN;
    else if (sees_ours(l))
        l->out->seen = PLACE_LOOK_SAME;
    else
        l->out->seen = place_dirs(&l->task, take) ? PLACE_LOOK_COPY : PLACE_LOOK_NOWHERE;
}

/* Where our library may be: at `library`, or else beside this program. */
static void find_library(struct look *l, const char *library) {
    static const char *const places[PLACES] = {"", "/../lib/jtop-prof", "/../lib"};
    char self[PATH_MAX], path[PATH_MAX + 64];
    if (library) {
        snprintf(l->library[0], sizeof l->library[0], "%s", library);
        return;
    }
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(self, '/');
    if (!slash)
        return;
    *slash = '\0';
    for (size_t i = 0; i < PLACES; i++) {
        snprintf(path, sizeof path, "%s%s/libjtop-agent.so", self, places[i]);
        if (!realpath(path, l->library[i]))
            l->library[i][0] = '\0';
    }
}

void place_look(const struct jvm *j, const char *library, int patience_ms, struct place_look *out) {
    struct look *l = calloc(1, sizeof *l);
    struct stat st;
    int fd = -1;
    *out = (struct place_look){.error = ENOMEM};
    if (!l)
        return;
    out->error = ETIMEDOUT;
    l->task = (struct place_task){
        .jvm = *j, .root = -1, .cwd = -1, .maps = -1, .environment = -1, .mounts = -1};
    find_library(l, library);
    for (int i = 0; i < ERRORS; i++)
        l->error[i] = strerror(i);
    l->bytes = library && stat(library, &st) == 0 ? (uint64_t)st.st_size : LIBRARY_BYTES;
    int rc = errand_run(look, l, proc_now_ns() + (uint64_t)patience_ms * 1000000U, out, sizeof *out,
                        &fd);
    if (rc < 0)
        out->error = -rc;
    if (fd >= 0)
        close(fd);
    out->dir[sizeof out->dir - 1] = out->tried[sizeof out->tried - 1] = '\0';
    utf8_clean(out->dir);
    utf8_clean(out->tried);
    free(l);
}
