/*
 * Files:
 *   backoff      waiting time before the next try: doubled each time, randomized
 *   inbox        queue of messages on their way to the sender's thread
 *   push         continuous profiling: main loop that uploads the JVMs' profiles
 *   push_window  time windows of the uploaded profiles, without gap or overlap
 *   sender       thread that sends messages to one receiver, with retries
 *   subject      one JVM that is profiled continuously: session, labels, window
 *
 * Continuous profiling: every so often what each JVM did since goes to an engine that stores it.
 *
 *      roster ─▶ subject (a JVM, through the fleet) ─▶ window ─▶ protocol ─▶ message
 *      message ─▶ spool (memory, disk) ─▶ sender ─▶ post (libcurl) ─▶ receiver
 *
 * Windows of a JVM follow each other without gap or overlap, whatever happens to the receiver:
 * what cannot be sent waits in the spool, within its bounds, oldest given up first, and that is said.
 *
 * Context: frontend; push_run has the calling thread until it is told to stop.
 */
#ifndef JTOP_HTTP_PUSH_PUSH_H
#define JTOP_HTTP_PUSH_PUSH_H

#include "core/http/push/sender.h"
#include "core/session/session.h"

#define PUSH_EVERY_MS 15000

struct push_options {
    struct sender_options sender;
    const char *target;       /* PID, name or "jps"; NULL: all_jvms */
    bool all_jvms;            /* new ones are taken up, ended ones let go */
    uint32_t every_ms;        /* whole seconds; 0: PUSH_EVERY_MS */
    const char *const *label; /* "name=value", on top of those found out (labels.h) */
    uint32_t labels;
    struct session_options session;
    bool quiet; /* only errors on stderr */
};

/* Pushes until `stop_fd` is readable, or `target` has ended; then sends what is left, for some
 * seconds, and leaves the rest in the spool. What goes wrong on the way is a line on stderr, once.
 * 0, or -errno with a message where it could not begin. */
int push_run(const struct push_options *o, int stop_fd, struct err *e);

#endif
