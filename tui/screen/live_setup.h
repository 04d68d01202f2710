/*
 * Setup that the live modes share: locale, settings, session.
 *
 * Context: frontend main thread.
 */
#ifndef JTOP_TUI_SCREEN_LIVE_SETUP_H
#define JTOP_TUI_SCREEN_LIVE_SETUP_H

#include "tui/model/model.h"
#include "tui/screen/live.h"

/* Takes LC_CTYPE from the environment. True if it is UTF-8. */
bool live_set_locale(void);
/* True if no colour was requested, or NO_COLOR is set. */
bool live_is_mono(const struct live_options *o);
struct model_settings live_settings(const struct live_options *o);
unsigned live_refresh_ms(const struct live_options *o);
/* Joins as a viewer if another process already samples this JVM and shares its profile; otherwise
 * attaches. In both cases, the session is then shared. */
int live_attach(const struct jvm *j, const struct session_options *o, struct session **out,
                struct err *e);
/* The same for o->jvm; or reads the recording o->replay. */
int live_open_session(const struct live_options *o, struct session **out, struct err *e);
/* Empties the session's eventfd. */
void live_clear_event(int fd);

#endif
