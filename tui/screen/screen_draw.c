/* Draws everything on the screen, from top to bottom. */
#include "tui/screen/screen_state.h"

#include "tui/view/footer.h"
#include "tui/view/header.h"
#include "tui/view/strip.h"
#include "tui/view/tab_line.h"
#include "tui/view/view_help.h"
#include "core/base/format.h"

#include <stddef.h>
#include <stdio.h>

#define STRIP_SCREEN_ROWS 30 /* a screen of this size shows the strip */
#define STRIP_ROWS_LEAST 14
#define RATE_COLS 100 /* a screen of this size shows the line's rate */
#define TABLE_ROWS 10000
#define TABLE_COLS 240

bool screen_too_small(struct canvas *c) {
    if (c->rows >= SCREEN_ROWS_MIN && c->cols >= SCREEN_COLS_MIN)
        return false;
    canvas_clear(c);
    canvas_textf(c, 0, 0, c->cols, ROLE_WARNING, "terminal too small:");
    canvas_textf(c, 1, 0, c->cols, ROLE_TEXT, "need %dx%d,", SCREEN_COLS_MIN, SCREEN_ROWS_MIN);
    canvas_textf(c, 2, 0, c->cols, ROLE_TEXT, "have %dx%d", c->cols, c->rows);
    return true;
}

/* Draws the rate in steps: a figure that changes every second would itself add to the rate. */
static int draw_rate(const struct screen *s, struct canvas *c, int row) {
    struct format f = {""};
    char text[48];
    if (!s->line_slow && (c->cols < RATE_COLS || !s->line_rate))
        return 0;
    uint64_t rate =
        s->line_rate < 1024 ? (s->line_rate + 255) / 256 * 256 : (s->line_rate + 511) / 512 * 512;
    snprintf(text, sizeof text, "%s%s/s",
             s->line_slow ? "slow connection, fewer refreshes: " : "screen ",
             format_bytes(&f, rate));
    int cols = canvas_width(c, text);
    canvas_right(c, row, c->cols - cols, cols, s->line_slow ? ROLE_WARNING : ROLE_DIM, text);
    return cols + 2;
}

/* Draws what the tagged rows weigh, left of `cols`, unless a message needs the room. Returns the
 * columns left of it. */
static int draw_tagged(const struct screen *s, struct canvas *c, int row, int cols) {
    char text[64];
    int used = s->stacks.open ? 0 : canvas_width(c, screen_tagged(s, text, sizeof text));
    if (!used || (s->said[0] && canvas_width(c, s->said) + 2 + used > cols))
        return cols;
    canvas_right(c, row, cols - used, used, ROLE_TAGGED, text);
    return cols - used - 2;
}

/* Draws the line that is typed, else the last message, else the notice. */
static void draw_status(struct screen *s, struct canvas *c, int row, const char *notice,
                        struct caret *caret) {
    static const char *const label[] = {
        "filter (regex, !regex excludes): ", "search: ", "pipe to: ", "command: "};
    if (!s->editor.open) {
        const char *text = s->said[0] ? s->said : notice;
        int cols = draw_tagged(s, c, row, c->cols - draw_rate(s, c, row));
        if (s->menu)
            screen_draw_menu(s, c, row, cols);
        else if (!text[0] || (s->notice_is_minor && s->places && !s->said[0]))
            screen_trail(s, c, row, cols);
        else if (s->said[0] && s->ends_well)
            canvas_middle(c, row, 0, cols, ROLE_STATUS, text);
        else
            canvas_head(c, row, 0, cols, ROLE_STATUS, text);
        return;
    }
    *caret = (struct caret){.row = row, .visible = true};
    caret->col = view_editor(c, row, label[s->typing], &s->editor);
    if (s->typing == TYPING_FILTER && s->said[0]) /* why it is not filled in */
        canvas_head(c, row, caret->col + 2, c->cols - caret->col - 2, ROLE_DIM, s->said);
    if (s->typing == TYPING_COMMAND) {
        int at = canvas_width(c, label[TYPING_COMMAND]) + canvas_width(c, s->editor.text) + 2;
        screen_draw_palette(s, c, row, at, c->cols - at);
    }
}

/* True if the strip is drawn. It takes rows from the view, so the screen must have many, or the
 * user requested it. The overview has its own graph. */
static bool has_strip(const struct screen *s, const struct canvas *c) {
    return s->view != LIVE_OVERVIEW && (c->rows >= STRIP_SCREEN_ROWS) != s->strip_flipped &&
           c->rows >= STRIP_ROWS_LEAST;
}

/* Draws the header, the tabs, the view and beside it the detail pane of this width, down to the row
 * above `end`. Returns the cursor's row. */
static int draw_view(struct screen *s, struct canvas *c, int end, int pane) {
    int row = header_draw(c, s->model);
    tab_line_draw(c, row, s->model, s->view);
    struct area a = {.row = row + 1, .cols = c->cols - pane, .rows = end - row - 1};
    s->tabs_row = row;
    s->area = a;
    s->rows = c->rows;
    s->cols = c->cols;
    int cursor = views[s->view]->draw(s->state[s->view], c, a, s->model);
    if (pane)
        screen_draw_pane(s, c, (struct area){a.row, a.cols, a.rows, pane});
    return cursor;
}

static void draw_events(struct screen *s, struct canvas *c, struct caret *caret) {
    int row = header_draw(c, s->model);
    struct area a = {.row = row, .cols = c->cols, .rows = c->rows - 1 - row};
    event_list_draw(&s->events, c, a, s->model, caret);
    footer_draw(c, c->rows - 1, screen_keys(s), SCOPE_EVENTS);
}

static void draw_stacks(struct screen *s, struct canvas *c, struct caret *caret) {
    char status[160];
    screen_stacks_draw(s, c);
    draw_status(s, c, c->rows - 2, screen_stacks_status(s, status, sizeof status), caret);
    footer_draw(c, c->rows - 1, screen_keys(s), SCOPE_STACKS);
}

static void draw_help(struct screen *s, struct canvas *c, struct caret *caret) {
    struct help_ask ask = {.keys = screen_keys(s),
                           .scope = views[s->view]->scope,
                           .place = views[s->view]->title,
                           .search = &s->help_search,
                           .top = s->help_top};
    s->help_page = c->rows - 3;
    s->help_last = view_help_draw(c, &ask, caret);
    if (s->help_top > s->help_last) { /* the screen became larger */
        ask.top = s->help_top = s->help_last;
        canvas_clear(c);
        view_help_draw(c, &ask, caret);
    }
}

/* Draws the line of open JVMs. */
static void draw_tabs(const struct screen *s, struct canvas *c) {
    int at = 0;
    for (int i = 0; i < s->tabs; i++) {
        const struct screen_tab *t = &s->tab[i];
        at += canvas_textf(c, 0, at, c->cols - at, t->on ? ROLE_JVM_TAB_ON : ROLE_JVM_TAB,
                           t->on ? "[%s%s]" : " %s%s ", t->name, t->ended ? " ended" : "");
    }
}

static void draw_all(struct screen *s, struct canvas *c, struct caret *caret) {
    if (s->help) {
        draw_help(s, c, caret);
        return;
    }
    if (s->events.open) {
        draw_events(s, c, caret);
        return;
    }
    if (s->stacks.open) {
        draw_stacks(s, c, caret);
        return;
    }
    int end = c->rows - 2 - (has_strip(s, c) ? STRIP_ROWS : 0);
    caret->row = draw_view(s, c, end, screen_pane_cols(s, c));
    s->strip_row = has_strip(s, c) ? end : -1;
    if (s->strip_row >= 0)
        strip_draw(c, s->strip_row, s->model);
    draw_status(s, c, c->rows - 2, s->notice, caret);
    s->footer_row = c->rows - 1;
    footer_draw(c, s->footer_row, screen_keys(s), views[s->view]->scope);
}

void screen_draw(struct screen *s, struct canvas *c, struct caret *caret) {
    struct caret unused;
    if (!caret)
        caret = &unused;
    *caret = (struct caret){0};
    if (screen_too_small(c))
        return;
    screen_settle(s);
    screen_stacks_look(s);
    canvas_clear(c);
    s->tabs_above = s->tabs > 0 && c->rows > SCREEN_ROWS_MIN;
    if (s->tabs_above)
        draw_tabs(s, c);
    /* Everything else is drawn below that line. */
    struct canvas rest = *c;
    rest.rows -= s->tabs_above;
    rest.cells += (ptrdiff_t)s->tabs_above * c->cols;
    draw_all(s, &rest, caret);
    caret->row += s->tabs_above;
}

void screen_draw_batch(struct screen *s, struct canvas *c) {
    canvas_clear(c);
    int row = draw_view(s, c, c->rows, 0);
    canvas_text(c, row, 0, 1, ROLE_TEXT, " "); /* a printed frame has no cursor */
}

void screen_table(struct screen *s, struct text *out) {
    struct canvas c = {0};
    struct text all = {0};
    screen_settle(s);
    if (canvas_resize(&c, TABLE_ROWS, TABLE_COLS)) {
        out->failed = true;
        return;
    }
    canvas_clear(&c);
    struct area a = {.cols = c.cols, .rows = c.rows};
    int row = views[s->view]->draw(s->state[s->view], &c, a, s->model);
    canvas_text(&c, row, 0, 1, ROLE_TEXT, " ");
    canvas_dump(&c, &all);
    while (all.len > 1 && all.data[all.len - 1] == '\n' && all.data[all.len - 2] == '\n')
        all.len--;
    if (all.failed)
        out->failed = true;
    else
        text_add_n(out, all.data, all.len);
    text_free(&all);
    canvas_free(&c);
}
