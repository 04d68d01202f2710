/*
 * The list of JVMs one picks from, without a terminal: JVMs and presses go in, a canvas comes out.
 * Where nobody sorted it, JVMs looked at lately come first, then all by pid: rows stay where they
 * are.
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
    PICKER_NOTHING, /* draw again, that is all */
    PICKER_QUIT,
    PICKER_BACK,   /* to the JVMs that are open */
    PICKER_CHOSEN, /* picker_chosen() says which */
    PICKER_MOUSE,  /* mouse on or off */
    PICKER_REDRAW, /* send the whole screen */
};

struct picker;

/* `uid`: who would attach. NULL: no memory. */
struct picker *picker_new(uid_t uid);
void picker_free(struct picker *p);

/* Both may be NULL: the keys as shipped, and every JVM can be attached. `check` as doctor_attach;
 * `keys` lives as long as the picker. */
typedef int picker_check(const struct jvm *j, uid_t uid, const char **word, struct err *e);
void picker_configure(struct picker *p, const struct keymap *keys, picker_check *check);

/* What runs now. Takes over `jvms` (malloc'ed, may be NULL where count is 0). A JVM that was there
 * before keeps its inner state, so that its CPU % is of the time since the last list. */
void picker_update(struct picker *p, struct jvm *jvms, uint32_t count);

/* Those looked at lately, by name, newest first; copied. */
void picker_mark_recent(struct picker *p, const char *const *name, int count);
/* `behind`: there is something to go back to; and the JVMs that are open. */
#define PICKER_OPEN 32
void picker_mark_open(struct picker *p, bool behind, const pid_t *pid, int count);

/* A line for the status row; "" clears it. */
void picker_say(struct picker *p, const char *text);

enum picker_wish picker_press(struct picker *p, int32_t press);
enum picker_wish picker_mouse(struct picker *p, const struct mouse *press);
/* The JVM of the cursor, or NULL. Valid until the next picker_update. */
const struct jvm *picker_chosen(const struct picker *p);

void picker_draw(struct picker *p, struct canvas *c, struct caret *caret);

#endif
