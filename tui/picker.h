/*
 * The list of JVMs one picks from, without a terminal: JVMs and presses go in, a canvas comes out.
 *
 * Context: frontend main thread.
 */
#ifndef JTOP_TUI_PICKER_H
#define JTOP_TUI_PICKER_H

#include "attach/jvm.h"
#include "tui/canvas.h"

#include <stdint.h>

enum picker_wish {
    PICKER_NOTHING, /* draw again, that is all */
    PICKER_QUIT,
    PICKER_CHOSEN, /* picker_chosen() says which */
    PICKER_REDRAW, /* send the whole screen */
};

struct picker;

/* `uid`: ours, to mark JVMs we may not attach to. NULL: no memory. */
struct picker *picker_new(uid_t uid);
void picker_free(struct picker *p);

/* What runs now. Takes over `jvms` (malloc'ed, may be NULL where count is 0). A JVM that was there
 * before keeps its inner state, so that its CPU % is of the time since the last list. */
void picker_update(struct picker *p, struct jvm *jvms, uint32_t count);

/* A line for the status row; "" clears it. */
void picker_say(struct picker *p, const char *text);

enum picker_wish picker_press(struct picker *p, int32_t press);
/* The JVM of the cursor, or NULL. Valid until the next picker_update. */
const struct jvm *picker_chosen(const struct picker *p);

void picker_draw(struct picker *p, struct canvas *c, struct caret *caret);

#endif
