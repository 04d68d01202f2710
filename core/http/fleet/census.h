/*
 * Whether processes have come or gone: cheap enough for every second, which a look for JVMs is not.
 *
 * Context: frontend, one thread at a time.
 */
#ifndef JTOP_HTTP_FLEET_CENSUS_H
#define JTOP_HTTP_FLEET_CENSUS_H

#include <stdbool.h>
#include <stdint.h>

#define CENSUS_UNREST_S 10 /* a process takes so long to become a JVM that can be told as one … */
#define CENSUS_SELDOM_S 30 /* … and without any change a look is due after so long all the same */

struct census {
    uint64_t sum, count;       /* over the numbers of all processes */
    uint64_t changed_s, due_s; /* when they were other ones; when to look in any case */
};

/* Whether it is time to look for JVMs; `now_s` is of any clock that goes on. */
bool census_due(struct census *c, uint64_t now_s);

/* The part over a list of processes: what census_due sees of /proc. */
bool census_note(struct census *c, uint64_t sum, uint64_t count, uint64_t now_s);

#endif
