/*
 * A session as the model's data source.
 *
 * Context: frontend main thread.
 */
#ifndef JTOP_TUI_MODEL_SOURCE_SESSION_H
#define JTOP_TUI_MODEL_SOURCE_SESSION_H

#include "tui/model/model.h"

/* `live`: the source also reads the JVM's threads from the kernel, and starts and stops engines.
 * Not for recordings: their pid may belong to another process by now. The session outlives the
 * source. */
struct model_source source_session(struct session *s, bool live);

#endif
