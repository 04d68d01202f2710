/*
 * A session as the model's source.
 *
 * Context: frontend main thread.
 */
#ifndef JTOP_TUI_MODEL_SOURCE_SESSION_H
#define JTOP_TUI_MODEL_SOURCE_SESSION_H

#include "tui/model/model.h"

/* `live`: ask the kernel for the JVM's threads, start and stop engines; not for recordings, whose
 * pid may belong to somebody else by now. The session outlives the source. */
struct model_source source_session(struct session *s, bool live);

#endif
