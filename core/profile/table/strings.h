/*
 * Interned strings: equal text is stored once, at an address that stays valid as long as the table.
 *
 * Context: pure; one thread at a time.
 */
#ifndef JTOP_PROFILE_TABLE_STRINGS_H
#define JTOP_PROFILE_TABLE_STRINGS_H

#include "core/profile/table/index.h"

#include <stddef.h>

struct strings_chunk;

/* All zeroes except `limit`: an empty table. */
struct strings {
    struct strings_chunk *chunk; /* newest first */
    const char **text;
    uint32_t count, cap;
    size_t bytes; /* total size of the chunks */
    size_t limit; /* maximum of `bytes`; names come from another process and must not use up
                     the machine */
    struct index index;
};

/* Returns NULL if there is no memory or the limit is reached. NULL as `text` means "". */
const char *strings_intern(struct strings *s, const char *text);
void strings_free(struct strings *s);

#endif
