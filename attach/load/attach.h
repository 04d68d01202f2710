/*
 * Files:
 *   attach         HotSpot's attach protocol: sending commands, loading the agent
 *   connect        connection to the JVM's attach socket, and messages when that fails
 *   helper         child process that makes the JVM listen and connects to its socket
 *   java_options   JVM options that decide whether and how well it can be profiled
 *   jvm_flag       value of one -XX flag from command line and environment
 *   library_needs  what a shared library requires: machine, glibc version, libraries
 *   listener       test whether the JVM's attach socket is open, even if its file is gone
 *   load_trouble   why a JVM does not load the agent library, and what to do about it
 *   standstill     whether a process is stopped, held by a debugger, or frozen
 *
 * HotSpot's attach protocol (source: attachListener_linux.cpp / attachListener_posix.cpp and
 * attachListener.cpp, JDK 8-26): a file .attach_pidN and SIGQUIT make the JVM listen on the unix
 * socket /tmp/.java_pidN; a request is the protocol version and four NUL-terminated strings.
 *
 * The connection is made by a child process, which takes on the target's /tmp, uid and gid where
 * needed: credentials, working directory and signals of the caller never change.
 *
 * Context: frontend only; blocks up to the timeout; any thread, but forks (the child calls only
 * async-signal-safe functions and library calls that are safe in a single-threaded copy).
 */
#ifndef JTOP_ATTACH_LOAD_ATTACH_H
#define JTOP_ATTACH_LOAD_ATTACH_H

#include "attach/find/jvm.h"

#define ATTACH_TIMEOUT_MS 10000

/* The JVM says, or was told on its command line, that it takes no attach requests. */
bool attach_is_disabled(const struct jvm *j);

/* Sends one command ("load", "jcmd", "threaddump", "properties" …) with up to 3 arguments (NULL:
 * empty) and gives the JVM's answer, status line removed, malloc'ed and NUL-terminated, in
 * *reply (may be NULL; the caller frees it; raw bytes, not made printable). Returns 0; or -errno
 * with a message that says which check failed:
 *   -EPERM      another user's JVM: both uids
 *   -ESRCH      the process is gone
 *   -EOPNOTSUPP started with -XX:+DisableAttachMechanism, or SIGQUIT would kill it
 *   -ETIMEDOUT  the JVM did not begin to listen, or did not answer; or it is stopped, frozen, or
 *               held by a debugger
 *   -ENOENT     it listens, but its socket was removed, and it makes no new one
 *   -EPROTO     the JVM answered with an error: its own text is in the message
 *   -E2BIG      an argument has more than 1024 bytes
 */
int attach_command(const struct jvm *j, const char *command, const char *const arg[3],
                   int timeout_ms, char **reply, struct err *e);

/* The same for answers that may be long or take long (jcmd, threaddump, dumpheap, inspectheap):
 * `each` gets the text piece by piece as it comes, raw bytes, and stops it by returning a negative
 * errno, which is returned. Connecting takes up to `timeout_ms`; after that it waits for as long as
 * the JVM works at it and is not stopped (-ETIMEDOUT). What a JVM says with an error is in the
 * message and does not come through `each`. */
int attach_stream(const struct jvm *j, const char *command, const char *const arg[3],
                  int timeout_ms, int (*each)(void *context, const char *data, size_t len),
                  void *context, struct err *e);

/* Makes the JVM load an agent library by absolute path (as the JVM sees it), or by the name of one of
 * the JDK's own ("instrument"), with options. Returns 0
 * when the library was loaded, and what its Agent_OnAttach returned in *result (0: success). The
 * forms of the answer over JDK 8-26 ("0", "return code: 0", "... was not loaded: TEXT") are
 * understood; why a library does not load, in the JVM's words and ours, is in the message (-EPROTO).
 * -EOPNOTSUPP also for -XX:-EnableDynamicAgentLoading, -ENOEXEC for a 32-bit JVM; see
 * load_trouble.h. */
int attach_load(const struct jvm *j, const char *library, const char *options, int timeout_ms,
                int *result, struct err *e);

#endif
