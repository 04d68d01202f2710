#include "attach/find/jvm.h"

#include "attach/find/container.h"
#include "attach/find/java_args.h"
#include "attach/find/jvm_perf.h"
#include "attach/find/no_access.h"
#include "attach/proc/proc.h"
#include "attach/proc/process_status.h"
#include "core/base/utf8.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CMDLINE_MAX (256U << 10) /* bytes; a class path can be long */

/* The kernel counts ticks of 10 ms: a shorter interval is too inexact, so the last figure stays. */
#define CPU_INTERVAL_MIN_NS 100000000U

static void copy_text(char *to, size_t cap, const char *from, size_t len) {
    if (len > cap - 1)
        len = cap - 1;
    memcpy(to, from, len);
    to[len] = '\0';
    utf8_clean(to);
}

#ifdef JTOP_STATIC
/* getpwuid_r would make a static program load libraries of the machine it runs on, which belong to
 * another glibc. */
static int find_user(uid_t uid, struct passwd *pw, char *buf, size_t size, struct passwd **found) {
    FILE *f = fopen("/etc/passwd", "re");
    while (f && fgetpwent_r(f, pw, buf, size, found) == 0)
        if (pw->pw_uid == uid)
            break;
    if (f && *found && pw->pw_uid != uid)
        *found = NULL;
    return f ? fclose(f) : -1;
}
#else
#define find_user getpwuid_r
#endif

static void set_user(struct jvm *j) {
    char buf[4096];
    struct passwd pw, *found = NULL;
    if (find_user(j->uid, &pw, buf, sizeof buf, &found) == 0 && found && *pw.pw_name)
        copy_text(j->user, sizeof j->user, pw.pw_name, strlen(pw.pw_name));
    else
        snprintf(j->user, sizeof j->user, "%u", (unsigned)j->uid);
}

/* Sets the name to the last part of a path or of module/class. */
static void set_name(struct jvm *j, const char *word, size_t len) {
    size_t start = len;
    while (start > 0 && word[start - 1] != '/')
        start--;
    if (start == len)
        start = 0;
    copy_text(j->name, sizeof j->name, word + start, len - start);
}

static void set_arguments(struct jvm *j, const char *words, size_t len) {
    if (len > sizeof j->arguments - 1)
        len = sizeof j->arguments - 1;
    for (size_t i = 0; i < len; i++)
        j->arguments[i] = words[i] ? words[i] : ' ';
    while (len > 0 && j->arguments[len - 1] == ' ')
        len--;
    j->arguments[len] = '\0';
    utf8_clean(j->arguments);
}

/* `command` is what the JVM reports that it runs: main class or jar file, a space, the arguments;
 * "" if it reports nothing. The jar's path may contain spaces; the command line shows where it
 * ends. */
static void identify(struct jvm *j, const char *command, const char *comm) {
    char *cmdline = malloc(CMDLINE_MAX);
    ssize_t len = cmdline ? proc_read(j->pid, "cmdline", cmdline, CMDLINE_MAX) : 0;
    struct java_args args = {0};
    /* proc_read wrote a NUL after the last byte: even a cut or rewritten text is terminated. */
    if (len > 0 && cmdline[len - 1] != '\0')
        len++;
    bool parsed = len > 0 && java_args_parse(cmdline, (size_t)len, &args);

    size_t word = strcspn(command, " "), main_len = parsed ? strlen(args.main) : 0;
    if (word > 0) {
        if (main_len > word && strncmp(command, args.main, main_len) == 0 &&
            (command[main_len] == ' ' || command[main_len] == '\0'))
            word = main_len;
        set_name(j, command, word);
        set_arguments(j, command + word + strspn(command + word, " "),
                      strlen(command + word + strspn(command + word, " ")));
    } else if (parsed) {
        set_name(j, args.main, main_len);
        set_arguments(j, args.program, args.program_len);
    } else {
        set_name(j, comm, strlen(comm));
    }
    if (!j->name[0])
        snprintf(j->name, sizeof j->name, "?");
    free(cmdline);
}

/* `v` may be NULL: no performance data. */
static void set_live(struct jvm *j, const struct proc_stat *st, const struct perf_values *v) {
    static const struct perf_values none;
    j->perf_data = v != NULL;
    if (!v)
        v = &none;
    j->uptime_ms = proc_age_ms(st->start_ticks);
    j->rss_bytes = proc_rss_bytes(j->pid);
    j->threads = v->threads > 0 && v->threads < UINT32_MAX ? (uint32_t)v->threads : st->threads;
    j->heap_used_bytes = (uint64_t)v->heap_used;
    j->heap_capacity_bytes = (uint64_t)v->heap_capacity;
    j->heap_max_bytes = (uint64_t)v->heap_max;
    j->gc_count = (uint64_t)v->gc_count;
    j->gc_time_ms = (uint64_t)v->gc_ms;
    j->safepoint_count = (uint64_t)v->safepoints;
    j->safepoint_time_ms = (uint64_t)v->safepoint_ms;
    j->classes_loaded = (uint64_t)v->classes;

    uint64_t now = proc_now_ns(), before = j->time_ns_before;
    uint64_t elapsed = before ? now - before : j->uptime_ms * 1000000U;
    if (elapsed < CPU_INTERVAL_MIN_NS && before)
        return;
    uint64_t ticks = st->cpu_ticks - j->cpu_ticks_before;
    j->cpu_percent = 0;
    if (elapsed > 0 && st->cpu_ticks >= j->cpu_ticks_before)
        j->cpu_percent = 100.0 * (double)proc_ticks_to_ns(ticks) / (double)elapsed;
    j->cpu_ticks_before = st->cpu_ticks;
    j->time_ns_before = now;
}

static int gone(pid_t pid, struct err *e) {
    if (kill(pid, 0) != 0 && errno == EPERM)
        return err_set(e, EACCES,
                       "process %d exists, but /proc/%d is hidden from uid %u (hidepid mount "
                       "option?): run as its user or as root",
                       (int)pid, (int)pid, (unsigned)geteuid());
    return err_set(e, ESRCH, "no process %d: it has ended, or is in another pid namespace",
                   (int)pid);
}

static int read_process(pid_t pid, struct proc_status *status, struct proc_stat *st,
                        struct err *e) {
    int rc = proc_status(pid, status);
    if (rc == 0)
        rc = proc_stat(pid, st);
    if (rc == -ESRCH)
        return gone(pid, e);
    if (rc < 0)
        return err_set(e, -rc, "cannot read /proc/%d: %s", (int)pid, strerror(-rc));
    if (st->state == 'Z' || st->state == 'X')
        return err_set(e, ESRCH, "process %d (%s) has ended", (int)pid, st->comm);
    if (status->tgid != pid)
        return err_set(e, EINVAL, "%d is a thread of process %d: use the process number", (int)pid,
                       (int)status->tgid);
    return 0;
}

static uint64_t own_capabilities(void) {
    struct process_status self;
    return process_status_read(getpid(), &self) == 0 ? self.capabilities : 0;
}

/* True if the process was started by another command than java; every user may read which. */
static bool runs_other_program(pid_t pid) {
    char word[4096];
    if (proc_read(pid, "cmdline", word, sizeof word) <= 0)
        return false;
    const char *slash = strrchr(word, '/');
    return strcmp(slash ? slash + 1 : word, "java") != 0;
}

static int no_access(const struct jvm *j, const char *comm, int error, struct err *e) {
    char how[NO_ACCESS_REMEDY];
    return err_set(
        e, EACCES,
        "process %d (%s) %sbelongs to uid %u and cannot be inspected by uid %u (/proc/%d/maps: "
        "%s): %s",
        (int)j->pid, comm,
        runs_other_program(j->pid) ? "is probably not a JVM: its program is not java. It " : "",
        (unsigned)j->uid, (unsigned)geteuid(), (int)j->pid, strerror(error),
        no_access_remedy(geteuid(), own_capabilities(), j->uid, j->gid, how));
}

static int inspect(pid_t pid, struct jvm *j, struct err *e) {
    struct proc_status status = {0};
    struct proc_stat st = {0};
    struct perf_values v = {0};
    *j = (struct jvm){0};
    int rc = read_process(pid, &status, &st, e);
    if (rc < 0)
        return rc;
    j->pid = pid;
    j->inner_pid = status.inner_pid;
    j->uid = status.uid;
    j->gid = status.gid;
    j->start_ticks = st.start_ticks;
    j->container = status.pid_namespace || proc_other_mounts(pid);
    set_user(j);

    int maps = proc_maps_jvm(pid);
    if (maps == 0)
        return err_set(e, EINVAL, "process %d (%s) is not a JVM: no libjvm.so is mapped in it",
                       (int)pid, st.comm);
    if (maps == -ESRCH)
        return gone(pid, e);
    int perf = jvm_perf_read(j, true, &v);
    if (maps < 0 && perf < 0)
        return no_access(j, st.comm, -maps, e);
    if (perf == 0) {
        snprintf(j->version, sizeof j->version, "%s", v.vm_version);
        snprintf(j->vm_name, sizeof j->vm_name, "%s", v.vm_name);
    }
    identify(j, perf == 0 ? v.command : "", st.comm);
    set_live(j, &st, perf == 0 ? &v : NULL);
    return 0;
}

int jvm_inspect(pid_t pid, struct jvm *out, struct err *e) {
    if (pid <= 0)
        return err_set(e, EINVAL, "%d is not a process id", (int)pid);
    return inspect(pid, out, e);
}

int jvm_refresh(struct jvm *j) {
    struct proc_stat st = {0};
    struct perf_values v;
    if (proc_stat(j->pid, &st) < 0 || st.state == 'Z' || st.state == 'X' ||
        st.start_ticks != j->start_ticks)
        return -ESRCH;
    int perf = jvm_perf_read(j, j->perf_data, &v);
    set_live(j, &st, perf == 0 ? &v : NULL);
    return 0;
}

/* A JVM has threads besides the main one. This test rules out most processes. */
static bool may_be_jvm(pid_t pid) {
    struct proc_stat st;
    return pid != getpid() && proc_stat(pid, &st) == 0 && st.threads > 1;
}

/* Fills in what every user may read of a process that inspect() may not inspect. */
static bool fill_closed(struct jvm *j) {
    char word[4096];
    struct proc_stat st = {0};
    struct java_args args;
    ssize_t n = proc_read(j->pid, "cmdline", word, sizeof word);
    if (n <= 0 || proc_stat(j->pid, &st) < 0 || st.start_ticks != j->start_ticks)
        return false;
    const char *slash = strrchr(word, '/');
    if (strcmp(slash ? slash + 1 : word, "java") != 0 ||
        !java_args_parse(word, (size_t)n + (word[n - 1] != '\0'), &args))
        return false;
    j->closed = true;
    identify(j, "", st.comm);
    set_live(j, &st, NULL);
    return true;
}

static int by_pid(const void *a, const void *b) {
    pid_t x = ((const struct jvm *)a)->pid, y = ((const struct jvm *)b)->pid;
    return (x > y) - (x < y);
}

static int list_jvms(bool all, struct jvm **out, struct err *e) {
    struct jvm *list = NULL;
    size_t n = 0, cap = 0;
    *out = NULL;
    DIR *d = opendir("/proc");
    if (!d)
        return err_set(e, errno, "cannot list the processes, /proc: %s", strerror(errno));
    const struct dirent *entry;
    while ((entry = readdir(d))) {
        pid_t pid = isdigit((unsigned char)entry->d_name[0]) ? (pid_t)atoi(entry->d_name) : 0;
        if (pid <= 0 || !may_be_jvm(pid))
            continue;
        if (n == cap) {
            struct jvm *more = realloc(list, (cap = cap ? cap * 2 : 16) * sizeof *list);
            if (!more) {
                free(list);
                closedir(d);
                return err_set(e, ENOMEM, "out of memory for the list of JVMs");
            }
            list = more;
        }
        int rc = inspect(pid, &list[n], NULL);
        if (rc == 0 || (all && rc == -EACCES && list[n].pid == pid && fill_closed(&list[n])))
            n++;
    }
    closedir(d);
    if (n > 1)
        qsort(list, n, sizeof *list, by_pid);
    *out = list;
    return (int)n;
}

int jvm_list(struct jvm **out, struct err *e) {
    return list_jvms(false, out, e);
}

int jvm_list_all(struct jvm **out, struct err *e) {
    return list_jvms(true, out, e);
}

#define LIST_MAX 320 /* bytes of an error message for a list of JVMs */

/* A way in which a JVM's name can match the request. The strictest that any JVM matches is used. */
typedef bool (*fit)(const char *name, const char *what);

static bool fits_whole(const char *name, const char *what) {
    return strcmp(name, what) == 0;
}

/* Matches the class without its package, or the jar file without ".jar". */
static bool fits_short(const char *name, const char *what) {
    size_t len = strlen(name);
    if (len > 4 && strcmp(name + len - 4, ".jar") == 0)
        return strlen(what) == len - 4 && strncmp(name, what, len - 4) == 0;
    const char *dot = strrchr(name, '.');
    return dot && strcmp(dot + 1, what) == 0;
}

static bool fits_part(const char *name, const char *what) {
    return strcasestr(name, what) != NULL;
}

static bool fits_any(const char *name, const char *what) {
    (void)name;
    (void)what;
    return true;
}

/* Writes "12 Main, 34 app.jar in 1a2b3c4d5e6f"; a list that is too long is cut with "...". */
static void list_names(const struct jvm *list, int n, fit fits, const char *what, char *out) {
    size_t len = 0;
    out[0] = '\0';
    for (int i = 0; i < n; i++) {
        if (!fits(list[i].name, what))
            continue;
        char item[64 + CONTAINER_NAME], container[CONTAINER_NAME] = "yes";
        if (list[i].container)
            container_name(list[i].pid, container);
        bool named = strcmp(container, "yes") != 0;
        snprintf(item, sizeof item, "%s%d %.40s%s%s", len ? ", " : "", (int)list[i].pid,
                 list[i].name, named ? " in " : "", named ? container : "");
        if (len + strlen(item) >= LIST_MAX - 8) {
            snprintf(out + len, LIST_MAX - len, ", ...");
            return;
        }
        len += (size_t)snprintf(out + len, LIST_MAX - len, "%s", item);
    }
}

static int none_fits(const struct jvm *list, int n, const char *what, struct err *e) {
    char names[LIST_MAX];
    if (n == 0 && process_status_has(own_capabilities(), CAPABILITY_SYS_PTRACE))
        return err_set(e, ESRCH, "no running JVM can be inspected by uid %u: start one",
                       (unsigned)geteuid());
    if (n == 0)
        return err_set(e, ESRCH, "no running JVM can be inspected by uid %u: start one, or run %s",
                       (unsigned)geteuid(),
                       geteuid() == 0 ? "with CAP_SYS_PTRACE, or as the user of the JVM you mean "
                                        "(setpriv --reuid UID --regid GID --clear-groups "
                                        "jtop-prof ...)"
                                      : "as the user of the JVM you mean, or as root");
    list_names(list, n, fits_any, what, names);
    return err_set(e, ESRCH, "no JVM is named '%.80s'; running: %s", what, names);
}

static int several_fit(const struct jvm *list, int n, fit fits, const char *what, struct err *e) {
    char names[LIST_MAX];
    list_names(list, n, fits, what, names);
    return err_set(e, ENOTUNIQ, "several JVMs match '%.80s', give the pid of one: %s", what, names);
}

static int choose(const struct jvm *list, int n, const char *what, struct jvm *out, struct err *e) {
    static const fit ways[] = {fits_whole, fits_short, fits_part};
    static const fit any[] = {fits_any};
    bool only = strcmp(what, "jps") == 0;
    const fit *way = only ? any : ways;
    for (size_t w = 0; w < (only ? 1 : sizeof ways / sizeof *ways); w++) {
        int found = -1, count = 0;
        for (int i = 0; i < n; i++)
            if (way[w](list[i].name, what)) {
                found = i;
                count++;
            }
        if (count > 1)
            return several_fit(list, n, way[w], what, e);
        if (count == 1) {
            *out = list[found];
            return 0;
        }
    }
    return none_fits(list, n, what, e);
}

int jvm_find(const char *what, struct jvm *out, struct err *e) {
    if (*what == '\0')
        return err_set(e, EINVAL, "no JVM was named: give a pid, a main class or a jar file");
    if (strspn(what, "0123456789") == strlen(what)) {
        long pid = strlen(what) < 10 ? strtol(what, NULL, 10) : 0;
        if (pid <= 0)
            return err_set(e, EINVAL, "'%.40s' is not a process id", what);
        return jvm_inspect((pid_t)pid, out, e);
    }
    struct jvm *list = NULL;
    int n = jvm_list(&list, e);
    if (n < 0)
        return n;
    int rc = choose(list, list ? n : 0, what, out, e);
    free(list);
    return rc;
}
