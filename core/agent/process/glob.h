/*
 * Matches text against a pattern in which `*` stands for any number of characters, also none.
 *
 * Context: any; pure.
 */
#ifndef JTOP_AGENT_PROCESS_GLOB_H
#define JTOP_AGENT_PROCESS_GLOB_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the pattern matches all `n` bytes of `text`. */
static inline bool glob_matches(const char *pattern, const char *text, size_t n) {
    const char *star = NULL; /* the last one passed */
    size_t at = 0, behind = 0;
    while (at < n) {
        if (*pattern == '*') {
            star = pattern++;
            behind = at;
        } else if (*pattern && *pattern == text[at]) {
            pattern++;
            at++;
        } else if (star) {
            pattern = star + 1;
            at = ++behind;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return !*pattern;
}

#endif
