/*
 * What the attach helper does, between being cloned and handing over the socket.
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
    bool disabled;        /* the attach mechanism is switched off */
    bool renews;          /* asked again, it makes its socket anew (listener.h) */
    uint64_t deadline_ns; /* monotonic */
};

/* How far it came. */
enum helper_step {
    HELPER_CONNECTED,
    HELPER_GONE,        /* no such process, or another one by now */
    HELPER_STOPPED,     /* by a signal */
    HELPER_DISABLED,    /* does not listen, and may not be made to */
    HELPER_UNCAUGHT,    /* does not listen, and SIGQUIT would kill it; `seen`: it did listen,
                           but its socket's name is gone */
    HELPER_CREDENTIALS, /* its uid could not be taken on */
    HELPER_TMP,         /* its /tmp could not be entered */
    HELPER_TRIGGER,     /* .attach_pidN could not be created */
    HELPER_SIGNAL,      /* SIGQUIT could not be sent */
    HELPER_SILENT,      /* SIGQUIT was sent, and no socket appeared in time; `seen`: it has not
                           even been taken */
    HELPER_NOT_SOCKET,  /* something else is at the socket's place */
    HELPER_OWNER,       /* the socket belongs to user `seen` */
    HELPER_CONNECT,     /* connect failed */
    HELPER_PEER,        /* process `seen` listens there */
    HELPER_TRACED,      /* process `seen` holds it in a debugger */
    HELPER_FROZEN,      /* with its control group */
    HELPER_BUSY,        /* so many wait to be connected that there is no place in the queue */
    HELPER_REMOVED,     /* it listens, but its socket's name is gone, and it makes none anew */
    HELPER_LOST,        /* for the caller: the helper ended or hung without an answer */
    /* what only the doctor finds, before anything is tried: */
    HELPER_NARROW,   /* a 32-bit process */
    HELPER_OTHER_VM, /* not HotSpot */
};

struct helper_outcome {
    uint32_t step; /* enum helper_step */
    int32_t error; /* errno of the step, or 0 */
    uint32_t seen;
};

/* Does it all; *socket is the connected socket, or -1. A JVM that has been asked to listen and does
 * not in time may still take the signal: a process stays behind then, until it listens or is gone
 * but a minute at most, that keeps .attach_pidN for it and removes it. Without the file the JVM
 * would print a thread dump to the application's output. */
void helper_run(const struct helper_task *t, struct helper_outcome *o, int *socket);

#endif
