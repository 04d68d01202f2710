/* Replaces names of functions by addresses in the running process. */
#include "core/event/event_parts.h"

#include "symbols/symbols.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#define JVM_LIBRARY "libjvm.so"

/* Where JVMTI has no event for allocations yet, functions of the VM trace them. */
/* Whether the request needs these functions: before JDK 11 always, later for samples per TLAB. */
static bool wants_tracer(const struct wire_engine_request *q, int java_version) {
    return q->event == WIRE_EVENT_ALLOC && java_version > 0 &&
           (java_version < 11 || q->flags & WIRE_ENGINE_TLAB) && !(q->address[0] && q->address[1]);
}

static bool is_breakpoint(const struct wire_engine_request *q) {
    return q->event == WIRE_EVENT_PERF && q->perf.type == PERF_TYPE_BREAKPOINT && q->text[0];
}

static bool is_uprobe(const struct wire_engine_request *q) {
    return q->event == WIRE_EVENT_PERF && q->perf.type != PERF_TYPE_BREAKPOINT && q->text[0] &&
           !(q->flags & WIRE_ENGINE_TEXT_CONFIG);
}

bool event_is_open(const struct wire_engine_request *request, int java_version) {
    return wants_tracer(request, java_version) || is_breakpoint(request) || is_uprobe(request);
}

/* Says what to install when functions of the VM are needed and its library is stripped. */
static void add_advice(struct symbols *symbols, int java_version, char *out, size_t size) {
    char build_id[132], package[64] = "";
    bool replaced;
    out[0] = '\0';
    if (!symbols_are_missing(symbols, JVM_LIBRARY, build_id, &replaced))
        return;
    if (java_version)
        snprintf(package, sizeof package, " (Debian: openjdk-%d-dbg)", java_version);
    snprintf(out, size,
             JVM_LIBRARY " is stripped, and %s%.40s; install the debug symbols of exactly this "
                         "build%s",
             build_id[0] ? "/usr/lib/debug has no file for its build-id " : "has no build-id",
             build_id, package);
    if (replaced)
        snprintf(out + strlen(out), size - strlen(out),
                 " and restart the JVM: the library on disk has been replaced since");
}

static int no_symbols(struct err *e, const char *what, int pid) {
    return err_exit_as(e, ERR_EXIT_ARGUMENT, EACCES,
                       "%s: process %d cannot be inspected to find its address; run as the "
                       "process's user or as root",
                       what, pid);
}

static int resolve_tracer(struct wire_engine_request *q, struct symbols *symbols, int pid,
                          int java_version, struct err *e) {
    /* JDK 8 and 9, then 10: source: allocTracer.hpp */
    static const char *const name[2][2] = {
        {"AllocTracer::send_allocation_in_new_tlab_event",
         "AllocTracer::send_allocation_outside_tlab_event"},
        {"AllocTracer::send_allocation_in_new_tlab", "AllocTracer::send_allocation_outside_tlab"},
    };
    char advice[380];
    for (int i = 0; i < 2; i++) {
        struct symbol_place in, outside;
        if (symbols_find(symbols, JVM_LIBRARY, name[i][0], &in) == 0 &&
            symbols_find(symbols, JVM_LIBRARY, name[i][1], &outside) == 0) {
            q->address[0] = in.address;
            q->address[1] = outside.address;
            return 0;
        }
    }
    if (java_version >= 11)
        return 0; /* the agent reports that it cannot tell TLABs apart, and samples anyway */
    add_advice(symbols, java_version, advice, sizeof advice);
    return err_exit_as(e, ERR_EXIT_ARGUMENT, ENOENT,
                       "alloc: before JDK 11 it needs the VM's functions AllocTracer::…, which are "
                       "not found in JVM %d%s%s",
                       pid, advice[0] ? ": " : "", advice);
}

static int no_function(struct symbols *symbols, const char *event, const char *name, int pid,
                       struct err *e) {
    char advice[380] = "";
    const char *near = event_nearest(name);
    if (strcmp(event, name) == 0 && !strstr(name, "::"))
        return err_exit_as(e, ERR_EXIT_ARGUMENT, ENOENT,
                           "unknown event \"%.100s\"%s%s (and JVM %d has no function of that name)",
                           event, near ? "; nearest known one: " : "", near ? near : "", pid);
    if (strstr(name, "::"))
        add_advice(symbols, 0, advice, sizeof advice);
    return err_exit_as(e, ERR_EXIT_ARGUMENT, ENOENT,
                       "event \"%.100s\": JVM %d has no function \"%.100s\"%s%s", event, pid, name,
                       advice[0] ? ": " : "", advice);
}

static int resolve_breakpoint(struct wire_engine_request *q, struct symbols *symbols, int pid,
                              struct err *e) {
    char name[sizeof q->text];
    struct symbol_place at;
    uint64_t offset;
    memcpy(name, q->text, sizeof name);
    name[sizeof name - 1] = '\0';
    /* "operator+" is a name. Only "+NUMBER" is an offset. */
    if (event_cut_offset(name, &offset) < 0) {
        memcpy(name, q->text, sizeof name - 1);
        offset = 0;
    }
    if (symbols_find(symbols, NULL, name, &at) < 0)
        return no_function(symbols, q->name, name, pid, e);
    if (at.chosen_late)
        return event_wrong(e, ENOTSUP, q->name,
                           "%s is not the function that runs: it selects one of several variants "
                           "when the library is loaded (ifunc); name that variant",
                           name);
    if (at.object && q->perf.bp_type == HW_BREAKPOINT_X)
        return event_wrong(e, EINVAL, q->name, "%s is not a function; use mem:%s:rw to watch it",
                           name, name);
    q->perf.config1 = at.address + offset;
    q->text[0] = '\0';
    return 0;
}

/* Searches the library by its path, then by the last part of the path, because /lib may be a link
 * to /usr/lib. */
static int find_in(struct symbols *symbols, const char *library, const char *name,
                   struct symbol_place *at) {
    int r = symbols_find(symbols, library, name, at);
    const char *slash = library ? strrchr(library, '/') : NULL;
    return r == -ENODEV && slash ? symbols_find(symbols, slash + 1, name, at) : r;
}

/* Resolves "LIBRARY:FUNCTION", "LIBRARY+OFFSET" or "FUNCTION"; a function may be followed by
 * "+OFFSET", too. */
static int resolve_uprobe(struct wire_engine_request *q, struct symbols *symbols, int pid,
                          struct err *e) {
    char place[sizeof q->text];
    struct symbol_place at;
    uint64_t offset = 0;
    memcpy(place, q->text, sizeof place);
    place[sizeof place - 1] = '\0';
    char *plus = strrchr(place, '+');
    if (plus && event_number(plus + 1, &offset))
        *plus = '\0';
    char *colon = strchr(place, ':');
    if (colon && colon[1] == ':')
        colon = NULL;
    if (colon)
        *colon++ = '\0';
    const char *library =
        colon || strchr(place, '/') || (plus && strstr(place, ".so")) ? place : NULL;
    const char *name = colon ? colon : library ? NULL : place;
    int r = find_in(symbols, library, name, &at);
    if (r == -ENODEV)
        return event_wrong(e, ENOENT, q->name, "JVM %d has no library %s", pid, library);
    if (r < 0 || at.object || at.offset == UINT64_MAX)
        return no_function(symbols, q->name, name ? name : place, pid, e);
    if (strlen(at.path) >= sizeof q->text)
        return event_wrong(e, ENAMETOOLONG, q->name, "the library's path is too long");
    memcpy(q->text, at.path, strlen(at.path) + 1);
    q->perf.config2 = at.offset + offset;
    q->flags |= WIRE_ENGINE_TEXT_CONFIG;
    return 0;
}

int event_resolve(struct wire_engine_request *request, struct symbols *symbols, int pid,
                  int java_version, struct err *e) {
    struct wire_engine_request *q = request;
    if (!event_is_open(q, java_version))
        return 0;
    if (!symbols)
        return no_symbols(e, q->name, pid);
    symbols_refresh(symbols); /* for a process that has ended, the last maps are kept */
    if (wants_tracer(q, java_version))
        return resolve_tracer(q, symbols, pid, java_version, e);
    return is_uprobe(q) ? resolve_uprobe(q, symbols, pid, e)
                        : resolve_breakpoint(q, symbols, pid, e);
}

int event_check(const struct wire_engine_request *request, uint32_t count, pid_t pid,
                int java_version, struct err *e) {
    struct symbols *symbols = NULL;
    int r = 0;
    for (uint32_t i = 0; i < count && r == 0; i++) {
        struct wire_engine_request copy = request[i];
        struct err ignored;
        if (!event_is_open(&copy, java_version))
            continue;
        if (!symbols && symbols_open(pid, &symbols, &ignored) < 0)
            return 0;
        r = event_resolve(&copy, symbols, (int)pid, java_version, e);
    }
    symbols_free(symbols);
    return r;
}

int event_find_function(struct symbols *symbols, int pid, const char *name, uint64_t *address,
                        struct err *e) {
    struct symbol_place at;
    char advice[380] = "";
    if (!symbols)
        return no_symbols(e, name, pid);
    symbols_refresh(symbols);
    if (symbols_find(symbols, NULL, name, &at) == 0 && !at.object && !at.chosen_late) {
        *address = at.address;
        return 0;
    }
    if (strstr(name, "::"))
        add_advice(symbols, 0, advice, sizeof advice);
    return err_exit_as(e, ERR_EXIT_ARGUMENT, ENOENT, "JVM %d has no function \"%.100s\"%s%s", pid,
                       name, advice[0] ? ": " : "", advice);
}
