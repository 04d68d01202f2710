/*
 * The list of events, over a view: which exist, which run and how, and why one cannot run. Each can
 * be started, stopped and changed here.
 *
 * A press only changes the wanted events. The caller then draws, and after that calls
 * event_list_tell, which passes them to the session: a busy JVM may take its time.
 *
 * Context: frontend main thread.
 */
#ifndef JTOP_TUI_VIEW_EVENT_LIST_H
#define JTOP_TUI_VIEW_EVENT_LIST_H

#include "tui/key/keymap.h"
#include "tui/model/engine_set.h"
#include "tui/model/model.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/press.h"
#include "tui/widget/cursor.h"
#include "tui/widget/line_editor.h"

#include <stdbool.h>

struct event_list {
    bool open;
    bool changed; /* the session does not know the wanted events yet */
    struct engine_set wanted, told;
    struct cursor cursor;
    struct line_editor editor; /* for an event's name */
    struct area area;          /* where it was drawn */
    char said[600];            /* the answer to the last press; "" for none */
};

/* The outcome of a press. */
enum event_list_wish {
    EVENT_LIST_STAY,
    EVENT_LIST_LEAVE,
    EVENT_LIST_LOOK /* leave, and show event_list_chosen() */
};

/* The events of the rows, by enum event_kind. */
struct event_list_rows {
    int event[EVENT_KINDS];
    uint32_t count;
};

void event_list_init(struct event_list *l, const struct model_settings *settings);
/* Opens the list with the cursor on this event. */
void event_list_open(struct event_list *l, const struct model *m, int event);
/* Starts an event that does not run yet, as Enter in the list does. The caller then draws and calls
 * event_list_tell. */
void event_list_start(struct event_list *l, int event);
int event_list_chosen(const struct event_list *l, const struct model *m);

/* Presses go to event_list_type while the editor is open. Otherwise keymap_command turns them into
 * commands for event_list_command. */
void event_list_type(struct event_list *l, const struct model *m, int32_t press);
enum event_list_wish event_list_command(struct event_list *l, const struct model *m,
                                        enum command command);

/* A press selects a row, a second press starts or stops its event, the wheel moves. */
void event_list_mouse(struct event_list *l, const struct model *m, const struct mouse *press);

/* Passes the wanted events to the session. If the session refuses, the earlier ones are kept. The
 * caller then refreshes the model. */
void event_list_tell(struct event_list *l, const struct model *m);

/* Draws from row a.row on; the last row of the area is for messages. */
void event_list_draw(struct event_list *l, struct canvas *c, struct area a, const struct model *m,
                     struct caret *caret);

#endif
