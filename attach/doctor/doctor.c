#include "attach/doctor/doctor.h"

#include "attach/doctor/examine.h"
#include "attach/load/attach.h"
#include "attach/load/connect.h"
#include "attach/load/jvm_flag.h"
#include "attach/load/library_needs.h"
#include "attach/load/listener.h"

#include "attach/load/standstill.h"
#include "attach/place/place_look.h"
#include "attach/proc/proc.h"
#include "attach/proc/process_maps.h"
#include "attach/proc/process_status.h"
#include "attach/proc/tmp_dir.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define YOUNG_MS 5000   /* a JVM of this age has installed its signal handlers */
#define PATIENCE_MS 200 /* a list of many JVMs must not wait for a single one */

#if defined __x86_64__
#define OUR_MACHINE EM_X86_64
#elif defined __aarch64__
#define OUR_MACHINE EM_AARCH64
#else
#define OUR_MACHINE EM_NONE
#endif

static const char *const words[] = {
    [HELPER_GONE] = "gone",
    [HELPER_STOPPED] = "stopped",
    [HELPER_DISABLED] = "disabled",
    [HELPER_UNCAUGHT] = "-Xrs",
    [HELPER_TMP] = "no /tmp",
    [HELPER_CREDENTIALS] = "other user",
    [HELPER_NOT_SOCKET] = "no socket",
    [HELPER_OWNER] = "socket",
    [HELPER_TRACED] = "debugger",
    [HELPER_FROZEN] = "frozen",
    [HELPER_REMOVED] = "no socket",
    [HELPER_NARROW] = "32 bits",
    [HELPER_OTHER_VM] = "not HotSpot",
};

/* The ELF machine of the program that the process runs; EM_NONE: not known. */
static int machine_of(pid_t pid, bool *narrow) {
    Elf64_Ehdr h;
    ssize_t n = proc_read(pid, "exe", (char *)&h, sizeof h);
    if (n < (ssize_t)(EI_NIDENT + sizeof h.e_type + sizeof h.e_machine) ||
        memcmp(h.e_ident, ELFMAG, SELFMAG) != 0)
        return EM_NONE;
    *narrow = h.e_ident[EI_CLASS] == ELFCLASS32;
    return h.e_machine;
}

/* Opens the directory of the JVM's socket, as the helper does. An O_PATH descriptor or -errno. */
static int open_tmp(const struct jvm *j) {
    int tmp = tmp_dir_open(j->pid);
    if (tmp == -EACCES && j->inner_pid == j->pid) {
        tmp = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
        return tmp < 0 ? -errno : tmp;
    }
    return tmp;
}

/* The socket's file does not exist: would the JVM create it if asked? */
static enum helper_step check_asking(const struct jvm *j, struct helper_outcome *o) {
    struct proc_status s;
    if (proc_status(j->pid, &s) < 0)
        return HELPER_CONNECTED;
    bool deaf = !s.catches_quit && proc_age_ms(j->start_ticks) > YOUNG_MS;
    bool renewed = listener_is_renewed(j->version);
    if (!deaf && renewed)
        return HELPER_CONNECTED;
    o->seen = listener_is_open(j->pid, j->inner_pid);
    return deaf ? HELPER_UNCAUGHT : o->seen ? HELPER_REMOVED : HELPER_CONNECTED;
}

/* HELPER_CONNECTED: no problem found. */
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
        o->error = EROFS; /* the JVM could not create its socket */
        return HELPER_TMP;
    }
    return check_asking(j, o);
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

static enum helper_step check_halted(const struct jvm *j, struct helper_outcome *o) {
    pid_t tracer = 0;
    switch (standstill_of(j->pid, &tracer)) {
    case STANDSTILL_STOPPED:
        return HELPER_STOPPED;
    case STANDSTILL_TRACED:
        o->seen = (uint32_t)tracer;
        return HELPER_TRACED;
    case STANDSTILL_FROZEN:
        return HELPER_FROZEN;
    case STANDSTILL_NONE:
        break;
    }
    return HELPER_CONNECTED;
}

/* Whether a process of user `uid` may change to user `wanted`. */
static bool may_become(uid_t uid, uid_t wanted) {
    struct process_status self;
    return uid == wanted ||
           (uid == 0 && (process_status_read(getpid(), &self) < 0 ||
                         process_status_has(self.capabilities, CAPABILITY_SETUID)));
}

static enum helper_step check_connection(const struct jvm *j, uid_t uid, struct helper_outcome *o) {
    struct proc_stat st;
    bool narrow = false;
    int rc = proc_stat(j->pid, &st);
    if (rc == -ESRCH || (rc == 0 && (st.start_ticks != j->start_ticks || st.state == 'Z')))
        return HELPER_GONE;
    if (!may_become(uid, j->uid)) {
        o->error = EPERM;
        return HELPER_CREDENTIALS;
    }
    enum helper_step step = check_halted(j, o);
    if (step != HELPER_CONNECTED)
        return step;
    machine_of(j->pid, &narrow);
    if (narrow)
        return HELPER_NARROW;
    if (!j->perf_data && proc_maps_j9(j->pid) > 0)
        return HELPER_OTHER_VM;
    if (attach_is_disabled(j))
        return HELPER_DISABLED;
    return check_files(j, o);
}

/* Whether the JVM would load the agent once it is connected. */
static int check_agent(const struct jvm *j, const char **word, struct err *e) {

    bool narrow;
    int machine = machine_of(j->pid, &narrow);
    *word = "other CPU";
    if (machine != EM_NONE && OUR_MACHINE != EM_NONE && machine != OUR_MACHINE)
        return err_set(e, ENOEXEC,
                       "process %d (%s) is built for %s, but this jtop-prof is not: use a "
                       "jtop-prof built for that machine",
                       (int)j->pid, j->name, library_machine(machine));
    *word = "no agents";
    if (examine_release(j->version) != 8 && jvm_flag(j, "EnableDynamicAgentLoading") < 0)
        return err_set(
            e, EOPNOTSUPP,
            "JVM %d (%s) was started with -XX:-EnableDynamicAgentLoading: restart it without this "
            "flag, or let it profile itself with -agentpath:...=start,file=...",
            (int)j->pid, j->name);
    if (!j->container)
        return 0;
    struct place_look seen;
    struct process_maps maps;
    place_look(j, NULL, PATIENCE_MS, &seen);
    if (seen.seen != PLACE_LOOK_NOWHERE || (process_maps_read(j->pid, &maps) == 0 && maps.agent))
        return 0;
    *word = "no place";
    return err_set(
        e, ENOENT,
        "no directory where JVM %d can load the agent from (%.300s); mount a tmpfs without noexec "
        "at its /tmp, or put the agent where the JVM can read it and give that path with --libpath",
        (int)j->pid, seen.tried[0] ? seen.tried : "none was found");
}

int doctor_attach(const struct jvm *j, uid_t uid, const char **word, struct err *e) {
    struct helper_outcome o = {0};
    const char *ignored = "";
    word = word ? word : &ignored;
    o.step = check_connection(j, uid, &o);
    *word = o.step < sizeof words / sizeof *words && words[o.step] ? words[o.step] : "";
    if (o.step != HELPER_CONNECTED)
        return connect_explain(j, &o, e);
    if (!j->closed) {
        int rc = check_agent(j, word, e);
        *word = rc < 0 ? *word : "";
        return rc;
    }
    /* The JVM could be attached, but may not be inspected: jvm_inspect reports why. */
    struct jvm again;
    *word = "closed";
    return jvm_inspect(j->pid, &again, e);
}
