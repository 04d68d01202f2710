#include "core/http/serve/prof/prof_format.h"

#include "core/http/serve/page/pages_hash.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define PLAIN "text/plain; charset=utf-8"
#define PAGE "text/html; charset=utf-8"
#define BYTES "application/octet-stream"
#define JSON "application/json"

static const struct prof_format formats[] = {
    {"text", PLAIN, ".txt", false, false, false},
    {"collapsed", PLAIN, ".collapsed", false, false, false},
    {"svg", "image/svg+xml", ".svg", false, true, true},
    {"html", PAGE, ".html", false, true, true},
    {"tree", PAGE, ".html", false, true, true},
    {"jfr", BYTES, ".jfr", true, false, false},
    {"pprof", BYTES, ".pb.gz", true, false, false},
    {"otlp", "application/x-protobuf", ".otlp", true, false, false},
    {"speedscope", JSON, ".speedscope.json", true, false, false},
    {"json", JSON, ".json", false, false, false},
    {"markdown", "text/markdown; charset=utf-8", ".md", false, false, false},
};

enum { FORMATS = sizeof formats / sizeof formats[0] };

static char policies[FORMATS][320]; /* "": there is no script, or it could not be found out */

const struct prof_format *prof_format_of(const struct exporter *x) {
    static const struct prof_format other = {"", BYTES, ".bin", true, false, false};
    for (size_t i = 0; i < FORMATS; i++)
        if (strcmp(formats[i].exporter, x->name) == 0)
            return &formats[i];
    return &other;
}

static const char *last(const char *text, const char *what) {
    const char *found = NULL;
    for (const char *at = text; (at = strstr(at, what)); at++)
        found = at;
    return found;
}

/* The script that runs is the last one, behind all that comes from the JVM; an SVG, being XML, has
 * it in a CDATA section, whose marks are not part of what is hashed. */
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

/* The script is the same whatever the profile is: that of an empty one. */
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
    for (size_t i = 0; i < FORMATS; i++) {
        char hash[PAGES_HASH_TEXT];
        struct export_options unused = {0};
        const struct exporter *x = exporter_by_format(formats[i].exporter, &unused);
        if (formats[i].script && x && hash_of(x, hash))
            (void)snprintf(policies[i], sizeof policies[i],
                           "default-src 'none'; script-src 'sha256-%s'; style-src 'unsafe-inline'; "
                           "img-src data: blob:; base-uri 'none'; form-action 'none'; "
                           "frame-ancestors 'none'; sandbox allow-scripts allow-downloads",
                           hash);
    }
}

const char *prof_format_policy(const struct prof_format *f) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, make_policies);
    bool row = f >= formats && f < formats + FORMATS;
    return row && policies[f - formats][0] ? policies[f - formats] : NULL;
}
