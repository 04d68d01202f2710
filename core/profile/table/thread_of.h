/*
 * Finds the thread that a sample (a profile_place) belongs to, with its current name.
 *
 * Context: pure. The profile must be locked as long as the names are used.
 */
#ifndef JTOP_PROFILE_TABLE_THREAD_OF_H
#define JTOP_PROFILE_TABLE_THREAD_OF_H

#include "core/profile/profile.h"

#define THREAD_OF_NAME_SIZE 64 /* for names that are generated */

struct profile_thread {
    uint32_t tid; /* for a virtual thread: tid of its last carrier */
    uint64_t java_id;
    bool is_virtual;
    const char *name; /* "" if unknown */
    const void *mark; /* a different pointer if the name is different */
};

/* `carrier`: return the thread that carried a virtual thread. If another thread uses the row by
 * now, the result has the sample's own tid and no name. `room` is for generated names and must live
 * as long as the result. */
struct profile_thread profile_thread_of(const struct profile *p, const struct profile_place *at,
                                        bool carrier, char room[THREAD_OF_NAME_SIZE]);

#endif
