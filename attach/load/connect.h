/*
 * A connection to a JVM's attach socket, made by a helper process.
 *
 * The helper is a clone that raises no SIGCHLD. It takes on the JVM's uid and gid (HotSpot asks
 * the kernel who connected, and the files it looks at must be its own user's), makes the JVM
 * listen, connects, and passes the connected socket back; everything that is said over the socket
 * after that is said by the caller.
 *
 * Context: frontend only, any thread; blocks up to the deadline.
 */
#ifndef JTOP_ATTACH_LOAD_CONNECT_H
#define JTOP_ATTACH_LOAD_CONNECT_H

#include "attach/find/jvm.h"
#include "attach/load/helper.h"

/* Returns a connected non-blocking socket, which the caller closes, or -errno with a message (see
 * attach.h). `disabled`: the attach mechanism is known to be switched off, so no signal may be
 * sent. `deadline_ns` is of the monotonic clock. */
int connect_jvm(const struct jvm *j, bool disabled, uint64_t deadline_ns, struct err *e);

/* What that outcome means for people: what failed, why, and what to try. Returns -errno. */
int connect_explain(const struct jvm *j, const struct helper_outcome *o, struct err *e);

/* What to try where its /tmp cannot be used for that reason (errno). */
const char *connect_tmp_remedy(int error);

#endif
