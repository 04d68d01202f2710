/*
 * Regular expressions that other people write: at a terminal, in a URL, on a command line. None of
 * them may take more than some milliseconds, whatever it is and whatever it is matched against.
 *
 * Syntax: PCRE's, on bytes, ASCII, whatever the locale. `.` is any byte, `$` the text's end.
 *
 * Context: pure; one thread at a time per struct.
 */
#ifndef JTOP_BASE_EXPRESSION_H
#define JTOP_BASE_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPRESSION_STEPS 20000u /* of the search in one text: about a millisecond */
#define EXPRESSION_FAILURES 8u  /* searches that were too long; after these, nothing matches */

struct expression {
    void *code, *match, *limits; /* libpcre2's; NULL: there is none */
    uint32_t failures;
};

/* 0; -EINVAL: it is none, or takes too long, and `why` says what is wrong with it; -ENOMEM. */
int expression_open(struct expression *x, const char *text, bool ignore_case, char *why,
                    size_t size);
/* Whether there is a match anywhere in the text. A search that takes too long finds nothing. */
bool expression_matches(struct expression *x, const char *text);
void expression_close(struct expression *x); /* a zeroed struct is fine */

#endif
