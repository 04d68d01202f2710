/* Finds directories in the JVM's own file system where its user may be able to write. */
#include "attach/place/place_parts.h"

#include "attach/proc/inside.h"
#include "attach/proc/proc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOUNTS_MAX 12

static bool same_user_namespace(pid_t pid) {
    struct stat ours, theirs;
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/ns/user", (int)pid);
    return stat("/proc/self/ns/user", &ours) != 0 || stat(path, &theirs) != 0 ||
           ours.st_ino == theirs.st_ino;
}

unsigned place_inner_uid(const struct jvm *j) {
    char text[1024];
    ssize_t n = same_user_namespace(j->pid) ? 0 : proc_read(j->pid, "uid_map", text, sizeof text);
    unsigned inside, outside, count;
    int used;
    for (const char *p = text;
         n > 0 && sscanf(p, "%u %u %u%n", &inside, &outside, &count, &used) == 3; p += used)
        if (j->uid >= outside && j->uid - outside < count)
            return inside + (j->uid - outside);
    return j->uid;
}

/* Reads what fits into the buffer and adds a NUL. */
static size_t read_all(int fd, char *buffer, size_t size) {
    size_t length = 0;
    ssize_t n = 1;
    while (fd >= 0 && n > 0 && length < size - 1) {
        n = pread(fd, buffer + length, size - 1 - length, (off_t)length);
        length += n > 0 ? (size_t)n : 0;
    }
    buffer[length] = '\0';
    return length;
}

/* Finds HOME in the JVM's environment. */
static bool find_home(struct place_task *t, char *out, size_t size) {
    static const char name[] = "HOME=/";
    size_t length = read_all(t->environment, t->buffer, sizeof t->buffer);
    for (size_t at = 0; at < length;) {
        const char *word = t->buffer + at;
        size_t n = strnlen(word, length - at);
        if (strncmp(word, name, sizeof name - 1) == 0 && n - (sizeof name - 2) < size) {
            snprintf(out, size, "%s", word + sizeof name - 2);
            return true;
        }
        at += n + 1;
    }
    return false;
}

/* Decodes in place: the kernel writes "\040" for a character that would break its lines. */
static void unescape(char *s) {
    char *to = s;
    for (; *s; to++) {
        bool octal = s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' &&
                     s[3] >= '0' && s[3] <= '7';
        if (octal)
            *to = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
        else
            *to = *s;
        s += octal ? 4 : 1;
    }
    *to = '\0';
}

/* File systems that keep files, and do not wait for another machine or process. */
static bool keeps_files(const char *kind) {
    static const char *const known[] = {"tmpfs", "ext4", "xfs",  "btrfs", "overlay", "ext3",
                                        "ext2",  "zfs",  "f2fs", "ramfs", "bcachefs"};
    size_t n = strcspn(kind, " \n");
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strlen(known[i]) == n && memcmp(known[i], kind, n) == 0)
            return true;
    return false;
}

/* Finds the mount point in a line: field 5 of "ID PARENT DEV ROOT PLACE OPTIONS … - KIND …". NULL:
 * not usable. Changes `line`. */
static char *mounted_at(char *line) {
    const char *kind = strstr(line, " - ");
    if (!kind || !keeps_files(kind + 3))
        return NULL;
    char *rest = line, *field = NULL;
    for (int i = 0; i < 5; i++)
        if (!(field = strsep(&rest, " ")))
            return NULL;
    const char *options = rest ? strsep(&rest, " ") : NULL;
    if (!options || strncmp(options, "rw", 2) != 0 || strstr(options, "noexec"))
        return NULL;
    unescape(field);
    return field[0] == '/' && strlen(field) < PLACE_DIR_MAX ? field : NULL;
}

static bool take_mounts(struct place_task *t, bool (*take)(struct place_task *t, const char *dir)) {
    read_all(t->mounts, t->buffer, sizeof t->buffer);
    char *rest = t->buffer, *line;
    for (int taken = 0; taken < MOUNTS_MAX && (line = strsep(&rest, "\n"));) {
        const char *dir = mounted_at(line);
        if (!dir)
            continue;
        if (take(t, dir))
            return true;
        taken++;
    }
    return false;
}

bool place_dirs(struct place_task *t, bool (*take)(struct place_task *t, const char *dir)) {
    char dir[PLACE_DIR_MAX];
    snprintf(dir, sizeof dir, "/run/user/%u", t->inner_uid);
    if (take(t, "/tmp") || take(t, "/dev/shm") || take(t, "/var/tmp") || take(t, dir))
        return true;
    if (t->cwd >= 0 && inside_path(t->root, t->cwd, dir, sizeof dir) == 0 && take(t, dir))
        return true;
    if (find_home(t, dir, sizeof dir) && take(t, dir))
        return true;
    return take_mounts(t, take);
}
