/*
 * Patterns of frames, as -I and -X take them: a whole name, or a part of one with `*` at either end.
 * A name is matched as any of the outputs has it: "java/lang/Thread.run", "java.lang.Thread.run",
 * "do_syscall_64" or "do_syscall_64_[k]", "byte[]" or "byte[]_[i]"; with its arguments or its
 * library where the pattern has a '(' or a '`'.
 *
 * Context: pure, any thread.
 */
#ifndef JTOP_PROFILE_SNAPSHOT_FRAME_PATTERN_H
#define JTOP_PROFILE_SNAPSHOT_FRAME_PATTERN_H

#include "core/profile/table/method_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether the name is like the pattern, letter by letter. */
bool frame_pattern_is(const char *pattern, const char *name);

/* A method's names, written out once for any number of patterns. */
struct frame_names {
    char *text; /* grows; free it */
    size_t size;
};

/* 1: one of the patterns is like the method. 0 or -ENOMEM. `simple`: names without packages count
 * too. */
int frame_pattern_any(struct frame_names *names, const struct method *m, bool simple,
                      const char *const *pattern, uint32_t patterns);

#endif
