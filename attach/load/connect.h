/*
 * A connection to a JVM's attach socket, made by a helper process.
 *
 * The helper is a clone that raises no SIGCHLD. It takes on the JVM's uid and gid, because HotSpot
 * asks the kernel who connected, and because the files that HotSpot reads must belong to its own
 * user. The helper makes the JVM listen, connects, and passes the connected socket to the caller.
 * The caller does all further communication over the socket.
 *
 * Context: frontend only, any thread; blocks up to the deadline.
 */
#ifndef JTOP_ATTACH_LOAD_CONNECT_H
#define JTOP_ATTACH_LOAD_CONNECT_H

#include "attach/find/jvm.h"
#include "attach/load/helper.h"

/* Returns a connected non-blocking socket, which the caller closes, or -errno with a message (see
 * attach.h). `disabled`: the attach mechanism is known to be disabled, so no signal may be sent.
 * `deadline_ns` is CLOCK_MONOTONIC. */
int connect_jvm(const struct jvm *j, bool disabled, uint64_t deadline_ns, struct err *e);

/* Writes into `e` what the outcome means: what failed, why, and what to try. Returns -errno. */
int connect_explain(const struct jvm *j, const struct helper_outcome *o, struct err *e);

/* What to try if the JVM's /tmp cannot be used because of `error` (errno). */
const char *connect_tmp_remedy(int error);

#endif
