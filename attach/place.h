/*
 * The agent's library where the JVM can load it. A JVM that sees the same file under the same path
 * gets that. Any other (a container with files of its own, a user who may not read ours) gets a
 * copy in a directory of its own, for as long as it takes to load it.
 *
 * The directory is the first of the JVM's /tmp, /dev/shm, /var/tmp, /run/user/UID, working directory
 * and home that its user may write to and that has room and is not mounted noexec. All is done by a
 * child with the JVM's uid and gid (errand.h), looked up inside the JVM's root and never through
 * a link that leads out of it: nothing can be written that the JVM's own user could not have.
 * The file has a name of its own (random, and a digest of what is in it), mode 0500, is made with
 * O_EXCL, and goes when place_release() is called or this process ends, however it ends.
 *
 * Context: frontend only, any thread; blocks up to the deadline.
 */
#ifndef JTOP_ATTACH_PLACE_H
#define JTOP_ATTACH_PLACE_H

#include "attach/errand.h"
#include "attach/jvm.h"

#define PLACE_PATH 512

struct place {
    char path[PLACE_PATH];        /* of the library, as the JVM sees it */
    char socket_path[PLACE_PATH]; /* of the socket, as the JVM sees it; "": none */
    int listener;                 /* the socket, listening; -1: none. place_release closes it */
    bool copied;
    struct errand keeper;
};

/* `library`: a path as we see it. `want_socket`: also a listening SOCK_SEQPACKET socket in the same
 * kind of directory, by which the agent in the JVM can reach us whatever its namespaces (only where
 * that works: a place without one is no error). 0; or -errno with the directories looked at, and
 * why each would not do (-ENOENT: our own file cannot be read). */
int place_agent(const struct jvm *j, const char *library, bool want_socket, uint64_t deadline_ns,
                struct place *out, struct err *e);

/* Removes what was placed. The JVM keeps what it has loaded. May be called again. */
void place_release(struct place *p);

#endif
