#include "attach/find/perf_file.h"

#include "attach/proc/inside.h"
#include "attach/proc/tmp_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "hsperfdata_"

enum {
    SIZE_MAX_BYTES = 1 << 20, /* -XX:PerfDataMemorySize is 32 KiB by default */
    NAMES_MAX = 100000,       /* entries of a /tmp that are searched at most */
};

static ssize_t copy(int fd, uid_t uid, void **data) {
    struct stat st;
    if (fstat(fd, &st) != 0)
        return -errno;
    if (!S_ISREG(st.st_mode) || (st.st_uid != uid && st.st_uid != 0))
        return -EPERM;
    if (st.st_size <= 0 || st.st_size > SIZE_MAX_BYTES)
        return -EFBIG;
    size_t size = (size_t)st.st_size, len = 0;
    char *buf = malloc(size);
    if (!buf)
        return -ENOMEM;
    /* The file is read, not mapped: its owner may truncate it at any time (SIGBUS). */
    while (len < size) {
        ssize_t n = pread(fd, buf + len, size - len, (off_t)len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        len += (size_t)n;
    }
    *data = buf;
    return (ssize_t)len;
}

static ssize_t read_in(int tmp, const char *dir_name, pid_t inner_pid, uid_t uid, void **data) {
    struct stat st;
    int dir = openat(tmp, dir_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (dir < 0)
        return -errno;
    ssize_t result = -EPERM;
    if (fstat(dir, &st) == 0 && (st.st_uid == uid || st.st_uid == 0)) {
        char name[16];
        snprintf(name, sizeof name, "%d", (int)inner_pid);
        /* A container's root may have put a device there: inside_read opens regular files only. */
        int fd = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        fd = fd < 0 ? -errno : inside_read(fd);
        result = fd < 0 ? fd : copy(fd, uid, data);
        if (fd >= 0)
            close(fd);
    }
    close(dir);
    return result;
}

static ssize_t search_all(int tmp, pid_t inner_pid, uid_t uid, void **data) {
    int fd = openat(tmp, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    DIR *d = fdopendir(fd);
    if (!d) {
        close(fd);
        return -ENOMEM;
    }
    ssize_t result = -ENOENT;
    const struct dirent *entry;
    for (int i = 0; result < 0 && i < NAMES_MAX && (entry = readdir(d)); i++)
        if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) == 0)
            result = read_in(tmp, entry->d_name, inner_pid, uid, data);
    closedir(d);
    return result < 0 ? -ENOENT : result;
}

ssize_t perf_file_read(pid_t pid, pid_t inner_pid, uid_t uid, const char *user, bool search,
                       bool own_tmp, void **data) {
    char dir_name[sizeof PREFIX + 64];
    int tmp = own_tmp ? open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC) : tmp_dir_open(pid);
    if (tmp < 0)
        return own_tmp ? -errno : tmp;
    snprintf(dir_name, sizeof dir_name, PREFIX "%s", user);
    ssize_t result = strchr(user, '/') ? -ENOENT : read_in(tmp, dir_name, inner_pid, uid, data);
    if (result < 0 && search)
        result = search_all(tmp, inner_pid, uid, data);
    close(tmp);
    return result;
}
