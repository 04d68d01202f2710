/* Hardware breakpoints: "mem:ADDRESS|symbol[+offset][/length][:rwx]", and a function's name alone.
 * source: linux/hw_breakpoint.h */
#include "core/event/event_parts.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

/* The kernel requires this length for an execution breakpoint. */
#define EXECUTE_BYTES sizeof(long)

static void begin(struct wire_engine_request *out, uint32_t access, uint64_t length) {
    out->event = WIRE_EVENT_PERF;
    out->interval = 1;
    out->perf.type = PERF_TYPE_BREAKPOINT;
    out->perf.bp_type = access;
    out->perf.config2 = length;
}

/* Cuts ":rw" off. C++ names also contain colons, but in pairs. */
static int take_access(char *place, uint32_t *access) {
    static const struct {
        const char *name;
        uint32_t access;
    } known[] = {
        {"r", HW_BREAKPOINT_R},   {"w", HW_BREAKPOINT_W}, {"rw", HW_BREAKPOINT_RW},
        {"wr", HW_BREAKPOINT_RW}, {"x", HW_BREAKPOINT_X},
    };
    char *colon = strrchr(place, ':');
    if (!colon || (colon > place && colon[-1] == ':'))
        return 0;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(colon + 1, known[i].name) != 0)
            continue;
        *access = known[i].access;
        *colon = '\0';
        return 0;
    }
    return -EINVAL;
}

static bool take_length(char *place, uint64_t *length) {
    char *slash = strrchr(place, '/');
    if (!slash)
        return true;
    *slash = '\0';
    return event_number(slash + 1, length) &&
           (*length == 1 || *length == 2 || *length == 4 || *length == 8);
}

int event_breakpoint_parse(const char *text, struct wire_engine_request *out, struct err *e) {
    uint32_t access = HW_BREAKPOINT_RW;
    uint64_t length = 1, offset;
    const char *place = text + strlen("mem:");
    if (!*place || strlen(place) >= sizeof out->text)
        return event_wrong(e, EINVAL, text,
                           "the form is mem:ADDRESS|SYMBOL[+OFFSET][/LENGTH][:rwx]");
    snprintf(out->text, sizeof out->text, "%s", place);
    if (take_access(out->text, &access) < 0)
        return event_wrong(e, EINVAL, text, "r, w, rw or x must follow the colon");
    if (access == HW_BREAKPOINT_X)
        length = EXECUTE_BYTES;
    if (!take_length(out->text, &length) || (access == HW_BREAKPOINT_X && length != EXECUTE_BYTES))
        return event_wrong(e, EINVAL, text, "a watched length must be 1, 2, 4 or 8 bytes%s",
                           access == HW_BREAKPOINT_X ? ", and 8 for execution" : "");
    begin(out, access, length);
    char *plus = strrchr(out->text, '+');
    if (plus && !event_number(plus + 1, &offset))
        return event_wrong(e, EINVAL, text, "\"%.60s\" is not an offset", plus);
    if (plus)
        *plus = '\0';
    if (event_number(out->text, &out->perf.config1)) {
        out->perf.config1 += plus ? offset : 0;
        out->text[0] = '\0';
        return 0;
    }
    if (!out->text[0] || strncmp(out->text, "0x", 2) == 0)
        return event_wrong(e, EINVAL, text, "that is neither an address nor a symbol");
    if (plus)
        *plus = '+';
    return 0; /* event_resolve looks it up */
}

int event_function_parse(const char *text, struct wire_engine_request *out, struct err *e) {
    static const char usual[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    bool function = strlen(text) < sizeof out->text && (text[0] < '0' || text[0] > '9');
    /* C++ names have more characters: "operator new[]", "A<int>::~A". */
    for (const char *p = text; *p && function; p++)
        function = strchr(usual, *p) || strchr("$:<>~*&=!+[](),", *p);
    const char *near = event_nearest(text);
    if (!function)
        return event_wrong(
            e, EINVAL, text, "unknown event%s%s", near ? "; nearest known one: " : "",
            near ? near
                 : "; known ones are cpu, wall, alloc, lock and many more, see jtop-prof list PID");
    begin(out, HW_BREAKPOINT_X, EXECUTE_BYTES);
    snprintf(out->text, sizeof out->text, "%s", text);
    return 0;
}
