#include "tui/cli/output/jfr_place.h"

#include "attach/proc/credentials.h"
#include "attach/proc/errand.h"
#include "attach/proc/inside.h"
#include "attach/proc/proc.h"
#include "attach/proc/tmp_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAMES 64 /* names of directories that are tried */
#define ERRAND_NS (10 * UINT64_C(1000000000))

struct task {
    const struct jfr_place *place;
    const char *settings;
    size_t bytes;
    unsigned serial; /* number of the first name that is tried */
};

struct answer {
    int result; /* 0 or -errno */
    char name[64];
};

/* Functions that run in the child: a single-threaded copy, which must neither allocate nor lock. */

static int become(const struct jvm *j) {
    return credentials_take(j->pid, j->uid, j->gid);
}

static int make_named(const struct task *t, char name[64]) {
    int r = -EEXIST;
    for (unsigned i = 0; i < NAMES && r == -EEXIST; i++) {
        snprintf(name, sizeof t->place->name, "jtop-prof-%d-%u", (int)getppid(), t->serial + i);
        r = mkdirat(t->place->tmp, name, 0700) == 0 ? 0 : -errno;
    }
    if (r < 0)
        name[0] = '\0';
    return r;
}

/* Opens the directory, and checks it: if other users control the /tmp, another directory may have
 * replaced the one that was made. */
static int open_named(const struct task *t, const char *name) {
    struct stat st;
    int dir = openat(t->place->tmp, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (dir < 0)
        return -errno;
    if (fstat(dir, &st) == 0 && st.st_uid == t->place->jvm.uid && (st.st_mode & 0777) == 0700)
        return dir;
    close(dir);
    return -EEXIST;
}

static int write_settings(const struct task *t, int dir) {
    int fd =
        openat(dir, JFR_PLACE_SETTINGS, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    ssize_t n = write(fd, t->settings, t->bytes);
    int r = n < 0 ? -errno : (size_t)n == t->bytes ? 0 : -ENOSPC;
    close(fd);
    return r;
}

static void make(void *context, void *result, int *fd) {
    const struct task *t = context;
    struct answer a = {0};
    struct proc_stat st;
    a.result = proc_stat(t->place->jvm.pid, &st);
    if (a.result == 0 && st.start_ticks != t->place->jvm.start_ticks)
        a.result = -ESRCH;
    if (a.result == 0)
        a.result = become(&t->place->jvm);
    if (a.result == 0)
        a.result = make_named(t, a.name);
    if (a.result == 0) {
        int dir = open_named(t, a.name);
        if (dir < 0)
            a.name[0] = '\0'; /* not ours, so we must not remove it */
        *fd = dir < 0 ? -1 : dir;
        a.result = dir < 0 ? dir : write_settings(t, dir);
    }
    memcpy(result, &a, sizeof a);
}

static void open_recorded(void *context, void *result, int *fd) {
    const struct task *t = context;
    struct answer a = {.result = become(&t->place->jvm)};
    if (a.result == 0) {
        int file = openat(t->place->dir, JFR_PLACE_RECORDED, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        file = file < 0 ? -errno : inside_read(file);
        *fd = file < 0 ? -1 : file;
        a.result = file < 0 ? file : 0;
    }
    memcpy(result, &a, sizeof a);
}

static void remove_all(void *context, void *result, int *fd) {
    const struct task *t = context;
    struct answer a = {.result = become(&t->place->jvm)};
    *fd = -1;
    if (a.result == 0) {
        unlinkat(t->place->dir, JFR_PLACE_SETTINGS, 0);
        unlinkat(t->place->dir, JFR_PLACE_RECORDED, 0);
        unlinkat(t->place->tmp, t->place->name, AT_REMOVEDIR);
    }
    memcpy(result, &a, sizeof a);
}

/* ---- the frontend's side ---- */

static int run(errand_work work, struct task *t, struct answer *a, int *fd) {
    *a = (struct answer){.result = -ETIMEDOUT};
    int r = errand_run(work, t, proc_now_ns() + ERRAND_NS, a, sizeof *a, fd);
    a->name[sizeof a->name - 1] = '\0';
    return r < 0 ? r : a->result;
}

int jfr_place_make(const struct jvm *j, const char *settings, size_t bytes, struct jfr_place *out) {
    static unsigned serial;
    struct answer a;
    *out = (struct jfr_place){.jvm = *j, .tmp = -1, .dir = -1};
    out->tmp = tmp_dir_open(j->pid);
    if (out->tmp < 0)
        return out->tmp;
    struct task t = {.place = out, .settings = settings, .bytes = bytes, .serial = serial};
    serial++;
    int r = run(make, &t, &a, &out->dir);
    memcpy(out->name, a.name, sizeof out->name);
    return r;
}

int jfr_place_open(const struct jfr_place *p) {
    struct task t = {.place = p};
    struct answer a;
    int fd;
    int r = run(open_recorded, &t, &a, &fd);
    if (r == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return r;
}

void jfr_place_remove(struct jfr_place *p) {
    struct task t = {.place = p};
    struct answer a;
    int none;
    if (p->dir >= 0) {
        run(remove_all, &t, &a, &none);
        close(p->dir);
    }
    if (p->tmp >= 0)
        close(p->tmp);
    p->tmp = p->dir = -1;
    p->name[0] = '\0';
}
