/* The line typed at the bottom: a filter, a text to search for, a command to pipe to, or the name of
 * one of our own commands. */
#include "tui/screen/screen_state.h"

#include <string.h>

void screen_type(struct screen *s, enum screen_typing what) {
    s->typing = what;
    line_editor_open(&s->editor, what == TYPING_FILTER ? s->model->question.filter : "");
    if (what == TYPING_FILTER && !s->editor.length)
        screen_fill_filter(s);
}

static bool find(struct screen *s, int by) {
    const struct view_type *v = views[s->view];
    if (s->stacks.open)
        return screen_stacks_find(s, by);
    screen_complete(s);
    return v->find && s->model->snapshot && v->find(s->state[s->view], by, s->model);
}

void screen_find_next(struct screen *s, int by) {
    if (!views[s->view]->find && !s->stacks.open)
        screen_pass(s, "there is nothing to search in this view");
    else if (!s->model->search[0])
        screen_pass(s, "no search yet: / begins one");
    else if (!find(s, by))
        screen_pass(s, "not found: %s", s->model->search);
}

static void changed(struct screen *s) {
    struct model *m = s->model;
    switch (s->typing) {
    case TYPING_FILTER:
        model_narrow_filter(m, s->editor.text);
        s->typed = true;
        break;
    case TYPING_SEARCH:
        memcpy(m->search, s->editor.text, sizeof m->search);
        if (!s->stacks.open)
            s->searched_at = s->places;
        if (m->search[0])
            (void)find(s, 0);
        break;
    case TYPING_PIPE:
    case TYPING_COMMAND:
        break;
    }
}

static enum screen_wish accept(struct screen *s) {
    char why[160];
    s->editor.open = false;
    switch (s->typing) {
    case TYPING_FILTER:
        screen_settle(s);
        if (snapshot_check_filter(s->editor.text, why, sizeof why))
            screen_pass(s, "not a regular expression, so it is taken literally: %s", why);
        return SCREEN_NOTHING;
    case TYPING_SEARCH:
        if (s->model->search[0] && !find(s, 0))
            screen_find_next(s, 1);
        return SCREEN_NOTHING;
    case TYPING_COMMAND:
        return screen_run_typed(s);
    case TYPING_PIPE:
        break;
    }
    text_clear(&s->text);
    text_add(&s->text, s->editor.text);
    return s->editor.length && !s->text.failed ? SCREEN_PIPE : SCREEN_NOTHING;
}

enum screen_wish screen_press_in_editor(struct screen *s, int32_t press) {
    struct line_editor *l = &s->editor;
    if (press == PRESS_ENTER)
        return accept(s);
    if (press == PRESS_TAB && s->typing == TYPING_COMMAND) {
        screen_complete_command(s);
    } else if (press == PRESS_ESCAPE) {
        line_editor_open(l, "");
        l->open = false;
        changed(s);
    } else if (line_editor_press(l, press)) {
        changed(s);
    }
    return SCREEN_NOTHING;
}
