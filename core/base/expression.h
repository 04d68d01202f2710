/*
 * Regular expressions that other people write: at a terminal, in a URL, on a command line. Whatever
 * the expression is and whatever it is matched against, all its searches together that take longer
 * than usual have a bound: seconds at worst, and then the rest is not searched.
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

/* Steps of a search in one text. Nearly all take fewer than the first; a search that takes more is
 * made once more with the second or, where libpcre2 cannot make machine code, the third limit: some
 * 10 ms each. */
#define EXPRESSION_STEPS 20000u
#define EXPRESSION_STEPS_MAX 5000000u
#define EXPRESSION_STEPS_SLOW 500000u
#define EXPRESSION_LONG_MAX 100u /* searches of that kind, in all */

struct expression {
    void *code, *match, *limits, *stack; /* libpcre2's; NULL: there is none */
    uint32_t steps_max;
    uint32_t long_searches;
    bool gave_up; /* a search was not made to its end, or not at all: it counts as no match */
};

/* 0; -EINVAL: it is none, or takes too long, and `why` says what is wrong with it; -ENOMEM. */
int expression_open(struct expression *x, const char *text, bool ignore_case, char *why,
                    size_t size);
/* Whether there is a match anywhere in the text, as far as that is found out: x->gave_up. */
bool expression_matches(struct expression *x, const char *text);
void expression_close(struct expression *x); /* a zeroed struct is fine */

#endif
