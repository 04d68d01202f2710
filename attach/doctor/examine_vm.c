#include "attach/doctor/examine.h"

#include "attach/proc/credentials.h"
#include "attach/proc/errand.h"
#include "attach/proc/inside.h"
#include "attach/proc/proc.h"
#include "core/base/utf8.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OLDEST = 8, NEWEST = 28, FILE_BYTES = 4 << 20, PATIENCE_MS = 500 };

static void check_vm(struct examiner *x) {
    const struct jvm *j = x->jvm;
    struct finding *f;
    if (x->maps.j9 || strstr(j->vm_name, "J9")) {
        f = examine_add(x, "vm", "VM", FINDING_FAILURE,
                        "Eclipse OpenJ9 (libj9vm is mapped: /proc/%d/maps), not HotSpot",
                        (int)j->pid);
        examine_remedy(f, "its stacks cannot be read: run the program on an OpenJDK");
    } else if (strstr(j->vm_name, "Zero")) {
        f = examine_add(x, "vm", "VM", FINDING_WARNING, "%s", j->vm_name);
        examine_remedy(f,
                       "the Zero VM is sampled at safepoints only, marked BIASED: run the program "
                       "on a server VM");
    } else if (j->vm_name[0]) {
        examine_add(x, "vm", "VM", FINDING_OK, "%s", j->vm_name);
    } else {
        examine_add(x, "vm", "VM", FINDING_NOTE, "its name is not known: no performance data; %s",
                    x->maps.vm_path[0] ? "libjvm.so is mapped" : "java by its command line");
    }
}

static void check_jdk(struct examiner *x) {
    bool tried = x->release >= OLDEST && x->release <= NEWEST;
    if (x->release <= 0) {
        examine_add(
            x, "jdk", "JDK", FINDING_NOTE, "its version is not known: no performance data%s",
            x->maps.vm_path[0] ? ", and no file named release in the directories above libjvm.so"
                               : "");
        return;
    }
    struct finding *f = examine_add(x, "jdk", "JDK",
                                    tried                 ? FINDING_OK
                                    : x->release > NEWEST ? FINDING_NOTE
                                                          : FINDING_WARNING,
                                    "%d (%s)", x->release, x->version);
    if (!tried)
        examine_remedy(f, "jtop-prof is tested with JDK %d to %d", OLDEST, NEWEST);
}

/* ---- files as the JVM sees them ---- */

struct file_answer {
    unsigned minor;
    int error;
    char version[64];
};
typedef void file_reader(const char *data, size_t size, struct file_answer *a);
struct file_look {
    const struct jvm *jvm;
    const char *path;
    file_reader *reader;
    char *buffer;
};

/* Reads the file as the JVM's user, so that it reads nothing that the JVM could not read itself. */
static void look_into(void *context, void *result, int *fd_out) {
    const struct file_look *l = context;
    struct file_answer a = {.error = 0};
    *fd_out = -1;
    int root = inside_enter(l->jvm->pid, "root");
    int rc = credentials_take(l->jvm->pid, l->jvm->uid, l->jvm->gid);
    if (root < 0)
        root = inside_enter(l->jvm->pid, "root"); /* that user may enter it */
    rc = rc < 0 || root >= 0 ? rc : root;
    int fd = rc < 0 ? rc : inside_read(inside_open(root, l->path, 0));
    ssize_t n = fd >= 0 ? read(fd, l->buffer, FILE_BYTES - 1) : -1;
    a.error = fd < 0 ? -fd : n < 0 ? errno : 0;
    if (n > 0) {
        l->buffer[n] = '\0';
        l->reader(l->buffer, (size_t)n, &a);
    }
    memcpy(result, &a, sizeof a);
}

static struct file_answer read_inside(const struct examiner *x, const char *path,
                                      file_reader *reader) {
    struct file_answer a = {.error = ENOMEM};
    struct file_look l = {x->jvm, path, reader, malloc(FILE_BYTES)};
    int fd = -1;
    if (!l.buffer)
        return a;
    a.error = ETIMEDOUT;
    int rc = errand_run(look_into, &l, proc_now_ns() + PATIENCE_MS * UINT64_C(1000000), &a,
                        sizeof a, &fd);
    if (rc < 0)
        a.error = -rc;
    if (fd >= 0)
        close(fd);
    free(l.buffer);
    a.version[sizeof a.version - 1] = '\0';
    return a;
}

static void take_minor(const char *data, size_t size, struct file_answer *a) {
    a->minor = library_glibc_minor(data, size);
}

/* JAVA_VERSION="17.0.15" */
static void take_version(const char *data, size_t size, struct file_answer *a) {
    static const char name[] = "JAVA_VERSION=\"";
    const char *at = memmem(data, size, name, sizeof name - 1);
    if (at)
        snprintf(a->version, sizeof a->version, "%.*s", (int)strcspn(at + sizeof name - 1, "\"\n"),
                 at + sizeof name - 1);
}

/* If the JVM does not report its version: reads the file `release` of its JDK, three directories
 * above libjvm.so; more in a JDK 8. */
static void find_version(struct examiner *x) {
    for (int up = 3; up <= 5 && !x->release && x->maps.vm_path[0]; up++) {
        char path[PROCESS_MAPS_PATH + 16];
        snprintf(path, sizeof path, "%s", x->maps.vm_path);
        char *slash = NULL;
        for (int i = 0; i < up && (slash = strrchr(path, '/')); i++)
            *slash = '\0';
        if (!slash)
            return;
        snprintf(path + strlen(path), sizeof path - strlen(path), "/release");
        struct file_answer a = read_inside(x, path, take_version);
        if (a.error == ETIMEDOUT)
            return;
        utf8_clean(a.version);
        x->release = examine_release(a.version + (strncmp(a.version, "1.", 2) ? 0 : 2));
        snprintf(x->version, sizeof x->version, "%s, from its release file", a.version);
    }
}

/* ---- the C library ---- */

static void check_musl(struct examiner *x) {
    bool good = x->library_error || !x->needs.beyond_libc[0];
    struct finding *f = examine_add(
        x, "libc", "C library", good ? FINDING_OK : FINDING_FAILURE, "musl (%s)%s%s%s",
        x->maps.libc_path, good ? "" : "; the agent needs ", good ? "" : x->needs.beyond_libc,
        good ? ": the agent runs with it" : ", which is missing");
    if (!good)
        examine_remedy(f, "build the agent as the Makefile does, which links it to libc alone");
}

static void check_glibc(struct examiner *x) {
    struct file_answer a = read_inside(x, x->maps.libc_path, take_minor);
    unsigned need = x->library_error ? 0 : x->needs.glibc_minor;
    if (!a.minor) {
        examine_add(x, "libc", "C library", FINDING_NOTE,
                    "glibc (%s), its version is not known%s%s", x->maps.libc_path,
                    a.error ? ": " : "", a.error ? strerror(a.error) : "");
        return;
    }
    bool good = need <= a.minor;
    char wants[48] = "";
    if (need)
        snprintf(wants, sizeof wants, "; the agent needs 2.%u or newer", need);
    struct finding *f = examine_add(x, "libc", "C library", good ? FINDING_OK : FINDING_FAILURE,
                                    "glibc 2.%u (%s)%s", a.minor, x->maps.libc_path, wants);
    if (!good)
        examine_remedy(
            f, "build the agent on a system as old as the JVM's, and give its path with --libpath");
}

static void check_libc(struct examiner *x) {
    if (x->maps.libc == LIBC_MUSL)
        check_musl(x);
    else if (x->maps.libc == LIBC_GLIBC)
        check_glibc(x);
    else
        examine_add(x, "libc", "C library", FINDING_NOTE, "not known: %s",
                    x->maps_error ? strerror(x->maps_error) : "neither glibc nor musl is mapped");
}

/* ---- libjvm.so, performance data and VM options ---- */

static void check_vm_library(struct examiner *x) {
    struct finding *f;
    if (x->maps_error) {
        f = examine_add(x, "vm-library", "libjvm.so", FINDING_NOTE,
                        "/proc/%d/maps cannot be read: %s", (int)x->jvm->pid,
                        strerror(x->maps_error));
        examine_remedy(f, "without it native frames have no names");
    } else if (x->maps.nameless) {
        f = examine_add(x, "vm-library", "libjvm.so", FINDING_WARNING,
                        "/proc/%d/maps says that code comes from \"/\"", (int)x->jvm->pid);
        examine_remedy(f, "native frames have no names: this is a kernel bug (Ubuntu 5.x on "
                          "overlayfs), boot a newer kernel");
    } else if (x->maps.vm_deleted) {
        f = examine_add(
            x, "vm-library", "libjvm.so", FINDING_WARNING,
            "%s was removed or replaced since the JVM started (deleted in /proc/%d/maps)",
            x->maps.vm_path, (int)x->jvm->pid);
        examine_remedy(f, "restart the JVM: its symbols no longer fit the file");
    } else if (x->maps.vm_path[0]) {
        examine_add(x, "vm-library", "libjvm.so", FINDING_OK, "%s", x->maps.vm_path);
    }
}

static void check_perf_data(struct examiner *x) {
    if (x->jvm->perf_data) {
        examine_add(x, "perf-data", "hsperfdata", FINDING_OK, "/tmp/hsperfdata_*/%d",
                    (int)x->jvm->inner_pid);
        return;
    }
    const char *why = x->options.option[JAVA_PERF_DATA].said < 0      ? "-XX:-UsePerfData"
                      : x->options.option[JAVA_PERF_PRIVATE].said > 0 ? "-XX:+PerfDisableSharedMem"
                                                                      : NULL;
    struct finding *f =
        examine_add(x, "perf-data", "hsperfdata", FINDING_NOTE, "no /tmp/hsperfdata_*/%d%s%s",
                    (int)x->jvm->inner_pid, why ? ": " : "", why ? why : "");
    examine_remedy(f, "heap, GC and safepoint figures are missing; profiles are not affected");
}

static void check_debug_info(struct examiner *x) {
    char unread[96];
    int said = x->options.option[JAVA_DEBUG_INFO].said;
    struct finding *f =
        examine_add(x, "debug-info", "debug info", said > 0 ? FINDING_OK : FINDING_NOTE, "%s%s",
                    said > 0   ? "-XX:+DebugNonSafepoints"
                    : said < 0 ? "-XX:-DebugNonSafepoints"
                               : "-XX:+DebugNonSafepoints is not set, as far as known",
                    said ? "" : examine_unread(x, unread, sizeof unread));
    if (said <= 0)
        examine_remedy(f, "small methods inlined before the profile begins get each other's "
                          "samples: use --precise, or start the JVM with "
                          "-XX:+UnlockDiagnosticVMOptions -XX:+DebugNonSafepoints");
}

static void check_stack_depth(struct examiner *x) {
    if (x->options.option[JAVA_STACK_DEPTH].said >= 0) {
        examine_add(x, "stack-depth", "stack depth", FINDING_OK,
                    "MaxJavaStackTraceDepth does not hide Java frames");
        return;
    }
    struct finding *f = examine_add(x, "stack-depth", "stack depth", FINDING_NOTE,
                                    "MaxJavaStackTraceDepth is not above 0 (%s)",
                                    x->options.option[JAVA_STACK_DEPTH].source);
    examine_remedy(f, "--cstack asgct would show no Java frames; the default, vm, does");
}

void examine_vm(struct examiner *x) {
    find_version(x);
    check_vm(x);
    check_jdk(x);
    check_libc(x);
    check_vm_library(x);
    check_perf_data(x);
    check_debug_info(x);
    check_stack_depth(x);
}
