/*
 * Regular expressions written by users: at a terminal, in a URL, on a command line. The time of
 * searches that take longer than usual is limited in total, whatever the expression and the texts
 * are: seconds at worst. After that, further texts are not searched.
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

/* Limits on the steps of one search. Nearly all searches need fewer than the first. A search that
 * needs more is repeated with the second limit or, where libpcre2 cannot make machine code, the
 * third: some 10 ms each. */
#define EXPRESSION_STEPS 20000u
#define EXPRESSION_STEPS_MAX 5000000u
#define EXPRESSION_STEPS_SLOW 500000u
#define EXPRESSION_LONG_MAX 100u /* such repeated searches, in total */

struct expression {
    void *code, *match, *limits, *stack; /* libpcre2's; NULL: not open */
    uint32_t steps_max;
    uint32_t long_searches;
    bool gave_up; /* a search was not finished, or not made at all; it counts as no match */
};

/* 0; -EINVAL: the expression is invalid or takes too long, with the reason in `why`; -ENOMEM. */
int expression_open(struct expression *x, const char *text, bool ignore_case, char *why,
                    size_t size);
/* Whether the text has a match anywhere. If the search is not finished, x->gave_up is set. */
bool expression_matches(struct expression *x, const char *text);
void expression_close(struct expression *x); /* a zeroed struct is fine */

#endif
