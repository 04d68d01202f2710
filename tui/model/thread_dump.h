/*
 * A thread dump of HotSpot, as jstack and the attach command "threaddump" give it: which threads
 * there are, their stacks, the locks they hold and wait for, and who holds those. Deadlocks are
 * computed from that.
 *
 * The text may be hostile: it is cleaned first, its size is limited, and nothing in it is an error
 * (source: vmOperations.cpp, thread.cpp and vframe.cpp of HotSpot, JDK 8-25).
 *
 * Context: pure.
 */
#ifndef JTOP_TUI_MODEL_THREAD_DUMP_H
#define JTOP_TUI_MODEL_THREAD_DUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define THREAD_DUMP_BYTES ((size_t)16 << 20) /* at most; the rest of a longer text is left out */
#define THREAD_DUMP_NONE UINT32_MAX

enum thread_dump_kind {
    THREAD_DUMP_FRAME,  /* text: "shop.Cart.add(Cart.java:12)", without the module */
    THREAD_DUMP_LOCKED, /* of the frame above it; text: the class, "java.lang.Object" */
    THREAD_DUMP_HELD,   /* a lock of java.util.concurrent; text: its class */
    THREAD_DUMP_ENTERS, /* waits to enter the monitor */
    THREAD_DUMP_NOTIFY, /* Object.wait: waits for a notification */
    THREAD_DUMP_PARKED, /* waits for a lock of java.util.concurrent, or what else it parks for */
    THREAD_DUMP_OTHER,  /* text: the JVM's line */
};

struct thread_dump_line {
    enum thread_dump_kind kind;
    uint64_t address; /* of the lock; 0: not known */
    const char *text;
};

struct thread_dump_thread {
    const char *name;
    const char *state;    /* "TIMED_WAITING (sleeping)"; "": a thread of the VM without Java code,
                             or one that carries a virtual thread */
    const char *activity; /* the VM's word: "waiting on condition" */
    uint64_t number;      /* "#12"; 0: no Java thread */
    uint64_t nid;         /* thread id in the JVM's pid namespace; 0: not known */
    uint32_t line, lines; /* its lines, the leaf first: `line` is the first one */
    uint32_t wait;        /* the line that says what it waits for; THREAD_DUMP_NONE */
    uint32_t owner;       /* thread that holds that; THREAD_DUMP_NONE: nobody, or not known */
    uint32_t deadlock;    /* number of the deadlock it is part of, from 1; 0: none */
    size_t at, bytes;     /* its part of `text` */
};

struct thread_dump {
    char *text; /* the whole dump, cleaned; owned, NUL-terminated */
    size_t bytes;
    bool cut; /* there was more than the limits allow */
    struct thread_dump_thread *thread;
    uint32_t threads;
    struct thread_dump_line *line_of; /* lines of all threads */
    uint32_t lines;
    uint32_t deadlocks;
    /* private */
    char *words; /* the strings */
    uint32_t thread_cap, line_cap;
};

/* Parses a dump into *out, which thread_dump_free frees (a zeroed struct is freed, too). Returns 0;
 * -EBADMSG: there is no thread in it; -ENOMEM. After an error *out is empty. */
int thread_dump_parse(struct thread_dump *out, const char *text, size_t bytes);
void thread_dump_free(struct thread_dump *d);

/* Returns the first thread with this nid (0: any) and this name (NULL: any); THREAD_DUMP_NONE. */
uint32_t thread_dump_find(const struct thread_dump *d, uint64_t nid, const char *name);

/* Returns the thread of a deadlock that comes first in the dump. The others follow by `owner`, which
 * leads back to it. THREAD_DUMP_NONE: there is no such deadlock. */
uint32_t thread_dump_deadlock(const struct thread_dump *d, uint32_t number);

/* True for threads of the application. False for threads of the VM, also those that run Java. */
bool thread_dump_is_application(const struct thread_dump_thread *t);

#endif
