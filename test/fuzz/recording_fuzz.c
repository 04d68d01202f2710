/*
 * Hostile recordings, from the file to what a person would look at.
 *
 * Input: one byte of flags, then the file.
 *      1   a file header goes before it
 *      2   it is compressed first, behind a WIRE_DEFLATE: mutations reach the records, not zlib
 *      4   only a part of the time
 *      8   only some threads
 *      16  patterns of frames
 */
#include "core/profile/snapshot/snapshot.h"
#include "core/session/session.h"
#include "core/wire/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#define SIZE_MAX_TAKEN (8u << 10) /* zlib makes a thousand times that of it */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds) {
    if (!holds)
        abort();
}

static void put(int fd, const void *data, size_t size) {
    check(write(fd, data, size) == (ssize_t)size);
}

static void put_deflated(int fd, const uint8_t *data, size_t size) {
    static uint8_t out[2 * SIZE_MAX_TAKEN];
    uint64_t word = wire_header_word(WIRE_DEFLATE, sizeof word);
    uLongf length = sizeof out;
    check(compress2(out, &length, data, size, 1) == Z_OK);
    put(fd, &word, sizeof word);
    put(fd, out, length);
}

static int make_file(uint8_t flags, const uint8_t *data, size_t size) {
    int fd = memfd_create("recording", MFD_CLOEXEC);
    check(fd >= 0);
    struct wire_file_header header = {WIRE_FILE_MAGIC, WIRE_FILE_MAJOR, 0};
    if (flags & 1)
        put(fd, &header, sizeof header);
    if (flags & 2)
        put_deflated(fd, data, size);
    else
        put(fd, data, size);
    return fd;
}

static void look(struct session *s, uint8_t flags) {
    static const char *const include[] = {"java/*", "*.run", "*_[k]"}, *const exclude[] = {"*a*"};
    struct session_status st;
    session_status(s, &st);
    struct profile *p = session_lock(s);
    for (int event = 0; event < EVENT_KINDS; event++) {
        struct query q = {.event = event, .tree = true, .by_thread = flags & 8};
        struct snapshot *all = snapshot_take(p, &q);
        q.include = include;
        q.exclude = exclude;
        q.includes = flags & 16 ? 3 : 0;
        q.excludes = flags & 16 ? 1 : 0;
        struct snapshot *some = snapshot_take(p, &q);
        check(all && some && some->weight <= all->weight && some->samples <= all->samples);
        snapshot_free(all);
        snapshot_free(some);
    }
    session_unlock(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[48];
    struct session *s;
    struct err e;
    struct session_options o = {0};
    if (size < 1 || size > SIZE_MAX_TAKEN)
        return 0;
    uint8_t flags = data[0];
    int fd = make_file(flags, data + 1, size - 1);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (flags & 4) {
        o.from_ms = 10;
        o.to_ms = 500;
    }
    if (flags & 8)
        o.thread_pattern = "^[a-m]";
    if (session_replay(path, &o, &s, &e) == 0) {
        look(s, flags);
        session_close(s);
    }
    close(fd);
    return 0;
}
