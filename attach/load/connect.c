#include "attach/load/connect.h"

#include "attach/load/listener.h"
#include "attach/proc/errand.h"
#include "attach/proc/process_status.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Time that the helper may need after its deadline, to remove its file and answer. */
#define GRACE_MS 500

/* The errand's work: `context` is the struct helper_task. */
static void connect_there(void *context, void *outcome, int *fd) {
    const struct helper_task *t = context;
    struct helper_outcome o;
    helper_run(t, &o, fd);
    memcpy(outcome, &o, sizeof o);
}

/* 0, or -errno if no helper could be started. */
static int run_helper(struct helper_task *t, struct helper_outcome *o, int *socket) {
    *o = (struct helper_outcome){.step = HELPER_LOST};
    return errand_run(connect_there, t, t->deadline_ns + GRACE_MS * UINT64_C(1000000), o, sizeof *o,
                      socket);
}

/* Explains who or what stopped the JVM. */
static int explain_halt(const struct jvm *j, const struct helper_outcome *o, struct err *e) {
    char who[64] = "";
    switch (o->step) {
    case HELPER_STOPPED:
        return err_set(e, ETIMEDOUT,
                       "JVM %d (%s) is stopped by a signal and cannot answer: continue it with "
                       "kill -CONT %d, then try again",
                       (int)j->pid, j->name, (int)j->pid);
    case HELPER_TRACED:
        if (o->seen)
            snprintf(who, sizeof who, ", process %u", (unsigned)o->seen);
        return err_set(e, ETIMEDOUT,
                       "JVM %d (%s) is held by a debugger%s (state t in /proc/%d/stat) and cannot "
                       "answer: continue it there, then try again",
                       (int)j->pid, j->name, who, (int)j->pid);
    default:
        return err_set(e, ETIMEDOUT,
                       "JVM %d (%s) is frozen with its control group and cannot answer: thaw it "
                       "(docker unpause, runc resume, systemctl thaw), then try again",
                       (int)j->pid, j->name);
    }
}

/* The JVM listens, but nobody can connect. */
static int explain_listener(const struct jvm *j, const struct helper_outcome *o, struct err *e) {
    int pid = (int)j->pid;
    if (o->step == HELPER_BUSY)
        return err_set(e, ETIMEDOUT,
                       "JVM %d (%s) listens, but the queue of its socket is full (connect: %s): "
                       "other tools wait for its answers, or it is at a long safepoint; stop these "
                       "tools (jcmd, jstack, a monitoring agent), then try again",
                       pid, j->name, strerror(EAGAIN));
    return err_set(e, ENOENT,
                   "JVM %d (%s) listens, but its socket /tmp/.java_pid%d was removed, perhaps by a "
                   "cleaner of /tmp, and %s: restart it, and exclude /tmp/.java_pid* from cleaning",
                   pid, j->name, (int)j->inner_pid,
                   o->step == HELPER_REMOVED
                       ? "JDKs before 8u332, 11.0.13 and 14 create no new one"
                       : "with -Xrs it creates no new one: SIGQUIT would kill it");
}

static int explain_silence(const struct jvm *j, bool pends, struct err *e) {
    return err_set(
        e, ETIMEDOUT,
        "JVM %d (%s) did not begin to listen in time; SIGQUIT was sent, and %s: try "
        "again (.attach_pid%d stays until the JVM listens, at most a minute)",
        (int)j->pid, j->name,
        pends
            ? "is still pending (ShdPnd in the JVM's /proc status): the JVM gets no CPU time"
            : "the JVM received it. The JVM is at or before a long safepoint, or gets no CPU time",
        (int)j->inner_pid);
}

static int explain_process(const struct jvm *j, const struct helper_outcome *o, struct err *e) {
    int pid = (int)j->pid;
    switch (o->step) {
    case HELPER_GONE:
        return err_set(e, ESRCH, "JVM %d (%s) is gone: the process has ended", pid, j->name);
    case HELPER_DISABLED:
        return err_set(
            e, EOPNOTSUPP,
            "JVM %d (%s) was started with -XX:+DisableAttachMechanism: restart it without this "
            "flag, or let it profile itself with -agentpath:...=start,file=...",
            pid, j->name);
    case HELPER_UNCAUGHT:
        if (o->seen)
            return explain_listener(j, o, e);
        return err_set(e, EOPNOTSUPP,
                       "JVM %d (%s) does not listen for attach requests, and has no handler for "
                       "SIGQUIT, which asks it to listen and would kill it (-Xrs?): restart it "
                       "without -Xrs, or add -XX:+StartAttachListener",
                       pid, j->name);
    case HELPER_SILENT:
        return explain_silence(j, o->seen, e);
    case HELPER_NARROW:
        return err_set(e, ENOEXEC,
                       "process %d (%s) is a 32-bit process, and this jtop-prof is built for 64 "
                       "bits: its agent cannot be loaded there",
                       pid, j->name);
    case HELPER_OTHER_VM:
        return err_set(e, EOPNOTSUPP,
                       "process %d (%s) runs %s, which is not HotSpot: its stacks cannot be read; "
                       "run the program on an OpenJDK",
                       pid, j->name, j->vm_name[0] ? j->vm_name : "another VM (libj9vm is mapped)");
    default:
        return err_set(e, EIO, "the attach helper for JVM %d ended without an answer: try again",
                       pid);
    }
}

const char *connect_tmp_remedy(int error) {
    if (error != EACCES && error != EPERM)
        return "give its container a writable /tmp (a tmpfs)";
    return geteuid() == 0 ? "run with CAP_SYS_PTRACE, or as its user"
                          : "run as its user or as root";
}

static int explain_file(const struct jvm *j, const struct helper_outcome *o, struct err *e) {
    int pid = (int)j->pid, inner = (int)j->inner_pid;
    const char *why = strerror(o->error);
    switch (o->step) {
    case HELPER_TMP:
        return err_set(e, o->error, "cannot use the /tmp of JVM %d (/proc/%d/root/tmp): %s: %s",
                       pid, pid, why, connect_tmp_remedy(o->error));
    case HELPER_TRIGGER:
        return err_set(e, o->error,
                       "cannot create .attach_pid%d, which JVM %d waits for, in the JVM's "
                       "working directory or /tmp as uid %u: %s; make the JVM's /tmp writable for "
                       "this uid",
                       inner, pid, (unsigned)j->uid, why);
    case HELPER_SIGNAL:
        return err_set(
            e, o->error,
            "cannot send SIGQUIT, the request to listen, to JVM %d as uid %u: %s: perhaps a "
            "security module (AppArmor, SELinux) forbids it; see the kernel's log",
            pid, (unsigned)j->uid, why);
    case HELPER_NOT_SOCKET:
        return err_set(e, ENOTSOCK,
                       "/tmp/.java_pid%d, where JVM %d should listen, is not a socket: remove it",
                       inner, pid);
    case HELPER_OWNER:
        return err_set(e, EPERM,
                       "/tmp/.java_pid%d belongs to uid %u, not to uid %u of JVM %d: refused; "
                       "remove it if an earlier process left it",
                       inner, (unsigned)o->seen, (unsigned)j->uid, pid);
    case HELPER_PEER:
        return err_set(e, EPERM,
                       "/tmp/.java_pid%d: process %u%s listens there, not JVM %d: refused (a /tmp "
                       "shared by containers?)",
                       inner, (unsigned)o->seen, o->seen ? "" : ", one of another pid namespace,",
                       pid);
    default:
        return err_set(e, o->error, "cannot connect to /tmp/.java_pid%d of JVM %d as uid %u: %s%s",
                       inner, pid, (unsigned)j->uid, why,
                       o->error == EACCES || o->error == EPERM
                           ? ": perhaps a security module (AppArmor, SELinux) or the mode of this "
                             "socket file forbids it; see the kernel's log, and ls -l of the file"
                           : "");
    }
}

static int explain_credentials(const struct jvm *j, int error, struct err *e) {
    char remedy[128];
    struct process_status self;
    bool blind = process_status_read(getpid(), &self) == 0 &&
                 !process_status_has(self.capabilities, CAPABILITY_SYS_PTRACE);
    if (geteuid() == 0 && j->uid != 0)
        snprintf(remedy, sizeof remedy, "root needs CAP_SETUID and CAP_SETGID here for that%s",
                 blind ? ", and CAP_SYS_PTRACE to inspect it" : "");
    else
        snprintf(remedy, sizeof remedy, "run as user %s or as root", j->user);
    return err_set(e, EPERM,
                   "JVM %d (%s) runs as uid %u and only that user may attach; this is uid %u "
                   "(%s): %s",
                   (int)j->pid, j->name, (unsigned)j->uid, (unsigned)geteuid(), strerror(error),
                   remedy);
}

int connect_explain(const struct jvm *j, const struct helper_outcome *o, struct err *e) {
    switch (o->step) {
    case HELPER_CREDENTIALS:
        return explain_credentials(j, o->error, e);
    case HELPER_STOPPED:
    case HELPER_TRACED:
    case HELPER_FROZEN:
        return explain_halt(j, o, e);
    case HELPER_BUSY:
    case HELPER_REMOVED:
        return explain_listener(j, o, e);
    case HELPER_TMP:
    case HELPER_TRIGGER:
    case HELPER_SIGNAL:
    case HELPER_NOT_SOCKET:
    case HELPER_OWNER:
    case HELPER_CONNECT:
    case HELPER_PEER:
        return explain_file(j, o, e);
    default:
        return explain_process(j, o, e);
    }
}

int connect_jvm(const struct jvm *j, bool disabled, uint64_t deadline_ns, struct err *e) {
    struct helper_task t = {
        .pid = j->pid,
        .inner_pid = j->inner_pid,
        .uid = j->uid,
        .gid = j->gid,
        .start_ticks = j->start_ticks,
        .disabled = disabled,
        .renews = listener_is_renewed(j->version),
        .deadline_ns = deadline_ns,
    };
    struct helper_outcome o;
    int fd;
    int rc = run_helper(&t, &o, &fd);
    if (rc < 0)
        return err_set(e, -rc, "cannot start the attach helper: %s", strerror(-rc));
    if (o.step == HELPER_CONNECTED && fd >= 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return connect_explain(j, &o, e);
}
