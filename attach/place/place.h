/*
 * Files:
 *   place        agent library at a path the JVM can load: the file itself or a copy
 *   place_child  child process that copies the library as the JVM's user
 *   place_dirs   candidate directories in the JVM's file system for the copy
 *   place_look   dry run that tells where the agent would be placed
 *   place_parts  structs shared by the caller and the child process
 *
 * Puts the agent's library where the JVM can load it. A JVM that sees the same file at the same
 * path uses that file. Any other JVM (in a container with its own files, or of a user who may not
 * read ours) gets a copy in a directory of its own, for as long as loading takes.
 *
 * The directory is the first that the JVM's user may write to, that has room and that is not
 * mounted noexec, among the JVM's /tmp, /dev/shm, /var/tmp, /run/user/UID, working directory and
 * home, and the file systems mounted there. A child with the JVM's uid and gid does all of this
 * (errand.h). It looks paths up inside the JVM's root and never follows a link that leads out of
 * it, so it can write nothing that the JVM's own user could not write. The file is called
 * .jtop-prof-RANDOM-DIGEST.so (DIGEST is computed from its contents), has mode 0500 and is created
 * with O_EXCL. It is removed when place_release() is called or when this process ends, for whatever
 * reason.
 *
 * If the JVM has loaded a copy before, that name can be loaded again although the file is gone,
 * because the C library remembers it (glibc does; musl looks for the file first). So the agent is
 * not loaded twice.
 *
 * Context: frontend only, any thread; blocks up to the deadline (and a second more).
 */
#ifndef JTOP_ATTACH_PLACE_PLACE_H
#define JTOP_ATTACH_PLACE_PLACE_H

#include "attach/find/jvm.h"
#include "attach/proc/errand.h"

#define PLACE_PATH 512

enum place_want {
    /* Also create a listening SOCK_SEQPACKET socket, mode 0600, in a directory found in the same
     * way. Through it the agent in the JVM can reach us whatever its namespaces. It is created only
     * if this works. */
    PLACE_SOCKET = 1,
    /* Do not use the copy that the JVM has loaded before: the JVM did not accept it. */
    PLACE_ANEW = 2,
};

struct place {
    char path[PLACE_PATH];        /* of the library, as the JVM sees it */
    char socket_path[PLACE_PATH]; /* of the socket, as the JVM sees it; "": none */
    int listener;                 /* the socket, non-blocking; -1: none. place_release closes it */
    bool copied;                  /* a copy was made for this load */
    bool loaded;                  /* no file: the path is the name of a copy loaded before */
    struct errand keeper;
    struct place_owner {
        pid_t pid;
        uid_t uid;
        gid_t gid;
        uint64_t start_ticks;
        bool own_files; /* it has its own mounts */
    } owner;            /* the JVM */
};

/* `library`: a path as we see it. `wants`: flags of enum place_want. Returns 0, also if the JVM may
 * not be inspected or has ended (then the path is `library`, and loading it will show the problem).
 * Or -errno, with the directories that were tried and why each cannot be used (-ENOENT: our own
 * file cannot be read). */
int place_agent(const struct jvm *j, const char *library, unsigned wants, uint64_t deadline_ns,
                struct place *out, struct err *e);

/* Removes what was placed, even if the JVM's user has killed the child that should remove it. The
 * JVM keeps what it has loaded. May be called again. */
void place_release(struct place *p);

/* Checks that the JVM has such a file. 0, also if that cannot be found out; or -ENOENT. */
int place_check(const struct jvm *j, const char *path, uint64_t deadline_ns, struct err *e);

#endif
