#include "core/http/serve/prof/prof_format.h"

#include "core/http/serve/page/pages_hash.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define FORMATS_MAX 32

static char policies[FORMATS_MAX][320]; /* indexed like exporters; "": the server's usual one */

static const char *last(const char *text, const char *what) {
    const char *found = NULL;
    for (const char *at = text; (at = strstr(at, what)); at++)
        found = at;
    return found;
}

/* The script that runs is the last one, after everything that comes from the JVM. An SVG is XML and
 * has the script in a CDATA section, whose marks are not part of the hash. */
static bool hash_script(const char *document, char out[PAGES_HASH_TEXT]) {
    static const struct {
        const char *begin, *end;
    } marks[] = {{"<script><![CDATA[", "]]></script>"}, {"<script>", "</script>"}};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        const char *begin = last(document, marks[i].begin);
        const char *end = begin ? strstr(begin, marks[i].end) : NULL;
        if (!end)
            continue;
        struct pages_hash h;
        begin += strlen(marks[i].begin);
        pages_hash_begin(&h);
        pages_hash_add(&h, begin, (size_t)(end - begin));
        pages_hash_end(&h, out);
        return true;
    }
    return false;
}

/* The script does not depend on the profile: an empty profile is used. */
static bool hash_of(const struct exporter *x, char out[PAGES_HASH_TEXT]) {
    const struct export_quality quality = {.event = "cpu", .unit = "ns", .jvm = ""};
    const struct export_options options = {0};
    const struct query question = {.tree = true};
    struct text document = {0};
    struct profile *p = profile_new(0);
    struct snapshot *s = p ? snapshot_take(p, &question) : NULL;
    bool done = s && x->write(&document, p, s, &quality, &options) == 0 && !document.failed &&
                document.data && hash_script(document.data, out);
    text_free(&document);
    snapshot_free(s);
    profile_free(p);
    return done;
}

static void make_policies(void) {
    for (size_t i = 0; i < FORMATS_MAX && exporters[i].name; i++) {
        char hash[PAGES_HASH_TEXT];
        if (exporters[i].picture && hash_of(&exporters[i], hash))
            (void)snprintf(policies[i], sizeof policies[i],
                           "default-src 'none'; script-src 'sha256-%s'; style-src 'unsafe-inline'; "
                           "img-src data: blob:; base-uri 'none'; form-action 'none'; "
                           "frame-ancestors 'none'; sandbox allow-scripts allow-downloads",
                           hash);
    }
}

const char *prof_format_policy(const struct exporter *x) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, make_policies);
    ptrdiff_t i = x - exporters;
    return i >= 0 && i < FORMATS_MAX && policies[i][0] ? policies[i] : NULL;
}
