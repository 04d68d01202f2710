#include "core/record/recording_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINKS_MAX 8 /* number of links that are followed; more are considered to be a loop */

/* Returns the descriptor that a name stands for, or -1. Such a name has no entry in a directory. */
static int named_fd(const char *path) {
    static const char *const dir[] = {"/dev/fd/", "/proc/self/fd/"};
    if (strcmp(path, "/dev/stdout") == 0)
        return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0)
        return STDERR_FILENO;
    for (size_t i = 0; i < sizeof dir / sizeof dir[0]; i++) {
        const char *number = path + strlen(dir[i]);
        if (strncmp(path, dir[i], strlen(dir[i])) == 0 && *number && strlen(number) < 7 &&
            !number[strspn(number, "0123456789")])
            return (int)strtol(number, NULL, 10);
    }
    return -1;
}

/* Opens the directory of a path that begins at `from`, and returns the path's last part.
 * -1: errno. */
static int open_directory(int from, const char *path, const char **base) {
    char dir[PATH_MAX];
    size_t length = strlen(path);
    const char *slash = strrchr(path, '/');
    *base = slash ? slash + 1 : path;
    if (!length || length >= sizeof dir || !**base) {
        errno = !length ? ENOENT : length >= sizeof dir ? ENAMETOOLONG : EISDIR;
        return -1;
    }
    snprintf(dir, sizeof dir, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    return openat(from, dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* Another user who can create files beside ours must not be able to make us write to an unintended
 * place: through a link, or into a file that he can read. NULL: the file may be written; otherwise
 * the reason why not. */
static const char *distrust(int dir, const struct stat *found) {
    struct stat in;
    uid_t me = geteuid();
    if (fstat(dir, &in))
        return "its directory cannot be checked";
    bool sticky = in.st_mode & S_ISVTX;
    if (found->st_uid == me || S_ISCHR(found->st_mode))
        return NULL;
    if (S_ISLNK(found->st_mode))
        return found->st_uid != 0 && (sticky || in.st_uid != me)
                   ? "it is another user's symbolic link; choose another name"
                   : NULL;
    return sticky && in.st_uid != me ? "it belongs to another user, and its directory is sticky; "
                                       "choose another name"
                                     : NULL;
}

/* An existing file is first opened without access (O_PATH) and checked, then opened for writing
 * through that descriptor, so that nobody can replace it in between. */
static int reopen(int found) {
    char self[48];
    snprintf(self, sizeof self, "/proc/self/fd/%d", found);
    return open(self, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY);
}

/* Opens the file of that name in the directory. -1 and errno, or *why. A symbolic link is not
 * opened: its target goes to `link`. */
static int open_in(int dir, const char *base, bool fresh, char link[PATH_MAX], const char **why) {
    struct stat st;
    int found = fresh ? -1 : openat(dir, base, O_PATH | O_NOFOLLOW | O_CLOEXEC), fd = -1;
    if (fresh || (found < 0 && errno == ENOENT))
        return openat(dir, base, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY,
                      0644);
    if (found < 0)
        return -1;
    int code = 0;
    if (fstat(found, &st)) {
        code = errno;
    } else if ((*why = distrust(dir, &st))) {
        code = EPERM;
    } else if (S_ISLNK(st.st_mode)) {
        ssize_t n = readlinkat(found, "", link, PATH_MAX - 1);
        code = n < 0 ? errno : ELOOP;
        link[n > 0 ? n : 0] = '\0';
    } else {
        fd = reopen(found);
        code = errno;
    }
    close(found);
    errno = code;
    return fd;
}

int recording_file_open(const char *path, bool fresh, const char **why) {
    char at[PATH_MAX], link[PATH_MAX] = "";
    int from = AT_FDCWD, fd = fresh ? -1 : named_fd(path);
    if (fd >= 0)
        return fcntl(fd, F_DUPFD_CLOEXEC, 0);
    for (int links = 0; links <= LINKS_MAX; links++) {
        const char *base;
        int dir = open_directory(from, links ? at : path, &base), code = errno;
        if (from >= 0)
            close(from);
        from = dir;
        link[0] = '\0';
        if (dir >= 0) {
            fd = open_in(dir, base, fresh, link, why);
            code = errno;
        }
        errno = code;
        if (fd >= 0 || !link[0])
            break;
        memcpy(at, link, sizeof at); /* a relative link begins at this directory, an absolute one at
                                        the root */
    }
    int code = errno;
    if (from >= 0)
        close(from);
    errno = code;
    return fd;
}
