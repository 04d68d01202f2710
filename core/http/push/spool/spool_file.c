#include "core/http/push/spool/spool_file.h"
#include "core/http/push/protocol/message.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define VERSION 1u
#define GZIP 1u
#define STRINGS 5
#define TEMPORARY "message.tmp"
#define FILE_MAX (SPOOL_FILE_HEADER + sizeof(struct push_message) + 64 + MESSAGE_BODY_MAX)

static const char magic[8] = {'J', 'T', 'O', 'P', 'P', 'U', 'S', 'H'};

struct header {
    char magic[8];
    uint32_t version, crc, flags;
    uint32_t length[STRINGS]; /* protocol, path, query, type, subject */
    uint64_t from_ns, to_ns, body;
};

_Static_assert(sizeof(struct header) == SPOOL_FILE_HEADER, "no holes");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "it is written as it is in memory");

static uint32_t crc_of(const struct header *h, const void *rest, size_t bytes, uint32_t so_far) {
    static const size_t before = offsetof(struct header, crc), after = before + sizeof h->crc;
    if (h) {
        so_far = (uint32_t)crc32_z(0, (const unsigned char *)h, before);
        so_far = (uint32_t)crc32_z(so_far, (const unsigned char *)h + after,
                                   sizeof(struct header) - after);
    }
    return bytes ? (uint32_t)crc32_z(so_far, rest, bytes) : so_far;
}

static struct header header_of(const char *protocol, const struct push_message *m,
                               const char *string[STRINGS]) {
    struct header h = {.version = VERSION,
                       .flags = m->gzip ? GZIP : 0,
                       .from_ns = m->from_ns,
                       .to_ns = m->to_ns,
                       .body = m->body.len};
    memcpy(h.magic, magic, sizeof magic);
    const char *const all[STRINGS] = {protocol, m->path, m->query, m->type, m->subject};
    for (int i = 0; i < STRINGS; i++) {
        string[i] = all[i];
        h.length[i] = (uint32_t)strlen(all[i]);
    }
    h.crc = crc_of(&h, NULL, 0, 0);
    for (int i = 0; i < STRINGS; i++)
        h.crc = crc_of(NULL, string[i], h.length[i], h.crc);
    h.crc = crc_of(NULL, m->body.data, m->body.len, h.crc);
    return h;
}

uint64_t spool_file_bytes(const char *protocol, const struct push_message *m) {
    return SPOOL_FILE_HEADER + strlen(protocol) + strlen(m->path) + strlen(m->query) +
           strlen(m->type) + strlen(m->subject) + m->body.len;
}

static int write_all(int fd, const void *data, size_t bytes) {
    const char *at = data;
    while (bytes > 0) {
        ssize_t n = write(fd, at, bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : -ENOSPC;
        at += n;
        bytes -= (size_t)n;
    }
    return 0;
}

static int write_message(int fd, const char *protocol, const struct push_message *m) {
    const char *string[STRINGS];
    struct header h = header_of(protocol, m, string);
    int r = write_all(fd, &h, sizeof h);
    for (int i = 0; i < STRINGS && r == 0; i++)
        r = write_all(fd, string[i], h.length[i]);
    if (r == 0)
        r = write_all(fd, m->body.data, m->body.len);
    /* Otherwise a power cut could leave the name on the disk without its bytes: a broken file. */
    return r == 0 && fdatasync(fd) != 0 ? -errno : r;
}

int spool_file_write(int dir, const char *name, const char *protocol,
                     const struct push_message *m) {
    unlinkat(dir, TEMPORARY, 0); /* left by a process that was killed here */
    int fd = openat(dir, TEMPORARY, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    int r = write_message(fd, protocol, m);
    if (close(fd) != 0 && r == 0)
        r = -errno;
    if (r == 0 && renameat(dir, TEMPORARY, dir, name) != 0)
        r = -errno;
    if (r != 0)
        unlinkat(dir, TEMPORARY, 0);
    return r;
}

/* Checks that the lengths add up to the file's, and that each one fits its field. */
static bool header_is_sound(const struct header *h, size_t bytes) {
    static const size_t most[STRINGS] = {
        64, sizeof(((struct push_message *)0)->path), sizeof(((struct push_message *)0)->query),
        sizeof(((struct push_message *)0)->type), sizeof(((struct push_message *)0)->subject)};
    uint64_t sum = sizeof *h;
    for (int i = 0; i < STRINGS; i++) {
        if (h->length[i] >= most[i])
            return false;
        sum += h->length[i];
    }
    return h->body <= MESSAGE_BODY_MAX && sum + h->body == bytes;
}

static int take_strings(struct push_message *m, const struct header *h, const char *at,
                        const char *protocol) {
    char own[64] = "";
    char *const to[STRINGS] = {own, m->path, m->query, m->type, m->subject};
    for (int i = 0; i < STRINGS; i++) {
        memcpy(to[i], at, h->length[i]);
        if (strlen(to[i]) != h->length[i]) /* contains a NUL */
            return -EBADMSG;
        at += h->length[i];
    }
    if (strcmp(own, protocol) != 0)
        return -ESTALE;
    if (h->body > 0) /* an empty text has no memory */
        text_add_n(&m->body, at, h->body);
    if (m->body.failed)
        return -ENOMEM;
    return message_is_sound(m) ? 0 : -EBADMSG;
}

int spool_file_parse(const void *data, size_t bytes, const char *protocol,
                     struct push_message **out) {
    struct header h;
    *out = NULL;
    if (bytes < sizeof h)
        return -EBADMSG;
    memcpy(&h, data, sizeof h);
    if (memcmp(h.magic, magic, sizeof magic) != 0)
        return -EBADMSG;
    if (h.version != VERSION)
        return -ESTALE;
    const char *rest = (const char *)data + sizeof h;
    if (!header_is_sound(&h, bytes) || crc_of(&h, rest, bytes - sizeof h, 0) != h.crc)
        return -EBADMSG;
    struct push_message *m = calloc(1, sizeof *m);
    if (!m)
        return -ENOMEM;
    m->from_ns = h.from_ns;
    m->to_ns = h.to_ns;
    m->gzip = h.flags & GZIP;
    int r = take_strings(m, &h, rest, protocol);
    if (r == 0)
        *out = m;
    else
        message_free(m);
    return r;
}

static int read_all(int fd, char *data, size_t bytes) {
    while (bytes > 0) {
        ssize_t n = read(fd, data, bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : -EBADMSG;
        data += n;
        bytes -= (size_t)n;
    }
    return 0;
}

int spool_file_read(int dir, const char *name, const char *protocol, struct push_message **out) {
    *out = NULL;
    int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return errno == ELOOP || errno == ENXIO ? -EBADMSG : -errno;
    struct stat st;
    int r = fstat(fd, &st) == 0 ? 0 : -errno;
    char *data = NULL;
    if (r == 0 && (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_size <= 0 ||
                   (uint64_t)st.st_size > FILE_MAX))
        r = -EBADMSG;
    if (r == 0 && !(data = malloc((size_t)st.st_size)))
        r = -ENOMEM;
    if (r == 0)
        r = read_all(fd, data, (size_t)st.st_size);
    if (r == 0)
        r = spool_file_parse(data, (size_t)st.st_size, protocol, out);
    free(data);
    close(fd);
    return r;
}
