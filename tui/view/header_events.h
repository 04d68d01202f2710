/*
 * The events in the header: what runs, how, and which one the views are of; and what there is to
 * say about them.
 *
 * Context: frontend main thread.
 */
#ifndef JTOP_TUI_HEADER_EVENTS_H
#define JTOP_TUI_HEADER_EVENTS_H

#include "tui/model/model.h"
#include "tui/terminal/canvas.h"

/* All events that there are, the one in question in brackets. What does not fit loses first how it
 * is sampled, then its interval. */
void header_draw_events(struct canvas *c, int row, const struct model *m);

/* "perf 10ms", "safepoint 10ms BIASED", "off", "cannot run". Returns out. */
const char *header_event_figure(const struct model *m, int event, char *out, size_t size);

/* It was asked for and does not run. */
bool header_event_fails(const struct session_engine *e);
/* Why, or why so, without the event's name in front; "" for nothing. */
const char *header_event_why(const struct session_engine *e);
/* An event that was asked for and cannot be sampled, or only badly; the one in question before the
 * others. False where there is none. */
bool header_event_trouble(const struct model *m, char *out, size_t size);
/* "ctimer: perf_events are not allowed here" of the event in question, or "". Returns out. */
const char *header_event_reason(const struct model *m, char *out, size_t size);

#endif
