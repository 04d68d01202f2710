/*
 * Whose a sample is: the thread behind a profile_place, as names are now.
 *
 * Context: pure; the profile's lock held as long as the names are used.
 */
#ifndef JTOP_PROFILE_TABLE_THREAD_OF_H
#define JTOP_PROFILE_TABLE_THREAD_OF_H

#include "core/profile/profile.h"

#define THREAD_OF_NAME_SIZE 64 /* for names that are made up */

struct profile_thread {
    uint32_t tid; /* of a virtual thread: its last carrier's */
    uint64_t java_id;
    bool is_virtual;
    const char *name; /* "" where unknown */
    const void *mark; /* another one when the name is another */
};

/* `carrier`: the thread that carried a virtual one. A row that is somebody else's by now gives the
 * sample's own tid and no name. `room`: for names that are made up, as long as the result is used. */
struct profile_thread profile_thread_of(const struct profile *p, const struct profile_place *at,
                                        bool carrier, char room[THREAD_OF_NAME_SIZE]);

#endif
