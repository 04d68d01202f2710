#include "core/session/mapping.h"

#include "attach/proc/credentials.h"
#include "attach/proc/errand.h"
#include "attach/proc/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#define LINK_TEXT "/memfd:" WIRE_MEMFD_NAME " (deleted)"
#define LOOK_MS 5000

/* Layout of an entry from getdents64(2). */
struct entry {
    uint64_t inode;
    int64_t next;
    unsigned short length;
    unsigned char type;
    char name[];
};

static int refuse(struct err *e, const char *why) {
    return err_exit_as(e, ERR_EXIT_PROFILER, EPROTO,
                       "the agent's shared memory is invalid: %s; check that the agent library has "
                       "the same version as this program",
                       why);
}

/* Checks a copy of the header. */
static const char *header_trouble(const struct wire_header *h, uint64_t session, uint64_t size) {
    if (h->magic != WIRE_MAGIC)
        return "wrong magic number";
    if (h->abi_major != WIRE_ABI_MAJOR)
        return "a different ABI";
    if (session && h->session != session)
        return "from another session";
    if (h->ring_bytes < WIRE_RING_BYTES_MIN || h->ring_bytes > WIRE_RING_BYTES_MAX ||
        (h->ring_bytes & (h->ring_bytes - 1)) != 0)
        return "impossible ring size";
    if (size < wire_mapping_bytes(h->ring_bytes))
        return "smaller than its header says";
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
    out->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    return 0;
}

/* Opens the target's descriptor with this name. It may be any file that is named like ours, so it
 * is checked through an O_PATH descriptor, which has no side effects, before it is opened. */
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

/* Also returns -errno if the directory can be read, but its links cannot: root may be in that
 * situation without CAP_SYS_PTRACE. Reading the link of the program needs the same right as reading
 * the link of a descriptor. */
static int open_descriptors(pid_t pid) {
    char path[64], program[8];
    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    if (readlink(path, program, sizeof program) < 0)
        return -errno;
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return dir < 0 ? -errno : dir;
}

/* Finds the descriptor whose file has this session's header; -ENOENT: there is none. Allocates
 * nothing. */
static int find_session(int dir, uint64_t session) {
    _Alignas(struct entry) char block[4096];
    ssize_t n;
    while ((n = syscall(SYS_getdents64, dir, block, sizeof block)) > 0) {
        const struct entry *entry;
        for (ssize_t at = 0; at < n; at += entry->length) {
            entry = (const void *)(block + at);
            int fd = open_theirs(dir, entry->name);
            if (fd >= 0 && is_session(fd, session))
                return fd;
            if (fd >= 0)
                close(fd);
        }
    }
    return n < 0 ? -errno : -ENOENT;
}

/* Does the same as the JVM's user, who may read what root without CAP_SYS_PTRACE may not. */
struct look {
    const struct jvm *jvm;
    bool only_try; /* only check whether the directory can be opened */
    uint64_t session;
};

static void look_as_user(void *context, void *result, int *fd) {
    const struct look *l = context;
    int32_t error = credentials_take(l->jvm->pid, l->jvm->uid, l->jvm->gid);
    int dir = error < 0 ? error : open_descriptors(l->jvm->pid);
    if (dir >= 0 && !l->only_try)
        *fd = find_session(dir, l->session);
    error = dir < 0 ? -dir : *fd < 0 ? -*fd : 0;
    if (dir >= 0 && l->only_try)
        error = 0;
    memcpy(result, &error, sizeof error);
}

/* 0, with the descriptor that was found in *fd; or -errno. */
static int send_looker(struct look *l, int *fd) {
    int32_t error = EACCES;
    int rc = errand_run(look_as_user, l, proc_now_ns() + LOOK_MS * UINT64_C(1000000), &error,
                        sizeof error, fd);
    return rc < 0 ? rc : -error;
}

/* Returns the mapping's descriptor, or -errno. */
static int look(const struct jvm *j, uint64_t session) {
    int dir = open_descriptors(j->pid), fd = -1;
    if (dir >= 0) {
        fd = find_session(dir, session);
        close(dir);
    }
    struct look l = {.jvm = j, .session = session};
    if (fd >= 0 || geteuid() != 0 || j->uid == 0)
        return dir < 0 ? dir : fd;
    /* Root may open any directory, but without CAP_SYS_PTRACE it may not follow the links in
     * this one. */
    int rc = send_looker(&l, &fd);
    return rc < 0 ? rc : fd;
}

int mapping_find(const struct jvm *j, uint64_t session, struct mapping *out, struct err *e) {
    *out = (struct mapping){0};
    int fd = look(j, session);
    if (fd == -ENOENT)
        return err_exit_as(e, ERR_EXIT_PROFILER, ENOENT,
                           "the agent was loaded, but its shared memory is not among the open "
                           "files in /proc/%d/fd",
                           (int)j->pid);
    if (fd < 0)
        return err_set(e, -fd, "cannot read /proc/%d/fd: %s", (int)j->pid, strerror(-fd));
    int result = mapping_of_fd(fd, session, out, e);
    close(fd);
    return result;
}

int mapping_make_fd(uint64_t ring_bytes, struct err *e) {
    int fd = memfd_create(WIRE_MEMFD_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return err_set(e, errno, "cannot create shared memory: %s", strerror(errno));
    if (ftruncate(fd, (off_t)wire_mapping_bytes(ring_bytes)) != 0 ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
        int code = errno;
        close(fd);
        return err_set(e, code, "cannot create %llu bytes of shared memory: %s",
                       (unsigned long long)ring_bytes, strerror(code));
    }
    return fd;
}

int mapping_may_look(const struct jvm *j) {
    int dir = open_descriptors(j->pid), fd = -1;
    if (dir >= 0)
        close(dir);
    if (dir >= 0 || geteuid() != 0 || j->uid == 0)
        return dir < 0 ? dir : 0;
    struct look l = {.jvm = j, .only_try = true};
    return send_looker(&l, &fd);
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
    if (m->wire && m->fd >= 0)
        close(m->fd);
    *m = (struct mapping){0};
}
