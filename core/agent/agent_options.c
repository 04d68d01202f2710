#include "core/agent/agent_options.h"

#include <stdlib.h>
#include <string.h>

/* A number with an optional unit of time (to ns) or size (to bytes). */
static bool parse_number(const char *s, uint64_t *out) {
    static const struct {
        const char *name;
        uint64_t factor;
    } units[] = {{"", 1},           {"ns", 1},       {"us", 1000},    {"ms", 1000000},
                 {"s", 1000000000}, {"b", 1},        {"k", 1u << 10}, {"m", 1u << 20},
                 {"g", 1u << 30},   {"K", 1u << 10}, {"M", 1u << 20}, {"G", 1u << 30}};
    char *end;
    if (*s < '0' || *s > '9')
        return false;
    uint64_t n = strtoull(s, &end, 10);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(end, units[i].name) == 0) {
            if (n > UINT64_MAX / units[i].factor)
                return false;
            *out = n * units[i].factor;
            return true;
        }
    }
    return false;
}

static bool copy(char *to, size_t size, const char *from) {
    size_t n = strlen(from);
    if (n >= size)
        return false;
    memcpy(to, from, n + 1);
    return true;
}

static uint64_t ring_size(uint64_t wanted) {
    uint64_t bytes = WIRE_RING_BYTES_MIN;
    while (bytes < wanted && bytes < WIRE_RING_BYTES_MAX)
        bytes *= 2;
    return bytes;
}

static bool parse_event(const char *value, struct agent_options *o) {
    if (strcmp(value, "ctimer") == 0)
        o->mechanism = WIRE_MECHANISM_CTIMER;
    else if (strcmp(value, "itimer") == 0)
        o->mechanism = WIRE_MECHANISM_ITIMER;
    return true; /* anything else is for the reader to complain about */
}

static bool parse_walk(const char *value, struct agent_options *o) {
    static const char *const name[WIRE_WALKS] = {
        [WIRE_WALK_VM] = "vm",       [WIRE_WALK_VMX] = "vmx", [WIRE_WALK_FP] = "fp",
        [WIRE_WALK_DWARF] = "dwarf", [WIRE_WALK_NO] = "no",   [WIRE_WALK_ASGCT] = "asgct",
    };
    for (uint32_t i = 0; i < WIRE_WALKS; i++)
        if (strcmp(value, name[i]) == 0)
            o->walk = i;
    return true; /* as above */
}

static bool parse_one(const char *name, const char *value, struct agent_options *o) {
    uint64_t n = 0;
    bool is_number = parse_number(value, &n);
    if (strcmp(name, "start") == 0)
        o->start = true;
    else if (strcmp(name, "event") == 0)
        return parse_event(value, o);
    else if (strcmp(name, "itimer") == 0 || strcmp(name, "ctimer") == 0)
        return parse_event(name, o);
    else if (strcmp(name, "cstack") == 0)
        return parse_walk(value, o);
    else if (strcmp(name, "precise") == 0)
        o->precise = true;
    else if (strcmp(name, "file") == 0)
        o->has_file = *value != '\0';
    else if (strcmp(name, "map") == 0)
        return copy(o->map, sizeof o->map, value);
    else if (strcmp(name, "frontend") == 0)
        return copy(o->frontend, sizeof o->frontend, value);
    else if (strcmp(name, "session") == 0)
        o->session = n;
    else if (strcmp(name, "ring") == 0 || strcmp(name, "framebuf") == 0)
        o->ring_bytes = ring_size(n);
    else if (strcmp(name, "interval") == 0)
        o->interval = n;
    else if (strcmp(name, "jstackdepth") == 0)
        o->depth = n < WIRE_FRAMES_MAX ? (uint32_t)n : WIRE_FRAMES_MAX;
    else
        return true; /* the reader's */
    static const char *const numbers[] = {"session", "ring", "framebuf", "interval", "jstackdepth"};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (strcmp(name, numbers[i]) == 0)
            return is_number;
    return true;
}

bool agent_options_parse(const char *text, struct agent_options *o) {
    memset(o, 0, sizeof *o);
    o->ring_bytes = WIRE_RING_BYTES_DEFAULT;
    if (!text)
        text = "";
    if (!copy(o->text, sizeof o->text, text))
        return false;
    char parts[sizeof o->text];
    memcpy(parts, o->text, sizeof parts);
    char *rest = parts;
    for (char *part; (part = strsep(&rest, ","));) {
        char *value = strchr(part, '=');
        if (value)
            *value++ = '\0';
        if (!parse_one(part, value ? value : "", o))
            return false;
    }
    return true;
}
