/* Tracepoints, by id and by name. */
#include "core/event/event_parts.h"

#include <errno.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void set_id(struct wire_engine_request *out, uint64_t id) {
    out->event = WIRE_EVENT_PERF;
    out->perf.type = PERF_TYPE_TRACEPOINT;
    out->perf.config = id;
    out->interval = 1;
}

int event_trace_id_parse(const char *text, struct wire_engine_request *out, struct err *e) {
    uint64_t id;
    if (!event_number(text + strlen("trace:"), &id) || id == 0 || id > UINT32_MAX)
        return event_wrong(e, EINVAL, text,
                           "trace: needs the number of a tracepoint, as in "
                           "/sys/kernel/tracing/events/SUBSYSTEM/NAME/id");
    set_id(out, id);
    return 0;
}

static bool is_plain(const char *name) {
    return *name && *name != '.' && !strchr(name, '/') && !strchr(name, ':');
}

/* Finds the tracefs directory that exists, or sets the error that says why there is none. */
static int find_tracefs(const struct event_places *places, const char *text, const char **out,
                        struct err *e) {
    bool denied = false;
    for (size_t i = 0; i < 2; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s/events", places->tracefs[i]);
        *out = places->tracefs[i];
        if (access(path, R_OK | X_OK) == 0)
            return 0;
        denied = denied || errno == EACCES || errno == EPERM;
    }
    if (denied)
        return event_wrong(e, EACCES, text,
                           "%s is not readable: run as root, or let a user with access look up the "
                           "number, and use trace:NUMBER",
                           places->tracefs[0]);
    return event_wrong(
        e, ENOENT, text,
        "tracefs is not mounted: mount -t tracefs tracefs %s (as root), or use trace:NUMBER",
        places->tracefs[0]);
}

int event_tracepoint_parse(const struct event_places *places, const char *text,
                           struct wire_engine_request *out, struct err *e) {
    char path[PATH_MAX], subsystem[128];
    const char *root, *name = strchr(text, ':') + 1;
    size_t length = (size_t)(name - text - 1);
    uint64_t id;
    if (length >= sizeof subsystem)
        return event_wrong(e, EINVAL, text, "it is too long");
    memcpy(subsystem, text, length);
    subsystem[length] = '\0';
    if (!is_plain(subsystem) || !is_plain(name))
        return event_wrong(e, EINVAL, text, "a tracepoint has the form SUBSYSTEM:NAME");
    int r = find_tracefs(places, text, &root, e);
    if (r < 0)
        return r;
    snprintf(path, sizeof path, "%s/events/%s/%.128s/id", root, subsystem, name);
    r = event_read_number(path, &id);
    if (r == -EACCES || r == -EPERM)
        return event_wrong(e, -r, text, "%s is not readable: run as root, or use trace:NUMBER",
                           path);
    if (r < 0 || id == 0 || id > UINT32_MAX) {
        snprintf(path, sizeof path, "%s/events/%s", root, subsystem);
        bool known = access(path, F_OK) == 0;
        return event_wrong(e, ENOENT, text,
                           "this kernel has no such tracepoint; ls %s/events/%s shows those it has",
                           root, known ? subsystem : "");
    }
    set_id(out, id);
    return 0;
}
