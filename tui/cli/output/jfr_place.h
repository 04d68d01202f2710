/*
 * Our directory in a JVM's /tmp, for --jfrsync: it has the recorder's settings, and what the
 * recorder writes.
 *
 * The user who owns that /tmp may have put anything there, even a directory of the host under
 * another name. So all of it is made, opened and removed by a child with the JVM's own uid and gid
 * (attach/proc/errand.h), which can do nothing there that the JVM itself could not do.
 *
 * Context: frontend only, any thread; each call waits at most 10 s.
 */
#ifndef JTOP_TUI_CLI_OUTPUT_JFR_PLACE_H
#define JTOP_TUI_CLI_OUTPUT_JFR_PLACE_H

#include "attach/find/jvm.h"
#include "core/base/err.h"

#include <stddef.h>

#define JFR_PLACE_SETTINGS "jtop-prof.jfc"
#define JFR_PLACE_RECORDED "jvm.jfr"

struct jfr_place {
    struct jvm jvm;
    char name[64]; /* name of the directory in /tmp; empty: not made */
    int tmp, dir;  /* descriptors; -1: not open */
};

/* Makes the directory, with the settings in it. Returns 0; -EEXIST: there is another user's
 * directory; or another -errno. jfr_place_remove() removes what was made, also after an error. */
int jfr_place_make(const struct jvm *j, const char *settings, size_t bytes, struct jfr_place *out);

/* Opens what the JVM has recorded. Returns a descriptor for reading, which may refer to anything;
 * or -errno. */
int jfr_place_open(const struct jfr_place *p);

/* Removes the directory and both files. May be called again. */
void jfr_place_remove(struct jfr_place *p);

#endif
