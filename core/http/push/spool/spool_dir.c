#include "core/http/push/spool/spool_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCK "lock"

static int wrong(const char *path, int code, const char *what, struct err *e) {
    return err_set(e, code, "spool %.200s: %s", path, what);
}

static int check(const char *path, int dir, struct err *e) {
    struct stat st;
    if (fstat(dir, &st) != 0)
        return wrong(path, errno, strerror(errno), e);
    if (st.st_uid != geteuid())
        return err_set(e, EPERM,
                       "spool %.200s: belongs to uid %u, but this process runs as uid %u: give a "
                       "directory that belongs to uid %u",
                       path, (unsigned)st.st_uid, (unsigned)geteuid(), (unsigned)geteuid());
    if (st.st_mode & 077)
        return err_set(e, EPERM,
                       "spool %.200s: other users can read it (mode %03o): chmod 700 it, or give a "
                       "directory that does not exist yet",
                       path, (unsigned)st.st_mode & 0777);
    return 0;
}

static int take_lock(const char *path, int dir, struct err *e) {
    int fd = openat(dir, LOCK, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
    if (fd < 0)
        return err_set(e, errno, "spool %.200s: no files can be created in it: %s", path,
                       strerror(errno));
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        return fd;
    int code = errno;
    close(fd);
    return code == EWOULDBLOCK
               ? wrong(path, EBUSY, "another push uses it: give each its own directory", e)
               : wrong(path, code, strerror(code), e);
}

int spool_dir_open(const char *path, int *lock, struct err *e) {
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return err_set(e, errno, "spool %.200s: cannot be created: %s%s", path, strerror(errno),
                       errno == ENOENT ? "; create its parent directory first" : "");
    int dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (dir < 0 && (errno == ELOOP || errno == ENOTDIR))
        return wrong(path, ENOTDIR, "not a directory, but a link or something else", e);
    if (dir < 0)
        return wrong(path, errno, strerror(errno), e);
    int r = check(path, dir, e);
    if (r == 0)
        r = take_lock(path, dir, e);
    if (r < 0) {
        close(dir);
        return r;
    }
    *lock = r;
    return dir;
}

static int by_name(const void *a, const void *b) {
    const struct spool_dir_file *x = a, *y = b;
    return spool_name_compare(x->name, y->name);
}

static int add(struct spool_dir_file **list, uint32_t *count, struct spool_dir_file f) {
    if ((*count & (*count + 1)) == 0) { /* 0, 1, 3, 7 …: double the room */
        struct spool_dir_file *more = realloc(*list, 2 * ((size_t)*count + 1) * sizeof f);
        if (!more)
            return -ENOMEM;
        *list = more;
    }
    (*list)[(*count)++] = f;
    return 0;
}

int spool_dir_list(int dir, struct spool_dir_file **out, uint32_t *count) {
    *out = NULL;
    *count = 0;
    unlinkat(dir, "message.tmp", 0);
    int again = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = again >= 0 ? fdopendir(again) : NULL;
    if (!d) {
        int code = errno;
        if (again >= 0)
            close(again);
        return -code;
    }
    int r = 0;
    struct dirent *entry;
    while (r == 0 && *count < UINT32_MAX / 4 && (entry = readdir(d))) {
        struct spool_dir_file f;
        struct stat st;
        if (spool_name_parse(entry->d_name, &f.name) != 0 ||
            fstatat(dir, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        f.bytes = st.st_size > 0 ? (uint64_t)st.st_size : 0;
        r = add(out, count, f);
    }
    closedir(d);
    if (r != 0) {
        free(*out);
        *out = NULL;
        *count = 0;
        return r;
    }
    if (*count > 0)
        qsort(*out, *count, sizeof **out, by_name);
    return 0;
}
