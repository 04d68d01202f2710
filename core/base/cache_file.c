#include "core/base/cache_file.h"

#include "core/base/hash.h"
#include "core/base/home.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* The directory that must exist, below which others may be made. NULL: there is none. */
static const char *base(void) {
    const char *home = getenv("HOME"), *cache = getenv("XDG_CACHE_HOME");
    return cache && cache[0] == '/' ? cache : home;
}

/* Makes the directories of the path below the first `from` bytes. */
static bool make_directories(char *path, size_t from) {
    for (char *slash = strchr(path + from + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        bool made = mkdir(path, 0700) == 0 || errno == EEXIST;
        *slash = '/';
        if (!made)
            return false;
    }
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

/* False for root in another user's home (sudo): it would leave files that their owner cannot
 * change. */
static bool is_at_home(void) {
    const char *place = base();
    struct stat st;
    return place && stat(place, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid();
}

/* Whether only this user can have written it. */
static bool is_own(int fd, mode_t type, struct stat *st) {
    return fstat(fd, st) == 0 && (st->st_mode & S_IFMT) == type && st->st_uid == geteuid() &&
           !(st->st_mode & (S_IWGRP | S_IWOTH));
}

/* Whether another host may change its files: a page of a file that is gone then ends the process
 * that reads it (source: linux/magic.h, fs/smb, fs/ceph). */
static bool is_shared(int fd) {
    static const uint32_t types[] = {0x6969 /* NFS */,
                                     0x517b,
                                     0xff534d42,
                                     0xfe534d42 /* SMB */,
                                     0x65735546 /* FUSE */,
                                     0x01021997 /* 9P */,
                                     0x5346414f /* AFS */,
                                     0x00c36400 /* Ceph */};
    struct statfs st;
    bool shared = fstatfs(fd, &st) != 0;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        shared = shared || (uint32_t)st.f_type == types[i];
    return shared;
}

/* The directory, or -1. */
static int open_directory(const char *folder, bool make) {
    char path[PATH_MAX];
    struct stat st;
    if (!home_path("XDG_CACHE_HOME", ".cache", folder, path, sizeof path)[0] || !is_at_home() ||
        (make && !make_directories(path, strlen(base()))))
        return -1;
    int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir >= 0 && is_own(dir, S_IFDIR, &st) && !is_shared(dir))
        return dir;
    if (dir >= 0)
        close(dir);
    return -1;
}

bool cache_file_map(const char *folder, const char *name, struct cache_map *out) {
    struct stat st;
    *out = (struct cache_map){0};
    int dir = open_directory(folder, false);
    if (dir < 0)
        return false;
    int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    close(dir);
    if (fd >= 0 && is_own(fd, S_IFREG, &st) && st.st_size > 0) {
        void *map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
        if (map != MAP_FAILED)
            *out = (struct cache_map){map, (size_t)st.st_size};
    }
    if (fd >= 0)
        close(fd);
    return out->data != NULL;
}

void cache_file_unmap(struct cache_map *m) {
    if (m->data)
        munmap(m->data, m->bytes);
    *m = (struct cache_map){0};
}

/* Removes the oldest file. False: there are not many. */
static bool remove_oldest(int dir, const char *prefix, int most) {
    char oldest[NAME_MAX + 1] = "";
    struct timespec before = {0};
    int count = 0, copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = copy >= 0 ? fdopendir(copy) : NULL;
    if (!list) {
        if (copy >= 0)
            close(copy);
        return false;
    }
    const struct dirent *entry;
    while ((entry = readdir(list))) {
        struct stat st;
        if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0 ||
            fstatat(dir, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        count++;
        if (!oldest[0] || st.st_mtim.tv_sec < before.tv_sec ||
            (st.st_mtim.tv_sec == before.tv_sec && st.st_mtim.tv_nsec < before.tv_nsec)) {
            snprintf(oldest, sizeof oldest, "%s", entry->d_name);
            before = st.st_mtim;
        }
    }
    closedir(list);
    return count > most && unlinkat(dir, oldest, 0) == 0;
}

static bool write_all(int fd, const struct iovec *piece, int pieces) {
    size_t bytes = 0;
    for (int i = 0; i < pieces; i++)
        bytes += piece[i].iov_len;
    return writev(fd, piece, pieces) == (ssize_t)bytes;
}

void cache_file_store(const char *folder, const char *prefix, const char *name,
                      const struct iovec *piece, int pieces, int most) {
    char scratch[NAME_MAX + 1];
    int dir = open_directory(folder, true);
    if (dir < 0)
        return;
    snprintf(scratch, sizeof scratch, "%.200s.%llx", name, (unsigned long long)hash_seed());
    int fd = openat(dir, scratch, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd >= 0) {
        bool written = write_all(fd, piece, pieces);
        close(fd);
        if (!written || renameat(dir, scratch, dir, name) != 0)
            unlinkat(dir, scratch, 0);
        for (int i = 0; i < most && remove_oldest(dir, prefix, most); i++)
            continue;
    }
    close(dir);
}
