#include "core/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIRST_BYTES (64u << 10)

/* Reads up to `size` bytes. */
static ssize_t fill(int fd, char *out, size_t size) {
    size_t got = 0;
    while (got < size) {
        ssize_t n = read(fd, out + got, size - got);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (n == 0)
            break;
        got += (size_t)n;
    }
    return (ssize_t)got;
}

ssize_t file_read(int fd, char *out, size_t size) {
    ssize_t n = fill(fd, out, size - 1);
    out[n > 0 ? n : 0] = '\0';
    return n;
}

ssize_t file_read_at(int dir, const char *path, int flags, char *out, size_t size) {
    int fd = openat(dir, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags);
    out[0] = '\0';
    if (fd < 0)
        return -errno;
    ssize_t n = file_read(fd, out, size);
    close(fd);
    return n;
}

int file_line(const char *path, char *out, size_t size) {
    ssize_t n = file_read_at(AT_FDCWD, path, 0, out, size);
    out[strcspn(out, "\n")] = '\0';
    return n < 0 ? (int)n : 0;
}

int file_read_all(int fd, size_t most, char **text, size_t *length) {
    size_t cap = 0;
    ssize_t n = 0;
    *text = NULL;
    *length = 0;
    do {
        cap = cap ? cap * 2 : FIRST_BYTES;
        cap = cap < most ? cap : most;
        char *more = realloc(*text, cap + 1);
        n = more ? fill(fd, more + *length, cap - *length) : -ENOMEM;
        *text = more ? more : *text;
        *length += n > 0 ? (size_t)n : 0;
    } while (n > 0 && *length == cap && cap < most);
    if (n < 0) {
        free(*text);
        *text = NULL;
        return (int)n;
    }
    (*text)[*length] = '\0';
    return 0;
}
