#include "core/session/pauses.h"

#define PAUSE_MS_MAX 10000u /* maximum between two readings; larger values are invalid */
#define MS_NS UINT64_C(1000000)

/* Returns the increase; 0 if it is invalid. */
static uint64_t passed(uint64_t before, uint64_t after) {
    return after > before && after - before <= PAUSE_MS_MAX ? after - before : 0;
}

void pauses_read(struct session *s, const struct jvm *jvm, uint64_t now) {
    uint64_t held = passed(s->jvm.safepoint_time_ms, jvm->safepoint_time_ms);
    uint64_t collected = passed(s->jvm.gc_time_ms, jvm->gc_time_ms);
    if (!s->jvm.safepoint_time_ms || held <= collected) /* the first reading is not a pause */
        return;
    uint64_t ms = held - collected;
    struct wire_pause pause = {
        .header = wire_header_word(WIRE_PAUSE, sizeof pause),
        .begin_ns = now - ms * MS_NS,
        .end_ns = now,
        .kind = WIRE_PAUSE_SAFEPOINT,
    };
    session_lock(s);
    profile_pause(s->profile, pause.begin_ns, pause.end_ns, WIRE_PAUSE_SAFEPOINT - 1);
    session_unlock(s);
    if (s->drain.recording)
        recording_write(s->drain.recording, &pause);
}
