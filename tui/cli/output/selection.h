/*
 * What of a profile a command line wants to see: -I and -X. The threads and the time (--thread,
 * --filter, --from, --to) are left out by the session already: struct session_options.
 *
 * Context: frontend only.
 */
#ifndef JTOP_TUI_SELECTION_H
#define JTOP_TUI_SELECTION_H

#include "core/profile/snapshot/snapshot.h"
#include "tui/cli/option/options.h"

/* Adds it to a question, which holds as long as the options do. */
void selection_query(const struct options *o, struct query *q);

#endif
