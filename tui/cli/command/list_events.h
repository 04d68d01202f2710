/*
 * "list PID": what a JVM can be sampled for, found out by trying. "check": whether it can be for
 * the events that are asked for.
 *
 * Context: frontend, main thread.
 */
#ifndef JTOP_TUI_CLI_COMMAND_LIST_EVENTS_H
#define JTOP_TUI_CLI_COMMAND_LIST_EVENTS_H

#include "core/base/text.h"
#include "core/session/session.h"

/* Appends a table of events, each with how it is sampled or why it cannot be. Attaches once; every
 * event is started for a moment. */
int list_events(const struct jvm *j, const struct session_options *o, struct text *out,
                struct err *e);

/* Appends "OK" and returns 0 when all events of `o` can be sampled; else an error says why one of
 * them cannot. */
int check_events(const struct jvm *j, const struct session_options *o, struct text *out,
                 struct err *e);

#endif
