#include "attach/proc/tmp_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

int tmp_dir_open(pid_t pid) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/root", (int)pid);
    int root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root < 0)
        return -errno;
    struct open_how how = {
        .flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
        .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
    };
    int fd = (int)syscall(SYS_openat2, root, "tmp", &how, sizeof how);
    /* Linux before 5.6, or a container's system call filter: then symbolic links are refused. */
    if (fd < 0 && (errno == ENOSYS || errno == EPERM))
        fd = openat(root, "tmp", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int error = errno;
    close(root);
    return fd < 0 ? -error : fd;
}
