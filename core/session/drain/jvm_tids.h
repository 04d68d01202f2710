/*
 * Maps the tids that a JVM has in its own pid namespace to ours.
 *
 * Everything is read through one descriptor of /proc/PID, which always refers to the same process:
 * after its end nothing is found any more, even if another process gets its number. Nothing is
 * found either while the process runs a program with other rights than it had at first (execve of a
 * setuid program).
 *
 * Context: one thread at a time per struct.
 */
#ifndef JTOP_SESSION_DRAIN_JVM_TIDS_H
#define JTOP_SESSION_DRAIN_JVM_TIDS_H

#include "attach/find/jvm.h"
#include "core/base/id_map.h"

struct jvm_tids {
    int proc;            /* /proc/PID; -1: not open */
    uid_t owner;         /* owner of its directory of descriptors */
    bool ours;           /* it is in our pid namespace, as far as we can see */
    uint64_t looked_at;  /* number of entries read from its directory of threads so far; a measure
                            of the cost */
    uint64_t anew_ns;    /* all entries are not read again before this time */
    struct id_map outer; /* inner → outer */
    struct id_map seen;  /* outer → inner: threads whose status was read */
};

/* -ESRCH: the process is gone, or the number belongs to another process by now; or
 * another -errno. */
int jvm_tids_open(struct jvm_tids *t, const struct jvm *j);
void jvm_tids_close(struct jvm_tids *t);

/* Finds our number of a thread. -ESRCH: the JVM has no such thread. */
int jvm_tids_outer(struct jvm_tids *t, uint32_t inner, uint32_t *outer);

/* Whether thread `outer` belongs to the JVM and is `inner` there, at this moment. */
bool jvm_tids_is(const struct jvm_tids *t, uint32_t outer, uint32_t inner);

#endif
