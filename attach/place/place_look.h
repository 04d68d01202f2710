/*
 * Where the agent's library would be placed in a JVM (place.h), without placing it: nothing is
 * written there.
 *
 * Context: frontend only, any thread; some milliseconds, in a child that is killed where a file
 * system keeps it waiting.
 */
#ifndef JTOP_ATTACH_PLACE_PLACE_LOOK_H
#define JTOP_ATTACH_PLACE_PLACE_LOOK_H

#include "attach/find/jvm.h"

enum place_seen {
    PLACE_LOOK_UNKNOWN, /* the JVM may not be looked into, or no answer came in time */
    PLACE_LOOK_SAME,    /* it sees our file under its path, and may read it */
    PLACE_LOOK_COPY,    /* a copy in `dir` */
    PLACE_LOOK_NOWHERE,
};

struct place_look {
    uint32_t seen;
    int32_t error;   /* of PLACE_LOOK_UNKNOWN */
    char dir[256];   /* as the JVM sees it, printable */
    char tried[640]; /* the directories before it that would not do, and why; printable */
};

/* `library`: as we see it; NULL: where it is installed beside this program. `patience_ms`: how long a
 * file system may take to answer. */
void place_look(const struct jvm *j, const char *library, int patience_ms, struct place_look *out);

#endif
