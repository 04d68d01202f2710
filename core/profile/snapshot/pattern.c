#include "core/profile/snapshot/pattern.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void lower(char *s) {
    for (; *s; s++)
        if (*s >= 'A' && *s <= 'Z')
            *s = (char)(*s - 'A' + 'a');
}

/* Escapes every '$' except one at the end. */
static void escape_dollars(const char *text, char *out) {
    for (; *text; *out++ = *text++) {
        if (*text == '\\' && text[1])
            *out++ = *text++;
        else if (*text == '$' && text[1])
            *out++ = '\\';
    }
    *out = '\0';
}

int pattern_open(struct pattern *p, const char *text, char *why, size_t size) {
    char unused[128], *escaped = malloc(2 * strlen(text) + 1);
    *p = (struct pattern){0};
    if (!escaped)
        return -ENOMEM;
    escape_dollars(text, escaped);
    int rc = expression_open(&p->expression, escaped, true, why ? why : unused,
                             why ? size : sizeof unused);
    p->is_expression = rc == 0;
    free(escaped);
    if (rc == -EINVAL) {
        p->literal = strdup(text);
        rc = p->literal ? 0 : -ENOMEM;
    }
    if (p->literal)
        lower(p->literal);
    return rc;
}

bool pattern_matches(struct pattern *p, char *name) {
    if (p->is_expression)
        return expression_matches(&p->expression, name);
    lower(name);
    return strstr(name, p->literal) != NULL;
}

void pattern_close(struct pattern *p) {
    expression_close(&p->expression);
    free(p->literal);
    *p = (struct pattern){0};
}
