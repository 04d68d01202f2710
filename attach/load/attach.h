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
 * A child process makes the connection. It takes on the target's /tmp, uid and gid where needed, so
 * the caller's credentials, working directory and signals never change.
 *
 * Context: frontend only; blocks up to the timeout; any thread, but forks (the child calls only
 * async-signal-safe functions and library calls that are safe in a single-threaded copy).
 */
#ifndef JTOP_ATTACH_LOAD_ATTACH_H
#define JTOP_ATTACH_LOAD_ATTACH_H

#include "attach/find/jvm.h"

#define ATTACH_TIMEOUT_MS 10000

/* Whether the JVM accepts no attach requests, as it reports itself or by its command line. */
bool attach_is_disabled(const struct jvm *j);

/* Sends one command ("load", "jcmd", "threaddump", "properties" …) with up to 3 arguments (NULL:
 * empty). *reply gets the JVM's answer without its status line: malloc'ed, NUL-terminated raw
 * bytes, not made printable; the caller frees it (`reply` may be NULL). Returns 0; or -errno with a
 * message that says which check failed:
 *   -EPERM      another user's JVM: the message has both uids
 *   -ESRCH      the process has ended
 *   -EOPNOTSUPP started with -XX:+DisableAttachMechanism, or SIGQUIT would kill it
 *   -ETIMEDOUT  the JVM did not begin to listen, or did not answer; or it is stopped, frozen, or
 *               held by a debugger
 *   -ENOENT     it listens, but its socket was removed, and it does not create a new one
 *   -EPROTO     the JVM answered with an error: the message has its text
 *   -E2BIG      an argument has more than 1024 bytes
 */
int attach_command(const struct jvm *j, const char *command, const char *const arg[3],
                   int timeout_ms, char **reply, struct err *e);

/* The same for answers that may be long or take long (jcmd, threaddump, dumpheap, inspectheap).
 * `each` gets the text as raw bytes, piece by piece as it arrives. If it returns a negative errno,
 * the rest is not read and that errno is returned. Connecting takes up to `timeout_ms`. After that
 * there is no time limit while the JVM runs; -ETIMEDOUT if it is stopped. While nothing arrives,
 * `each` is called once a second with 0 bytes, so that it can end the wait. The text of an error is
 * in the message and is not passed to `each`. */
int attach_stream(const struct jvm *j, const char *command, const char *const arg[3],
                  int timeout_ms, int (*each)(void *context, const char *data, size_t len),
                  void *context, struct err *e);

/* Makes the JVM load an agent library with options. `library` is an absolute path as the JVM sees
 * it, or the name of one of the JDK's own libraries ("instrument"). Returns 0 when the library was
 * loaded; *result is then what its Agent_OnAttach returned (0: success). All forms of the answer in
 * JDK 8-26 are understood ("0", "return code: 0", "... was not loaded: TEXT"). If the library is
 * not loaded, the message has the reason in the JVM's words and ours (-EPROTO). Also -EOPNOTSUPP
 * for -XX:-EnableDynamicAgentLoading, and -ENOEXEC for a 32-bit JVM; see load_trouble.h. */
int attach_load(const struct jvm *j, const char *library, const char *options, int timeout_ms,
                int *result, struct err *e);

#endif
