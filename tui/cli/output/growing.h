/*
 * Those of a command line's files that grow while sampling goes on (core/export/jfr/jfr_stream.h):
 * each sample is put into them as it is counted.
 *
 * JFR files do, but for those that only the end can tell: of live objects, and with -I or -X; and
 * pipes and devices.
 *
 * Context: frontend, main thread; samples come by the session's.
 */
#ifndef JTOP_TUI_CLI_OUTPUT_GROWING_H
#define JTOP_TUI_CLI_OUTPUT_GROWING_H

#include "tui/cli/output/output.h"

struct growing;

/* *to NULL: no file grows. The files are there when it returns, with what was counted so far. */
int growing_begin(struct growing **to, const struct outputs *out, const struct options *o,
                  struct session *s, struct err *e);

/* No more samples; the session's lock must not be held. Must be called before the session is
 * closed. NULL is fine. */
void growing_stop(struct growing *g);

/* Whether that item has grown, as far as there was room: then it is to be ended, or else written as
 * others are. */
bool growing_has(const struct growing *g, const struct output *item);
int growing_end(struct growing *g, const struct output *item, const struct export_part *part,
                int parts, const struct export_options *o, struct err *e);

/* After growing_stop and growing_end, before anything more is sampled: the files grow on. One that
 * cannot (it was moved away, say) will be written as others are. NULL is fine. */
void growing_resume(struct growing *g);

/* Files that were not ended end with what has come so far. The session must be there still, or
 * growing_stop have been called. NULL is fine. */
void growing_free(struct growing *g);

#endif
