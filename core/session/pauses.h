/*
 * The time during which the VM held all Java threads at safepoints, as its performance data
 * counts it (sun.rt.safepointTime). The counter shows how long, not when: the time between two
 * readings counts as one pause that ended with the second reading. It includes garbage
 * collections. Their own counters (sun.gc.collector.N.time) are subtracted, because the agent
 * reports collections one by one.
 *
 * Context: drain thread; takes the session's lock.
 */
#ifndef JTOP_SESSION_PAUSES_H
#define JTOP_SESSION_PAUSES_H

#include "core/session/session_state.h"

/* `jvm` was read at now_ns (CLOCK_MONOTONIC); s->jvm is the previous reading. Adds the pause to the
 * profile, and to the recording if there is one. */
void pauses_read(struct session *s, const struct jvm *jvm, uint64_t now_ns);

#endif
