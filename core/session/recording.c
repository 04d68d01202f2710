#include "core/session/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BUFFER_BYTES (256u << 10)
#define LINKS_MAX 8 /* followed before it is taken for a ring of them */

struct recording_writer {
    FILE *file;
    char *path;
    int failed; /* errno of the first failure */
};

struct recording_reader {
    FILE *file;
    uint64_t good;
    bool damaged;
};

static int write_failed(const struct recording_writer *w, struct err *e) {
    return err_exit_as(e, ERR_EXIT_PROFILER, w->failed,
                       "cannot write the recording %s: %s; it ends before that", w->path,
                       strerror(w->failed));
}

static void append(struct recording_writer *w, const void *data, size_t length) {
    errno = EIO;
    if (!w->failed && fwrite(data, 1, length, w->file) != length)
        w->failed = errno;
}

/* ---- the file ---- */

static int create_failed(const char *path, int code, const char *what, struct err *e) {
    return err_exit_as(e, ERR_EXIT_ARGUMENT, code, "cannot write the recording %.250s%s: %s", path,
                       strlen(path) > 250 ? "..." : "", what ? what : strerror(code));
}

/* The descriptor that a name stands for, or -1: what it names has no place in a directory. */
static int named_fd(const char *path) {
    static const char *const dir[] = {"/dev/fd/", "/proc/self/fd/"};
    if (strcmp(path, "/dev/stdout") == 0)
        return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0)
        return STDERR_FILENO;
    for (size_t i = 0; i < sizeof dir / sizeof dir[0]; i++) {
        const char *number = path + strlen(dir[i]);
        if (strncmp(path, dir[i], strlen(dir[i])) == 0 && *number && strlen(number) < 7 &&
            !number[strspn(number, "0123456789")])
            return (int)strtol(number, NULL, 10);
    }
    return -1;
}

/* The directory of a path that begins at `from`, and the path's last part. -1: errno. */
static int open_directory(int from, const char *path, const char **base) {
    char dir[PATH_MAX];
    size_t length = strlen(path);
    const char *slash = strrchr(path, '/');
    *base = slash ? slash + 1 : path;
    if (!length || length >= sizeof dir || !**base) {
        errno = !length ? ENOENT : length >= sizeof dir ? ENAMETOOLONG : EISDIR;
        return -1;
    }
    snprintf(dir, sizeof dir, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    return openat(from, dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* Whoever may put things beside ours must not have us write to where we did not mean to: through a
 * link, or into a file that is his to read. NULL: it may be written; else why not. */
static const char *distrust(int dir, const struct stat *found) {
    struct stat in;
    uid_t me = geteuid();
    if (fstat(dir, &in))
        return "its directory cannot be looked at";
    bool sticky = in.st_mode & S_ISVTX;
    if (found->st_uid == me || S_ISCHR(found->st_mode))
        return NULL;
    if (S_ISLNK(found->st_mode))
        return found->st_uid != 0 && (sticky || in.st_uid != me)
                   ? "it is another user's symbolic link; choose another name"
                   : NULL;
    return sticky && in.st_uid != me ? "it belongs to another user, and its directory is sticky; "
                                       "choose another name"
                                     : NULL;
}

/* What is there already is looked at before it is opened, by a descriptor of it: nobody can put
 * something else in its place between the two. */
static int reopen(int found) {
    char self[48];
    snprintf(self, sizeof self, "/proc/self/fd/%d", found);
    return open(self, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY);
}

/* The file of that name in the directory; -1 and errno, or *why. A symbolic link is none: it goes
 * to `link`. */
static int open_in(int dir, const char *base, bool fresh, char link[PATH_MAX], const char **why) {
    struct stat st;
    int found = fresh ? -1 : openat(dir, base, O_PATH | O_NOFOLLOW | O_CLOEXEC), fd = -1;
    if (fresh || (found < 0 && errno == ENOENT))
        return openat(dir, base, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY,
                      0644);
    if (found < 0)
        return -1;
    int code = 0;
    if (fstat(found, &st)) {
        code = errno;
    } else if ((*why = distrust(dir, &st))) {
        code = EPERM;
    } else if (S_ISLNK(st.st_mode)) {
        ssize_t n = readlinkat(found, "", link, PATH_MAX - 1);
        code = n < 0 ? errno : ELOOP;
        link[n > 0 ? n : 0] = '\0';
    } else {
        fd = reopen(found);
        code = errno;
    }
    close(found);
    errno = code;
    return fd;
}

/* `fresh`: what is there already is an error, a link too. -1: errno, and *why where there is more
 * to say. */
static int open_file(const char *path, bool fresh, const char **why) {
    char at[PATH_MAX], link[PATH_MAX] = "";
    int from = AT_FDCWD, fd = fresh ? -1 : named_fd(path);
    if (fd >= 0)
        return fcntl(fd, F_DUPFD_CLOEXEC, 0);
    for (int links = 0; links <= LINKS_MAX; links++) {
        const char *base;
        int dir = open_directory(from, links ? at : path, &base), code = errno;
        if (from >= 0)
            close(from);
        from = dir;
        link[0] = '\0';
        if (dir >= 0) {
            fd = open_in(dir, base, fresh, link, why);
            code = errno;
        }
        errno = code;
        if (fd >= 0 || !link[0])
            break;
        memcpy(at, link, sizeof at); /* which begins where it is, or at the root */
    }
    int code = errno;
    if (from >= 0)
        close(from);
    errno = code;
    return fd;
}

static int create(const char *path, bool fresh, struct recording_writer **out, struct err *e) {
    *out = NULL;
    const char *why = NULL;
    struct recording_writer *w = calloc(1, sizeof *w);
    if (w)
        w->path = strdup(path);
    if (!w || !w->path) {
        free(w);
        return err_set(e, ENOMEM, "out of memory");
    }
    int fd = open_file(path, fresh, &why);
    if (fd >= 0)
        w->file = fdopen(fd, "w");
    if (!w->file) {
        int code = errno;
        if (fd >= 0)
            close(fd);
        free(w->path);
        free(w);
        return create_failed(path, code, why, e);
    }
    setvbuf(w->file, NULL, _IOFBF, BUFFER_BYTES);
    struct wire_file_header header = {
        .magic = WIRE_FILE_MAGIC,
        .abi_major = WIRE_ABI_MAJOR,
        .abi_minor = WIRE_ABI_MINOR,
    };
    append(w, &header, sizeof header);
    *out = w;
    return 0;
}

int recording_create(const char *path, struct recording_writer **out, struct err *e) {
    return create(path, false, out, e);
}

int recording_create_new(const char *path, struct recording_writer **out, struct err *e) {
    return create(path, true, out, e);
}

/* ---- records ---- */

void recording_write(struct recording_writer *w, const void *record) {
    uint64_t word;
    memcpy(&word, record, sizeof word);
    append(w, record, wire_header_length(word));
}

/* Two strings behind `fixed` bytes whose first word is the header. */
static void append_with_text(struct recording_writer *w, enum wire_type type, void *fixed,
                             size_t fixed_bytes, const char *a, size_t a_bytes, const char *b,
                             size_t b_bytes) {
    static const char zeroes[8];
    size_t length = (fixed_bytes + a_bytes + b_bytes + 7) & ~(size_t)7;
    uint64_t word = wire_header_word(type, (uint32_t)length);
    memcpy(fixed, &word, sizeof word);
    append(w, fixed, fixed_bytes);
    append(w, a, a_bytes);
    append(w, b, b_bytes);
    append(w, zeroes, length - fixed_bytes - a_bytes - b_bytes);
}

void recording_write_symbol(struct recording_writer *w, uint64_t address, uint32_t kind,
                            const char *name, const char *module) {
    struct wire_symbol symbol = {
        .address = address,
        .kind = kind,
        .name_bytes = (uint16_t)strnlen(name, WIRE_STRING_MAX),
        .module_bytes = (uint16_t)strnlen(module, WIRE_STRING_MAX),
    };
    append_with_text(w, WIRE_SYMBOL, &symbol, sizeof symbol, name, symbol.name_bytes, module,
                     symbol.module_bytes);
}

static uint64_t clock_of(clockid_t id) {
    struct timespec t = {0};
    clock_gettime(id, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void recording_write_jvm(struct recording_writer *w, uint32_t pid, const char *name,
                         const char *version) {
    struct wire_jvm jvm = {
        .start_ns = clock_of(CLOCK_REALTIME),
        .clock_ns = clock_of(CLOCK_MONOTONIC),
        .pid = pid,
        .name_bytes = (uint16_t)strnlen(name, WIRE_STRING_MAX),
        .version_bytes = (uint16_t)strnlen(version, WIRE_STRING_MAX),
    };
    append_with_text(w, WIRE_JVM, &jvm, sizeof jvm, name, jvm.name_bytes, version,
                     jvm.version_bytes);
}

int recording_flush(struct recording_writer *w, struct err *e) {
    errno = EIO;
    if (!w->failed && fflush(w->file) != 0)
        w->failed = errno;
    return w->failed ? write_failed(w, e) : 0;
}

int recording_finish(struct recording_writer *w, struct err *e) {
    if (!w)
        return 0;
    errno = EIO;
    if (fclose(w->file) != 0 && !w->failed)
        w->failed = errno;
    int result = w->failed ? write_failed(w, e) : 0;
    free(w->path);
    free(w);
    return result;
}

int recording_open(const char *path, struct recording_reader **out, struct err *e) {
    *out = NULL;
    /* Not blocking: what is named here may be a pipe nobody writes to. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0) {
        int code = errno;
        if (fd >= 0)
            close(fd);
        return err_set(e, code, "cannot read the recording %s: %s", path, strerror(code));
    }
    struct recording_reader *r = NULL;
    FILE *file = S_ISREG(st.st_mode) ? fdopen(fd, "r") : NULL;
    if (!file) {
        close(fd);
        return err_set(e, EINVAL, "cannot read the recording %s: not a regular file", path);
    }
    setvbuf(file, NULL, _IOFBF, BUFFER_BYTES);
    struct wire_file_header header;
    if (fread(&header, sizeof header, 1, file) != 1 || header.magic != WIRE_FILE_MAGIC) {
        fclose(file);
        return err_set(e, EINVAL, "%s is no recording: it does not begin with JSTPREC1", path);
    }
    if (header.abi_major != WIRE_ABI_MAJOR) {
        fclose(file);
        return err_set(e, EINVAL, "%s was recorded with format %u, this program reads format %u",
                       path, header.abi_major, WIRE_ABI_MAJOR);
    }
    r = calloc(1, sizeof *r);
    if (!r) {
        fclose(file);
        return err_set(e, ENOMEM, "out of memory");
    }
    r->file = file;
    r->good = sizeof header;
    *out = r;
    return 0;
}

uint32_t recording_read(struct recording_reader *r, void *out) {
    uint64_t word;
    if (r->damaged)
        return 0;
    size_t got = fread(&word, 1, sizeof word, r->file);
    if (got == 0 && feof(r->file))
        return 0;
    uint32_t length = got == sizeof word ? wire_header_length(word) : 0;
    if (length < sizeof word || length % 8 || length > WIRE_RECORD_BYTES_MAX ||
        fread((uint8_t *)out + sizeof word, 1, length - sizeof word, r->file) !=
            length - sizeof word) {
        r->damaged = true;
        return 0;
    }
    memcpy(out, &word, sizeof word);
    r->good += length;
    return length;
}

uint64_t recording_damage(const struct recording_reader *r) {
    return r->damaged ? r->good : 0;
}

void recording_free(struct recording_reader *r) {
    if (!r)
        return;
    fclose(r->file);
    free(r);
}
