#include "symbols/unwind/unwind_cache.h"

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
#include <sys/uio.h>
#include <unistd.h>

/* Increase the number if the same ELF file gets other rows, or the layout of rows changes. */
#define MAGIC "jtop unwind 1\n"
#define PREFIX "unwind-"

/* The beginning of a file; `shape.count` rows follow. */
struct head {
    char magic[16];
    uint32_t head_bytes, row_bytes;
    struct unwind_identity id;
    struct unwind_table shape; /* its pointers are 0 */
};

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

/* The directory, or -1. */
static int open_directory(bool make) {
    char path[PATH_MAX];
    struct stat st;
    if (!home_path("XDG_CACHE_HOME", ".cache", "unwind", path, sizeof path)[0] || !is_at_home() ||
        (make && !make_directories(path, strlen(base()))))
        return -1;
    int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir >= 0 && is_own(dir, S_IFDIR, &st))
        return dir;
    if (dir >= 0)
        close(dir);
    return -1;
}

static void name_of(const struct unwind_identity *id, char out[64]) {
    snprintf(out, 64, PREFIX "%llx-%llx", (unsigned long long)id->device,
             (unsigned long long)id->inode);
}

static bool is_same(const struct unwind_identity *a, const struct unwind_identity *b) {
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           a->second == b->second && a->nanosecond == b->nanosecond;
}

/* Loading. */

static bool is_sound_head(const struct head *h, const struct unwind_identity *id, off_t bytes) {
    return memcmp(h->magic, MAGIC, sizeof MAGIC) == 0 && h->head_bytes == sizeof *h &&
           h->row_bytes == sizeof(struct unwind_row) && is_same(&h->id, id) && h->shape.count > 0 &&
           h->shape.count <= UNWIND_ROWS_LIMIT && h->shape.segment_count <= UNWIND_SEGMENTS &&
           (uint64_t)bytes == sizeof *h + h->shape.count * sizeof(struct unwind_row);
}

/* The last row says that nothing is known after it. */
static bool are_sound_rows(const struct unwind_row *row, size_t count) {
    bool good = row[count - 1].cfa == UNWIND_CFA_NONE && row[0].cfa < UNWIND_CFAS;
    for (size_t i = 1; i < count; i++)
        good &= (row[i].pc >= row[i - 1].pc) & (row[i].cfa < UNWIND_CFAS);
    return good;
}

/* The file is mapped, because pages of it are shared with others who use it, and need no memory. It
 * does not become shorter: it is only replaced as a whole. */
static bool map_table(int fd, const struct unwind_identity *id, struct unwind_table *out) {
    struct stat st;
    if (!is_own(fd, S_IFREG, &st) || st.st_size < (off_t)sizeof(struct head))
        return false;
    size_t bytes = (size_t)st.st_size;
    void *map = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    if (map == MAP_FAILED)
        return false;
    const struct head *h = map;
    struct unwind_row *rows = (struct unwind_row *)((char *)map + sizeof *h);
    if (!is_sound_head(h, id, st.st_size) || !are_sound_rows(rows, h->shape.count)) {
        munmap(map, bytes);
        return false;
    }
    *out = h->shape;
    out->rows = rows;
    out->map = map;
    out->map_bytes = bytes;
    return true;
}

bool unwind_cache_load(const struct unwind_identity *id, struct unwind_table *out) {
    char name[64];
    *out = (struct unwind_table){0};
    int dir = open_directory(false);
    if (dir < 0)
        return false;
    name_of(id, name);
    int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    close(dir);
    bool loaded = fd >= 0 && map_table(fd, id, out);
    if (fd >= 0)
        close(fd);
    return loaded;
}

/* Storing. */

/* Removes the oldest table, of a file that may not exist any more. False: there are not many. */
static bool remove_oldest(int dir) {
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
        if (strncmp(entry->d_name, PREFIX, sizeof PREFIX - 1) != 0 ||
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
    return count > UNWIND_CACHE_FILES && unlinkat(dir, oldest, 0) == 0;
}

static bool write_table(int fd, const struct unwind_identity *id, const struct unwind_table *t) {
    struct head h;
    memset(&h, 0, sizeof h); /* padding, too */
    memcpy(h.magic, MAGIC, sizeof MAGIC);
    h.head_bytes = sizeof h;
    h.row_bytes = sizeof *t->rows;
    h.id = *id;
    h.shape = *t;
    h.shape.rows = NULL;
    struct iovec piece[] = {{&h, sizeof h}, {t->rows, t->count * sizeof *t->rows}};
    return writev(fd, piece, 2) == (ssize_t)(piece[0].iov_len + piece[1].iov_len);
}

void unwind_cache_store(const struct unwind_identity *id, const struct unwind_table *t) {
    char name[64], scratch[96];
    int dir = t->count >= UNWIND_CACHE_ROWS ? open_directory(true) : -1;
    if (dir < 0)
        return;
    name_of(id, name);
    snprintf(scratch, sizeof scratch, "%s.%d", name, (int)getpid());
    unlinkat(dir, scratch, 0);
    int fd = openat(dir, scratch, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd >= 0) {
        bool written = write_table(fd, id, t);
        close(fd);
        if (!written || renameat(dir, scratch, dir, name) != 0)
            unlinkat(dir, scratch, 0);
        for (int i = 0; i < UNWIND_CACHE_FILES && remove_oldest(dir); i++)
            continue;
    }
    close(dir);
}
