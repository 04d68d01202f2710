/*
 * Something that is done by a child process, so that the caller never has to change who or where
 * it is: take on the JVM's uid and gid, enter its /tmp, look into its /proc files as its own user.
 * What the child finds comes back as one fixed struct, and one descriptor where there is one.
 *
 * The child is a clone that raises no SIGCHLD, with all signals blocked: the caller's handlers and
 * waits never see it, and Ctrl-C at the terminal does not keep it from tidying up.
 *
 * Context: frontend only, any thread. The work runs in a single-threaded copy of a process that may
 * have had threads: it allocates nothing, takes no lock, formats no message (snprintf of plain
 * numbers and strings is all right), and makes system calls that change credentials raw. What it
 * writes to *context is the copy's.
 */
#ifndef JTOP_ATTACH_PROC_ERRAND_H
#define JTOP_ATTACH_PROC_ERRAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define ERRAND_RESULT_MAX 1024u

/* Fills `result` (as large as the caller said, zeroed) and *fd, or leaves it -1. */
typedef void (*errand_work)(void *context, void *result, int *fd);

/* Does the work and waits for it, at most until `deadline_ns` (monotonic); what is not done then
 * is killed. 0: *result and *fd (the caller's; -1: none) are what the work left, and are untouched
 * (*fd: -1) where it ended or hung without an answer. -errno: no child could be made. */
int errand_run(errand_work work, void *context, uint64_t deadline_ns, void *result,
               size_t result_bytes, int *fd);

/* The same, and afterwards the child stays until errand_end() or until the caller is gone, however
 * it went; then `after` is called in it with the same context, for instance to remove a file. */
struct errand {
    pid_t child; /* 0: none */
    int channel;
};
int errand_begin(errand_work work, void (*after)(void *context), void *context,
                 uint64_t deadline_ns, void *result, size_t result_bytes, int *fd,
                 struct errand *out);
/* Makes the child do its `after` and waits for its end, a second at most; then it is killed. False:
 * it did not do it; somebody had killed it, or it hung. May be called again, and for one that never
 * began. */
bool errand_end(struct errand *errand);

#endif
