/*
 * The list of JVMs to choose from, without a terminal: JVMs and presses go in, a canvas comes out.
 * Unless the user sorts it, recently viewed JVMs come first, then all others by pid. So rows keep
 * their places.
 *
 * Context: frontend main thread.
 */
#ifndef JTOP_TUI_SCREEN_PICKER_H
#define JTOP_TUI_SCREEN_PICKER_H

#include "attach/find/jvm.h"
#include "tui/key/keymap.h"
#include "tui/terminal/canvas.h"

#include <stdbool.h>
#include <stdint.h>

enum picker_wish {
    PICKER_NOTHING, /* only draw again */
    PICKER_QUIT,
    PICKER_BACK,   /* go back to the open JVMs */
    PICKER_CHOSEN, /* picker_chosen() returns it */
    PICKER_MOUSE,  /* switch the mouse on or off */
    PICKER_REDRAW, /* send the whole screen */
};

struct picker;

/* `uid`: the user who would attach. NULL: no memory. */
struct picker *picker_new(uid_t uid);
void picker_free(struct picker *p);

/* `keys` NULL: the default keys; otherwise it lives as long as the picker. `check` NULL: every JVM
 * can be attached; otherwise as doctor_attach. */
typedef int picker_check(const struct jvm *j, uid_t uid, const char **word, struct err *e);
void picker_configure(struct picker *p, const struct keymap *keys, picker_check *check);

/* Sets the JVMs that run now. Takes ownership of `jvms` (malloc'ed; may be NULL if count is 0). A
 * JVM that was listed before keeps its internal state, so that its CPU % is of the time since the
 * last list. */
void picker_update(struct picker *p, struct jvm *jvms, uint32_t count);

/* Sets the recently viewed JVMs, by name, newest first; copied. */
void picker_mark_recent(struct picker *p, const char *const *name, int count);
/* Sets which JVMs are open. `behind`: there are open JVMs to go back to. */
#define PICKER_OPEN 32
void picker_mark_open(struct picker *p, bool behind, const pid_t *pid, int count);

/* Puts a line into the status row; "" clears it. */
void picker_say(struct picker *p, const char *text);

enum picker_wish picker_press(struct picker *p, int32_t press);
enum picker_wish picker_mouse(struct picker *p, const struct mouse *press);
/* Returns the JVM at the cursor, or NULL. Valid until the next picker_update. */
const struct jvm *picker_chosen(const struct picker *p);

void picker_draw(struct picker *p, struct canvas *c, struct caret *caret);

#endif
