/*
 * Files:
 *   holder        which other process reads a busy agent, as seen in /proc
 *   join          session that follows the session of another process as a viewer
 *   join_apart    the same for a profile that has only its own events and its own time
 *   share         thread that serves a session to other processes: requests, viewers
 *   share_ask     client side: finding who profiles a JVM and sending it commands
 *   share_name    names of the abstract sockets of shared sessions
 *   share_reply   the parts of an answer: text, files; and the process that gets them
 *   share_socket  socket of a shared session: connect, credentials, messages
 *   take_over     what a viewer does when the other process has ended
 *
 * One agent, several users: the process that reads a JVM's stream (a live screen, a background
 * reader) lets other processes send it requests and join as viewers.
 *
 *      jtop-prof dump 123 ──▶ @jtop-prof/123-… ──▶ a thread of the reader ──▶ handler ──▶ parts
 *      jtop-prof 123      ──▶                  ──▶ names so far, then the stream as it is read
 *
 * The socket is an abstract one. Its name contains the JVM's number (as the caller sees it), start
 * time and pid namespace. There is no file, and the socket disappears with the reader, also after
 * kill -9. Each side checks the other's credentials. The reader serves its own user and root. A
 * client trusts root and its own user; root also trusts the JVM's user. Both sides must have the
 * same version; otherwise they report it.
 *
 * Context: frontend. The drain thread never waits for a client or viewer. It disconnects those that
 * do not read.
 */
#ifndef JTOP_SESSION_SHARE_SHARE_H
#define JTOP_SESSION_SHARE_SHARE_H

#include "core/session/session.h"
#include "core/wire/share_frame.h"

struct share;       /* a shared session */
struct share_reply; /* the reply to one request */

/* They may be called any number of times. -EPIPE: the client has disconnected. */
int share_say(struct share_reply *r, enum share_part part, const char *text);
/* Begins a file with its first bytes; more bytes; its end. -EFBIG: too many bytes at once. */
int share_file(struct share_reply *r, const char *path, const void *data, size_t bytes);
int share_file_more(struct share_reply *r, const void *data, size_t bytes);
int share_file_end(struct share_reply *r);

/* Answers a command line. argv[0] is the program's name; the strings belong to the request and may
 * be changed. `cwd` is the client's directory. It runs in a separate thread, one request at a time.
 * It may call any function of the session except session_close, which waits for it. 0, or -errno
 * with a message; the message and its exit code are sent, too. */
typedef int share_handler(void *arg, struct share_reply *reply, const char *cwd, int argc,
                          char **argv, struct err *e);

/* Shares the session from now on until session_close. A session that views another one is shared
 * once it has the JVM for itself. `handler` NULL: other processes may only join as viewers.
 * -EADDRINUSE: another process already shares this JVM. Only the first call has an effect. */
int session_share(struct session *s, share_handler *handler, void *arg, struct err *e);

/* For profiles in turns (--loop), so that a request between two turns waits for the next turn.
 * session_share_socket returns a duplicate of the listening socket of a session that is about to be
 * closed; the caller closes it or passes it on; -1: there is none. session_share_on is
 * session_share for the next turn's session with that socket, which it closes on failure; -1: it
 * makes a new socket. */
int session_share_socket(struct session *s);
int session_share_on(struct session *s, int socket, share_handler *handler, void *arg,
                     struct err *e);

/* Waits until the request in progress is answered, but not for long: then its client is disconnected.
 * Later requests get -EAGAIN until another session is shared. Not for handlers. NULL is fine. */
void session_quiet(struct session *s);

/* The answer while a session ends, also for handlers: -EAGAIN with a message. share_ask tries again
 * when it receives that answer. */
int share_just_ending(pid_t jvm, struct err *e);

/* Returns the process that shares this JVM's session and can be trusted; 0: none. */
pid_t share_find(pid_t jvm);

/* Does the same. If a process reads the JVM but does not share it yet, it waits up to two
 * seconds. */
pid_t share_await(pid_t jvm);

/* Sends a command line to the process that shares the JVM, and passes each part of the answer to
 * `each`. `data` is valid during the call. `path` is NULL except for SHARE_FILE and SHARE_PATH.
 * SHARE_PATH is a question: a file with this path follows, `data` is NULL. A result of `each`
 * other than 0 ends everything. Returns 0, or what the other side's handler returned, with its
 * message and exit code; -ESRCH: no process shares the JVM; -EPIPE: the process disconnected
 * before the end. If the session ends before anything was answered, it tries again: for five
 * seconds, as long as that process lives (its next turn may begin), and with any process that
 * shares the JVM then. */
int share_ask(pid_t jvm, int argc, char **argv,
              int (*each)(void *arg, enum share_part part, const char *path, const void *data,
                          size_t bytes),
              void *arg, struct err *e);

/* The process that sent the request, if it has this process's user and still lives; 0: it has not, or
 * is not visible here. */
pid_t share_peer(const struct share_reply *r);

/* Removes a finished profile of this JVM that waits for more dumps, so that a new one can start. An
 * active profile is not removed: -EBUSY, with a message for exit code 200. */
#define SHARE_MAKE_ROOM "make-room" /* the request, as share_handlers receive it */
int share_make_room(pid_t jvm, struct err *e);

/* Call it after an attach failed with -EBUSY because another process profiles the JVM. Waits for
 * that process as share_await does, and stores its message in `e`; if there is no message, `e` is
 * unchanged. Returns -EBUSY. */
int share_tell_of_other(pid_t jvm, struct err *e);

/* session_attach, after removing a finished profile. -EBUSY: another profile is active; the message
 * names it. */
int share_attach_alone(const struct jvm *j, const struct session_options *o, struct session **out,
                       struct err *e);

/* session_attach, or if another process profiles the JVM, session_join; for a profile of its own
 * (o->apart). -EBUSY: that process samples in another way; the message says what differs. */
int share_attach_apart(const struct jvm *j, const struct session_options *o, struct session **out,
                       struct err *e);

/* Makes a session that views another process's session. Names and samples come from the other
 * reader, from the beginning of its profile as far as it still has them: each second's stacks by
 * thread, and pauses, but not who waited for whom, nor which earlier allocations are still alive.
 * Of `o`, only history, memory, recording and library are used; events, filters and other settings
 * are those of the other process. Changes of events are sent to the other process and are valid for
 * it, too; closing this session stops nothing there. If the other process ends while the JVM lives,
 * this session joins the process that reads the JVM then, or attaches and continues. But if the
 * other process took only some threads or times, this session becomes SESSION_STOPPED.
 *
 * With o->apart, the session has only samples of o->engine, from now until session_stop or
 * session_end, and all options of `o` are valid. The other process samples the events that it does
 * not sample yet until then. -EBUSY: it samples one of them in another way, or has other options. */
int session_join(const struct jvm *j, const struct session_options *o, struct session **out,
                 struct err *e);

/* session_join if another process profiles the JVM, otherwise session_attach. *joined: the result
 * is a joined session. 0 or -errno. */
int share_attach_or_join(const struct jvm *j, const struct session_options *o, struct session **out,
                         bool *joined, struct err *e);

/* Internal, for the session: the thread that serves other processes. `socket` is already
 * listening and belongs to the share in any case; -1: a new one is made. The other three
 * functions accept NULL. */
int share_begin(struct session *s, int socket, share_handler *handler, void *arg, struct err *e);
void share_wake(struct share *h);
/* Waits until no request is being served, and makes sure that none will be: requests may depend on
 * the drain thread. */
void share_quiet(struct share *h);
void share_end(struct share *h);

#endif
