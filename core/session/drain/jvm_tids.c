#include "core/session/drain/jvm_tids.h"

#include "attach/proc/proc.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TIDS_MAX 65536u
#define ANEW_NS UINT64_C(1000000000) /* minimum time between two complete readings of all threads */
/* The time between them is also at least this many times the duration of the last one */
#define ANEW_TIMES 100u

/* Start time of a process, in clock ticks: the 22nd field of its stat, the 20th after the name. */
static uint64_t start_ticks(int proc) {
    char text[1024];
    int fd = openat(proc, "stat", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    if (n <= 0)
        return 0;
    text[n] = '\0';
    char *p = strrchr(text, ')');
    for (int field = 0; p && field < 20; field++)
        p = strchr(p + 1, ' ');
    return p ? strtoull(p + 1, NULL, 10) : 0;
}

/* Reads the owner of a directory that belongs to root if the process has more rights than
 * its user. */
static bool read_owner(int proc, uid_t *owner) {
    struct stat st;
    if (fstatat(proc, "fd", &st, 0) != 0)
        return false;
    *owner = st.st_uid;
    return true;
}

static bool in_our_namespace(int proc) {
    struct stat theirs, ours;
    return fstatat(proc, "ns/pid", &theirs, 0) == 0 && stat("/proc/self/ns/pid", &ours) == 0 &&
           theirs.st_dev == ours.st_dev && theirs.st_ino == ours.st_ino;
}

int jvm_tids_open(struct jvm_tids *t, const struct jvm *j) {
    char path[32];
    snprintf(path, sizeof path, "/proc/%d", (int)j->pid);
    id_map_init(&t->outer, TIDS_MAX);
    id_map_init(&t->seen, TIDS_MAX);
    t->looked_at = t->anew_ns = 0;
    t->proc = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (t->proc < 0)
        return -errno;
    uint64_t start = start_ticks(t->proc);
    t->ours = in_our_namespace(t->proc);
    bool same = start && (start == j->start_ticks || !j->start_ticks);
    return same && read_owner(t->proc, &t->owner) ? 0 : -ESRCH;
}

void jvm_tids_close(struct jvm_tids *t) {
    if (t->proc >= 0)
        close(t->proc);
    t->proc = -1;
    id_map_free(&t->outer);
    id_map_free(&t->seen);
}

/* Returns the innermost number in the thread's status; 0: the JVM has no such thread. */
static uint32_t read_inner(const struct jvm_tids *t, uint32_t outer) {
    char text[4096];
    snprintf(text, sizeof text, "task/%u/status", outer);
    int fd = openat(t->proc, text, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    if (n <= 0)
        return 0;
    text[n] = '\0';
    const char *line = strstr(text, "\nNSpid:");
    if (!line) /* Linux before 4.1 */
        return outer;
    const char *end = strchr(line + 1, '\n');
    const char *last = end;
    while (last && last > line && !isspace((unsigned char)last[-1]))
        last--;
    return last ? (uint32_t)strtoul(last, NULL, 10) : 0;
}

bool jvm_tids_is(const struct jvm_tids *t, uint32_t outer, uint32_t inner) {
    uid_t owner;
    return outer && inner && read_inner(t, outer) == inner && read_owner(t->proc, &owner) &&
           owner == t->owner;
}

static void learn(struct jvm_tids *t, uint32_t outer) {
    uint32_t before;
    if (id_map_get(&t->seen, outer, &before))
        return;
    uint32_t inner = read_inner(t, outer);
    if (!inner)
        return;
    if (id_map_put(&t->seen, outer, inner) != 0 || id_map_put(&t->outer, inner, outer) != 0) {
        /* The map is full, mostly with threads that have ended. */
        id_map_clear(&t->seen);
        id_map_clear(&t->outer);
    }
}

/* Reads the status of new threads. */
static void look(struct jvm_tids *t) {
    int fd = openat(t->proc, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d) {
        if (fd >= 0)
            close(fd);
        return;
    }
    for (struct dirent *e; (e = readdir(d));) {
        unsigned long tid = strtoul(e->d_name, NULL, 10);
        t->looked_at++;
        if (tid > 0 && tid <= INT_MAX)
            learn(t, (uint32_t)tid);
    }
    closedir(d);
}

static bool known(struct jvm_tids *t, uint32_t inner, uint32_t *outer) {
    if (!id_map_get(&t->outer, inner, outer))
        return false;
    if (jvm_tids_is(t, *outer, inner))
        return true;
    id_map_remove(&t->outer, inner);
    id_map_remove(&t->seen, *outer);
    return false;
}

/* Reads all threads again, because a number that was read earlier may belong to another
 * thread by now. */
static void look_anew(struct jvm_tids *t) {
    uint64_t from = proc_now_ns();
    if (from < t->anew_ns)
        return;
    id_map_clear(&t->seen);
    id_map_clear(&t->outer);
    look(t);
    uint64_t now = proc_now_ns();
    uint64_t pause = (now - from) * ANEW_TIMES;
    t->anew_ns = now + (pause > ANEW_NS ? pause : ANEW_NS);
}

int jvm_tids_outer(struct jvm_tids *t, uint32_t inner, uint32_t *outer) {
    if (inner == 0 || inner > INT_MAX)
        return -ESRCH;
    *outer = inner;
    if (jvm_tids_is(t, inner, inner) || known(t, inner, outer))
        return 0;
    if (t->ours) /* most JVMs are: the thread has ended */
        return -ESRCH;
    look(t);
    if (known(t, inner, outer))
        return 0;
    look_anew(t);
    return known(t, inner, outer) ? 0 : -ESRCH;
}
