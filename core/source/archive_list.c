#include "core/source/archive_list.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define END_BYTES 22u                   /* end of central directory record, without its comment */
#define TAIL_BYTES (END_BYTES + 65535u) /* with the longest comment */
#define LOCATOR_BYTES 20u
#define END64_BYTES 56u

static uint64_t number(const unsigned char *p, int bytes) {
    uint64_t n = 0;
    for (int i = bytes; i-- > 0;)
        n = n << 8 | p[i];
    return n;
}

static bool is_short(uint64_t entries, uint64_t bytes) {
    return entries <= ARCHIVE_ENTRIES_MAX && bytes <= ARCHIVE_LIST_BYTES_MAX;
}

/* Checks the record that has the numbers that do not fit into the old one. `locator` says where it
 * is. */
static bool is_short64(int fd, const unsigned char *locator) {
    unsigned char end[END64_BYTES];
    uint64_t at = number(locator + 8, 8);
    if (at > INT64_MAX || pread(fd, end, sizeof end, (off_t)at) != (ssize_t)sizeof end)
        return false;
    return memcmp(end, "PK\x06\x06", 4) != 0 || is_short(number(end + 32, 8), number(end + 40, 8));
}

/* A comment may contain what looks like another record, and a reader may take either. */
static bool all_are_short(int fd, const unsigned char *tail, size_t bytes) {
    for (size_t i = 0; i + END_BYTES <= bytes; i++) {
        const unsigned char *end = tail + i;
        if (memcmp(end, "PK\x05\x06", 4) != 0)
            continue;
        uint64_t list = number(end + 12, 4);
        bool has64 = i >= LOCATOR_BYTES && !memcmp(end - LOCATOR_BYTES, "PK\x06\x07", 4);
        if (list != UINT32_MAX && !is_short(number(end + 10, 2), list))
            return false;
        if (has64 && !is_short64(fd, end - LOCATOR_BYTES))
            return false;
    }
    return true;
}

bool archive_list_is_short(int fd, off_t size) {
    const size_t most = TAIL_BYTES + LOCATOR_BYTES;
    size_t bytes = size < (off_t)most ? (size_t)size : most;
    unsigned char *tail = malloc(most);
    bool is_short = tail && pread(fd, tail, bytes, size - (off_t)bytes) == (ssize_t)bytes &&
                    all_are_short(fd, tail, bytes);
    free(tail);
    return is_short;
}
