/*
 * How thorough a unit test is to be: test/run says so in the environment.
 *
 * Context: unit tests.
 */
#ifndef JTOP_TEST_TIER_H
#define JTOP_TEST_TIER_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* In `make test`, where minutes count. False in `make test-all`, and where a test is run by hand. */
static inline bool tier_is_fast(void) {
    const char *tier = getenv("TIER");
    return tier && strcmp(tier, "fast") == 0;
}

#endif
