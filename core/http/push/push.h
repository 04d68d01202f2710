/*
 * Files:
 *   backoff      waiting time before the next try: doubled each time, randomized
 *   inbox        queue of messages on their way to the sender's thread
 *   push         continuous profiling: main loop that uploads the JVMs' profiles
 *   push_window  time windows of the uploaded profiles, without gap or overlap
 *   sender       thread that sends messages to one receiver, with retries
 *   subject      one JVM that is profiled continuously: session, labels, window
 *
 * Continuous profiling: at regular intervals, the profile of each JVM since the last time is sent
 * to a receiver that stores it.
 *
 *      roster ─▶ subject (a JVM, through the fleet) ─▶ window ─▶ protocol ─▶ message
 *      message ─▶ spool (memory, disk) ─▶ sender ─▶ post (libcurl) ─▶ receiver
 *
 * Windows of a JVM follow each other without gap or overlap, whatever happens to the receiver. What
 * cannot be sent waits in the spool, within its limits; the oldest is dropped first, and that is
 * reported.
 *
 * Context: frontend; push_run blocks the calling thread until it is told to stop.
 */
#ifndef JTOP_HTTP_PUSH_PUSH_H
#define JTOP_HTTP_PUSH_PUSH_H

#include "core/http/push/sender.h"
#include "core/session/session.h"

#define PUSH_EVERY_MS 15000

struct push_options {
    struct sender_options sender;
    const char *target;       /* PID, name or "jps"; NULL: all_jvms */
    bool all_jvms;            /* also JVMs that start later; those that end are dropped */
    uint32_t every_ms;        /* whole seconds only; 0: PUSH_EVERY_MS */
    const char *const *label; /* "name=value", in addition to those found out (labels.h) */
    uint32_t labels;
    struct session_options session;
    bool quiet; /* only errors on stderr */
};

/* Pushes until `stop_fd` is readable or `target` has ended. Then sends what is left, for some
 * seconds, and leaves the rest in the spool. Each problem on the way is reported once, as a line on
 * stderr. 0, or -errno with a message if it could not begin or `target` could not be profiled. */
int push_run(const struct push_options *o, int stop_fd, struct err *e);

#endif
