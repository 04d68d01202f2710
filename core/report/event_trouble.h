/*
 * What is wrong with the sampling of an event: it cannot be sampled, or only badly.
 *
 * Context: pure, any thread.
 */
#ifndef JTOP_REPORT_EVENT_TROUBLE_H
#define JTOP_REPORT_EVENT_TROUBLE_H

#include "core/session/session.h"

#include <stdbool.h>
#include <stddef.h>

/* True if the event was requested, but failed and does not run. */
bool event_trouble_fails(const struct session_engine *e);
/* Returns why the event fails or is biased, without the event's name in front; "": no reason. */
const char *event_trouble_why(const struct session_engine *e);
/* Describes an event that was requested and cannot be sampled, or only badly; `event` comes first.
 * False if there is none. */
bool event_trouble_find(const struct session_status *st, int event, char *out, size_t size);

#endif
