/*
 * Profiles that go on with no terminal: `start` and `resume` leave a reader in the background, and
 * `stop`, `dump`, `status` and `metrics` ask it, from any shell (core/session/share.h).
 *
 * Context: frontend, main thread, before any other thread is started.
 */
#ifndef JTOP_TUI_BACKGROUND_H
#define JTOP_TUI_BACKGROUND_H

#include "tui/options.h"

/* Does o->word with the JVM; argc and argv are the command line as it was given. */
int background_act(const struct options *o, const struct jvm *j, int argc, char **argv,
                   struct err *e);

/* Lets other shells ask about a profile that this process takes in the foreground (`status`, `dump`)
 * and look on. That it cannot be is no failure. `o` must live as long as the session. */
void background_share(const struct options *o, struct session *s);

#endif
