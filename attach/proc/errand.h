/*
 * Work that a child process does, so that the caller never has to change its own user or place. The
 * child can take on the JVM's uid and gid, enter its /tmp, and read its /proc files as its own
 * user. It returns one fixed struct, and one descriptor if there is one.
 *
 * The child is a clone that raises no SIGCHLD, with all signals blocked. So the caller's handlers
 * and waits never see it, and Ctrl-C at the terminal does not stop it from cleaning up.
 *
 * Context: frontend only, any thread. The work runs in a single-threaded copy of a process that may
 * have had threads: it allocates nothing, takes no lock, formats no message (snprintf of plain
 * numbers and strings is all right), and makes system calls that change credentials raw. What it
 * writes to *context changes only the copy.
 */
#ifndef JTOP_ATTACH_PROC_ERRAND_H
#define JTOP_ATTACH_PROC_ERRAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define ERRAND_RESULT_MAX 1024u

/* Fills `result` (zeroed, of the size that the caller gave) and *fd, or leaves *fd at -1. */
typedef void (*errand_work)(void *context, void *result, int *fd);

/* Does the work in a child and waits for it until `deadline_ns` (CLOCK_MONOTONIC) at most; after
 * that the child is killed. 0: *result and *fd (owned by the caller; -1: none) are what the work
 * returned. If it ended or hung without an answer, *result is unchanged and *fd is -1. -errno: no
 * child could be started. */
int errand_run(errand_work work, void *context, uint64_t deadline_ns, void *result,
               size_t result_bytes, int *fd);

/* The same, but the child stays until errand_end() or until the caller has ended, for whatever
 * reason. Then the child calls `after` with the same context, for example to remove a file. */
struct errand {
    pid_t child; /* 0: none */
    int channel;
};
int errand_begin(errand_work work, void (*after)(void *context), void *context,
                 uint64_t deadline_ns, void *result, size_t result_bytes, int *fd,
                 struct errand *out);
/* Makes the child call `after` and waits for its end, at most a second; then it is killed. False:
 * it did not complete `after`, because it was killed or hung. May be called again, and for an
 * errand that never began. */
bool errand_end(struct errand *errand);

#endif
