/*
 * Waits for locks as JSON: for each class of locks the threads that held it meanwhile, with their
 * stacks, and the threads that waited for them.
 *
 * Context: pure, any thread.
 */
#ifndef JTOP_HTTP_SERVE_API_API_LOCKS_H
#define JTOP_HTTP_SERVE_API_API_LOCKS_H

#include "core/http/serve/api/api_names.h"
#include "core/http/serve/api/json.h"

#define API_LOCKS_FRAMES 64 /* of an owner's stack */

/* The methods that the rows of snapshot.locks name, copied while the profile is locked. */
struct api_locks {
    uint32_t rows;    /* of snapshot.locks, from the first one on */
    uint32_t *method; /* owned: the class of each row, then its owner's stack, leaf first */
    uint32_t *begin;  /* owned: where a row begins in `method`; one more than rows */
    uint32_t ids;     /* number of entries in `method`; the last ones are classes of links */
};

/* Takes the first `classes` classes, with all of their rows. Called with the profile's lock.
 * -ENOMEM. */
int api_locks_take(struct api_locks *l, const struct snapshot *s, const struct profile *p,
                   uint32_t classes);
void api_locks_free(struct api_locks *l);

/* "locks": {…}, as api.h says. */
void api_locks_write(struct json *j, const struct api_locks *l, const struct snapshot *s,
                     const struct api_names *names);

#endif
