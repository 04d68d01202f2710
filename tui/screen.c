#include "tui/screen.h"

#include "tui/footer.h"
#include "tui/header.h"
#include "tui/view.h"
#include "tui/view_help.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct screen {
    struct model *model;
    enum live_view view, view_before; /* before: what 't' goes back to */
    void *state[VIEWS];
    unsigned generation[VIEWS]; /* of the answer each view has seen; 0: none */
    struct line_editor editor;
    bool help;
    bool typed; /* the filter was changed and not asked yet */
    int help_top, help_last, help_page;
    char said[512];
    char notice[300]; /* the session's own, as last seen */
};

struct screen *screen_new(struct model *m, enum live_view view) {
    struct screen *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->model = m;
    for (int i = 0; i < VIEWS; i++) {
        s->state[i] = views[i]->open();
        if (!s->state[i]) {
            screen_free(s);
            return NULL;
        }
    }
    s->view_before = LIVE_METHODS;
    s->view = view < VIEWS ? view : LIVE_METHODS;
    m->question.tree = views[s->view]->tree;
    return s;
}

void screen_free(struct screen *s) {
    if (!s)
        return;
    for (int i = 0; i < VIEWS; i++)
        views[i]->close(s->state[i]);
    free(s);
}

enum live_view screen_view(const struct screen *s) {
    return s->view;
}

void screen_say(struct screen *s, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(s->said, sizeof s->said, fmt, ap);
    va_end(ap);
}

/* The view on screen is kept at the newest answer; others see it when they come up. */
static void update_view(struct screen *s) {
    if (s->model->snapshot && s->generation[s->view] != s->model->generation) {
        views[s->view]->update(s->state[s->view], s->model);
        s->generation[s->view] = s->model->generation;
    }
}

void screen_update(struct screen *s) {
    char notice[sizeof s->notice];
    header_notice(s->model, notice, sizeof notice);
    if (strcmp(notice, s->notice) != 0) {
        memcpy(s->notice, notice, sizeof notice);
        s->said[0] = '\0';
    }
    update_view(s);
}

static void ask(struct screen *s) {
    if (model_ask(s->model))
        screen_say(s, "no memory for this: the last picture stays");
    update_view(s);
}

static void bring_up(struct screen *s, enum live_view view) {
    if (view != s->view) {
        s->view_before = s->view;
        s->view = view;
    }
    s->model->question.tree = views[view]->tree;
    ask(s);
}

static enum screen_wish press_in_help(struct screen *s, int32_t press) {
    switch (keymap_command(press, SCOPE_HELP)) {
    case COMMAND_HELP:
    case COMMAND_BACK:
        s->help = false;
        break;
    case COMMAND_REDRAW:
        return SCREEN_REDRAW;
    case COMMAND_UP:
        s->help_top--;
        break;
    case COMMAND_DOWN:
        s->help_top++;
        break;
    case COMMAND_PAGE_UP:
        s->help_top -= s->help_page;
        break;
    case COMMAND_PAGE_DOWN:
        s->help_top += s->help_page;
        break;
    case COMMAND_HOME:
        s->help_top = 0;
        break;
    case COMMAND_END:
        s->help_top = s->help_last;
        break;
    default:
        break;
    }
    if (s->help_top > s->help_last)
        s->help_top = s->help_last;
    if (s->help_top < 0)
        s->help_top = 0;
    return SCREEN_NOTHING;
}

/* One sees what a filter leaves while typing it; presses that come together are one question. */
static void settle(struct screen *s) {
    if (s->typed) {
        s->typed = false;
        ask(s);
    }
}

static void press_in_editor(struct screen *s, int32_t press) {
    struct line_editor *l = &s->editor;
    if (press == PRESS_ENTER) {
        l->open = false;
        return;
    }
    bool changed = true;
    if (press == PRESS_ESCAPE) {
        line_editor_open(l, "");
        l->open = false;
    } else {
        changed = line_editor_press(l, press);
    }
    if (!changed)
        return;
    memcpy(s->model->question.filter, l->text, sizeof l->text);
    s->typed = true;
}

/* Escape undoes one narrowing at a time, the last one first. */
static void go_back(struct screen *s) {
    struct model_question *q = &s->model->question;
    if (q->filter[0])
        q->filter[0] = '\0';
    else if (model_zoomed(q))
        model_zoom_out(s->model);
    else
        return;
    ask(s);
}

static void press_in_view(struct screen *s, enum command command) {
    switch (views[s->view]->command(s->state[s->view], command, s->model)) {
    case VIEW_ASK:
        ask(s);
        break;
    case VIEW_SHOW_METHODS:
        bring_up(s, LIVE_METHODS);
        break;
    case VIEW_IGNORED:
    case VIEW_DONE:
        break;
    }
}

enum screen_wish screen_press(struct screen *s, int32_t press) {
    if (s->help)
        return press_in_help(s, press);
    if (s->editor.open && press != PRESS_CTRL('L')) {
        press_in_editor(s, press);
        return SCREEN_NOTHING;
    }
    settle(s);
    enum command command = keymap_command(press, views[s->view]->scope);
    switch (command) {
    case COMMAND_NONE:
        break;
    case COMMAND_QUIT:
        return SCREEN_QUIT;
    case COMMAND_SAVE:
        return SCREEN_SAVE;
    case COMMAND_REDRAW:
        return SCREEN_REDRAW;
    case COMMAND_METHODS:
        bring_up(s, LIVE_METHODS);
        break;
    case COMMAND_THREADS:
        bring_up(s, LIVE_THREADS);
        break;
    case COMMAND_TREE:
        bring_up(s, LIVE_TREE);
        break;
    case COMMAND_NEXT_VIEW:
        bring_up(s, (enum live_view)((s->view + 1) % VIEWS));
        break;
    case COMMAND_TOGGLE_THREADS:
        bring_up(s, s->view == LIVE_THREADS ? s->view_before : LIVE_THREADS);
        break;
    case COMMAND_PAUSE:
        if (model_hold(s->model, !s->model->held))
            screen_say(s, "no memory for this: the last picture stays");
        update_view(s);
        break;
    case COMMAND_FILTER:
        line_editor_open(&s->editor, s->model->question.filter);
        break;
    case COMMAND_CARRIERS:
        s->model->question.carriers = !s->model->question.carriers;
        ask(s);
        break;
    case COMMAND_BACK:
        go_back(s);
        break;
    case COMMAND_HELP:
        s->help = true;
        s->help_top = 0;
        break;
    default:
        press_in_view(s, command);
    }
    return SCREEN_NOTHING;
}

bool screen_too_small(struct canvas *c) {
    if (c->rows >= SCREEN_ROWS_MIN && c->cols >= SCREEN_COLS_MIN)
        return false;
    canvas_clear(c);
    canvas_textf(c, 0, 0, c->cols, ROLE_WARNING, "terminal too small:");
    canvas_textf(c, 1, 0, c->cols, ROLE_TEXT, "need %dx%d,", SCREEN_COLS_MIN, SCREEN_ROWS_MIN);
    canvas_textf(c, 2, 0, c->cols, ROLE_TEXT, "have %dx%d", c->cols, c->rows);
    return true;
}

static void draw_status(struct screen *s, struct canvas *c, int row, struct caret *caret) {
    if (!s->editor.open) {
        const char *text = s->said[0] ? s->said : s->notice;
        canvas_head(c, row, 0, c->cols, ROLE_STATUS, text);
        return;
    }
    int at = canvas_text(c, row, 0, c->cols, ROLE_EDITOR, "filter: ");
    /* Whatever is before the caret keeps it in sight. */
    char before[LINE_EDITOR_BYTES];
    memcpy(before, s->editor.text, s->editor.at);
    before[s->editor.at] = '\0';
    int room = c->cols - at - 1;
    int used = canvas_tail(c, row, at, room, ROLE_EDITOR, before);
    canvas_text(c, row, at + used, c->cols, ROLE_EDITOR, s->editor.text + s->editor.at);
    *caret = (struct caret){.row = row, .col = at + used, .visible = true};
}

/* From the tabs' row down to, but without, row `end`. Returns the cursor's row. */
static int draw_view(struct screen *s, struct canvas *c, int end) {
    header_draw(c, s->model);
    header_draw_tabs(c, HEADER_ROWS, s->model, s->view);
    struct area a = {.row = HEADER_ROWS + 1, .cols = c->cols, .rows = end - HEADER_ROWS - 1};
    return views[s->view]->draw(s->state[s->view], c, a, s->model);
}

void screen_draw(struct screen *s, struct canvas *c, struct caret *caret) {
    struct caret unused;
    if (!caret)
        caret = &unused;
    *caret = (struct caret){0};
    if (screen_too_small(c))
        return;
    settle(s);
    canvas_clear(c);
    if (s->help) {
        s->help_page = c->rows - 3;
        s->help_last = view_help_draw(c, s->help_top);
        if (s->help_top > s->help_last) { /* the screen grew */
            s->help_top = s->help_last;
            canvas_clear(c);
            view_help_draw(c, s->help_top);
        }
        return;
    }
    caret->row = draw_view(s, c, c->rows - 2);
    draw_status(s, c, c->rows - 2, caret);
    footer_draw(c, c->rows - 1, views[s->view]->scope);
}

void screen_draw_batch(struct screen *s, struct canvas *c) {
    canvas_clear(c);
    int row = draw_view(s, c, c->rows);
    canvas_text(c, row, 0, 1, ROLE_TEXT, " "); /* nobody moves a cursor on paper */
}
