/*
 * The reader's side of the shared mapping. It is either found among the JVM's descriptors, or
 * made by us for an agent whose descriptors we are not allowed to see. It is checked before it
 * is trusted:
 *
 *  - it is a memfd (a regular file on tmpfs) that is sealed against shrinking, so that reading it
 *     later cannot raise SIGBUS
 *   - its header has our session number, magic and ABI
 *   - its ring size is a power of two, in range, and fits the file's size
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
    struct wire_mapping *wire; /* NULL: no mapping */
    uint64_t ring_bytes;       /* checked value; the header's value is not read again */
    int fd;                    /* with `wire`: its memfd, or -1. Writing much at once costs less
                                  through this, because there are no page faults */
};

/* Maps `fd`, which still belongs to the caller. `session` 0: accept any session. */
int mapping_of_fd(int fd, uint64_t session, struct mapping *out, struct err *e);

/* Searches /proc/PID/fd for the mapping of this session. If root is not allowed to (in a container
 * without CAP_SYS_PTRACE), it searches as the JVM's user. -ENOENT: not found; -EACCES: not
 * allowed. */
int mapping_find(const struct jvm *j, uint64_t session, struct mapping *out, struct err *e);

/* Makes a sealed memfd of the right size, which the agent fills. Returns the descriptor, which
 * belongs to the caller, or -errno. */
int mapping_make_fd(uint64_t ring_bytes, struct err *e);

/* Whether one of these two users may read /proc/PID/fd: 0, or -errno. */
int mapping_may_look(const struct jvm *j);

/* The parts that this process writes: unwind tables, and WIRE_THREADS_BYTES of threads' bits. */
struct wire_unwind *mapping_unwind(const struct mapping *m);
_Atomic uint8_t *mapping_threads(const struct mapping *m);

void mapping_close(struct mapping *m);

#endif
