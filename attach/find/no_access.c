#include "attach/find/no_access.h"

#include "attach/proc/process_status.h"

#include <stdio.h>

const char *no_access_remedy(uid_t uid, uint64_t capabilities, uid_t jvm_uid, gid_t jvm_gid,
                             char *out) {
    const size_t size = NO_ACCESS_REMEDY;
    if (process_status_has(capabilities, CAPABILITY_SYS_PTRACE))
        snprintf(out, size,
                 "CAP_SYS_PTRACE is there, so a security module (AppArmor, SELinux) or a user "
                 "namespace forbids it: see the kernel's log, or run on the host");
    else if (uid != 0)
        snprintf(out, size, uid == jvm_uid ? "run as root" : "run as its user or as root");
    else if (jvm_uid == 0)
        snprintf(out, size, "CAP_SYS_PTRACE is missing: run with it (docker --cap-add SYS_PTRACE)");
    else if (!process_status_has(capabilities, CAPABILITY_SETUID))
        snprintf(out, size,
                 "CAP_SYS_PTRACE, CAP_SETUID and CAP_SETGID are missing: run with them, or as the "
                 "JVM's user");
    else
        snprintf(out, size,
                 "CAP_SYS_PTRACE is missing: run with it, or as the JVM's user (setpriv --reuid %u "
                 "--regid %u --clear-groups jtop-prof ...)",
                 (unsigned)jvm_uid, (unsigned)jvm_gid);
    return out;
}
