/*
 * A cache directory of the test's own, for setup and teardown of cmocka.
 *
 * Context: tests of cmocka.
 */
#ifndef JTOP_TEST_CACHE_FIXTURE_H
#define JTOP_TEST_CACHE_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>

static char base[128]; /* $XDG_CACHE_HOME */

static inline int make_base(void **state) {
    (void)state;
    const char *tmp = getenv("TMPDIR");
    snprintf(base, sizeof base, "%.90s/jtop-cache-XXXXXX", tmp ? tmp : "/tmp");
    return mkdtemp(base) && setenv("XDG_CACHE_HOME", base, 1) == 0 ? 0 : -1;
}

static inline int remove_base(void **state) {
    (void)state;
    char command[200];
    snprintf(command, sizeof command, "rm -r %s", base);
    return system(command);
}

#endif
