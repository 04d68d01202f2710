/*
 * Output files that grow while sampling goes on (core/export/jfr/jfr_stream.h): each sample is
 * added when it is counted.
 *
 * JFR files grow, except files whose content is only known at the end (live objects, -I or -X), and
 * except pipes and devices.
 *
 * Context: frontend, main thread; samples come on the session's thread.
 */
#ifndef JTOP_TUI_CLI_OUTPUT_GROWING_H
#define JTOP_TUI_CLI_OUTPUT_GROWING_H

#include "tui/cli/output/output.h"

struct growing;

/* Begins the files that grow. *to NULL: no file grows. When it returns, the files exist and have
 * what was counted so far. */
int growing_begin(struct growing **to, const struct outputs *out, const struct options *o,
                  struct session *s, struct err *e);

/* Ends the adding of samples. The session's lock must not be held. Call it before the session is
 * closed. Accepts NULL. */
void growing_stop(struct growing *g);

/* growing_has: true if that item has grown, as far as there was room. The caller then calls
 * growing_end; otherwise it writes the item as other files. */
bool growing_has(const struct growing *g, const struct output *item);
int growing_end(struct growing *g, const struct output *item, const struct export_part *part,
                int parts, const struct export_options *o, struct err *e);

/* Lets the files grow on, after growing_stop and growing_end, before new samples are taken. A file
 * that cannot grow on (it was moved away, for example) is later written as other files. Accepts
 * NULL. */
void growing_resume(struct growing *g);

/* Frees all. Files without growing_end end with what they have so far. Call it while the session
 * exists, or after growing_stop. Accepts NULL. */
void growing_free(struct growing *g);

#endif
