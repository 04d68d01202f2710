#include "attach/doctor/examine.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Inode numbers of the first pid and user namespace. source: include/linux/proc_ns.h */
#define FIRST_PID_NAMESPACE 0xeffffffcU
#define FIRST_USER_NAMESPACE 0xeffffffdU

#if defined(__x86_64__)
#define OUR_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OUR_MACHINE EM_AARCH64
#else
#define OUR_MACHINE EM_NONE
#endif

static void check_kernel(struct examiner *x) {
    struct utsname u;
    int major = 0, minor = 0;
    if (uname(&u) != 0)
        return;
    bool old = sscanf(u.release, "%d.%d", &major, &minor) == 2 &&
               (major < 3 || (major == 3 && minor < 17));
    bool wsl = strcasestr(u.release, "microsoft") != NULL;
    struct finding *f = examine_add(x, "kernel", "kernel",
                                    old   ? FINDING_FAILURE
                                    : wsl ? FINDING_NOTE
                                          : FINDING_OK,
                                    "%s %s %s (uname)", u.sysname, u.release, u.machine);
    if (old)
        examine_remedy(f, "use Linux 3.17 or later: samples are passed through memfd_create");
    else if (wsl)
        examine_remedy(f,
                       "Windows Subsystem for Linux: if perf_events are missing, ctimer is used");
}

static bool has_namespace(const char *name, ino_t first, bool *known) {
    struct stat st;
    char path[64];
    snprintf(path, sizeof path, "/proc/self/ns/%s", name);
    *known = stat(path, &st) == 0;
    return *known && st.st_ino != first;
}

static void check_self(struct examiner *x) {
    char names[160];
    bool known, pid = has_namespace("pid", FIRST_PID_NAMESPACE, &known),
                user = has_namespace("user", FIRST_USER_NAMESPACE, &known);
    examine_add(x, "self", "this process", FINDING_OK,
                "uid %u with %s (CapEff of /proc/self/status)", (unsigned)x->uid,
                examine_capabilities(x->self.capabilities, names, sizeof names));
    if (!pid && !user)
        return;
    struct finding *f =
        examine_add(x, "self-namespaces", "namespaces", FINDING_NOTE,
                    "this process is in a container: a %s%s%s "
                    "namespace of its own (/proc/self/ns)",
                    pid ? "pid" : "", pid && user ? " and a " : "", user ? "user" : "");
    examine_remedy(f, "JVMs outside it are not visible from here: to profile them, run on the host "
                      "or in their container");
}

static void check_library(struct examiner *x) {
    if (x->library_error) {
        struct finding *f =
            examine_add(x, "agent-library", "agent", FINDING_FAILURE, "%s: %s",
                        x->library ? x->library : "libjtop-agent.so",
                        x->library ? strerror(x->library_error) : "not found beside the program");
        examine_remedy(f, "install it in ../lib/jtop-prof beside the program, or name it with "
                          "--libpath");
        return;
    }
    bool other = x->needs.machine != OUR_MACHINE;
    char glibc[32] = "any glibc or musl";
    if (x->needs.glibc_minor)
        snprintf(glibc, sizeof glibc, "glibc 2.%u", x->needs.glibc_minor);
    struct finding *f =
        examine_add(x, "agent-library", "agent", other ? FINDING_FAILURE : FINDING_OK,
                    "%s, %s, for %s", x->library, library_machine(x->needs.machine), glibc);
    if (other)
        examine_remedy(
            f, "it is built for another machine than this program: install both from one package");
}

static void check_clock(struct examiner *x) {
    static const char path[] = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    static const char *const fast[] = {
        "tsc",      "kvm-clock",        "arch_sys_counter", "hyperv_clocksource_tsc_page",
        "timebase", "riscv_clocksource"};
    char name[64];
    int rc = examine_line(path, name, sizeof name);
    if (rc < 0) {
        examine_add(x, "clock", "clock", FINDING_NOTE, "not known: %s: %s", path, strerror(-rc));
        return;
    }
    bool good = false;
    for (size_t i = 0; i < sizeof fast / sizeof *fast; i++)
        good = good || !strcmp(name, fast[i]);
    struct finding *f = examine_add(x, "clock", "clock", good ? FINDING_OK : FINDING_WARNING,
                                    "%s (%s)", name, path);
    if (!good)
        examine_remedy(f, "each reading of this clock is a system call, which makes samples "
                          "slower; boot with clocksource=tsc if the TSC is stable");
}

static void check_descriptors(struct examiner *x) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    bool few = limit.rlim_cur < 256;
    struct finding *f =
        examine_add(x, "descriptors", "descriptors", few ? FINDING_WARNING : FINDING_OK,
                    "%llu (ulimit -n)", (unsigned long long)limit.rlim_cur);
    if (few)
        examine_remedy(f, "ulimit -n 1024: several JVMs and files may need more");
}

void examine_kernel(struct examiner *x) {
    check_kernel(x);
    check_self(x);
    check_library(x);
    check_clock(x);
    check_descriptors(x);
}
