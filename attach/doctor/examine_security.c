#include "attach/doctor/examine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void check_seccomp(struct examiner *x) {
    static const char *const modes[] = {"none", "strict", "a filter"};
    int mode = x->self.seccomp;
    struct finding *f = examine_add(x, "seccomp", "seccomp", mode > 0 ? FINDING_NOTE : FINDING_OK,
                                    "%s on this process (Seccomp of /proc/self/status: %d)",
                                    mode >= 0 && mode <= 2 ? modes[mode] : "not known", mode);
    if (mode > 0)
        examine_remedy(f, x->perf_error
                              ? "it may be the reason why perf_event_open fails: see that line"
                              : "it allows perf_event_open");
}

static void check_yama(struct examiner *x) {
    static const char path[] = "/proc/sys/kernel/yama/ptrace_scope";
    int error;
    long n = examine_number(path, 0, &error);
    if (error)
        examine_add(x, "yama", "Yama", FINDING_OK, "not in this kernel (%s: %s)", path,
                    strerror(error));
    else
        examine_add(x, "yama", "Yama", FINDING_OK,
                    "%ld (%s): no effect: jtop-prof traces nothing; it only needs the right to "
                    "read the JVM's files in /proc",
                    n, path);
}

/* Takes the value of hidepid from a line of /proc/self/mounts, if the line is about /proc. */
static bool find_hidepid(const char *line, char *out, size_t size) {
    char where[64], kind[32], options[512];
    if (sscanf(line, "%*s %63s %31s %511s", where, kind, options) != 3 ||
        strcmp(where, "/proc") != 0 || strcmp(kind, "proc") != 0)
        return false;
    const char *at = strstr(options, "hidepid=");
    snprintf(out, size, "%.*s", at ? (int)strcspn(at + 8, ",") : 1, at ? at + 8 : "0");
    return true;
}

static void check_hidepid(struct examiner *x) {
    char line[2048], value[32] = "";
    FILE *f = fopen("/proc/self/mounts", "re");
    while (f && fgets(line, sizeof line, f))
        find_hidepid(line, value, sizeof value); /* the last mount hides the earlier ones */
    if (f)
        fclose(f);
    if (!value[0]) {
        examine_add(x, "hidepid", "hidepid", FINDING_NOTE,
                    "not known: /proc/self/mounts has no /proc");
        return;
    }
    bool hidden = strcmp(value, "0") != 0 && strcmp(value, "off") != 0;
    bool matters = hidden && !process_status_has(x->self.capabilities, CAPABILITY_SYS_PTRACE);
    struct finding *found =
        examine_add(x, "hidepid", "hidepid", matters ? FINDING_NOTE : FINDING_OK,
                    "%s (mount options of /proc)", value);
    if (matters)
        examine_remedy(found, "other users' JVMs are hidden: run as their user or as root");
}

static void check_modules(struct examiner *x) {
    char modules[200], enforce[16], apparmor[16];
    int rc = examine_line("/sys/kernel/security/lsm", modules, sizeof modules);
    bool selinux = examine_line("/sys/fs/selinux/enforce", enforce, sizeof enforce) == 0;
    bool armor =
        examine_line("/sys/module/apparmor/parameters/enabled", apparmor, sizeof apparmor) == 0 &&
        apparmor[0] == 'Y';
    bool strict = selinux && enforce[0] == '1';
    struct finding *f = examine_add(
        x, "security-modules", "security modules", strict || armor ? FINDING_NOTE : FINDING_OK,
        "%s%s; SELinux %s, AppArmor %s", rc < 0 ? "/sys/kernel/security/lsm cannot be read: " : "",
        rc < 0 ? strerror(-rc) : modules,
        !selinux ? "off"
        : strict ? "enforcing (/sys/fs/selinux/enforce)"
                 : "permissive",
        armor ? "on (/sys/module/apparmor/parameters/enabled)" : "off");
    if (strict || armor)
        examine_remedy(
            f, "the kernel's log shows what it denies: ausearch -m avc, or dmesg | grep DENIED");
}

void examine_security(struct examiner *x) {
    check_seccomp(x);
    check_yama(x);
    check_hidepid(x);
    check_modules(x);
}
