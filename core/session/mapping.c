#include "core/session/mapping.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define LINK_TEXT "/memfd:" WIRE_MEMFD_NAME " (deleted)"

static int refuse(struct err *e, const char *why) {
    return err_exit_as(e, ERR_EXIT_PROFILER, EPROTO,
                       "the agent's shared memory is not what it should be: %s; is the agent "
                       "library of the same version as this program?",
                       why);
}

/* Checks a copy of the header. */
static const char *header_trouble(const struct wire_header *h, uint64_t session, uint64_t size) {
    if (h->magic != WIRE_MAGIC)
        return "wrong magic number";
    if (h->abi_major != WIRE_ABI_MAJOR)
        return "another ABI";
    if (session && h->session != session)
        return "another session's";
    if (h->ring_bytes < WIRE_RING_BYTES_MIN || h->ring_bytes > WIRE_RING_BYTES_MAX ||
        (h->ring_bytes & (h->ring_bytes - 1)) != 0)
        return "impossible ring size";
    if (size < wire_mapping_bytes(h->ring_bytes))
        return "smaller than it says";
    return NULL;
}

int mapping_of_fd(int fd, uint64_t session, struct mapping *out, struct err *e) {
    struct stat st;
    *out = (struct mapping){0};
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return refuse(e, "not a file in memory");
    int seals = fcntl(fd, F_GET_SEALS);
    if (seals < 0 || !(seals & F_SEAL_SHRINK))
        return refuse(e, "not sealed against shrinking");
    struct wire_header header;
    if (pread(fd, &header, sizeof header, 0) != (ssize_t)sizeof header)
        return refuse(e, "no header");
    const char *trouble = header_trouble(&header, session, (uint64_t)st.st_size);
    if (trouble)
        return refuse(e, trouble);
    size_t bytes = (size_t)wire_mapping_bytes(header.ring_bytes);
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED)
        return err_exit_as(e, ERR_EXIT_PROFILER, errno, "cannot map %zu bytes of shared memory: %s",
                           bytes, strerror(errno));
    out->wire = p;
    out->ring_bytes = header.ring_bytes;
    return 0;
}

/* Opens what the target calls its descriptor N. It may be anything that is named like ours, so it
 * is looked at (O_PATH has no side effects) before it is opened. */
static int open_theirs(int dir, const char *name) {
    char link[64];
    ssize_t n = readlinkat(dir, name, link, sizeof link);
    if (n != (ssize_t)strlen(LINK_TEXT) || memcmp(link, LINK_TEXT, (size_t)n) != 0)
        return -ENOENT;
    int path_fd = openat(dir, name, O_PATH | O_CLOEXEC);
    if (path_fd < 0)
        return -errno;
    struct stat st;
    struct statfs fs;
    int result = -ENOENT;
    if (fstat(path_fd, &st) == 0 && S_ISREG(st.st_mode) && fstatfs(path_fd, &fs) == 0 &&
        fs.f_type == TMPFS_MAGIC) {
        char ours[64];
        snprintf(ours, sizeof ours, "/proc/self/fd/%d", path_fd);
        result = open(ours, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        if (result < 0)
            result = -errno;
    }
    close(path_fd);
    return result;
}

static bool is_session(int fd, uint64_t session) {
    struct wire_header header;
    return pread(fd, &header, sizeof header, 0) == (ssize_t)sizeof header &&
           header.magic == WIRE_MAGIC && header.session == session;
}

static DIR *open_descriptors(pid_t pid) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    return opendir(path);
}

int mapping_find(const struct jvm *j, uint64_t session, struct mapping *out, struct err *e) {
    pid_t pid = j->pid;
    *out = (struct mapping){0};
    DIR *dir = open_descriptors(pid);
    if (!dir)
        return err_set(e, errno, "cannot look into /proc/%d/fd: %s", (int)pid, strerror(errno));
    int result = 1;
    for (struct dirent *entry; result == 1 && (entry = readdir(dir));) {
        int fd = open_theirs(dirfd(dir), entry->d_name);
        if (fd < 0)
            continue;
        if (is_session(fd, session))
            result = mapping_of_fd(fd, session, out, e);
        close(fd);
    }
    closedir(dir);
    if (result == 1)
        return err_exit_as(e, ERR_EXIT_PROFILER, ENOENT,
                           "the agent was loaded, but its shared memory is not among the open "
                           "files in /proc/%d/fd",
                           (int)pid);
    return result;
}

int mapping_make_fd(uint64_t ring_bytes, struct err *e) {
    int fd = memfd_create(WIRE_MEMFD_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return err_set(e, errno, "cannot make shared memory: %s", strerror(errno));
    if (ftruncate(fd, (off_t)wire_mapping_bytes(ring_bytes)) != 0 ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
        int code = errno;
        close(fd);
        return err_set(e, code, "cannot make %llu bytes of shared memory: %s",
                       (unsigned long long)ring_bytes, strerror(code));
    }
    return fd;
}

int mapping_may_look(const struct jvm *j) {
    DIR *dir = open_descriptors(j->pid);
    if (!dir)
        return -errno;
    closedir(dir);
    return 0;
}

struct wire_unwind *mapping_unwind(const struct mapping *m) {
    return (void *)((uint8_t *)m->wire + wire_unwind_offset(m->ring_bytes));
}

_Atomic uint8_t *mapping_threads(const struct mapping *m) {
    return (void *)((uint8_t *)m->wire + wire_threads_offset(m->ring_bytes));
}

void mapping_close(struct mapping *m) {
    if (m->wire)
        munmap(m->wire, (size_t)wire_mapping_bytes(m->ring_bytes));
    *m = (struct mapping){0};
}
