#include "attach/doctor/examine.h"

#include "attach/find/container.h"
#include "attach/load/standstill.h"
#include "attach/proc/inside.h"
#include "attach/proc/proc.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__x86_64__)
#define OUR_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OUR_MACHINE EM_AARCH64
#else
#define OUR_MACHINE EM_NONE
#endif

static bool is_gone(const struct examiner *x, struct proc_stat *st) {
    int rc = proc_stat(x->jvm->pid, st);
    return rc == -ESRCH || (rc == 0 && (st->start_ticks != x->jvm->start_ticks ||
                                        st->state == 'Z' || st->state == 'X'));
}

static void check_alive(struct examiner *x) {
    static const char id[] = "process", title[] = "process";
    struct proc_stat st = {0};
    pid_t tracer = 0;
    int pid = (int)x->jvm->pid;
    if (is_gone(x, &st)) {
        struct finding *f =
            examine_add(x, id, title, FINDING_FAILURE, "has ended (/proc/%d/stat%s)", pid,
                        st.state == 'Z' ? ": Z, a zombie" : "");
        examine_remedy(f, "jtop-prof --list shows the running JVMs");
        return;
    }
    struct finding *f;
    switch (standstill_of(x->jvm->pid, &tracer)) {
    case STANDSTILL_STOPPED:
        f = examine_add(x, id, title, FINDING_FAILURE, "stopped by a signal (/proc/%d/stat: T)",
                        pid);
        examine_remedy(f, "kill -CONT %d", pid);
        return;
    case STANDSTILL_TRACED:
        f = examine_add(x, id, title, FINDING_FAILURE,
                        "stopped by debugger process %d (0: not visible here; /proc/%d/stat: t)",
                        (int)tracer, pid);
        examine_remedy(f, "continue it in the debugger");
        return;
    case STANDSTILL_FROZEN:
        f = examine_add(x, id, title, FINDING_FAILURE,
                        "frozen with its control group (/proc/%d/cgroup)", pid);
        examine_remedy(f, "thaw it: docker unpause, runc resume, systemctl thaw");
        return;
    case STANDSTILL_NONE:
        break;
    }
    examine_add(x, id, title, FINDING_OK, "runs, with %u threads%s", (unsigned)x->target.threads,
                x->target.tracer ? "; a debugger is attached" : "");
}

static void check_user(struct examiner *x) {
    const struct jvm *j = x->jvm;
    bool root = x->uid == 0, own = x->uid == j->uid;
    bool may = own || (root && process_status_has(x->self.capabilities, CAPABILITY_SETUID));
    struct finding *f = examine_add(
        x, "user", "user", may ? FINDING_OK : FINDING_FAILURE,
        "it runs as uid %u (%s), jtop-prof as uid %u%s (Uid of /proc/%d/status)", (unsigned)j->uid,
        j->user, (unsigned)x->uid,
        root && !own ? may ? ", which may switch to it" : " without CAP_SETUID" : "", (int)j->pid);
    if (!may && root)
        examine_remedy(f, "root needs CAP_SETUID and CAP_SETGID here, or run as user %s", j->user);
    else if (!may)
        examine_remedy(f, "run as user %s or as root", j->user);
}

/* Checks what of /proc/PID is needed: `root`, to find files; `fd`, to map the samples. */
static void check_access(struct examiner *x) {
    static const char *const files[] = {"root", "fd"};
    struct stat st;
    char path[64];
    int error = 0;
    const char *denied = "";
    for (size_t i = 0; i < 2 && !error; i++) {
        snprintf(path, sizeof path, "/proc/%d/%s/.", (int)x->jvm->pid, files[i]);
        error = stat(path, &st) < 0 ? errno : 0;
        denied = files[i];
    }
    snprintf(path, sizeof path, "/proc/%d", (int)x->jvm->pid);
    unsigned owner = stat(path, &st) == 0 ? (unsigned)st.st_uid : (unsigned)x->jvm->uid;
    bool undumpable = owner != (unsigned)x->jvm->uid;
    if (!error) {
        examine_add(x, "proc-access", "/proc", FINDING_OK, "%s is accessible%s", path,
                    undumpable ? "; the process is not dumpable" : "");
        return;
    }
    bool by_child = x->uid != x->jvm->uid && x->uid == 0 && !undumpable && !x->jvm->closed;
    struct finding *f = examine_add(
        x, "proc-access", "/proc", by_child ? FINDING_NOTE : FINDING_FAILURE, "%s/%s: %s%s", path,
        denied, strerror(error),
        undumpable ? "; the process is not dumpable: its /proc belongs to another uid" : "");
    if (by_child)
        examine_remedy(
            f, "CAP_SYS_PTRACE is missing here: jtop-prof reads it as the JVM's user instead");
    else
        examine_remedy(f, "run as root with CAP_SYS_PTRACE (docker --cap-add SYS_PTRACE)%s",
                       undumpable ? ": even its own user has no access" : ", or as its user");
}

static void check_namespaces(struct examiner *x) {
    static const char *const names[] = {"pid", "mnt", "user", "net", "ipc", "cgroup"};
    char found[64] = "", container[CONTAINER_NAME];
    int error = 0;
    for (size_t i = 0, len = 0; i < sizeof names / sizeof *names; i++) {
        char ours[64], theirs[64];
        struct stat a, b;
        snprintf(ours, sizeof ours, "/proc/self/ns/%s", names[i]);
        snprintf(theirs, sizeof theirs, "/proc/%d/ns/%s", (int)x->jvm->pid, names[i]);
        if (stat(ours, &a) < 0)
            continue;
        if (stat(theirs, &b) < 0)
            error = errno;
        else if (a.st_ino != b.st_ino)
            len += (size_t)snprintf(found + len, sizeof found - len, "%s%s", len ? ", " : "",
                                    names[i]);
    }
    bool named = strcmp(container_name(x->jvm->pid, container), "yes") != 0;
    if (error)
        examine_add(x, "namespaces", "namespaces", FINDING_NOTE,
                    "not known: /proc/%d/ns cannot be read: %s", (int)x->jvm->pid, strerror(error));
    else if (inside_others_proc(x->jvm->pid))
        examine_remedy(examine_add(x, "namespaces", "namespaces", FINDING_FAILURE,
                                   "its own pid namespace, but its /proc belongs to another one "
                                   "(/proc/%d/root/proc/self is visible here)",
                                   (int)x->jvm->pid),
                       "start it with its own /proc: unshare --mount-proc");
    else if (!found[0])
        examine_add(x, "namespaces", "namespaces", FINDING_OK, "the same as this process's");
    else
        examine_add(x, "namespaces", "namespaces", FINDING_OK,
                    "its own %s (/proc/%d/ns); process %d there%s%s%s", found, (int)x->jvm->pid,
                    (int)x->jvm->inner_pid,
                    x->jvm->inner_pid == 1 ? ", as init: SIGQUIT still reaches it" : "",
                    named ? "; container " : "", named ? container : "");
}

static void check_architecture(struct examiner *x) {
    Elf64_Ehdr h = {0};
    ssize_t n = proc_read(x->jvm->pid, "exe", (char *)&h, sizeof h);
    size_t need = sizeof h.e_ident + sizeof h.e_type + sizeof h.e_machine;
    if (n < (ssize_t)need || memcmp(h.e_ident, ELFMAG, SELFMAG) != 0) {
        examine_add(x, "architecture", "architecture", FINDING_NOTE,
                    "not known: /proc/%d/exe cannot be read: %s", (int)x->jvm->pid,
                    n < 0 ? strerror((int)-n) : "not an ELF file");
        return;
    }
    int bits = h.e_ident[EI_CLASS] == ELFCLASS64 ? 64 : 32;
    bool same = bits == 64 && h.e_machine == OUR_MACHINE;
    struct finding *f = examine_add(
        x, "architecture", "architecture", same ? FINDING_OK : FINDING_FAILURE,
        "%s, %d bits (/proc/%d/exe); the agent is for %s, 64 bits", library_machine(h.e_machine),
        bits, (int)x->jvm->pid, library_machine(OUR_MACHINE));
    if (!same)
        examine_remedy(f, "use a jtop-prof that is built for it");
}

void examine_process(struct examiner *x) {
    check_alive(x);
    check_user(x);
    check_access(x);
    check_namespaces(x);
    check_architecture(x);
}
