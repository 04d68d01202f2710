#include "core/agent/agent_options.h"

#include <stdlib.h>
#include <string.h>

/* Parses a number with an optional unit of time (result in ns) or size (result in bytes). */
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

/* The events that the agent can start without help. */
static const struct {
    const char *name;
    enum wire_event event;
    enum wire_mechanism mechanism;
    bool all_at_zero; /* an interval of 0 on the wire means every occurrence, not the default */
} events[] = {
    {"cpu", WIRE_EVENT_CPU, WIRE_MECHANISM_AUTO, false},
    {"ctimer", WIRE_EVENT_CPU, WIRE_MECHANISM_CTIMER, false},
    {"itimer", WIRE_EVENT_CPU, WIRE_MECHANISM_ITIMER, false},
    {"wall", WIRE_EVENT_WALL, WIRE_MECHANISM_AUTO, false},
    {"alloc", WIRE_EVENT_ALLOC, WIRE_MECHANISM_AUTO, false},
    {"lock", WIRE_EVENT_LOCK, WIRE_MECHANISM_AUTO, false},
    {"nativemem", WIRE_EVENT_NATIVEMEM, WIRE_MECHANISM_AUTO, true},
    {"nativelock", WIRE_EVENT_NATIVELOCK, WIRE_MECHANISM_AUTO, true},
};

enum { EVENTS = sizeof events / sizeof events[0] };

static size_t find_event(const char *name) {
    size_t i = 0;
    while (i < EVENTS && strcmp(events[i].name, name) != 0)
        i++;
    return i;
}

static struct wire_engine_request *find_engine(struct agent_options *o, uint32_t event) {
    for (uint32_t i = 0; i < o->engines; i++)
        if (o->engine[i].event == event)
            return &o->engine[i];
    return NULL;
}

static struct wire_engine_request *add_engine(struct agent_options *o, size_t i) {
    struct wire_engine_request *q = find_engine(o, events[i].event);
    if (q)
        return q;
    q = &o->engine[o->engines++];
    q->event = events[i].event;
    q->mechanism = events[i].mechanism;
    copy(q->name, sizeof q->name, events[i].name);
    return q;
}

static void set_interval(struct agent_options *o, const char *name, uint64_t interval) {
    size_t i = find_event(name);
    struct wire_engine_request *q = add_engine(o, i);
    q->interval = interval || events[i].all_at_zero ? interval : 1;
    o->own |= 1u << q->event;
}

/* Takes the value of "event=NAME". The reader looks up an event that is unknown here, or reports
 * it. */
static void parse_event(const char *name, struct agent_options *o) {
    size_t i = find_event(name);
    if (i < EVENTS)
        add_engine(o, i);
    else
        o->plain = false;
}

/* Whether a word without a value may be the name of a perf event. The reader then decides. */
static bool may_be_perf(const char *word) {
    static const char *const plain[] = {"cycles", "instructions", "branches",
                                        "faults", "cs",           "migrations"};
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        if (strcmp(word, plain[i]) == 0)
            return true;
    return strcmp(word, "record-cpu") != 0 &&
           (strpbrk(word, "-:/") || (word[0] == 'r' && word[1] >= '0' && word[1] <= '9'));
}

static const struct {
    const char *name;
    uint32_t flag;
    uint32_t about; /* set of events that it applies to */
} flags[] = {
    {"alluser", WIRE_ENGINE_ALL_USER, 1u << WIRE_EVENT_CPU},
    {"allkernel", WIRE_ENGINE_ALL_KERNEL, 1u << WIRE_EVENT_CPU},
    {"live", WIRE_ENGINE_LIVE, 1u << WIRE_EVENT_ALLOC},
    {"tlab", WIRE_ENGINE_TLAB, 1u << WIRE_EVENT_ALLOC},
    {"nofree", WIRE_ENGINE_NO_FREE, 1u << WIRE_EVENT_NATIVEMEM},
    {"target-cpu", WIRE_ENGINE_TARGET_CPU, 1u << WIRE_EVENT_CPU},
};

/* Returns the bit of the flag with this name; 0: there is none. */
static uint32_t find_flag(const char *name) {
    for (uint32_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
        if (strcmp(flags[i].name, name) == 0)
            return 1u << i;
    return 0;
}

/* Parses "27/26": the signals of the CPU engines and of the wall engine. */
static void parse_signals(const char *value, struct agent_options *o) {
    char *end;
    o->signal = (uint32_t)strtoul(value, &end, 10);
    if (*end == '/')
        o->wall_signal = (uint32_t)strtoul(end + 1, NULL, 10);
}

/* Called after the whole string was parsed: adds the flags and "interval=" to the events. */
static void settle(struct agent_options *o) {
    if (o->engines == 0 && o->plain)
        add_engine(o, 0);
    for (uint32_t i = 0; i < o->engines; i++) {
        struct wire_engine_request *q = &o->engine[i];
        for (uint32_t f = 0; f < sizeof flags / sizeof flags[0]; f++) {
            if (!(o->flags & 1u << f) || !(flags[f].about & 1u << q->event))
                continue;
            q->flags |= flags[f].flag;
            q->cpu = o->cpu;
        }
        if (o->interval && !(o->own & 1u << q->event)) {
            q->interval = o->interval;
            o->interval = 0;
        }
    }
}

static bool parse_walk(const char *value, struct agent_options *o) {
    static const char *const name[WIRE_WALKS] = {
        [WIRE_WALK_VM] = "vm",       [WIRE_WALK_VMX] = "vmx", [WIRE_WALK_FP] = "fp",
        [WIRE_WALK_DWARF] = "dwarf", [WIRE_WALK_NO] = "no",   [WIRE_WALK_ASGCT] = "asgct",
    };
    for (uint32_t i = 0; i < WIRE_WALKS; i++)
        if (strcmp(value, name[i]) == 0)
            o->walk = i;
    return true; /* the reader knows other names, or reports them */
}

static void parse_about_events(const char *name, const char *value, bool is_number, uint64_t n,
                               struct agent_options *o) {
    uint32_t flag = find_flag(name);
    if (strcmp(name, "event") == 0)
        parse_event(value, o);
    else if (flag)
        o->flags |= flag;
    else if (find_event(name) < EVENTS && is_number)
        set_interval(o, name, n);
    else if (find_event(name) < EVENTS)
        parse_event(name, o);
    else if (strcmp(name, "interval") == 0)
        o->interval = n;
    else if (strcmp(name, "signal") == 0)
        parse_signals(value, o);
    else if (strcmp(name, "begin") == 0 || strcmp(name, "ttsp") == 0 || strcmp(name, "all") == 0 ||
             strcmp(name, "trace") == 0 || (!*value && may_be_perf(name)))
        o->plain = false;
    if (strcmp(name, "target-cpu") == 0)
        o->cpu = n < 65535 ? (int32_t)n : 0;
}

/* Parses "200", or "200/40": of a stack with 200 or more frames, 40 are kept. */
static bool parse_depth(const char *value, struct agent_options *o) {
    char *end;
    uint64_t depth = strtoull(value, &end, 10), kept = depth;
    bool good = *value >= '0' && *value <= '9';
    if (good && *end == '/') {
        good = end[1] >= '0' && end[1] <= '9';
        kept = strtoull(end + 1, &end, 10);
    }
    o->depth = depth < WIRE_FRAMES_MAX ? (uint32_t)depth : WIRE_FRAMES_MAX;
    o->cut = kept < o->depth ? (uint32_t)kept + 1 : 0;
    return good && !*end;
}

/* The reader knows features that are not in this list, or reports them. */
static uint32_t parse_features(const char *list) {
    static const char *const name[] = {"vtable", "comptask", "pcaddr"};
    uint32_t set = 0;
    for (size_t i = 0; i < sizeof name / sizeof name[0]; i++)
        if (strstr(list, name[i]))
            set |= 1u << i;
    return set;
}

static bool parse_one(const char *name, const char *value, struct agent_options *o) {
    uint64_t n = 0;
    bool is_number = parse_number(value, &n);
    if (strcmp(name, "start") == 0)
        o->start = true;
    else if (strcmp(name, "cstack") == 0)
        return parse_walk(value, o);
    else if (strcmp(name, "precise") == 0)
        o->precise = true;
    else if (strcmp(name, "file") == 0)
        o->has_file = *value != '\0';
    else if (strcmp(name, "map") == 0)
        return copy(o->map, sizeof o->map, value);
    else if (strcmp(name, "broker") == 0)
        return copy(o->broker, sizeof o->broker, value);
    else if (strcmp(name, "frontend") == 0)
        return copy(o->frontend, sizeof o->frontend, value);
    else if (strcmp(name, "session") == 0)
        o->session = n;
    else if (strcmp(name, "ring") == 0 || strcmp(name, "framebuf") == 0)
        o->ring_bytes = ring_size(n);
    else if (strcmp(name, "jstackdepth") == 0)
        return parse_depth(value, o);
    else if (strcmp(name, "features") == 0)
        o->features = parse_features(value);
    else
        parse_about_events(name, value, is_number, n, o); /* the reader handles all others */
    static const char *const numbers[] = {"session", "ring", "framebuf", "interval"};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (strcmp(name, numbers[i]) == 0)
            return is_number;
    return true;
}

bool agent_options_parse(const char *text, struct agent_options *o) {
    memset(o, 0, sizeof *o);
    o->ring_bytes = WIRE_RING_BYTES_DEFAULT;
    o->plain = true;
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
    settle(o);
    return true;
}
