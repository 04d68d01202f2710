#include "tui/cli/output/piped_input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK 65536

/* Opens the copy: on disk, or in memory if the directory for temporary files does not support files
 * without a name. */
static int open_copy(void) {
    const char *place = getenv("TMPDIR");
    int fd = open(place && *place ? place : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    return fd >= 0 ? fd : memfd_create("jtop-prof-input", MFD_CLOEXEC);
}

static int write_all(int fd, const char *data, size_t bytes) {
    while (bytes > 0) {
        ssize_t n = write(fd, data, bytes);
        if (n < 0 && errno != EINTR)
            return -errno;
        if (n > 0) {
            data += n;
            bytes -= (size_t)n;
        }
    }
    return 0;
}

/* Copies at most as much as this machine has memory: more could not be read anyway. */
static int copy_all(int from, int to) {
    static char block[BLOCK];
    uint64_t most = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE), bytes = 0;
    for (;;) {
        ssize_t n = read(from, block, sizeof block);
        if (n == 0)
            return 0;
        if (n < 0 && errno != EINTR)
            return -errno;
        bytes += n > 0 ? (uint64_t)n : 0;
        int r = bytes > most ? -EFBIG : n > 0 ? write_all(to, block, (size_t)n) : 0;
        if (r < 0)
            return r;
    }
}

static bool is_stream(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 &&
           (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)); /* not a device such as /dev/zero */
}

/* Returns the descriptor in "/dev/stdin", "/dev/fd/63" or "/proc/self/fd/63"; -1: another path. */
static int descriptor_of(const char *path) {
    static const char *const places[] = {"/dev/fd/", "/proc/self/fd/"};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        size_t n = strlen(places[i]);
        if (strncmp(path, places[i], n) == 0 && path[n] >= '0' && path[n] <= '9')
            return atoi(path + n);
    }
    return strcmp(path, "/dev/stdin") == 0 ? STDIN_FILENO : -1;
}

/* Puts the copy in the place of the descriptor, so that the path stays the same. */
static int put_in_place(int copy, int descriptor, const char **path) {
    static char names[2][32];
    static unsigned used;
    if (descriptor >= 0) {
        if (dup2(copy, descriptor) < 0)
            return -errno;
        close(copy);
        return 0;
    }
    char *name = names[used++ % 2];
    snprintf(name, sizeof names[0], "/dev/fd/%d", copy);
    *path = name;
    return 0;
}

int spool_input(const char **path, struct err *e) {
    const char *shown = *path;
    if (strcmp(*path, "-") == 0) {
        struct stat st;
        *path = "/dev/stdin";
        shown = "standard input";
        if (isatty(STDIN_FILENO) || fstat(STDIN_FILENO, &st) != 0)
            return err_exit_as(e, ERR_EXIT_PROFILER, EINVAL,
                               "standard input is a terminal: \"-\" reads a profile from a pipe or "
                               "a file");
    }
    if (!is_stream(*path))
        return 0;
    int descriptor = descriptor_of(*path);
    int from = descriptor >= 0 ? dup(descriptor) : open(*path, O_RDONLY | O_CLOEXEC);
    int to = from >= 0 ? open_copy() : -1;
    int r = from < 0 || to < 0 ? -errno : copy_all(from, to);
    if (r == 0)
        r = put_in_place(to, descriptor, path);
    if (from >= 0)
        close(from);
    if (r < 0 && to >= 0)
        close(to);
    return r < 0 ? err_exit_as(e, ERR_EXIT_PROFILER, -r, "%s: %s", shown, strerror(-r)) : 0;
}
