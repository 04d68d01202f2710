#include "core/http/push/protocol/bearer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int wrong(const struct bearer *b, int code, const char *what, struct err *e) {
    return err_set(e, code, "token file %.200s: %s", b->path, what);
}

static bool same(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
           a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

static int check(const struct bearer *b, const struct stat *st, struct err *e) {
    if (!S_ISREG(st->st_mode))
        return wrong(b, EINVAL, "not a regular file", e);
    if (st->st_uid != geteuid() && st->st_uid != 0)
        return wrong(b, EPERM, "belongs to another user; it must be yours or root's", e);
    if (st->st_mode & 0027)
        return wrong(b, EPERM, "other users may read or change it; chmod 600 it", e);
    return 0;
}

/* Counts what may follow "Bearer " in a header: printable ASCII without spaces. 0: not a token. */
static size_t token_bytes(const char *data, size_t bytes) {
    size_t n = 0;
    while (n < bytes && data[n] > ' ' && data[n] <= '~')
        n++;
    size_t end = n;
    while (end < bytes && (data[end] == ' ' || data[end] == '\r' || data[end] == '\t'))
        end++;
    return end == bytes || data[end] == '\n' ? n : 0;
}

static int take(struct bearer *b, int fd, const struct stat *st, struct err *e) {
    char data[BEARER_MAX + 16];
    ssize_t got = pread(fd, data, sizeof data, 0);
    if (got < 0)
        return wrong(b, errno, strerror(errno), e);
    size_t n = token_bytes(data, (size_t)got);
    int r = 1;
    if (n == 0)
        r = wrong(b, EINVAL, "its first line is not a token: printable characters, no spaces", e);
    else if (n > BEARER_MAX)
        r = wrong(b, EINVAL, "its first line is longer than 4 KB", e);
    else
        snprintf(b->header, sizeof b->header, "Authorization: Bearer %.*s", (int)n, data);
    b->seen = *st; /* a wrong file is read again when it changes */
    explicit_bzero(data, sizeof data);
    return r;
}

int bearer_read(struct bearer *b, struct err *e) {
    if (!b->path)
        return 0;
    struct stat st;
    int fd = open(b->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return wrong(b, errno, strerror(errno), e);
    int r = fstat(fd, &st) == 0 ? 0 : wrong(b, errno, strerror(errno), e);
    if (r == 0)
        r = check(b, &st, e);
    if (r == 0 && !(b->header[0] && same(&st, &b->seen)))
        r = take(b, fd, &st, e);
    close(fd);
    return r;
}

void bearer_forget(struct bearer *b) {
    explicit_bzero(b->header, sizeof b->header);
}
