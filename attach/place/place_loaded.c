/* A copy that the JVM has loaded before: its file is gone, and its name is among the mapped files. */
#include "attach/place/place_parts.h"

#include <string.h>
#include <unistd.h>

#define START "/.jtop-prof-"
#define ENDING ".so"
#define GONE " (deleted)"
#define HEX 8

/* "/DIR/.jtop-prof-01234567-DIGEST.so", perhaps with GONE. */
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

/* What is mapped by a line of /proc/PID/maps; NULL: no file. */
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

/* Looks at each line; false: this C library does not know what it has loaded by its name. */
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

/* Lines that do not fit into the buffer are passed over in pieces: no copy of ours is among them. */
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
