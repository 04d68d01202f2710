#include "symbols/elf/target_files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#ifndef BTRFS_SUPER_MAGIC
#define BTRFS_SUPER_MAGIC 0x9123683E
#endif

static bool same_mount_namespace(int proc) {
    struct stat theirs, ours;
    return fstatat(proc, "ns/mnt", &theirs, 0) == 0 && stat("/proc/self/ns/mnt", &ours) == 0 &&
           theirs.st_dev == ours.st_dev && theirs.st_ino == ours.st_ino;
}

int target_files_open(pid_t pid, struct target_files *t, struct err *e) {
    char path[32];
    *t = (struct target_files){.proc = -1, .root = -1, .own_root = -1};
    snprintf(path, sizeof path, "/proc/%d", (int)pid);
    t->proc = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (t->proc < 0) {
        if (errno == ENOENT)
            return err_set(e, ESRCH, "no process %d: %s does not exist; see jtop-prof --list",
                           (int)pid, path);
        return err_set(e, errno, "cannot open %s: %s", path, strerror(errno));
    }
    t->root = openat(t->proc, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
    t->own_root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    t->same_mount = same_mount_namespace(t->proc);
    return 0;
}

static void close_one(int *fd) {
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

void target_files_close(struct target_files *t) {
    close_one(&t->proc);
    close_one(&t->root);
    close_one(&t->own_root);
}

/* O_PATH opens nothing, whatever the file is. Only when the file is known to be regular, it is
 * opened again, by its descriptor, so that it is the same file. Takes over `fd`. */
static int reopen_regular(int fd) {
    struct stat st;
    int rc = fstat(fd, &st) < 0 ? -errno : S_ISREG(st.st_mode) ? 0 : -EINVAL;
    if (!rc) {
        char path[40];
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        rc = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        rc = rc < 0 ? -errno : rc;
    }
    close(fd);
    return rc;
}

int target_files_open_below(int root, const char *path) {
    struct open_how how = {
        .flags = O_PATH | O_CLOEXEC,
        .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
    };
    if (root < 0)
        return -EACCES;
    int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof how);
    if (fd < 0 && (errno == ENOSYS || errno == EPERM)) {
        /* Linux before 5.6, or an older container runtime that forbids it. Links in the directories
         * are followed in our root then; callers check what they got. */
        path += strspn(path, "/");
        fd = openat(root, path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    }
    return fd < 0 ? -errno : reopen_regular(fd);
}

/* Overlay file systems and btrfs subvolumes show other numbers in maps than in stat. */
static bool numbers_apply(int fd) {
    struct statfs fs;
    return fstatfs(fd, &fs) < 0 ||
           (fs.f_type != OVERLAYFS_SUPER_MAGIC && fs.f_type != (long)BTRFS_SUPER_MAGIC);
}

static bool is_mapped_file(int fd, const struct mapping *m) {
    struct stat st;
    return fstat(fd, &st) == 0 && st.st_ino == m->inode && major(st.st_dev) == m->major &&
           minor(st.st_dev) == m->minor;
}

/* The kernel's own link to the mapped file; needs CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE. */
static int open_map_files(const struct target_files *t, const struct mapping *m) {
    char path[64];
    snprintf(path, sizeof path, "map_files/%" PRIx64 "-%" PRIx64, m->start, m->end);
    int fd = openat(t->proc, path, O_PATH | O_CLOEXEC);
    return fd < 0 ? -errno : reopen_regular(fd);
}

int target_files_open_mapping(const struct target_files *t, const struct mapping *m) {
    int roots[] = {t->root, t->same_mount ? t->own_root : -1};
    int similar = -1; /* same path, but the numbers cannot be compared */
    int rc = -ENOENT;
    if (m->path[0] != '/')
        return -EINVAL;
    for (size_t i = 0; i < 2 && !m->deleted; i++) {
        int fd = target_files_open_below(roots[i], m->path);
        if (fd < 0) {
            rc = roots[i] < 0 || rc == -ESTALE ? rc : fd;
            continue;
        }
        if (is_mapped_file(fd, m)) {
            close_one(&similar);
            return fd;
        }
        if (similar < 0 && !numbers_apply(fd)) {
            similar = fd;
            continue;
        }
        close(fd);
        rc = -ESTALE;
    }
    int fd = open_map_files(t, m);
    if (fd >= 0) {
        close_one(&similar);
        return fd;
    }
    return similar >= 0 ? similar : m->deleted ? fd : rc;
}
