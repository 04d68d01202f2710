#include "attach/doctor.h"

#include "attach/attach.h"
#include "attach/connect.h"
#include "attach/proc.h"
#include "attach/tmp_dir.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define YOUNG_MS 5000 /* so old a JVM has its signal handlers */

static const char *const words[] = {
    [HELPER_GONE] = "gone",
    [HELPER_STOPPED] = "stopped",
    [HELPER_DISABLED] = "disabled",
    [HELPER_UNCAUGHT] = "-Xrs",
    [HELPER_TMP] = "no /tmp",
    [HELPER_CREDENTIALS] = "other user",
    [HELPER_NOT_SOCKET] = "no socket",
    [HELPER_OWNER] = "socket",
    [HELPER_NARROW] = "32 bits",
    [HELPER_OTHER_VM] = "not HotSpot",
};

static bool is_narrow(pid_t pid) {
    unsigned char ident[EI_NIDENT] = {0};
    return proc_read(pid, "exe", (char *)ident, sizeof ident) > EI_CLASS &&
           !memcmp(ident, ELFMAG, SELFMAG) && ident[EI_CLASS] == ELFCLASS32;
}

/* An O_PATH descriptor of the directory its socket is in, or -errno; as the helper finds it. */
static int open_tmp(const struct jvm *j) {
    int tmp = tmp_dir_open(j->pid);
    if (tmp == -EACCES && j->inner_pid == j->pid) {
        tmp = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
        return tmp < 0 ? -errno : tmp;
    }
    return tmp;
}

/* HELPER_CONNECTED: nothing is wrong. */
static enum helper_step check_socket(const struct jvm *j, int tmp, struct helper_outcome *o) {
    char name[32];
    struct stat st;
    snprintf(name, sizeof name, ".java_pid%d", (int)j->inner_pid);
    if (fstatat(tmp, name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
        o->seen = st.st_uid;
        if (!S_ISSOCK(st.st_mode))
            return HELPER_NOT_SOCKET;
        return st.st_uid != j->uid && st.st_uid != 0 ? HELPER_OWNER : HELPER_CONNECTED;
    }
    struct statvfs fs;
    if (fstatvfs(tmp, &fs) == 0 && (fs.f_flag & ST_RDONLY)) {
        o->error = EROFS; /* it could not make its socket */
        return HELPER_TMP;
    }
    struct proc_status s;
    if (proc_status(j->pid, &s) == 0 && !s.catches_quit && proc_age_ms(j->start_ticks) > YOUNG_MS)
        return HELPER_UNCAUGHT;
    return HELPER_CONNECTED;
}

static enum helper_step check_files(const struct jvm *j, struct helper_outcome *o) {
    int tmp = open_tmp(j);
    if (tmp < 0) {
        o->error = -tmp;
        return HELPER_TMP;
    }
    enum helper_step step = check_socket(j, tmp, o);
    close(tmp);
    return step;
}

static enum helper_step examine(const struct jvm *j, uid_t uid, struct helper_outcome *o) {
    struct proc_stat st;
    int rc = proc_stat(j->pid, &st);
    if (rc == -ESRCH || (rc == 0 && (st.start_ticks != j->start_ticks || st.state == 'Z')))
        return HELPER_GONE;
    if (uid != 0 && uid != j->uid) {
        o->error = EPERM;
        return HELPER_CREDENTIALS;
    }
    if (rc == 0 && st.state == 'T')
        return HELPER_STOPPED;
    if (is_narrow(j->pid))
        return HELPER_NARROW;
    if (!j->perf_data && proc_maps_j9(j->pid) > 0)
        return HELPER_OTHER_VM;
    if (attach_is_disabled(j))
        return HELPER_DISABLED;
    return check_files(j, o);
}

int doctor_attach(const struct jvm *j, uid_t uid, const char **word, struct err *e) {
    struct helper_outcome o = {0};
    o.step = examine(j, uid, &o);
    if (word)
        *word = o.step < sizeof words / sizeof *words && words[o.step] ? words[o.step] : "";
    if (o.step != HELPER_CONNECTED)
        return connect_explain(j, &o, e);
    if (!j->closed)
        return 0;
    /* Its own user's, and yet closed: what looking into it says. */
    struct jvm again;
    if (word)
        *word = "closed";
    return jvm_inspect(j->pid, &again, e);
}
