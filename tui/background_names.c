/* Names of files that are asked for here and written from what somebody else sends. */
#include "tui/background_parts.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* "%p-%n{3}.svg" as fnmatch wants it: "*-*.svg". */
static void add_glob(struct text *out, const char *pattern) {
    for (const char *p = pattern; *p; p++) {
        if (*p == '%' && p[1] == '%') {
            text_add(out, "%");
            p++;
        } else if (*p == '%' && p[1]) {
            p++;
            const char *end = p[0] == 'n' && p[1] == '{' ? strchr(p, '}') : NULL;
            if (end)
                p = end;
            text_add(out, "*");
        } else {
            if (strchr("*?[]\\", *p))
                text_add(out, "\\");
            text_add_n(out, p, 1);
        }
    }
}

static bool fits(const struct text *glob, const char *path) {
    return !glob->failed && glob->data && fnmatch(glob->data, path, FNM_PATHNAME) == 0;
}

/* The event's name stands before an extension, or at the end. */
static bool fits_with_event(const struct text *glob, const char *path) {
    const char *slash = strrchr(glob->data, '/');
    for (const char *p = slash ? slash + 1 : glob->data; p; p = *p ? p + 1 : NULL) {
        struct text with = {0};
        if (*p && *p != '.')
            continue;
        text_add_n(&with, glob->data, (size_t)(p - glob->data));
        text_add(&with, "-*");
        text_add(&with, p);
        bool yes = fits(&with, path);
        text_free(&with);
        if (yes)
            return true;
    }
    return false;
}

bool background_expects(const char *pattern, const char *path) {
    struct text glob = {0};
    add_glob(&glob, pattern);
    bool yes = fits(&glob, path) || (glob.data && !glob.failed && fits_with_event(&glob, path));
    text_free(&glob);
    return yes;
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
