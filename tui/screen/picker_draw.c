/* The picker's picture. */
#include "tui/screen/picker_state.h"

#include "tui/screen/screen.h"
#include "tui/view/footer.h"
#include "tui/view/view_help.h"

#include <stdio.h>
#include <string.h>

#define SENTENCE_ROWS 5

/* Bytes of the text that go into a line: up to a blank, where there is one. */
static int line_length(const struct canvas *c, const char *text) {
    int best = 0;
    if (canvas_width(c, text) <= c->cols)
        return (int)strlen(text);
    for (int i = 0; i <= c->cols && text[i]; i++)
        if (text[i] == ' ')
            best = i;
    return best ? best : c->cols;
}

/* A sentence whose last line is in this row: it grows upwards, over rows that are free in all but
 * the longest lists. */
static void draw_sentence(struct canvas *c, int row, enum role role, const char *text) {
    char line[SENTENCE_ROWS][512];
    int lines = 0, most = c->rows / 8 + 2 < SENTENCE_ROWS ? c->rows / 8 + 2 : SENTENCE_ROWS;
    while (*text && lines < most) {
        int n = lines == most - 1 ? (int)strlen(text) : line_length(c, text);
        snprintf(line[lines++], sizeof line[0], "%.*s", n, text);
        text += n;
        text += strspn(text, " ");
    }
    for (int i = 0; i < lines; i++) {
        int y = row - lines + 1 + i;
        for (int col = 0; col < c->cols; col++)
            canvas_text(c, y, col, 1, role, " ");
        canvas_head(c, y, 0, c->cols, role, line[i]);
    }
}

static void draw_status(struct picker *p, struct canvas *c, int row, struct caret *caret) {
    const struct picker_row *r = picker_chosen_row(p);
    if (p->filter.open) {
        int at = canvas_text(c, row, 0, c->cols, ROLE_EDITOR, "filter: ");
        canvas_text(c, row, at, c->cols, ROLE_EDITOR, p->filter.text);
        char before[LINE_EDITOR_BYTES];
        memcpy(before, p->filter.text, p->filter.at);
        before[p->filter.at] = '\0';
        *caret = (struct caret){.row = row, .col = at + canvas_width(c, before), .visible = true};
    } else if (p->said[0]) {
        draw_sentence(c, row, ROLE_WARNING, p->said);
    } else if (r && r->cannot) {
        draw_sentence(c, row, ROLE_STATUS, r->why);
    } else if (p->filter.text[0]) {
        canvas_textf(c, row, 0, c->cols, ROLE_STATUS, "filter: %s  (Esc clears)", p->filter.text);
    }
}

static void draw_empty(const struct picker *p, struct canvas *c) {
    int row = c->rows / 3;
    if (p->count) {
        canvas_text(c, row, 2, c->cols - 2, ROLE_TEXT, "no JVM matches the filter");
        return;
    }
    canvas_text(c, row, 2, c->cols - 2, ROLE_VALUE, "no JVM found");
    canvas_text(c, row + 1, 2, c->cols - 2, ROLE_TEXT, "looked for: performance data in");
    canvas_text(c, row + 2, 2, c->cols - 2, ROLE_TEXT,
                "  /tmp/hsperfdata_*/ of every mount namespace,");
    canvas_text(c, row + 3, 2, c->cols - 2, ROLE_TEXT,
                "  and processes with libjvm.so mapped (/proc/*/maps)");
    canvas_text(c, row + 4, 2, c->cols - 2, ROLE_DIM, "the list is renewed every second");
}

/* What is there, how it is sorted, and what the marks say that are on some row. */
static void draw_title(const struct picker *p, struct canvas *c) {
    bool recent = false, open = false, cannot = false;
    char sorted[48] = "", legend[80];
    for (uint32_t i = 0; i < p->shown_count; i++) {
        const struct picker_row *r = &p->rows[p->shown[i]];
        open |= r->open;
        cannot |= r->cannot && !r->open;
        recent |= r->recent >= 0 && !r->open && !r->cannot;
    }
    if (p->sorted != PICKER_NO_COLUMN)
        snprintf(sorted, sizeof sorted, ", by %s", picker_column_name(p->sorted));
    canvas_text(c, 0, 0, c->cols, ROLE_TITLE, "jtop-prof");
    int at = 11 + canvas_textf(c, 0, 11, c->cols, ROLE_TEXT, "%u JVM%s%s", p->count,
                               p->count == 1 ? "" : "s", sorted);
    snprintf(legend, sizeof legend, "%s%s%s", recent ? "  * recent" : "", open ? "  o open" : "",
             cannot ? "  x cannot be attached" : "");
    int cols = canvas_width(c, legend);
    if (at + cols <= c->cols)
        canvas_text(c, 0, c->cols - cols, cols, ROLE_DIM, legend);
}

static void draw_help(struct picker *p, struct canvas *c) {
    p->help_page = c->rows - 3;
    p->help_last = view_help_draw(c, p->keys, p->help_top);
    if (p->help_top > p->help_last) { /* the screen grew */
        p->help_top = p->help_last;
        canvas_clear(c);
        view_help_draw(c, p->keys, p->help_top);
    }
}

void picker_draw(struct picker *p, struct canvas *c, struct caret *caret) {
    struct caret unused;
    bool containers = false;
    if (!caret)
        caret = &unused;
    *caret = (struct caret){0};
    if (screen_too_small(c))
        return;
    canvas_clear(c);
    if (p->help) {
        draw_help(p, c);
        return;
    }
    for (uint32_t i = 0; i < p->count; i++)
        containers |= p->rows[i].container[0] != '\0';
    draw_title(p, c);
    picker_layout(&p->layout, c->cols, containers);
    picker_draw_heads(c, PICKER_LIST_ROW - 1, &p->layout, p->sorted, p->falls);
    p->list_rows = c->rows - PICKER_LIST_ROW - 3; /* two rows for sentences, and the keys */
    cursor_fit(&p->cursor, p->shown_count, (uint32_t)p->list_rows);
    for (int i = 0; i < p->list_rows && p->cursor.top + (uint32_t)i < p->shown_count; i++)
        picker_draw_row(c, PICKER_LIST_ROW + i, &p->layout,
                        &p->rows[p->shown[p->cursor.top + (uint32_t)i]]);
    if (p->shown_count) {
        int y = PICKER_LIST_ROW + (int)(p->cursor.row - p->cursor.top);
        canvas_text(c, y, 0, 1, ROLE_CURSOR, ">");
        canvas_role(c, y, 0, c->cols, ROLE_CURSOR);
        caret->row = y;
    } else {
        draw_empty(p, c);
    }
    draw_status(p, c, c->rows - 2, caret);
    footer_draw(c, c->rows - 1, p->keys, SCOPE_PICKER);
}
