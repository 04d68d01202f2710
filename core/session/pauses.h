/*
 * Time in which the VM held all Java threads at safepoints, as its performance data counts it
 * (sun.rt.safepointTime). It says how long, not when: what came between two readings counts as one
 * pause that ended with the second. Collections are in it as well; what their own counters
 * (sun.gc.collector.N.time) say is left out, for the agent tells of them one by one.
 *
 * Context: drain thread; takes the session's lock.
 */
#ifndef JTOP_SESSION_PAUSES_H
#define JTOP_SESSION_PAUSES_H

#include "core/session/session_state.h"

/* `jvm` was read at now_ns (CLOCK_MONOTONIC), s->jvm is the reading before. Adds the pause to the
 * profile, and to the recording where there is one. */
void pauses_read(struct session *s, const struct jvm *jvm, uint64_t now_ns);

#endif
