#include "attach/doctor/examine.h"

#include "attach/load/attach.h"
#include "attach/load/connect.h"
#include "attach/load/listener.h"
#include "attach/place/place_look.h"
#include "attach/proc/proc.h"
#include "attach/proc/thread_stat.h"
#include "attach/proc/tmp_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define DYNAMIC_SINCE 9 /* first JDK with EnableDynamicAgentLoading */
#define WARNS_SINCE 21
#define YOUNG_MS 5000

/* Returns false if the attach mechanism is disabled. */
static bool check_mechanism(struct examiner *x) {
    static const char id[] = "attach-mechanism", title[] = "attach mechanism";
    char unread[96];
    if (attach_is_disabled(x->jvm) || x->options.option[JAVA_DISABLE_ATTACH].said > 0) {
        struct finding *f =
            examine_add(x, id, title, FINDING_FAILURE, "-XX:+DisableAttachMechanism (%s)",
                        x->options.option[JAVA_DISABLE_ATTACH].said > 0
                            ? x->options.option[JAVA_DISABLE_ATTACH].source
                            : "sun.rt.jvmCapabilities of its performance data");
        examine_remedy(f, "restart it without this flag, or let it profile itself with "
                          "-agentpath:...=start,file=...");
        return false;
    }
    bool sure = x->jvm->perf_data || !x->options.error;
    examine_add(x, id, title, sure ? FINDING_OK : FINDING_NOTE, "%s%s",
                sure ? "not disabled" : "not known whether it is disabled",
                sure ? "" : examine_unread(x, unread, sizeof unread));
    return true;
}

static void check_loading(struct examiner *x) {
    static const char id[] = "agent-loading", title[] = "agent loading";
    int said = x->options.option[JAVA_DYNAMIC_AGENTS].said;
    bool has = !x->release || x->release >= DYNAMIC_SINCE;
    struct finding *f;
    char unread[96];
    if (has && said < 0) {
        f = examine_add(x, id, title, FINDING_FAILURE, "-XX:-EnableDynamicAgentLoading (%s)",
                        x->options.option[JAVA_DYNAMIC_AGENTS].source);
        examine_remedy(f, "restart it without this flag, or let it profile itself with "
                          "-agentpath:...=start,file=...");
    } else if (has && said == 0 && x->options.error) {
        examine_add(x, id, title, FINDING_NOTE, "not known whether it is forbidden%s",
                    examine_unread(x, unread, sizeof unread));
    } else if (x->release >= WARNS_SINCE && said == 0) {
        f = examine_add(x, id, title, FINDING_NOTE,
                        "allowed; JDK %d prints a warning on the JVM's standard error", x->release);
        examine_remedy(f, "-XX:+EnableDynamicAgentLoading silences it");
    } else {
        examine_add(x, id, title, FINDING_OK, "allowed%s",
                    said > 0 ? " (-XX:+EnableDynamicAgentLoading)" : "");
    }
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

static bool is_link(pid_t pid) {
    struct stat st;
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/root/tmp", (int)pid);
    return lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
}

static void check_tmp(struct examiner *x, int tmp, bool listens) {
    struct statvfs fs;
    struct stat ours, theirs;
    int pid = (int)x->jvm->pid;
    struct finding *f;
    if (tmp < 0) {
        bool closed = tmp == -EACCES || tmp == -EPERM;
        f = examine_add(x, "tmp", "its /tmp", closed ? FINDING_NOTE : FINDING_FAILURE,
                        "%s/proc/%d/root/tmp: %s", closed ? "not known: " : "", pid,
                        strerror(-tmp));
        examine_remedy(f, "%s", connect_tmp_remedy(-tmp));
        return;
    }
    if (fstatvfs(tmp, &fs) != 0 || fstat(tmp, &theirs) != 0) {
        examine_add(x, "tmp", "its /tmp", FINDING_NOTE, "not known: %s", strerror(errno));
        return;
    }
    bool own =
        stat("/tmp", &ours) == 0 && (ours.st_dev != theirs.st_dev || ours.st_ino != theirs.st_ino);
    bool locked = fs.f_flag & ST_RDONLY, full = fs.f_blocks && fs.f_bavail == 0;
    enum finding_level level = locked && !listens ? FINDING_FAILURE
                               : locked || full   ? FINDING_WARNING
                                                  : FINDING_OK;
    f = examine_add(x, "tmp", "its /tmp", level,
                    "%s%s%s%s%s, %" PRIu64 " MB free (/proc/%d/root/tmp)",
                    own ? "different from ours" : "the same as ours",
                    is_link(x->jvm->pid) ? ", a symbolic link" : "", locked ? ", read-only" : "",
                    full ? ", full" : "", fs.f_flag & ST_NOEXEC ? ", noexec" : "",
                    (uint64_t)fs.f_bavail * (fs.f_frsize ? fs.f_frsize : 1) >> 20, pid);
    if (locked)
        examine_remedy(
            f, "give its container a writable /tmp (a tmpfs): the JVM creates its socket there");
    else if (full)
        examine_remedy(f, "free some space: the JVM's socket and performance data are there");
}

/* The socket's path exists: checks whether it is HotSpot's socket, and whether the JVM listens. */
static void check_socket(struct examiner *x, const struct stat *st, bool listens) {
    static const char id[] = "attach-listener", title[] = "attach listener";
    int inner = (int)x->jvm->inner_pid;
    struct finding *f;
    if (!S_ISSOCK(st->st_mode)) {
        f = examine_add(x, id, title, FINDING_FAILURE, "/tmp/.java_pid%d is not a socket", inner);
        examine_remedy(f, "remove it");
    } else if (st->st_uid != x->jvm->uid && st->st_uid != 0) {
        f = examine_add(x, id, title, FINDING_FAILURE,
                        "/tmp/.java_pid%d belongs to uid %u, not to uid %u", inner,
                        (unsigned)st->st_uid, (unsigned)x->jvm->uid);
        examine_remedy(f, "remove it if an earlier process left it");
    } else if (listens) {
        examine_add(x, id, title, FINDING_OK, "listens at /tmp/.java_pid%d", inner);
    } else {
        examine_add(x, id, title, FINDING_OK,
                    "/tmp/.java_pid%d was left by an earlier process: the JVM replaces it", inner);
    }
}

/* The socket's path does not exist: checks whether the JVM would create it if asked. */
static void check_asking(struct examiner *x, bool listens) {
    static const char id[] = "attach-listener", title[] = "attach listener";
    bool young = proc_age_ms(x->jvm->start_ticks) <= YOUNG_MS;
    bool catches = process_status_signal(x->target.caught, 3);
    int inner = (int)x->jvm->inner_pid;
    struct finding *f;
    if (x->target_error) {
        examine_add(x, id, title, FINDING_NOTE, "not known: /proc/%d/status: %s", (int)x->jvm->pid,
                    strerror(x->target_error));
    } else if (!catches && !young) {
        f = examine_add(
            x, id, title, FINDING_FAILURE,
            "%s, and it has no handler for SIGQUIT, the request to listen (SigCgt %016" PRIx64
            "%s%s)",
            listens ? "it listens, but its socket was removed" : "it does not listen",
            x->target.caught,
            x->options.option[JAVA_FEW_SIGNALS].said > 0 ? "; -Xrs in " : "; -Xrs?",
            x->options.option[JAVA_FEW_SIGNALS].said > 0
                ? x->options.option[JAVA_FEW_SIGNALS].source
                : "");
        examine_remedy(f, listens ? "restart it, and exclude /tmp/.java_pid* from cleaning"
                                  : "restart it without -Xrs, or add -XX:+StartAttachListener");
    } else if (listens) {
        bool renewed = listener_is_renewed(x->jvm->version);
        f = examine_add(x, id, title, renewed ? FINDING_NOTE : FINDING_FAILURE,
                        "it listens, but /tmp/.java_pid%d was removed, perhaps by a cleaner of "
                        "/tmp (/proc/%d/net/unix)%s",
                        inner, (int)x->jvm->pid,
                        renewed ? "; it creates a new one when asked" : "");
        examine_remedy(
            f, "%sexclude /tmp/.java_pid* from cleaning",
            renewed ? ""
                    : "restart it (JDKs before 8u332, 11.0.13 and 14 create no new one), and ");
    } else {
        examine_add(x, id, title, FINDING_OK, "begins to listen when asked%s (SigCgt has SIGQUIT)",
                    young && !catches ? ", once it has started" : "");
    }
}

static void check_listener(struct examiner *x, int tmp, bool listens) {
    char name[32];
    struct stat st;
    snprintf(name, sizeof name, ".java_pid%d", (int)x->jvm->inner_pid);
    if (tmp >= 0 && fstatat(tmp, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        check_socket(x, &st, listens);
    else if (tmp >= 0)
        check_asking(x, listens);
}

/* Whether the VM thread or a GC thread is running: either one delays an attach. */
static void check_safepoint(struct examiner *x) {
    struct thread_stat *threads = NULL;
    const char *busy = NULL;
    int n = thread_stat_list(x->jvm->pid, &threads);
    for (int i = 0; i < n && !busy; i++)
        if (threads[i].state == 'R' &&
            (!strcmp(threads[i].comm, "VM Thread") || !strncmp(threads[i].comm, "GC Thread", 9)))
            busy = threads[i].comm;
    if (n < 0) {
        examine_add(x, "safepoint", "safepoint", FINDING_NOTE, "not known: %s", strerror(-n));
    } else if (busy) {
        struct finding *f =
            examine_add(x, "safepoint", "safepoint", FINDING_NOTE,
                        "its %s runs at this moment (/proc/%d/task)", busy, (int)x->jvm->pid);
        examine_remedy(f, "if it keeps running, the JVM is at a safepoint or collects garbage: an "
                          "attach waits until that ends");
    } else {
        examine_add(x, "safepoint", "safepoint", FINDING_OK, "no VM operation is running");
    }
    free(threads);
}

void examine_attach(struct examiner *x) {
    int tmp = open_tmp(x->jvm);
    bool listens = listener_is_open(x->jvm->pid, x->jvm->inner_pid);
    bool enabled = check_mechanism(x);
    check_loading(x);
    check_tmp(x, tmp, listens);
    if (enabled)
        check_listener(x, tmp, listens);
    check_safepoint(x);
    if (tmp >= 0)
        close(tmp);
}

#define PATIENCE_MS 1000

void examine_place(struct examiner *x) {
    static const char id[] = "agent-place", title[] = "agent's place";
    struct place_look seen;
    struct finding *f;
    place_look(x->jvm, x->library_error ? NULL : x->library, PATIENCE_MS, &seen);
    bool tried = seen.tried[0] != '\0';
    switch ((enum place_seen)seen.seen) {
    case PLACE_LOOK_SAME:
        examine_add(x, id, title, FINDING_OK, "the JVM sees %s too",
                    x->library ? x->library : "the same file");
        return;
    case PLACE_LOOK_COPY:
        examine_add(x, id, title, FINDING_OK, "a copy in its %s, removed after loading%s%s%s",
                    seen.dir, tried ? " (not in: " : "", seen.tried, tried ? ")" : "");
        return;
    case PLACE_LOOK_NOWHERE:
        if (x->maps.agent) {
            examine_add(x, id, title, FINDING_OK, "it has loaded the agent before");
            return;
        }
        f = examine_add(x, id, title, FINDING_FAILURE,
                        "no directory where it can load the agent from (%s)",
                        tried ? seen.tried : "none was found");
        examine_remedy(f, "mount a tmpfs without noexec at its /tmp, or put the agent where the "
                          "JVM can read it and give that path with --libpath");
        return;
    case PLACE_LOOK_UNKNOWN:
        break;
    }
    f = examine_add(x, id, title, FINDING_NOTE, "not known: /proc/%d/root is not accessible: %s",
                    (int)x->jvm->pid, strerror(seen.error));
    examine_remedy(f, "run as its user or as root");
}
