/*
 * Compares names with a filter's text. The text is a regular expression that ignores case
 * (core/base/expression.h), or literal text if it is not a valid expression. A '$' stands for
 * itself, unless it is the last character, because class names contain it.
 *
 * Context: pure; one thread at a time per struct.
 */
#ifndef JTOP_PROFILE_SNAPSHOT_PATTERN_H
#define JTOP_PROFILE_SNAPSHOT_PATTERN_H

#include "core/base/expression.h"

struct pattern {
    struct expression expression;
    bool is_expression;
    char *literal; /* in lower case; used if the text is not an expression */
};

/* 0 or -ENOMEM. `why`, if not NULL, becomes the reason why the text is not an expression; "" if
 * it is one. */
int pattern_open(struct pattern *p, const char *text, char *why, size_t size);
/* Whether the name matches. If the text is literal, converts `name` to lower case. */
bool pattern_matches(struct pattern *p, char *name);
void pattern_close(struct pattern *p);

#endif
