#include "attach/credentials.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Raw system calls: the C library's own would look for the other threads of a process of which
 * this is only a copy. */
int credentials_take(uid_t uid, gid_t gid) {
    if (geteuid() == uid && getegid() == gid)
        return 0;
    bool root = geteuid() == 0;
    /* A user namespace may forbid to drop the groups; they do not matter to HotSpot. */
    syscall(SYS_setgroups, 0, NULL);
    /* Without the group the JVM may still let us in; it decides. */
    if (syscall(SYS_setresgid, gid, gid, gid) != 0 && root)
        return -errno;
    if (geteuid() != uid && syscall(SYS_setresuid, uid, uid, uid) != 0)
        return -errno;
    /* Its new owner could look into what is a copy of us: fs.suid_dumpable may allow that. */
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    return 0;
}

int credentials_take_for_files(uid_t uid, gid_t gid) {
    if (geteuid() == uid && getegid() == gid)
        return 0;
    syscall(SYS_setgroups, 0, NULL);
    syscall(SYS_setfsgid, gid);
    syscall(SYS_setfsuid, uid);
    /* Neither fails: each tells what was before. */
    return (uid_t)syscall(SYS_setfsuid, (uid_t)-1) == uid ? 0 : -EPERM;
}
