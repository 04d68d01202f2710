/* Where a person's files are, and reading them. */
#include "tui/config/config_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *config_place(const char *variable, const char *fallback, const char *name, char *out,
                         size_t size) {
    const char *base = getenv(variable), *home = getenv("HOME");
    int n = -1;
    if (base && base[0] == '/') /* a relative one is to be ignored, says the specification */
        n = snprintf(out, size, "%s/jtop-prof/%s", base, name);
    else if (home && home[0] == '/')
        n = snprintf(out, size, "%s/%s/jtop-prof/%s", home, fallback, name);
    if (n < 0 || (size_t)n >= size)
        out[0] = '\0';
    return out;
}

const char *config_path(char *out, size_t size) {
    return config_place("XDG_CONFIG_HOME", ".config", "config", out, size);
}

const char *config_themes(char *out, size_t size) {
    return config_place("XDG_CONFIG_HOME", ".config", "themes", out, size);
}

static int unreadable(const char *path, int code, struct err *e) {
    return err_set(e, code, "cannot read %s: %s", path, strerror(code));
}

/* Up to `size` bytes; -errno. */
static ssize_t read_whole(int fd, char *out, size_t size) {
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

int config_read_file(const char *path, char **out, struct err *e) {
    struct stat st;
    *out = NULL;
    /* Not blocking: what has the name may be a pipe. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return unreadable(path, errno, e);
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return err_set(e, EINVAL, "cannot read %s: not a regular file", path);
    }
    char *text = malloc(CONFIG_BYTES_MAX + 1);
    ssize_t n = text ? read_whole(fd, text, CONFIG_BYTES_MAX + 1) : -ENOMEM;
    close(fd);
    int r = 0;
    if (n < 0) {
        r = unreadable(path, (int)-n, e);
    } else if ((size_t)n > CONFIG_BYTES_MAX) {
        r = err_set(e, EFBIG, "cannot read %s: larger than %u KiB", path, CONFIG_BYTES_MAX >> 10);
    } else if (text && memchr(text, 0, (size_t)n)) {
        r = err_set(e, EINVAL, "cannot read %s: no text, there is a zero byte in it", path);
    } else if (text) {
        text[n] = '\0';
        *out = text;
    }
    if (r < 0)
        free(text);
    return r;
}
