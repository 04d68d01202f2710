/* Calls of Java methods: "java.util.HashMap.put", "java/util/HashMap.put(Ljava/lang/…)…",
 * "Main$Inner.<init>:10ms", "java.lang.*.<init>". */
#include "core/event/event_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define METHOD_BYTES 255

static bool read_time(const char *text, uint64_t *ns) {
    static const struct {
        const char *unit;
        uint64_t factor;
    } units[] = {{"", 1}, {"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
    char *end;
    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    for (size_t i = 0; i < sizeof units / sizeof units[0] && errno == 0; i++)
        if (strcmp(end, units[i].unit) == 0)
            return !__builtin_mul_overflow((uint64_t)n, units[i].factor, ns);
    return false;
}

/* Whether this is one part of a name: it has none of the characters that separate parts (JVMS
 * 4.2.2). */
static bool is_name(const char *text, size_t length) {
    if (length == 0)
        return false;
    for (size_t i = 0; i < length; i++)
        if (strchr(".;[/", text[i]))
            return false;
    return true;
}

int event_method_parse(const char *text, struct wire_engine_request *out, struct err *e) {
    size_t length = strlen(text);
    const char *colon = strrchr(text, ':');
    out->event = WIRE_EVENT_METHOD;
    if (colon && !read_time(colon + 1, &out->interval))
        return event_wrong(
            e, EINVAL, text,
            "the minimum duration of a counted call must follow the colon, as in 10ms");
    if (colon)
        length = (size_t)(colon - text);
    if (length > METHOD_BYTES)
        return event_wrong(e, EINVAL, text, "it is longer than %d bytes", METHOD_BYTES);
    memcpy(out->text, text, length);
    out->text[length] = '\0';

    size_t name_end = strcspn(out->text, "(");
    if (out->text[name_end] && !strchr(out->text + name_end, ')'))
        return event_wrong(e, EINVAL, text, "the signature has no closing ')'");
    size_t dot = name_end;
    while (dot > 0 && out->text[dot - 1] != '.')
        dot--;
    bool good = dot > 1 && is_name(out->text + dot, name_end - dot);
    for (size_t at = 0, n; good && at <= dot - 1; at += n + 1) {
        n = strcspn(out->text + at, "./");
        good = is_name(out->text + at, n);
    }
    if (!good)
        return event_wrong(e, EINVAL, text, "a Java method has the form pkg.Class.method");
    snprintf(out->name, sizeof out->name, "%.*s", (int)(sizeof out->name - 1), out->text);
    return 0;
}

static uint32_t lines_of(const char *text) {
    uint32_t n = 1;
    while ((text = strchr(text, '\n'))) {
        text++;
        n++;
    }
    return n;
}

/* Adds a method's name to the name that users see. If there is no room, "…" stands for the
 * rest. */
static void add_name(char *name, size_t size, const char *more) {
    size_t n = strlen(name);
    if (n + strlen(more) + 2 < size)
        snprintf(name + n, size - n, ", %s", more);
    else if (n + 4 < size && !strstr(name, ", \u2026"))
        snprintf(name + n, size - n, ", \u2026");
}

int event_method_add(struct wire_engine_request *to, const struct wire_engine_request *more,
                     struct err *e) {
    char text[2 * sizeof to->text], own[32] = "", other[32] = "";
    if (strcmp(to->text, more->text) == 0) {
        to->interval = more->interval ? more->interval : to->interval;
        return 0;
    }
    if (to->interval) /* of the only method so far */
        snprintf(own, sizeof own, " %" PRIu64, to->interval);
    if (more->interval)
        snprintf(other, sizeof other, " %" PRIu64, more->interval);
    int n = snprintf(text, sizeof text, "%s%s\n%s%s", to->text, own, more->text, other);
    if (lines_of(text) > WIRE_METHODS || n < 0 || (size_t)n >= sizeof to->text)
        return event_wrong(e, E2BIG, more->text,
                           "this one exceeds the limit of %u methods or %zu bytes of names; a "
                           "pattern such as pkg.Class.* matches many at once",
                           WIRE_METHODS, sizeof to->text);
    memcpy(to->text, text, (size_t)n + 1);
    to->interval = 0;
    add_name(to->name, sizeof to->name, more->name);
    return 0;
}
