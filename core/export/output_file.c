#include "core/export/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEMP_NAMES 100 /* names tried before giving up */

/* Shortens a very long path, so that there is room for the reason. */
static int fail(const struct output_file *f, int code, const char *what, const char *hint,
                struct err *e) {
    err_exit_as(e, (enum err_exit)f->exit_code, code, "cannot write %.250s%s: %s%s%s", f->path,
                strlen(f->path) > 250 ? "..." : "", what ? what : strerror(code), hint ? "; " : "",
                hint ? hint : "");
    return -code;
}

/* Returns the descriptor that a name stands for, or -1. Opening the name would start at the
 * beginning of the file again, and would fail for a socket. */
static int named_fd(const char *path) {
    static const char *const dir[] = {"/dev/fd/", "/proc/self/fd/"};
    if (strcmp(path, "/dev/stdout") == 0)
        return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0)
        return STDERR_FILENO;
    for (size_t i = 0; i < sizeof(dir) / sizeof(dir[0]); i++) {
        if (strncmp(path, dir[i], strlen(dir[i])) != 0)
            continue;
        const char *number = path + strlen(dir[i]);
        if (*number && strlen(number) < 7 && !number[strspn(number, "0123456789")])
            return (int)strtol(number, NULL, 10);
    }
    return -1;
}

/* Checks and opens the directory; sets f->base to the last part of the path. */
static int open_directory(struct output_file *f, struct err *e) {
    char copy[PATH_MAX];
    size_t len = strlen(f->path);
    if (!len)
        return fail(f, EINVAL, "the file name is empty", NULL, e);
    if (len >= sizeof(copy))
        return fail(f, ENAMETOOLONG, NULL, NULL, e);
    if (f->path[len - 1] == '/')
        return fail(f, EISDIR, "it names a directory", "add a file name", e);
    const char *slash = strrchr(f->path, '/');
    f->base = slash ? slash + 1 : f->path;

    memcpy(copy, f->path, len + 1);
    const char *dir = dirname(copy);
    f->dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (f->dir < 0 && errno == EACCES) /* it can be searched and written, but not listed */
        f->dir = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (f->dir >= 0)
        return 0;
    char what[256];
    int code = errno;
    snprintf(what, sizeof(what), "directory %.120s: %s", dir, strerror(code));
    return fail(f, code, what, code == ENOENT ? "create it first" : NULL, e);
}

/* In a sticky directory such as /tmp, only the owner can replace a file. */
static int check_sticky(const struct output_file *f, const struct stat *old, struct err *e) {
    struct stat dir;
    uid_t me = geteuid();
    if (!me || old->st_uid == me || fstat(f->dir, &dir) || !(dir.st_mode & S_ISVTX) ||
        dir.st_uid == me)
        return 0;
    return fail(f, EPERM, "it belongs to another user, and its directory is sticky",
                "choose another name", e);
}

static int create_temp(struct output_file *f, struct err *e) {
    for (int i = 0; i < TEMP_NAMES; i++) {
        snprintf(f->temp, sizeof(f->temp), ".jtop-prof-%ld-%d.tmp", (long)getpid(), i);
        f->fd = openat(f->dir, f->temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
        if (f->fd >= 0)
            return 0;
        if (errno != EEXIST)
            break;
    }
    int code = errno;
    f->temp[0] = '\0';
    return fail(f, code, NULL,
                code == EACCES || code == EROFS || code == ENOENT
                    ? "no new files can be created in its directory"
                    : NULL,
                e);
}

/* Checks what exists at the path. Leaves f->dir at -1 if the path is to be written to directly. */
static int prepare(struct output_file *f, struct err *e) {
    if (named_fd(f->path) >= 0)
        return 0;
    int err = open_directory(f, e);
    if (err)
        return err;
    struct stat old;
    if (fstatat(f->dir, f->base, &old, AT_SYMLINK_NOFOLLOW))
        return errno == ENOENT ? 0 : fail(f, errno, NULL, NULL, e);
    if (S_ISDIR(old.st_mode))
        return fail(f, EISDIR, "it is a directory", "add a file name", e);
    if (S_ISFIFO(old.st_mode) || S_ISCHR(old.st_mode)) {
        close(f->dir);
        f->dir = -1;
        return 0;
    }
    if (!S_ISREG(old.st_mode) && !S_ISLNK(old.st_mode))
        return fail(f, EINVAL, "it is a socket or a block device", "choose another name", e);
    return check_sticky(f, &old, e);
}

static void start(struct output_file *f, const char *path, enum err_exit exit_code) {
    *f = (struct output_file){
        .path = path, .base = path, .dir = -1, .fd = -1, .exit_code = (int)exit_code};
}

/* Opens a path that is not a replaceable file. */
static int open_directly(struct output_file *f, struct err *e) {
    int fd = named_fd(f->path);
    if (fd >= 0) {
        fflush(NULL); /* text printed to it earlier must come first */
        f->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    } else {
        f->fd = open(f->path, O_WRONLY | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC);
    }
    return f->fd < 0 ? fail(f, errno, NULL, NULL, e) : 0;
}

static int check_directly(const struct output_file *f, struct err *e) {
    int fd = named_fd(f->path);
    if (fd < 0)
        return access(f->path, W_OK) ? fail(f, errno, NULL, NULL, e) : 0;
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0)
        return fail(f, errno, NULL, NULL, e);
    return (flags & O_ACCMODE) == O_RDONLY ? fail(f, EBADF, "it is open for reading only", NULL, e)
                                           : 0;
}

int output_file_open(struct output_file *f, const char *path, enum err_exit exit_code,
                     struct err *e) {
    start(f, path, exit_code);
    int err = prepare(f, e);
    if (!err)
        err = f->dir >= 0 ? create_temp(f, e) : open_directly(f, e);
    if (err)
        output_file_abort(f);
    return err;
}

int output_file_check(const char *path, enum err_exit exit_code, struct err *e) {
    struct output_file f;
    sigset_t all, before;
    start(&f, path, exit_code);
    int err = prepare(&f, e);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* no end of the process leaves the file behind */
    if (!err) /* creating a file is the only check that finds every possible error */
        err = f.dir >= 0 ? create_temp(&f, e) : check_directly(&f, e);
    output_file_abort(&f);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return err;
}

static int fail_write(const struct output_file *f, int code, struct err *e) {
    char hint[96];
    bool full = code == ENOSPC || code == EDQUOT || code == EFBIG;
    const char *try = code == EFBIG ? "raise ulimit -f" : "free some space";
    if (f->whole > f->written)
        snprintf(hint, sizeof(hint), "%zu of %zu bytes were not written, %s", f->whole - f->written,
                 f->whole, try);
    else
        snprintf(hint, sizeof(hint), "there was space for %zu bytes, %s", f->written, try);
    return fail(f, code, NULL, full ? hint : NULL, e);
}

int output_file_write(struct output_file *f, const char *data, size_t len, struct err *e) {
    while (len) {
        ssize_t n = write(f->fd, data, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return fail_write(f, n < 0 ? errno : EIO, e);
        f->written += (size_t)n;
        data += n;
        len -= (size_t)n;
    }
    return 0;
}

int output_file_commit(struct output_file *f, struct err *e) {
    int err = 0;
    int fd = f->fd;
    f->fd = -1;
    if (close(fd)) /* network file systems report a full disk at this point */
        err = fail(f, errno, NULL, NULL, e);
    if (!err && f->temp[0]) {
        if (renameat(f->dir, f->temp, f->dir, f->base))
            err = fail(f, errno, NULL, NULL, e);
        else
            f->temp[0] = '\0';
    }
    output_file_abort(f);
    return err;
}

void output_file_abort(struct output_file *f) {
    if (f->fd >= 0)
        close(f->fd);
    if (f->temp[0])
        unlinkat(f->dir, f->temp, 0);
    if (f->dir >= 0)
        close(f->dir);
    f->fd = f->dir = -1;
    f->temp[0] = '\0';
}
