#include "core/record/recording.h"

#include "core/base/clock.h"
#include "core/record/environment.h"
#include "core/record/recording_file.h"
#include "core/wire/record_build.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#define BUFFER_BYTES (256u << 10)
/* Measured with 1,000 samples per second and 20 per flush: level 1 compresses 8.3 to 1 at 1.2 us
 * per record; level 6 9.0 to 1 at 1.9 us; level 9 9.5 to 1 at 6 us. */
#define LEVEL 1

struct recording_writer {
    int fd;
    char *path;
    int failed;    /* errno of the first failure; 0: none */
    bool deflated; /* appended data is compressed with z */
    bool dirty;    /* z contains data that a flush would write */
    z_stream z;
    uint8_t *out; /* BUFFER_BYTES bytes that wait to be written to the kernel */
    size_t used;
};

static int write_failed(const struct recording_writer *w, struct err *e) {
    return err_exit_as(e, ERR_EXIT_PROFILER, w->failed,
                       "cannot write the recording %s: %s; it ends before this point", w->path,
                       strerror(w->failed));
}

/* ---- bytes ---- */

static void write_out(struct recording_writer *w) {
    size_t done = 0;
    while (!w->failed && done < w->used) {
        ssize_t n = write(w->fd, w->out + done, w->used - done);
        if (n < 0 && errno != EINTR)
            w->failed = errno;
        else if (n == 0)
            w->failed = EIO;
        else if (n > 0)
            done += (size_t)n;
    }
    w->used = 0;
}

/* `how` is a zlib value: Z_NO_FLUSH, or one that flushes everything. */
static void run_deflate(struct recording_writer *w, int how) {
    int rc = Z_OK;
    do {
        w->z.next_out = w->out + w->used;
        w->z.avail_out = (uInt)(BUFFER_BYTES - w->used);
        rc = deflate(&w->z, how);
        w->used = BUFFER_BYTES - w->z.avail_out;
        if (w->z.avail_out == 0)
            write_out(w);
    } while (rc == Z_OK && !w->failed && w->z.avail_out == 0);
    if (rc == Z_STREAM_ERROR && !w->failed)
        w->failed = EIO;
}

static void append(struct recording_writer *w, const void *data, size_t length) {
    const uint8_t *from = data;
    if (w->failed || length == 0)
        return;
    if (w->deflated) {
        w->z.next_in = (z_const Bytef *)(uintptr_t)from;
        w->z.avail_in = (uInt)length;
        w->dirty = true;
        run_deflate(w, Z_NO_FLUSH);
        return;
    }
    while (length > 0 && !w->failed) {
        size_t room = BUFFER_BYTES - w->used, n = length < room ? length : room;
        memcpy(w->out + w->used, from, n);
        w->used += n;
        from += n;
        length -= n;
        if (w->used == BUFFER_BYTES)
            write_out(w);
    }
}

/* ---- the file ---- */

static int create_failed(const char *path, int code, const char *what, struct err *e) {
    return err_exit_as(e, ERR_EXIT_ARGUMENT, code, "cannot write the recording %.250s%s: %s", path,
                       strlen(path) > 250 ? "..." : "", what ? what : strerror(code));
}

static void writer_free(struct recording_writer *w) {
    if (w->deflated)
        deflateEnd(&w->z);
    free(w->out);
    free(w->path);
    free(w);
}

/* Files are kept and should be small; readers of pipes get plain records. */
static int begin_deflate(struct recording_writer *w) {
    struct stat st;
    if (fstat(w->fd, &st) != 0 || !S_ISREG(st.st_mode))
        return 0;
    uint64_t word = wire_header_word(WIRE_DEFLATE, sizeof word);
    append(w, &word, sizeof word);
    if (deflateInit(&w->z, LEVEL) != Z_OK)
        return -ENOMEM;
    w->deflated = true;
    return 0;
}

static int begin_file(struct recording_writer *w) {
    struct wire_file_header header = {
        .magic = WIRE_FILE_MAGIC,
        .major = WIRE_FILE_MAJOR,
    };
    append(w, &header, sizeof header);
    int result = begin_deflate(w);
    write_out(w); /* from now on the file is a valid recording, although empty */
    return result;
}

static int create(const char *path, bool fresh, struct recording_writer **out, struct err *e) {
    *out = NULL;
    const char *why = NULL;
    struct recording_writer *w = calloc(1, sizeof *w);
    if (!w)
        return err_set(e, ENOMEM, "out of memory");
    w->path = strdup(path);
    w->out = malloc(BUFFER_BYTES);
    if (!w->path || !w->out) {
        writer_free(w);
        return err_set(e, ENOMEM, "out of memory");
    }
    w->fd = recording_file_open(path, fresh, &why);
    if (w->fd < 0) {
        int code = errno;
        writer_free(w);
        return create_failed(path, code, why, e);
    }
    if (begin_file(w) < 0) {
        close(w->fd);
        writer_free(w);
        return err_set(e, ENOMEM, "out of memory");
    }
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

/* Appends a record of `fixed` bytes, whose first word is the header, followed by two strings. */
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
    uint64_t record[RECORD_BUILD_BYTES / 8];
    record_build_symbol(record, address, kind, wire_text_of(name), wire_text_of(module));
    recording_write(w, record);
}

static void write_environment(struct recording_writer *w, uint32_t pid) {
    struct wire_environment environment = {0};
    char *text = malloc(ENVIRONMENT_SIZE);
    if (!text)
        return;
    environment.text_bytes = (uint32_t)environment_describe((pid_t)pid, text, ENVIRONMENT_SIZE);
    append_with_text(w, WIRE_ENVIRONMENT, &environment, sizeof environment, text,
                     environment.text_bytes, "", 0);
    free(text);
}

void recording_write_jvm(struct recording_writer *w, uint32_t pid, const char *name,
                         const char *version) {
    struct wire_jvm jvm = {
        .start_ns = clock_ns(CLOCK_REALTIME),
        .clock_ns = clock_ns(CLOCK_MONOTONIC),
        .pid = pid,
        .name_bytes = (uint16_t)strnlen(name, WIRE_STRING_MAX),
        .version_bytes = (uint16_t)strnlen(version, WIRE_STRING_MAX),
    };
    append_with_text(w, WIRE_JVM, &jvm, sizeof jvm, name, jvm.name_bytes, version,
                     jvm.version_bytes);
    write_environment(w, pid);
}

int recording_flush(struct recording_writer *w, struct err *e) {
    if (w->dirty && !w->failed)
        run_deflate(w, Z_SYNC_FLUSH);
    w->dirty = false;
    write_out(w);
    return w->failed ? write_failed(w, e) : 0;
}

int recording_finish(struct recording_writer *w, struct err *e) {
    if (!w)
        return 0;
    if (w->deflated && !w->failed)
        run_deflate(w, Z_FINISH);
    write_out(w);
    if (close(w->fd) != 0 && !w->failed)
        w->failed = errno;
    int result = w->failed ? write_failed(w, e) : 0;
    writer_free(w);
    return result;
}

#define INPUT_BYTES (64u << 10)

struct recording_reader {
    FILE *file;
    uint64_t good;
    bool damaged;
    bool deflated, ended; /* a zlib stream follows; all of it was read */
    uint64_t begun;       /* where that stream began in the file */
    z_stream z;
    uint8_t *input;
};

static int open_file(const char *path, FILE **out, struct err *e) {
    /* Opens without blocking, because the path may be a pipe that nobody writes to. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat st;
    *out = NULL;
    if (fd < 0 || fstat(fd, &st) != 0) {
        int code = errno;
        if (fd >= 0)
            close(fd);
        return err_set(e, code, "cannot read the recording %s: %s", path, strerror(code));
    }
    FILE *file = S_ISREG(st.st_mode) ? fdopen(fd, "r") : NULL;
    if (!file) {
        close(fd);
        return err_set(e, EINVAL, "cannot read the recording %s: not a regular file", path);
    }
    setvbuf(file, NULL, _IOFBF, BUFFER_BYTES);
    *out = file;
    return 0;
}

int recording_open(const char *path, struct recording_reader **out, struct err *e) {
    FILE *file;
    struct wire_file_header header;
    *out = NULL;
    int result = open_file(path, &file, e);
    if (result < 0)
        return result;
    if (fread(&header, sizeof header, 1, file) != 1 || header.magic != WIRE_FILE_MAGIC) {
        fclose(file);
        return err_set(e, EINVAL, "%s is not a recording: it does not begin with JSTPREC1", path);
    }
    if (header.major != WIRE_FILE_MAJOR) {
        fclose(file);
        return err_set(e, EINVAL, "%s was recorded with format %u, this program reads format %u",
                       path, header.major, WIRE_FILE_MAJOR);
    }
    struct recording_reader *r = calloc(1, sizeof *r);
    if (!r) {
        fclose(file);
        return err_set(e, ENOMEM, "out of memory");
    }
    r->file = file;
    r->good = sizeof header;
    *out = r;
    return 0;
}

static bool begin_inflate(struct recording_reader *r) {
    r->input = malloc(INPUT_BYTES);
    if (!r->input || inflateInit(&r->z) != Z_OK)
        return false;
    r->deflated = true;
    r->begun = r->good;
    return true;
}

/* Reads up to `bytes` bytes. It returns fewer only at the end, or if the stream is damaged. */
static size_t take_inflated(struct recording_reader *r, void *out, size_t bytes) {
    r->z.next_out = out;
    r->z.avail_out = (uInt)bytes;
    while (r->z.avail_out > 0 && !r->ended && !r->damaged) {
        if (r->z.avail_in == 0) {
            r->z.next_in = r->input;
            r->z.avail_in = (uInt)fread(r->input, 1, INPUT_BYTES, r->file);
        }
        if (r->z.avail_in == 0)
            break;
        int rc = inflate(&r->z, Z_NO_FLUSH);
        if (rc == Z_STREAM_END)
            r->ended = true;
        else if (rc != Z_OK)
            r->damaged = true;
    }
    return bytes - r->z.avail_out;
}

static size_t take(struct recording_reader *r, void *out, size_t bytes) {
    return r->deflated ? take_inflated(r, out, bytes) : fread(out, 1, bytes, r->file);
}

uint32_t recording_read(struct recording_reader *r, void *out) {
    uint64_t word;
    if (r->damaged)
        return 0;
    size_t got = take(r, &word, sizeof word);
    if (got == 0 && !r->damaged && (r->deflated || feof(r->file)))
        return 0;
    uint32_t length = got == sizeof word ? wire_header_length(word) : 0;
    if (length == sizeof word && wire_header_type(word) == WIRE_DEFLATE && !r->deflated) {
        r->good += length;
        r->damaged = !begin_inflate(r);
        return recording_read(r, out);
    }
    if (length < sizeof word || length % 8 || length > WIRE_RECORD_BYTES_MAX ||
        take(r, (uint8_t *)out + sizeof word, length - sizeof word) != length - sizeof word) {
        r->damaged = true;
        return 0;
    }
    memcpy(out, &word, sizeof word);
    r->good = r->deflated ? r->begun + r->z.total_in : r->good + length;
    return length;
}

uint64_t recording_damage(const struct recording_reader *r) {
    return r->damaged ? r->good : 0;
}

bool recording_is_unfinished(const struct recording_reader *r) {
    return r->deflated && !r->ended;
}

void recording_free(struct recording_reader *r) {
    if (!r)
        return;
    if (r->deflated)
        inflateEnd(&r->z);
    free(r->input);
    fclose(r->file);
    free(r);
}
