/*
 * A directory of ours in a JVM's /tmp, for --jfrsync: the recorder's settings, and what it writes.
 *
 * Whose /tmp it is may have put anything there, a directory of the host's under another name too.
 * So everything in it is made, opened and removed by a child with the JVM's own uid and gid
 * (attach/proc/errand.h), which may do nothing there that the JVM could not have done itself.
 *
 * Context: frontend only, any thread; each call waits 10 s at most.
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
    char name[64]; /* of the directory below /tmp; empty: not made */
    int tmp, dir;  /* descriptors; -1: not there */
};

/* Makes the directory, and the settings in it. 0; -EEXIST: somebody else's is in its place; or
 * -errno. What is there then, jfr_place_remove() removes. */
int jfr_place_make(const struct jvm *j, const char *settings, size_t bytes, struct jfr_place *out);

/* What the JVM has recorded: a descriptor to read from, which may be anything's; or -errno. */
int jfr_place_open(const struct jfr_place *p);

/* The directory and both files. May be called again. */
void jfr_place_remove(struct jfr_place *p);

#endif
