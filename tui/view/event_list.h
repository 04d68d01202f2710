/*
 * The events' list, over a view: which there are, which run and how, why one cannot; each can be
 * started, stopped and changed there and then.
 *
 * Pressing only changes what is wanted. Telling the session is the caller's, who draws first: a
 * busy JVM may take its time.
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
    bool changed; /* what is wanted was not told to the session yet */
    struct engine_set wanted, told;
    struct cursor cursor;
    struct line_editor editor; /* an event's name being typed */
    struct area area;          /* where it was drawn */
    char said[600];            /* the answer to the last press; "" for none */
};

/* What the outcome of a press is. */
enum event_list_wish {
    EVENT_LIST_STAY,
    EVENT_LIST_LEAVE,
    EVENT_LIST_LOOK /* leave, and look at event_list_chosen() */
};

/* What is on its rows, by enum event_kind. */
struct event_list_rows {
    int event[EVENT_KINDS];
    uint32_t count;
};

void event_list_init(struct event_list *l, const struct model_settings *settings);
void event_list_open(struct event_list *l, const struct model *m);
int event_list_chosen(const struct event_list *l, const struct model *m);

/* While the editor is open presses are its own; commands come from keymap_command. */
void event_list_type(struct event_list *l, const struct model *m, int32_t press);
enum event_list_wish event_list_command(struct event_list *l, const struct model *m,
                                        enum command command);

/* A press selects, a second one starts or stops, the wheel moves. */
void event_list_mouse(struct event_list *l, const struct model *m, const struct mouse *press);

/* Tells the session, and keeps to what was where it does not listen. The model is to be refreshed
 * after it. */
void event_list_tell(struct event_list *l, const struct model *m);

/* From row a.row on; the last row of the area is for what there is to say. */
void event_list_draw(struct event_list *l, struct canvas *c, struct area a, const struct model *m,
                     struct caret *caret);

#endif
