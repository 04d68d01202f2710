/*
 * The shared mapping, from the reader's side: found among the JVM's descriptors, or made by us for
 * an agent whose descriptors we may not see; checked before it is believed.
 *
 *   - a memfd (a regular file on tmpfs) that is sealed against shrinking: touching it cannot raise
 *     SIGBUS later
 *   - our session number, magic and ABI in its header
 *   - a ring size that is a power of two, within bounds, and fits the file's size
 *
 * Context: any thread; one owner per struct.
 */
#ifndef JTOP_SESSION_MAPPING_H
#define JTOP_SESSION_MAPPING_H

#include "attach/find/jvm.h"
#include "core/base/err.h"
#include "core/wire/layout.h"
#include "core/wire/unwind.h"

struct mapping {
    struct wire_mapping *wire; /* NULL: none */
    uint64_t ring_bytes;       /* as checked; the header's is not read again */
};

/* Maps `fd`, which stays the caller's. `session` 0: any. */
int mapping_of_fd(int fd, uint64_t session, struct mapping *out, struct err *e);

/* Looks through /proc/PID/fd for the mapping of this session, as the JVM's user where root may not
 * (in a container without CAP_SYS_PTRACE). -ENOENT: none; -EACCES: not allowed to look. */
int mapping_find(const struct jvm *j, uint64_t session, struct mapping *out, struct err *e);

/* Makes a sealed memfd of the right size for the agent to fill in. Returns the descriptor (the
 * caller's) or -errno. */
int mapping_make_fd(uint64_t ring_bytes, struct err *e);

/* Whether /proc/PID/fd may be looked into by one of both: 0, or -errno. */
int mapping_may_look(const struct jvm *j);

/* The parts that we fill: unwind tables, and WIRE_THREADS_BYTES of threads' bits. */
struct wire_unwind *mapping_unwind(const struct mapping *m);
_Atomic uint8_t *mapping_threads(const struct mapping *m);

void mapping_close(struct mapping *m);

#endif
