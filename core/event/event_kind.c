#include "core/event/event_kind.h"

#include "core/wire/record.h"

const char *const event_kind_name[EVENT_KINDS] = {
    [WIRE_EVENT_CPU] = "cpu",
    [WIRE_EVENT_WALL] = "wall",
    [WIRE_EVENT_ALLOC] = "alloc",
    [WIRE_EVENT_LOCK] = "lock",
    [WIRE_EVENT_NATIVEMEM] = "nativemem",
    [WIRE_EVENT_NATIVELOCK] = "nativelock",
    [WIRE_EVENT_PERF] = "perf",
    [WIRE_EVENT_METHOD] = "method",
    [EVENT_LIVE] = "live",
    [EVENT_LEAK] = "leak",
};

const char *const event_kind_unit[EVENT_KINDS] = {
    [WIRE_EVENT_CPU] = "ns",     [WIRE_EVENT_WALL] = "ns",         [WIRE_EVENT_ALLOC] = "bytes",
    [WIRE_EVENT_LOCK] = "ns",    [WIRE_EVENT_NATIVEMEM] = "bytes", [WIRE_EVENT_NATIVELOCK] = "ns",
    [WIRE_EVENT_PERF] = "total", [WIRE_EVENT_METHOD] = "ns",       [EVENT_LIVE] = "bytes",
    [EVENT_LEAK] = "bytes",
};

bool event_is_active(uint8_t state) {
    static const bool idle[WIRE_THREAD_STATES] = {
        [WIRE_THREAD_WAITING] = true, [WIRE_THREAD_PARKED] = true, [WIRE_THREAD_SLEEPING] = true,
        [WIRE_THREAD_POLL] = true,    [WIRE_THREAD_FUTEX] = true,  [WIRE_THREAD_OTHER] = true,
    };
    return state >= WIRE_THREAD_STATES || !idle[state];
}
