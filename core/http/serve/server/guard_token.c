#include "core/http/serve/server/guard_token.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int check_file(int fd, const char *path, struct err *e) {
    struct stat st;
    if (fstat(fd, &st) < 0)
        return err_set(e, errno, "token file %.200s: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return err_set(e, EINVAL, "token file %.200s: not a regular file", path);
    if (st.st_uid != geteuid() && st.st_uid != 0)
        return err_set(
            e, EPERM,
            "token file %.200s: belongs to uid %u, not to uid %u of this process: chown it", path,
            (unsigned)st.st_uid, (unsigned)geteuid());
    if (st.st_mode & 077)
        return err_set(
            e, EPERM,
            "token file %.200s: its mode is %04o, so other users may read or change it: chmod 600",
            path, (unsigned)st.st_mode & 07777);
    return 0;
}

/* Takes the text of `line` up to its end; a token has no spaces. */
static int take_line(char *line, const char *path, struct guard_token *out, struct err *e) {
    line[strcspn(line, "\r\n")] = '\0';
    size_t length = strlen(line);
    for (size_t i = 0; i < length; i++)
        if (line[i] <= ' ' || line[i] > '~')
            return err_set(e, EINVAL,
                           "token file %.200s: its first line has a space or a non-ASCII "
                           "character; openssl rand -hex 24 makes a good one",
                           path);
    if (length < GUARD_TOKEN_MIN || length > GUARD_TOKEN_MAX)
        return err_set(e, EINVAL,
                       "token file %.200s: its first line has %zu characters, and %d to %d are "
                       "required; openssl rand -hex 24 makes a good one",
                       path, length, GUARD_TOKEN_MIN, GUARD_TOKEN_MAX);
    memset(out, 0, sizeof *out);
    memcpy(out->bytes, line, length);
    out->length = length;
    return 0;
}

int guard_token_read(const char *path, struct guard_token *out, struct err *e) {
    char line[GUARD_TOKEN_MAX + 64];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return err_set(e, errno, "token file %.200s: %s", path, strerror(errno));
    int r = check_file(fd, path, e);
    ssize_t n = r == 0 ? read(fd, line, sizeof line - 1) : 0;
    if (n < 0)
        r = err_set(e, errno, "token file %.200s: %s", path, strerror(errno));
    close(fd);
    if (r < 0)
        return r;
    line[n] = '\0';
    r = take_line(line, path, out, e);
    explicit_bzero(line, sizeof line);
    return r;
}

bool guard_same(const char *a, const char *b, size_t length) {
    volatile unsigned char differ = 0;
    for (size_t i = 0; i < length; i++)
        differ = (unsigned char)(differ | (unsigned char)(a[i] ^ b[i]));
    return differ == 0;
}

bool guard_token_is(const struct guard_token *token, const char *shown) {
    char padded[GUARD_TOKEN_MAX] = {0};
    size_t length = strnlen(shown, GUARD_TOKEN_MAX + 1);
    memcpy(padded, shown, length < GUARD_TOKEN_MAX ? length : GUARD_TOKEN_MAX);
    bool same = guard_same(token->bytes, padded, GUARD_TOKEN_MAX);
    return same && length == token->length && token->length > 0;
}
