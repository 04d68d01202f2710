#include "symbols/elf/maps.h"

#include "core/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Reads a number that ends at `stop`, at most 16 hex or 19 decimal digits, and moves `*p` behind
 * it. If there is none, `*p` stays. */
static bool number(const char **p, unsigned base, char stop, uint64_t *out) {
    uint64_t value = 0;
    unsigned digits = 0;
    const char *at = *p;
    for (;; at++, digits++) {
        unsigned digit;
        if (*at >= '0' && *at <= '9')
            digit = (unsigned)(*at - '0');
        else if (*at >= 'a' && *at <= 'f')
            digit = (unsigned)(*at - 'a' + 10);
        else
            break;
        if (digit >= base || digits >= (base == 16 ? 16 : 19))
            return false;
        value = value * base + digit;
    }
    if (!digits || *at != stop)
        return false;
    *p = stop ? at + 1 : at;
    *out = value;
    return true;
}

/* The kernel escapes only newlines; a backslash that belongs to the name stays as it is. */
static void unescape(char *path) {
    char *to = path;
    for (const char *from = path; *from; to++) {
        if (strncmp(from, "\\012", 4) == 0) {
            *to = '\n';
            from += 4;
        } else {
            *to = *from++;
        }
    }
    *to = '\0';
}

static bool cut_deleted(char *path) {
    static const char mark[] = " (deleted)";
    size_t length = strlen(path);
    if (length <= sizeof mark - 1 || strcmp(path + length - (sizeof mark - 1), mark) != 0)
        return false;
    path[length - (sizeof mark - 1)] = '\0';
    return true;
}

/* Parses one line, NUL-terminated: "start-end perms offset major:minor inode   path". */
static bool parse_line(char *line, struct mapping *m) {
    const char *p = line;
    uint64_t major, minor;
    if (!number(&p, 16, '-', &m->start) || !number(&p, 16, ' ', &m->end) || m->end <= m->start)
        return false;
    if (strnlen(p, 5) < 5 || p[4] != ' ')
        return false;
    m->executable = p[2] == 'x';
    p += 5;
    if (!number(&p, 16, ' ', &m->offset) || !number(&p, 16, ':', &major) ||
        !number(&p, 16, ' ', &minor))
        return false;
    /* Some kernels end the line after the inode, others pad it. */
    if (!number(&p, 10, ' ', &m->inode) && !number(&p, 10, '\0', &m->inode))
        return false;
    m->major = (uint32_t)major;
    m->minor = (uint32_t)minor;
    char *path = line + (p - line);
    path += strspn(path, " ");
    m->deleted = cut_deleted(path);
    unescape(path);
    m->path = path;
    return true;
}

static int by_start(const void *a, const void *b) {
    const struct mapping *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

/* The file is not read atomically: a mapping that grew between two reads may appear twice. */
static void sort(struct maps *m) {
    size_t kept = 0;
    bool sorted = true;
    for (size_t i = 1; i < m->count && sorted; i++)
        sorted = m->list[i].start >= m->list[i - 1].end;
    if (sorted)
        return;
    qsort(m->list, m->count, sizeof *m->list, by_start);
    for (size_t i = 0; i < m->count; i++) {
        if (!kept || m->list[i].start >= m->list[kept - 1].end)
            m->list[kept++] = m->list[i];
    }
    m->count = kept;
}

/* Takes over `text`, which is NUL-terminated and `length` long without the NUL. */
static int parse_owned(char *text, size_t length, struct maps *out) {
    *out = (struct maps){.text = text};
    size_t lines = 1;
    for (size_t i = 0; i < length; i++)
        lines += text[i] == '\n';
    out->list = calloc(lines, sizeof *out->list);
    if (!out->list) {
        maps_free(out);
        return -ENOMEM;
    }
    for (char *line = text, *end = text + length; line < end;) {
        char *eol = memchr(line, '\n', (size_t)(end - line));
        if (eol)
            *eol = '\0';
        if (parse_line(line, &out->list[out->count]))
            out->count++;
        line = eol ? eol + 1 : end;
    }
    sort(out);
    return 0;
}

int maps_parse(const char *text, size_t length, struct maps *out) {
    *out = (struct maps){0};
    if (length > MAPS_TEXT_LIMIT)
        length = MAPS_TEXT_LIMIT;
    char *copy = malloc(length + 1);
    if (!copy)
        return -ENOMEM;
    memcpy(copy, text, length);
    copy[length] = '\0';
    return parse_owned(copy, length, out);
}

int maps_read(int proc_fd, struct maps *out) {
    *out = (struct maps){0};
    int fd = openat(proc_fd, "maps", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return errno == ENOENT ? -ESRCH : -errno;
    char *text;
    size_t length;
    int rc = file_read_all(fd, MAPS_TEXT_LIMIT, &text, &length);
    close(fd);
    if (rc)
        return rc;
    if (!length) { /* its memory is already gone */
        free(text);
        return -ESRCH;
    }
    return parse_owned(text, length, out);
}

void maps_free(struct maps *m) {
    free(m->list);
    free(m->text);
    *m = (struct maps){0};
}

const struct mapping *maps_find(const struct maps *m, uint64_t address) {
    size_t low = 0, high = m->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (m->list[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < m->count && m->list[low].start <= address ? &m->list[low] : NULL;
}

const char *mapping_base_name(const struct mapping *m) {
    const char *slash = strrchr(m->path, '/');
    return slash ? slash + 1 : m->path;
}

bool mapping_same_at(const struct mapping *a, const struct mapping *b, uint64_t address) {
    if (!a || !b)
        return a == b;
    return a->inode == b->inode && a->major == b->major && a->minor == b->minor &&
           a->executable == b->executable &&
           address - a->start + a->offset == address - b->start + b->offset &&
           strcmp(a->path, b->path) == 0;
}
