/*
 * Files:
 *   holder        which other process reads a busy agent, as seen in /proc
 *   join          session that follows the session of another process as a viewer
 *   share         thread that serves a session to other processes: requests, viewers
 *   share_ask     client side: finding who profiles a JVM and sending it commands
 *   share_name    names of the abstract sockets of shared sessions
 *   share_socket  socket of a shared session: connect, credentials, messages
 *
 * One agent, several users: whoever reads a JVM's stream (a live screen, a background reader) lets
 * others ask it for things and look on.
 *
 *      jtop-prof dump 123 ──▶ @jtop-prof/123-… ──▶ a thread of the reader's ──▶ handler ──▶ parts
 *      jtop-prof 123      ──▶                  ──▶ names so far, then the stream as it is read
 *
 * An abstract socket of the JVM's number (as the caller sees it), start and pid namespace: no file,
 * gone with the reader, by kill -9 too. Each side looks at the other's credentials: the reader serves its own user and root;
 * a client believes root and its own user, and root believes anybody who reads the JVM. Both are
 * the same version, or say so.
 *
 * Context: frontend. Whoever asks or looks on is never waited for by the drain thread: who does not
 * read is let go.
 */
#ifndef JTOP_SESSION_SHARE_SHARE_H
#define JTOP_SESSION_SHARE_SHARE_H

#include "core/session/session.h"
#include "core/wire/share_frame.h"

struct share;       /* a session that is shared */
struct share_reply; /* of one request */

/* Both may be called any number of times; -EPIPE: nobody listens any more. */
int share_say(struct share_reply *r, enum share_part part, const char *text);
int share_file(struct share_reply *r, const char *path, const void *data, size_t bytes);

/* Answers a command line: argv[0] is the program's name, strings are the request's own and may be
 * changed. `cwd` is the caller's directory. In a thread of its own, one request at a time; it may ask
 * the session for anything but session_close, which waits for it. 0, or -errno with a message, which
 * with its exit code is sent as well. */
typedef int share_handler(void *arg, struct share_reply *reply, const char *cwd, int argc,
                          char **argv, struct err *e);

/* From now on until session_close; of a session that looks on itself, from when it has the JVM for
 * itself. `handler` NULL: others may only look on. -EADDRINUSE: somebody does it for this JVM
 * already. Once; later calls do nothing. */
int session_share(struct session *s, share_handler *handler, void *arg, struct err *e);

/* For profiles in turns (--loop), so that a question between two turns waits for the next one.
 * session_share_socket: a duplicate of the listening socket of a session that is about to be closed;
 * the caller closes it or hands it on; -1: there is none. session_share_on: session_share of the next
 * turn's session on that socket, which it closes where it fails; -1: makes a new one. */
int session_share_socket(struct session *s);
int session_share_on(struct session *s, int socket, share_handler *handler, void *arg,
                     struct err *e);

/* The answer while a session ends, a handler's too: -EAGAIN with a message. share_ask tries again
 * when it gets that. */
int share_just_ending(pid_t jvm, struct err *e);

/* The process that shares this JVM's session and may be believed; 0: none. */
pid_t share_find(pid_t jvm);

/* The same; where a process reads the JVM and does not share it yet, waits up to two seconds. */
pid_t share_await(pid_t jvm);

/* Sends it a command line and hands over what comes back. `data` is valid for the call; `path` is
 * NULL but for SHARE_FILE, and SHARE_PATH, which is a question: `bytes` are to come, `data` is
 * NULL. What `each` returns beside 0 ends it all. Returns 0, or what the other side's
 * handler returned, with its message and exit code; -ESRCH: nobody is there; -EPIPE: it went away
 * before the end. When the session ends before anything was answered, tries again: for five seconds
 * as long as that process lives, whose next turn may begin, and with whoever shares the JVM then. */
int share_ask(pid_t jvm, int argc, char **argv,
              int (*each)(void *arg, enum share_part part, const char *path, const void *data,
                          size_t bytes),
              void *arg, struct err *e);

/* Makes a profile that has ended, and waits for more dumps, give way to a new one of that JVM. One
 * that is going on does not: -EBUSY, with a message for exit code 200. */
#define SHARE_MAKE_ROOM "make-room" /* the request, as share_handlers get it */
int share_make_room(pid_t jvm, struct err *e);

/* After an attach that failed with -EBUSY: another process profiles the JVM. Waits for it as
 * share_await does, and puts its own message into `e`; leaves `e` alone where it has none. Returns
 * -EBUSY. */
int share_tell_of_other(pid_t jvm, struct err *e);

/* session_attach, after a profile that has ended has given way. -EBUSY: another one is going on; the
 * message says which. */
int share_attach_alone(const struct jvm *j, const struct session_options *o, struct session **out,
                       struct err *e);

/* A session that looks on: names and samples come from the other reader, from its profile's
 * beginning as far as it still has it: each second's stacks by thread, and pauses, but not who
 * waited for whom, nor what is alive of what was allocated before. Of `o` only history, memory, a
 * recording and the library count: events, filters and the like are the other one's. Changes of
 * events are asked of it, and hold for it as well; closing it stops nothing. Where the other one
 * ends while the JVM lives, this one looks on at who reads it then, or attaches and goes on; but
 * where that one took only some threads or times, it is SESSION_STOPPED. */
int session_join(const struct jvm *j, const struct session_options *o, struct session **out,
                 struct err *e);

/* session_join where another process profiles the JVM, session_attach where none does. *joined says
 * which of the two. 0 or -errno. */
int share_attach_or_join(const struct jvm *j, const struct session_options *o, struct session **out,
                         bool *joined, struct err *e);

/* Inner, of the session: the thread that serves the others. `socket` listens already, and belongs to
 * the share in any case; -1: a new one is made. The other three take NULL. */
int share_begin(struct session *s, int socket, share_handler *handler, void *arg, struct err *e);
void share_wake(struct share *h);
/* No request is being served, and none will be: they may want what the drain thread does. */
void share_quiet(struct share *h);
void share_end(struct share *h);

#endif
