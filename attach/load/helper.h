/*
 * The work of the attach helper, from the clone to handing over the socket.
 *
 * Context: runs in a single-threaded copy of a process that may have had threads: it allocates
 * nothing, takes no lock, and formats no message. All signals are blocked.
 */
#ifndef JTOP_ATTACH_LOAD_HELPER_H
#define JTOP_ATTACH_LOAD_HELPER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct helper_task {
    pid_t pid, inner_pid;
    uid_t uid;
    gid_t gid;
    uint64_t start_ticks;
    bool disabled;        /* the attach mechanism is disabled */
    bool renews;          /* it creates its socket again if it is asked again (listener.h) */
    uint64_t deadline_ns; /* monotonic */
};

/* How far the helper came. */
enum helper_step {
    HELPER_CONNECTED,
    HELPER_GONE,        /* no such process, or the pid belongs to another one now */
    HELPER_STOPPED,     /* stopped by a signal */
    HELPER_DISABLED,    /* does not listen, and may not be asked to */
    HELPER_UNCAUGHT,    /* does not listen, and SIGQUIT would kill it; `seen`: it did listen, but
                           its socket's name is gone */
    HELPER_CREDENTIALS, /* the helper could not take on its uid */
    HELPER_TMP,         /* the helper could not enter its /tmp */
    HELPER_TRIGGER,     /* .attach_pidN could not be created */
    HELPER_SIGNAL,      /* SIGQUIT could not be sent */
    HELPER_SILENT,      /* SIGQUIT was sent, and no socket appeared in time; `seen`: the signal is
                           still pending */
    HELPER_NOT_SOCKET,  /* something else is at the socket's path */
    HELPER_OWNER,       /* the socket belongs to user `seen` */
    HELPER_CONNECT,     /* connect failed */
    HELPER_PEER,        /* process `seen` listens there */
    HELPER_TRACED,      /* process `seen` holds it in a debugger */
    HELPER_FROZEN,      /* frozen with its control group */
    HELPER_BUSY,        /* the queue of its socket is full of waiting connections */
    HELPER_REMOVED,     /* it listens, but its socket's name is gone, and it creates no new one */
    HELPER_LOST,        /* set by the caller: the helper ended or hung without an answer */
    /* found by the doctor only, before anything is tried: */
    HELPER_NARROW,   /* a 32-bit process */
    HELPER_OTHER_VM, /* not HotSpot */
};

struct helper_outcome {
    uint32_t step; /* enum helper_step */
    int32_t error; /* errno of the step, or 0 */
    uint32_t seen;
};

/* Does all the steps; *socket is the connected socket, or -1. A JVM that was asked to listen but
 * does not in time may still handle the signal later. Then a process stays behind that keeps
 * .attach_pidN for it: until the JVM listens or has ended, but a minute at most. After that the
 * process removes the file. Without the file the JVM would print a thread dump to the application's
 * output. */
void helper_run(const struct helper_task *t, struct helper_outcome *o, int *socket);

#endif
