#include "core/import/gunzip.h"
#include "core/import/importer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Collapsed stacks must be last: they are text without a magic number. */
static const struct import_reader *const readers[] = {&import_jfr, &import_pprof,
                                                      &import_collapsed};

/* A copy of a file. A mapped file may shrink while it is read. */
struct file {
    uint8_t *data;
    size_t bytes; /* number of bytes read */
    bool whole;   /* the whole file was read */
};

/* Reads until `bytes` bytes are there or the file ends, which may be earlier than its size
 * indicates. */
static int read_file(int fd, struct file *f, size_t bytes) {
    while (f->bytes < bytes) {
        ssize_t n = pread(fd, f->data + f->bytes, bytes - f->bytes, (off_t)f->bytes);
        if (n == 0)
            break;
        if (n < 0 && errno != EINTR)
            return errno;
        f->bytes += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

/* NULL: the machine does not have as much memory. malloc alone would not fail, because the kernel
 * promises more than it has. */
static uint8_t *memory_for(uint64_t bytes) {
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    bool known = pages > 0 && size > 0;
    if (bytes > SIZE_MAX || (known && bytes / (uint64_t)size >= (uint64_t)pages))
        return NULL;
    return malloc((size_t)bytes);
}

static int read_open_file(int fd, const char *path, uint64_t most, struct file *f, struct err *e) {
    struct stat st;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size <= 0)
        return err_set(e, EINVAL, "%s: not a regular file, or empty", path);
    uint64_t bytes = (uint64_t)st.st_size < most ? (uint64_t)st.st_size : most;
    f->data = memory_for(bytes);
    if (!f->data)
        return err_set(e, ENOMEM,
                       "%s: its %llu MB do not fit into this machine's memory; read it on a larger "
                       "one",
                       path, (unsigned long long)(bytes >> 20));
    int error = read_file(fd, f, (size_t)bytes);
    f->whole = bytes == (uint64_t)st.st_size;
    if (error)
        return err_set(e, error, "%s: %s", path, strerror(error));
    return f->bytes ? 0 : err_set(e, EINVAL, "%s: not a regular file, or empty", path);
}

static void close_file(struct file *f) {
    free(f->data);
    *f = (struct file){0};
}

/* Opens and reads a file, at most `most` bytes. If it succeeds, the caller must close it. */
static int open_file(const char *path, uint64_t most, struct file *f, struct err *e) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    *f = (struct file){0};
    if (fd < 0)
        return err_set(e, errno, "%s: %s", path, strerror(errno));
    int r = read_open_file(fd, path, most, f, e);
    close(fd);
    if (r < 0)
        close_file(f);
    return r;
}

#define HEAD_BYTES 65536

static const struct import_reader *find(const struct file *f) {
    bool whole = f->whole && f->bytes <= HEAD_BYTES;
    size_t bytes = f->bytes < HEAD_BYTES ? f->bytes : HEAD_BYTES;
    uint8_t *plain = malloc(HEAD_BYTES);
    size_t inflated = plain ? gunzip_peek(f->data, bytes, plain, HEAD_BYTES) : 0;
    const struct import_reader *found = NULL;
    for (size_t i = 0; i < sizeof readers / sizeof readers[0] && !found && plain; i++) {
        const struct import_reader *r = readers[i];
        if (r->inflates ? r->knows(f->data, bytes, whole)
                        : r->knows(plain, inflated, whole && inflated < HEAD_BYTES))
            found = r;
    }
    free(plain);
    return found;
}

static int read_plain(const struct import_reader *reader, const struct file *f, import_record *each,
                      void *arg, struct import_result *result, struct err *e) {
    struct gunzip g;
    int r = gunzip_open(f->data, f->bytes, &g, e);
    if (r < 0)
        return r;
    r = reader->read(g.data, g.bytes, each, arg, result, e);
    if (g.cut && !result->damage[0])
        snprintf(result->damage, sizeof result->damage, "after %zu bytes of its uncompressed data",
                 g.bytes);
    gunzip_close(&g);
    return r;
}

bool import_knows(const char *path) {
    struct file f;
    struct err ignored;
    if (open_file(path, HEAD_BYTES, &f, &ignored) < 0)
        return false;
    bool known = find(&f) != NULL;
    close_file(&f);
    return known;
}

/* Recognizes pprof's formats before profile.proto. Most are text with a known beginning. CPU
 * profiles begin with machine words of the sampled machine: 0, the number of words in the header,
 * the version. */
static bool is_old_pprof(const struct file *f) {
    static const char *const begins[] = {"heap profile:", "--- heap",  "--- contention",
                                         "--- growth",    "--- mutex", "--- threadz"};
    static const uint64_t binary[] = {0, 3, 0};
    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++)
        if (f->bytes > strlen(begins[i]) && !memcmp(f->data, begins[i], strlen(begins[i])))
            return true;
    return f->bytes > sizeof binary && !memcmp(f->data, binary, sizeof binary);
}

const char *import_hint(const char *path) {
    struct file f;
    struct err ignored;
    if (open_file(path, HEAD_BYTES, &f, &ignored) < 0)
        return "";
    bool old = is_old_pprof(&f);
    close_file(&f);
    return old ? "; it is in an old pprof format: `pprof -proto` makes a readable one" : "";
}

int import_file(const char *path, import_record *each, void *arg, struct import_result *result,
                struct err *e) {
    struct file f;
    *result = (struct import_result){0};
    int r = open_file(path, UINT64_MAX, &f, e);
    if (r < 0)
        return r;
    const struct import_reader *reader = find(&f);
    if (reader) {
        snprintf(result->format, sizeof result->format, "%s", reader->name);
        r = reader->inflates ? reader->read(f.data, f.bytes, each, arg, result, e)
                             : read_plain(reader, &f, each, arg, result, e);
    } else {
        r = err_set(
            e, EINVAL,
            "%s: not in a known format (jtop-prof recording, JFR, pprof, collapsed stacks)%s", path,
            import_hint(path));
    }
    close_file(&f);
    return r;
}
