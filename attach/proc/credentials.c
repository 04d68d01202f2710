#include "attach/proc/credentials.h"

#include "attach/proc/process_status.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Uses raw system calls: the C library's functions would look for the other threads of the process,
 * of which this is only a copy. */
/* Drops all our capabilities but those in `kept`. If it fails, they stay as they are. */
static void keep_capabilities(uint64_t kept) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2] = {{0}};
    if (syscall(SYS_capget, &header, data) != 0)
        return;
    for (int i = 0; i < 2; i++) {
        data[i].permitted &= (uint32_t)(kept >> 32 * i);
        data[i].effective &= data[i].permitted;
        data[i].inheritable = 0;
    }
    syscall(SYS_capset, &header, data);
}

int credentials_take(pid_t pid, uid_t uid, gid_t gid) {
    struct process_status jvm;
    /* The JVM's root may have fewer rights than ours, for example in a container. */
    if (uid == 0 && geteuid() == 0 && process_status_read(pid, &jvm) == 0)
        keep_capabilities(jvm.capabilities | UINT64_C(1) << CAP_SETGID);
    if (geteuid() == uid && getegid() == gid)
        return 0;
    bool root = geteuid() == 0;
    /* A user namespace may forbid dropping the groups; HotSpot does not check them. */
    syscall(SYS_setgroups, 0, NULL);
    /* A caller that is not root may not take on the group. The JVM decides whether it accepts
     * that. */
    if (syscall(SYS_setresgid, gid, gid, gid) != 0 && root)
        return -errno;
    if (geteuid() != uid && syscall(SYS_setresuid, uid, uid, uid) != 0)
        return -errno;
    if (uid != 0) /* securebits may have kept the capabilities */
        keep_capabilities(0);
    /* The new owner must not inspect this copy of our process; fs.suid_dumpable may allow that. */
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    return 0;
}

int credentials_take_for_files(uid_t uid, gid_t gid) {
    if (geteuid() == uid && getegid() == gid)
        return 0;
    syscall(SYS_setgroups, 0, NULL);
    syscall(SYS_setfsgid, gid);
    syscall(SYS_setfsuid, uid);
    /* Neither call fails: each returns the previous id. */
    return (uid_t)syscall(SYS_setfsuid, (uid_t)-1) == uid ? 0 : -EPERM;
}
