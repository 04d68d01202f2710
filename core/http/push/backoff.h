/*
 * How long to wait before the next try: 1 s, 2 s, 4 s … 60 s. Each time is up to a quarter more or
 * less, so that the processes of a fleet do not all return at once. Longer if the receiver asks for
 * it.
 *
 * Context: pure, any thread.
 */
#ifndef JTOP_HTTP_PUSH_BACKOFF_H
#define JTOP_HTTP_PUSH_BACKOFF_H

#include <stdint.h>

#define BACKOFF_LEAST_MS 1000
#define BACKOFF_MOST_MS 60000
#define BACKOFF_ASKED_MOST_S 300 /* longer requests of a receiver are cut to this */

struct backoff {
    unsigned failures; /* failures in a row; 0 again after a success */
};

/* Counts one more failure and returns the wait in milliseconds. `random`: any number; `asked_s`:
 * Retry-After, 0: none. */
uint32_t backoff_next(struct backoff *b, uint32_t random, uint32_t asked_s);

#endif
