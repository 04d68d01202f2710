#include "core/record/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define BUFFER_BYTES (256u << 10)
#define INPUT_BYTES (64u << 10)

struct recording_reader {
    FILE *file;
    uint64_t good;
    bool damaged;
    bool deflated, ended; /* what follows is a zlib stream; all of it was read */
    uint64_t begun;       /* where in the file that began */
    z_stream z;
    uint8_t *input;
};

static int open_file(const char *path, FILE **out, struct err *e) {
    /* Not blocking: what is named here may be a pipe nobody writes to. */
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
        return err_set(e, EINVAL, "%s is no recording: it does not begin with JSTPREC1", path);
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

/* As many of the bytes as there are: fewer only at the end, or where the stream is broken. */
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
