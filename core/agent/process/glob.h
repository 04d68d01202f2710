/*
 * Texts by patterns in which `*` stands for any characters, none included.
 *
 * Context: any; pure.
 */
#ifndef JTOP_AGENT_PROCESS_GLOB_H
#define JTOP_AGENT_PROCESS_GLOB_H

#include <stdbool.h>
#include <stddef.h>

/* Whether all of the `n` bytes of `text` are what the pattern says. */
static inline bool glob_matches(const char *pattern, const char *text, size_t n) {
    const char *star = NULL; /* the last one that was met */
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
