#include "core/import/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Collapsed stacks are text and have no magic: last. */
static const struct import_reader *const readers[] = {&import_jfr, &import_pprof,
                                                      &import_collapsed};

struct file {
    const uint8_t *data;
    size_t bytes;
};

static int open_file(const char *path, struct file *f, struct err *e) {
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    *f = (struct file){0};
    if (fd < 0)
        return err_set(e, errno, "%s: %s", path, strerror(errno));
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size <= 0) {
        close(fd);
        return err_set(e, EINVAL, "%s: not a file with a profile in it", path);
    }
    void *data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    int error = errno;
    close(fd);
    if (data == MAP_FAILED)
        return err_set(e, error, "%s: %s", path, strerror(error));
    f->data = data;
    f->bytes = (size_t)st.st_size;
    return 0;
}

static void close_file(struct file *f) {
    if (f->data)
        munmap((void *)(uintptr_t)f->data, f->bytes);
}

#define HEAD_BYTES 65536

static const struct import_reader *find(const struct file *f) {
    bool whole = f->bytes <= HEAD_BYTES;
    for (size_t i = 0; i < sizeof readers / sizeof readers[0]; i++)
        if (readers[i]->knows(f->data, whole ? f->bytes : HEAD_BYTES, whole))
            return readers[i];
    return NULL;
}

bool import_knows(const char *path) {
    struct file f;
    struct err ignored;
    if (open_file(path, &f, &ignored) < 0)
        return false;
    bool known = find(&f) != NULL;
    close_file(&f);
    return known;
}

int import_file(const char *path, import_record *each, void *arg, struct import_result *result,
                struct err *e) {
    struct file f;
    *result = (struct import_result){0};
    int r = open_file(path, &f, e);
    if (r < 0)
        return r;
    const struct import_reader *reader = find(&f);
    if (reader) {
        snprintf(result->format, sizeof result->format, "%s", reader->name);
        r = reader->read(f.data, f.bytes, each, arg, result, e);
    } else {
        r = err_set(e, EINVAL,
                    "%s: no profile that can be read here: a recording of jtop-prof, JFR, pprof or "
                    "collapsed stacks",
                    path);
    }
    close_file(&f);
    return r;
}
