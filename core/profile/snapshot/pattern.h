/*
 * A filter's text as something to compare names with: an extended regular expression that ignores
 * case, or, where it is none, the text itself. ASCII and bytes, whatever the locale: a filter must
 * not mean different things on two machines.
 *
 * A '$' that is not the last character is itself, because class names have it. What would cost
 * more than it is worth is no expression here: back references, and repeats of repeats.
 *
 * Context: pure, any thread.
 */
#ifndef JTOP_PROFILE_SNAPSHOT_PATTERN_H
#define JTOP_PROFILE_SNAPSHOT_PATTERN_H

#include <locale.h>
#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

struct pattern {
    regex_t regex;
    bool is_regex;
    char *literal;   /* lower case, where it is no expression */
    locale_t locale; /* "C" */
};

/* 0 or -ENOMEM. `why`, if not NULL, becomes the reason why it is no expression, "" where it is. */
int pattern_open(struct pattern *p, const char *text, char *why, size_t size);
/* 1 or 0, or -ENOMEM. The name's letters become lower case where a literal is looked for. */
int pattern_matches(const struct pattern *p, char *name);
void pattern_close(struct pattern *p);

#endif
