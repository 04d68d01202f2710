/*
 * A JVM's threads by the numbers that it knows them by, in its own pid namespace.
 *
 * All is read through one descriptor of /proc/PID, which stays that process's: when it is gone
 * nothing is found any more, whoever has its number then. Nor while it runs a program that has other
 * rights than it had itself at first (execve of a setuid one).
 *
 * Context: one thread at a time per struct.
 */
#ifndef JTOP_SESSION_DRAIN_JVM_TIDS_H
#define JTOP_SESSION_DRAIN_JVM_TIDS_H

#include "attach/find/jvm.h"
#include "core/base/id_map.h"

struct jvm_tids {
    int proc;            /* /proc/PID; -1: not open */
    uid_t owner;         /* of its descriptors */
    bool ours;           /* it lives in our pid namespace, as far as we may know */
    uint64_t looked_at;  /* entries of its directory of threads, so far: what it costs us */
    uint64_t anew_ns;    /* not before that are all of them read again */
    struct id_map outer; /* inner → outer */
    struct id_map seen;  /* outer → inner: whose status was read */
};

/* -ESRCH: that process is gone, or another one by now; or another -errno. */
int jvm_tids_open(struct jvm_tids *t, const struct jvm *j);
void jvm_tids_close(struct jvm_tids *t);

/* Our number of it. -ESRCH: the JVM has no such thread. */
int jvm_tids_outer(struct jvm_tids *t, uint32_t inner, uint32_t *outer);

/* Whether thread `outer` is the JVM's, and `inner` to it, at this moment. */
bool jvm_tids_is(const struct jvm_tids *t, uint32_t outer, uint32_t inner);

#endif
