/*
 * A filter's text as something to compare names with: a regular expression that ignores case
 * (core/base/expression.h), or, where it is none, the text itself. A '$' that is not the last
 * character is itself, because class names have it.
 *
 * Context: pure; one thread at a time per struct.
 */
#ifndef JTOP_PROFILE_SNAPSHOT_PATTERN_H
#define JTOP_PROFILE_SNAPSHOT_PATTERN_H

#include "core/base/expression.h"

struct pattern {
    struct expression expression;
    bool is_expression;
    char *literal; /* lower case, where it is no expression */
};

/* 0 or -ENOMEM. `why`, if not NULL, becomes the reason why it is no expression, "" where it is. */
int pattern_open(struct pattern *p, const char *text, char *why, size_t size);
/* The name's letters become lower case where a literal is looked for. */
bool pattern_matches(struct pattern *p, char *name);
void pattern_close(struct pattern *p);

#endif
