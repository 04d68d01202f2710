/*
 * What the live screen and its paper form have in common.
 *
 * Context: frontend main thread.
 */
#ifndef JTOP_TUI_SCREEN_LIVE_SETUP_H
#define JTOP_TUI_SCREEN_LIVE_SETUP_H

#include "tui/model/model.h"
#include "tui/screen/live.h"

/* Takes LC_CTYPE from the environment. True where it is UTF-8. */
bool live_set_locale(void);
/* Asked for, or NO_COLOR is set. */
bool live_is_mono(const struct live_options *o);
struct model_settings live_settings(const struct live_options *o);
unsigned live_refresh_ms(const struct live_options *o);
/* Looks on where somebody samples this JVM already and shares that; else attaches, and shares. */
int live_attach(const struct jvm *j, const struct session_options *o, struct session **out,
                struct err *e);
/* The same for o->jvm, or reads o->replay. */
int live_open_session(const struct live_options *o, struct session **out, struct err *e);
/* Empties the session's eventfd. */
void live_clear_event(int fd);

#endif
