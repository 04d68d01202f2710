/*
 * Detects whether processes have started or ended. This is cheap enough for every second; a search
 * for JVMs is not.
 *
 * Context: frontend, one thread at a time.
 */
#ifndef JTOP_HTTP_FLEET_CENSUS_H
#define JTOP_HTTP_FLEET_CENSUS_H

#include <stdbool.h>
#include <stdint.h>

#define CENSUS_UNREST_S 10 /* a new process may need this long to become recognizable as a JVM */
#define CENSUS_SELDOM_S 30 /* without any change, a search is due after this time */

struct census {
    uint64_t sum, count;       /* over the pids of all processes */
    uint64_t changed_s, due_s; /* when sum, count changed last; when a search is due anyway */
};

/* Whether it is time to search for JVMs; `now_s` is of any clock that advances. */
bool census_due(struct census *c, uint64_t now_s);

/* The part of census_due that decides, from the processes it saw in /proc. */
bool census_note(struct census *c, uint64_t sum, uint64_t count, uint64_t now_s);

#endif
