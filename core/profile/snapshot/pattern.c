#include "core/profile/snapshot/pattern.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Repeats multiply, and so do the states that regcomp and regexec make of them: names are judged
 * while the profile is locked. */
#define REPEATS_MAX 16u

static void lower(char *s) {
    for (; *s; s++)
        if (*s >= 'A' && *s <= 'Z')
            *s = (char)(*s - 'A' + 'a');
}

/* Behind a bracket expression that begins at `s`; the text's end where it has none (source: POSIX
 * XBD 9.3.5: a ']' in the first place is an element; [:, [. and [= have ends of their own). */
static const char *skip_bracket(const char *s) {
    s += s[1] == '^' ? 2 : 1;
    s += *s == ']';
    for (; *s && *s != ']'; s++) {
        if (s[0] == '[' && s[1] && strchr(":.=", s[1])) {
            char end[3] = {s[1], ']', '\0'};
            const char *at = strstr(s + 2, end);
            if (!at)
                return s + strlen(s);
            s = at + 1;
        }
    }
    return s + (*s == ']');
}

/* The largest number between braces; 0 where there is none. */
static uint32_t repeats_at(const char *s) {
    uint32_t most = 0, n = 0;
    for (s++; *s && *s != '}'; s++) {
        n = *s >= '0' && *s <= '9' && n <= REPEATS_MAX ? n * 10 + (uint32_t)(*s - '0') : 0;
        most = n > most ? n : most;
    }
    return most;
}

/* Copies the expression with every '$' but the last escaped. What is wrong with it, or NULL. */
static const char *rewrite(const char *text, char *out) {
    uint64_t repeats = 1;
    while (*text) {
        const char *end = text + 1;
        if (*text == '\\' && text[1]) {
            if (text[1] >= '1' && text[1] <= '9')
                return "back references are not supported";
            end = text + 2;
        } else if (*text == '[') {
            end = skip_bracket(text);
        } else if (*text == '{') {
            uint32_t n = repeats_at(text);
            repeats *= n ? n : 1;
            if (repeats > REPEATS_MAX)
                return "it repeats too often";
        } else if (*text == '$' && text[1]) {
            *out++ = '\\';
        }
        memcpy(out, text, (size_t)(end - text));
        out += end - text;
        text = end;
    }
    *out = '\0';
    return NULL;
}

/* The reason why it is no expression, "" when it is one. -ENOMEM. */
static int compile(struct pattern *p, const char *text, char *why, size_t size) {
    char *escaped = malloc(2 * strlen(text) + 1);
    if (!escaped)
        return -ENOMEM;
    const char *wrong = rewrite(text, escaped);
    int rc = 0;
    snprintf(why, size, "%s", wrong ? wrong : "");
    if (!wrong) {
        int bad = regcomp(&p->regex, escaped, REG_EXTENDED | REG_ICASE | REG_NOSUB);
        p->is_regex = bad == 0;
        rc = bad == REG_ESPACE ? -ENOMEM : 0;
        if (bad)
            regerror(bad, &p->regex, why, size);
    }
    free(escaped);
    return rc;
}

int pattern_open(struct pattern *p, const char *text, char *why, size_t size) {
    char unused[128];
    *p = (struct pattern){.locale = newlocale(LC_ALL_MASK, "C", (locale_t)0)};
    if (!p->locale)
        return -ENOMEM;
    locale_t before = uselocale(p->locale);
    int rc = compile(p, text, why ? why : unused, why ? size : sizeof unused);
    uselocale(before);
    if (rc == 0 && !p->is_regex) {
        p->literal = strdup(text);
        rc = p->literal ? 0 : -ENOMEM;
    }
    if (p->literal)
        lower(p->literal);
    if (rc != 0)
        pattern_close(p);
    return rc;
}

int pattern_matches(const struct pattern *p, char *name) {
    if (!p->is_regex) {
        lower(name);
        return strstr(name, p->literal) != NULL;
    }
    locale_t before = uselocale(p->locale);
    int rc = regexec(&p->regex, name, 0, NULL, 0);
    uselocale(before);
    return rc == REG_ESPACE ? -ENOMEM : rc == 0;
}

void pattern_close(struct pattern *p) {
    if (p->is_regex)
        regfree(&p->regex);
    if (p->locale)
        freelocale(p->locale);
    free(p->literal);
    *p = (struct pattern){0};
}
