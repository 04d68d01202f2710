/*
 * Interned strings: equal text is kept once, at an address that stays valid as long as the table.
 *
 * Context: pure; one thread at a time.
 */
#ifndef JTOP_PROFILE_TABLE_STRINGS_H
#define JTOP_PROFILE_TABLE_STRINGS_H

#include "core/profile/table/index.h"

#include <stddef.h>

struct strings_chunk;

/* All zeroes but `limit` is an empty table. */
struct strings {
    struct strings_chunk *chunk; /* newest first */
    const char **text;
    uint32_t count, cap;
    size_t bytes; /* in chunks */
    size_t limit; /* most bytes; names come from outside and must not eat the machine */
    struct index index;
};

/* NULL when memory or the limit ran out. NULL as text means "". */
const char *strings_intern(struct strings *s, const char *text);
void strings_free(struct strings *s);

#endif
