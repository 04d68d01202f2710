/*
 * Patterns of frames for -I and -X: a whole name, or a part of a name with `*` at either end. A
 * name matches in any form that the outputs use: "java/lang/Thread.run", "java.lang.Thread.run",
 * "do_syscall_64" or "do_syscall_64_[k]", "byte[]" or "byte[]_[i]". If the pattern has a '(' or a
 * '`', the name has its arguments or its library.
 *
 * Context: pure, any thread.
 */
#ifndef JTOP_PROFILE_SNAPSHOT_FRAME_PATTERN_H
#define JTOP_PROFILE_SNAPSHOT_FRAME_PATTERN_H

#include "core/profile/table/method_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Compares the name with the pattern, character by character. */
bool frame_pattern_is(const char *pattern, const char *name);

/* The names of a method, built once for any number of patterns. */
struct frame_names {
    char *text; /* grows; the caller frees it */
    size_t size;
};

/* 1: the method matches one of the patterns. 0 or -ENOMEM. `simple`: names without packages
 * match, too. */
int frame_pattern_any(struct frame_names *names, const struct method *m, bool simple,
                      const char *const *pattern, uint32_t patterns);

#endif
