/* Names of files that are asked for here and written from what somebody else sends. */
#include "tui/cli/background/background_parts.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS "0123456789"
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define EVENT LETTERS DIGITS "-_." /* as export_path_expand writes them */

/* A path, and how far the part of the pattern that has been looked at may reach in it. */
struct match {
    const char *path;
    size_t length;
    bool reach[PATH_MAX]; /* up to this character */
};

static void take_character(struct match *m, char c) {
    for (size_t i = m->length; i > 0; i--)
        m->reach[i] = m->reach[i - 1] && m->path[i - 1] == c;
    m->reach[0] = false;
}

/* One or more of `of`, the first of which is no dot. */
static void take_many(struct match *m, const char *of) {
    bool before = m->reach[0];
    m->reach[0] = false;
    for (size_t i = 0; i < m->length; i++) {
        bool here = m->reach[i + 1];
        char c = m->path[i];
        m->reach[i + 1] = ((before && c != '.') || m->reach[i]) && strchr(of, c);
        before = here;
    }
}

/* Takes what stands behind the '%' at `p` and returns where the pattern goes on. */
static const char *take_letter(struct match *m, const char *p) {
    const char *end = p[1] == 'n' && p[2] == '{' ? strchr(p, '}') : NULL;
    if (p[1] == '%')
        take_character(m, '%');
    else if (p[1] == 'p' || p[1] == 'n')
        take_many(m, DIGITS);
    else if (p[1] == 't')
        take_many(m, DIGITS "-");
    else if (p[1] == 'e')
        take_many(m, EVENT);
    else
        memset(m->reach, 0, sizeof m->reach); /* no name is made of that */
    return end ? end + 1 : p[1] ? p + 2 : p + 1;
}

/* With the event's name in front of `event`, a place in the pattern; NULL: without. */
static bool fits(struct match *m, const char *pattern, const char *event) {
    memset(m->reach, 0, sizeof m->reach);
    m->reach[0] = true;
    for (const char *p = pattern;;) {
        if (event && p == event) {
            take_character(m, '-');
            take_many(m, EVENT);
        }
        if (!*p)
            return m->reach[m->length];
        if (*p == '%')
            p = take_letter(m, p);
        else
            take_character(m, *p++);
    }
}

bool background_expects(const char *pattern, const char *path) {
    struct match m = {.path = path, .length = strlen(path)};
    if (m.length >= sizeof m.reach)
        return false;
    if (fits(&m, pattern, NULL))
        return true;
    /* The event's name stands before an extension, or at the end. */
    const char *slash = strrchr(pattern, '/');
    for (const char *p = slash ? slash + 1 : pattern;; p++) {
        if ((!*p || *p == '.') && fits(&m, pattern, p))
            return true;
        if (!*p)
            return false;
    }
}

int background_settle_pattern(const char *pattern, struct text *out, struct err *e) {
    for (const char *p = pattern; *p; p++) {
        const char *end = p[0] == '%' && p[1] == '{' ? strchr(p, '}') : NULL;
        char name[256];
        if (!end || (size_t)(end - p - 2) >= sizeof name) {
            text_add_n(out, p, p[0] == '%' && p[1] ? 2 : 1);
            p += p[0] == '%' && p[1];
            continue;
        }
        size_t n = (size_t)(end - p - 2);
        memcpy(name, p + 2, n);
        name[n] = '\0';
        for (const char *v = getenv(name); v && *v; v++)
            text_add(out, *v == '%' ? "%%" : (char[]){*v, '\0'});
        p = end;
    }
    return out->failed ? err_exit_as(e, ERR_EXIT_PROFILER, ENOMEM, "no memory for a file name") : 0;
}
