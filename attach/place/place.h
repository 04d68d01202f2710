/*
 * Files:
 *   place        agent library at a path the JVM can load: the file itself or a copy
 *   place_child  child process that copies the library as the JVM's user
 *   place_dirs   candidate directories in the JVM's file system for the copy
 *   place_look   dry run that tells where the agent would be placed
 *   place_parts  structs shared by the caller and the child process
 *
 * The agent's library where the JVM can load it. A JVM that sees the same file under the same path
 * gets that. Any other (a container with files of its own, a user who may not read ours) gets a
 * copy in a directory of its own, for as long as it takes to load it.
 *
 * The directory is the first of the JVM's /tmp, /dev/shm, /var/tmp, /run/user/UID, working directory
 * and home, and of the file systems mounted there, that its user may write to and that has room and
 * is not mounted noexec. All is done by a child with the JVM's uid and gid (errand.h), looked up
 * inside the JVM's root and never through a link that leads out of it: nothing can be written that
 * the JVM's own user could not have. The file is called .jtop-prof-RANDOM-DIGEST.so (the digest is
 * of what is in it), has mode 0500, is made with O_EXCL, and goes when place_release() is called or
 * this process ends, however it ends.
 *
 * A copy that the JVM loaded before is still there under its name, though the file is gone: the C
 * library knows it (glibc does; musl looks for the file first). So it is not loaded twice.
 *
 * Context: frontend only, any thread; blocks up to the deadline (and a second more).
 */
#ifndef JTOP_ATTACH_PLACE_PLACE_H
#define JTOP_ATTACH_PLACE_PLACE_H

#include "attach/find/jvm.h"
#include "attach/proc/errand.h"

#define PLACE_PATH 512

enum place_want {
    /* A listening SOCK_SEQPACKET socket in the same kind of directory, mode 0600, by which the agent
     * in the JVM can reach us whatever its namespaces; only where that works. */
    PLACE_SOCKET = 1,
    /* Not the copy that the JVM has loaded before: it would not take that. */
    PLACE_ANEW = 2,
};

struct place {
    char path[PLACE_PATH];        /* of the library, as the JVM sees it */
    char socket_path[PLACE_PATH]; /* of the socket, as the JVM sees it; "": none */
    int listener;                 /* the socket, non-blocking; -1: none. place_release closes it */
    bool copied;                  /* for this once */
    bool loaded;                  /* there is no file: it is the name of what was loaded before */
    struct errand keeper;
    struct place_owner {
        pid_t pid;
        uid_t uid;
        gid_t gid;
        uint64_t start_ticks;
        bool own_files; /* it has mounts of its own */
    } owner;            /* the JVM */
};

/* `library`: a path as we see it. `wants`: of enum place_want. 0, also where the JVM may not be
 * looked into, or is gone (the path is `library` then, and loading it will tell); or -errno with the
 * directories looked at, and why each would not do (-ENOENT: our own file cannot be read). */
int place_agent(const struct jvm *j, const char *library, unsigned wants, uint64_t deadline_ns,
                struct place *out, struct err *e);

/* Removes what was placed, also where its user has killed the child that was to. The JVM keeps what
 * it has loaded. May be called again. */
void place_release(struct place *p);

/* Whether the JVM has such a file. 0, also where that cannot be told; or -ENOENT. */
int place_check(const struct jvm *j, const char *path, uint64_t deadline_ns, struct err *e);

#endif
