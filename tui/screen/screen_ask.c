/* Asks the model for what the view on screen needs, and gives the view the answer. */
#include "tui/screen/screen_state.h"

#include "tui/view/header.h"

#include <string.h>

void screen_want(struct screen *s) {
    struct model_question *q = &s->model->question;
    q->tree = q->locks = q->living = q->others = q->sparks = false;
    q->from_method = q->lines = q->close_roots = false;
    q->fixed = views[s->view]->event >= 0;
    q->event = q->fixed ? views[s->view]->event : s->event;
    q->inverted = s->inverted >> s->view & 1;
    views[s->view]->want(s->state[s->view], q);
}

void screen_update_view(struct screen *s) {
    if (s->model->snapshot && s->generation[s->view] != s->model->generation) {
        views[s->view]->update(s->state[s->view], s->model);
        s->generation[s->view] = s->model->generation;
    }
}

static void ask(struct screen *s) {
    if (model_ask(s->model))
        screen_pass(s, "no memory for this: the last screen stays");
    screen_update_view(s);
}

/* The answer may show that more is needed: a view of lines has chosen its method, or nothing is below
 * a root that is open. */
static void ask_for_more(struct screen *s) {
    struct model_question *q = &s->model->question;
    bool lines = q->lines;
    views[s->view]->want(s->state[s->view], q);
    if (lines != q->lines || model_lacks_roots(s->model))
        ask(s);
}

void screen_update(struct screen *s) {
    char notice[sizeof s->notice];
    header_notice(s->model, &s->notice_is_minor, notice, sizeof notice);
    if (strcmp(notice, s->notice) != 0) {
        memcpy(s->notice, notice, sizeof notice);
        s->said[0] = '\0';
    }
    if (views[s->view]->event < 0)
        s->event = s->model->question.event; /* the first answer may have changed it */
    screen_update_view(s);
    ask_for_more(s);
}

void screen_ask(struct screen *s) {
    screen_want(s);
    ask(s);
    ask_for_more(s);
}

void screen_complete(struct screen *s) {
    ask_for_more(s);
}
