/*
 * Finds where the agent's library would be placed in a JVM (place.h) without placing it: nothing is
 * written there.
 *
 * Context: frontend only, any thread; takes some milliseconds. Runs in a child, which is killed if
 * a file system blocks it.
 */
#ifndef JTOP_ATTACH_PLACE_PLACE_LOOK_H
#define JTOP_ATTACH_PLACE_PLACE_LOOK_H

#include "attach/find/jvm.h"

enum place_seen {
    PLACE_LOOK_UNKNOWN, /* the JVM may not be inspected, or no answer came in time */
    PLACE_LOOK_SAME,    /* the JVM sees our file at its path, and may read it */
    PLACE_LOOK_COPY,    /* the JVM would get a copy in `dir` */
    PLACE_LOOK_NOWHERE,
};

struct place_look {
    uint32_t seen;
    int32_t error;   /* errno, for PLACE_LOOK_UNKNOWN */
    char dir[256];   /* as the JVM sees it, printable */
    char tried[640]; /* directories before `dir` that cannot be used, and why; printable */
};

/* `library`: a path as we see it; NULL: the library that is installed beside this program.
 * `patience_ms`: how long a file system may take to answer. */
void place_look(const struct jvm *j, const char *library, int patience_ms, struct place_look *out);

#endif
