#include "tui/cli/output/jfr_join.h"

#include "core/export/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define PIECE (1 << 16)
#define MOST (INT64_C(1) << 30) /* the recorder is limited to a quarter of that */

static int refuse(const char *path, int code, const char *why, struct err *e) {
    return err_exit_as(e, ERR_EXIT_PROFILER, code,
                       "%.200s: the JVM's own recording cannot be appended to it: %s", path, why);
}

int jfr_join_check(const char *path, struct err *e) {
    struct stat st;
    struct output_file f;
    /* Do not open it: a pipe would wait for its reader. */
    bool direct = lstat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode);
    if (!direct) {
        int r = output_file_open(&f, path, ERR_EXIT_ARGUMENT, e);
        if (r < 0)
            return r;
        direct = !f.temp[0];
        output_file_abort(&f);
    }
    return direct ? err_exit_as(e, ERR_EXIT_ARGUMENT, EINVAL,
                                "--jfrsync joins two recordings, and %.200s is not a regular file: "
                                "give one, -f FILE.jfr",
                                path)
                  : 0;
}

static int copy(struct output_file *f, int from, int64_t bytes, struct err *e) {
    char *piece = malloc(PIECE);
    int r = piece ? 0 : refuse(f->path, ENOMEM, "no memory", e);
    for (int64_t at = 0; at < bytes && r == 0;) {
        size_t want = bytes - at < PIECE ? (size_t)(bytes - at) : PIECE;
        ssize_t n = pread(from, piece, want, at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            r = refuse(f->path, n < 0 ? errno : EIO,
                       n < 0 ? strerror(errno) : "a file became shorter while it was read", e);
        else
            r = output_file_write(f, piece, (size_t)n, e);
        at += n;
    }
    free(piece);
    return r;
}

static bool has_room(int fd, int64_t bytes) {
    struct statvfs fs;
    return fstatvfs(fd, &fs) != 0 || fs.f_frsize == 0 ||
           fs.f_bavail >= (uint64_t)bytes / fs.f_frsize + 1;
}

static int write_both(const char *path, int ours, int64_t our_bytes, int theirs,
                      int64_t their_bytes, struct err *e) {
    struct output_file f;
    int r = output_file_open(&f, path, ERR_EXIT_PROFILER, e);
    if (r < 0)
        return r;
    if (!f.temp[0])
        r = refuse(path, EINVAL, "it is not a regular file", e);
    else if (!has_room(f.fd, our_bytes + their_bytes))
        r = refuse(path, ENOSPC, "the disk has no space for both, free some", e);
    if (r == 0)
        r = copy(&f, ours, our_bytes, e);
    if (r == 0)
        r = copy(&f, theirs, their_bytes, e);
    if (r == 0)
        return output_file_commit(&f, e);
    output_file_abort(&f);
    return r;
}

int jfr_join(const char *path, int theirs, struct err *e) {
    struct stat a, b;
    int r, ours = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (ours < 0)
        return refuse(path, errno, strerror(errno), e);
    if (fstat(ours, &a) != 0 || fstat(theirs, &b) != 0)
        r = refuse(path, errno, strerror(errno), e);
    else if (!S_ISREG(a.st_mode) || !S_ISREG(b.st_mode))
        r = refuse(path, EINVAL, "one of the two is not a regular file", e);
    else if (a.st_dev == b.st_dev && a.st_ino == b.st_ino)
        r = refuse(path, EINVAL, "both are the same file", e);
    else if (b.st_size > MOST)
        r = refuse(path, EFBIG, "it has more than 1 GiB", e);
    else
        r = write_both(path, ours, a.st_size, theirs, b.st_size, e);
    close(ours);
    return r;
}
