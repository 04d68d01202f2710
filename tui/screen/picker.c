#include "tui/screen/picker.h"

#include "attach/proc/proc.h"
#include "tui/config/config.h"
#include "tui/screen/picker_table.h"
#include "tui/screen/screen.h"
#include "tui/terminal/press.h"
#include "tui/view/footer.h"
#include "tui/view/view_help.h"
#include "tui/widget/cursor.h"
#include "tui/widget/line_editor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PICKER_LIST_ROW 2 /* after the title and the heads */

struct picker {
    uid_t uid;
    const struct keymap *keys;
    picker_check *check;
    struct picker_row *rows; /* sorted */
    uint32_t count;
    uint32_t *shown; /* indices of the rows that match the filter */
    uint32_t shown_count;
    enum picker_column sorted;
    bool falls;
    struct cursor cursor;
    struct line_editor filter;
    char recent[CONFIG_RECENT][CONFIG_TEXT];
    int recents;
    pid_t open[PICKER_OPEN];
    int opened;
    bool behind;
    bool listed; /* a list with JVMs was set before */
    bool help;
    int help_top, help_last, help_page;
    struct picker_layout layout; /* as last drawn */
    int list_rows;
    char said[512];
};

/* ---- the picture ---- */

#define SENTENCE_ROWS 5

/* Returns how many bytes of the text fit into a line: up to a blank, if there is one. */
static int line_length(const struct canvas *c, const char *text) {
    int best = 0;
    if (canvas_width(c, text) <= c->cols)
        return (int)strlen(text);
    for (int i = 0; i <= c->cols && text[i]; i++)
        if (text[i] == ' ')
            best = i;
    return best ? best : c->cols;
}

/* Draws a sentence whose last line is in this row. It grows upwards, over rows that are free unless
 * the list is very long. */
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

/* Returns the row at the cursor; NULL: none. */
static struct picker_row *picker_chosen_row(const struct picker *p);

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
    canvas_text(c, row + 4, 2, c->cols - 2, ROLE_DIM, "the list is updated every second");
}

/* Draws the number of JVMs, the sort column, and the meaning of the marks in use. */
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
    snprintf(legend, sizeof legend, "%s%s%s%s", recent || open || cannot ? "marks:" : "",
             recent ? "  * recent" : "", open ? "  o open" : "",
             cannot ? "  x cannot be attached to" : "");
    int cols = canvas_width(c, legend);
    if (at + cols <= c->cols)
        canvas_text(c, 0, c->cols - cols, cols, ROLE_DIM, legend);
}

static void draw_help(struct picker *p, struct canvas *c) {
    struct help_ask ask = {.keys = p->keys, .top = p->help_top};
    struct caret unused;
    p->help_page = c->rows - 3;
    p->help_last = view_help_draw(c, &ask, &unused);
    if (p->help_top > p->help_last) { /* the screen became larger */
        ask.top = p->help_top = p->help_last;
        canvas_clear(c);
        view_help_draw(c, &ask, &unused);
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
    p->list_rows = c->rows - PICKER_LIST_ROW - 3; /* two rows for sentences, one for the keys */
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

#define SLOW_NS UINT64_C(20000000)
#define SLOW_PAUSES 50 /* after a slow check, the next one waits this many times its duration */

struct picker *picker_new(uid_t uid) {
    struct picker *p = calloc(1, sizeof *p);
    if (p) {
        p->uid = uid;
        p->sorted = PICKER_NO_COLUMN;
    }
    return p;
}

void picker_free(struct picker *p) {
    if (!p)
        return;
    free(p->rows);
    free(p->shown);
    free(p);
}

void picker_configure(struct picker *p, const struct keymap *keys, picker_check *check) {
    p->keys = keys;
    p->check = check;
}

void picker_say(struct picker *p, const char *text) {
    snprintf(p->said, sizeof p->said, "%s", text);
}

void picker_mark_recent(struct picker *p, const char *const *name, int count) {
    p->recents = count < CONFIG_RECENT ? count : CONFIG_RECENT;
    for (int i = 0; i < p->recents; i++)
        snprintf(p->recent[i], sizeof p->recent[i], "%s", name[i]);
}

void picker_mark_open(struct picker *p, bool behind, const pid_t *pid, int count) {
    p->behind = behind;
    p->opened = count < PICKER_OPEN ? count : PICKER_OPEN;
    for (int i = 0; i < p->opened; i++)
        p->open[i] = pid[i];
}

/* ---- rows ---- */

static uint64_t item(const void *arg, uint32_t row) {
    const struct picker *p = arg;
    return (uint64_t)p->rows[p->shown[row]].jvm.pid;
}

static struct cursor_rows rows_of(const struct picker *p) {
    return (struct cursor_rows){.count = p->shown_count, .item = item, .arg = p};
}

static struct picker_row *picker_chosen_row(const struct picker *p) {
    return p->cursor.row < p->shown_count ? &p->rows[p->shown[p->cursor.row]] : NULL;
}

static bool passes(const struct picker *p, const struct picker_row *r) {
    const struct jvm *j = &r->jvm;
    char pid[16];
    snprintf(pid, sizeof pid, "%d", (int)j->pid);
    const char *f = p->filter.text;
    return strcasestr(j->name, f) || strcasestr(j->user, f) || strcasestr(j->version, f) ||
           strcasestr(j->arguments, f) || strcasestr(r->container, f) ||
           (r->cannot && strcasestr(r->cannot, f)) || strstr(pid, f);
}

static int compare(const void *a, const void *b, void *arg) {
    const struct picker *p = arg;
    return picker_compare(a, b, p->sorted, p->falls);
}

/* Sorts and filters the rows; the cursor stays with its JVM. */
static void arrange(struct picker *p) {
    if (p->count > 1)
        qsort_r(p->rows, p->count, sizeof *p->rows, compare, p);
    p->shown_count = 0;
    for (uint32_t i = 0; i < p->count; i++)
        if (passes(p, &p->rows[i]))
            p->shown[p->shown_count++] = i;
    struct cursor_rows rows = rows_of(p);
    cursor_follow(&p->cursor, &rows);
}

/* Keeps the state of a JVM that was in the last list: its CPU % is of the time since then. Its
 * container does not change. */
static bool keep_state(const struct picker *p, struct picker_row *r) {
    for (uint32_t i = 0; i < p->count; i++) {
        const struct picker_row *was = &p->rows[i];
        if (was->jvm.pid != r->jvm.pid || was->jvm.start_ticks != r->jvm.start_ticks)
            continue;
        struct jvm old = was->jvm;
        if (!jvm_refresh(&old))
            r->jvm = old;
        memcpy(r->container, was->container, sizeof r->container);
        r->cannot = was->cannot;
        memcpy(r->why, was->why, sizeof r->why);
        r->check_due_ns = was->check_due_ns;
        return true;
    }
    return false;
}

static int recent_place(const struct picker *p, const struct jvm *j) {
    for (int i = 0; i < p->recents; i++)
        if (!strcmp(p->recent[i], j->name))
            return i;
    return -1;
}

/* Checks whether the JVM can be attached. A check that waits long for file systems is not repeated
 * every second. */
static void check_row(const struct picker *p, struct picker_row *r) {
    struct err e = {0};
    const char *word = "";
    uint64_t begin = proc_now_ns();
    if (!r->open && p->check && begin < r->check_due_ns)
        return;
    r->cannot = NULL;
    if (r->open || !p->check)
        return;
    if (p->check(&r->jvm, p->uid, &word, &e)) {
        r->cannot = word;
        memcpy(r->why, e.message, sizeof r->why);
    }
    uint64_t end = proc_now_ns();
    r->check_due_ns = end - begin < SLOW_NS ? 0 : end + SLOW_PAUSES * (end - begin);
}

static void fill_row(const struct picker *p, struct picker_row *r, const struct jvm *j) {
    *r = (struct picker_row){.jvm = *j, .recent = recent_place(p, j)};
    if (!keep_state(p, r) && j->container)
        container_name(j->pid, r->container);
    for (int i = 0; i < p->opened; i++)
        r->open |= p->open[i] == j->pid;
    check_row(p, r);
}

/* Selects the JVM that the user probably wants: a recently viewed one, or else the busiest. From
 * now on the cursor stays with its JVM, even if rows move: Enter must not mean another JVM than a
 * moment before. */
static void select_likely(struct picker *p) {
    struct cursor_rows rows = rows_of(p);
    uint32_t best = 0;
    for (uint32_t i = 1; i < p->shown_count; i++) {
        const struct picker_row *r = &p->rows[p->shown[i]], *b = &p->rows[p->shown[best]];
        bool better = (r->recent >= 0) != (b->recent >= 0)
                          ? r->recent >= 0
                          : b->recent < 0 && r->jvm.cpu_percent > b->jvm.cpu_percent;
        if (!r->cannot && (b->cannot || better))
            best = i;
    }
    cursor_select(&p->cursor, best, &rows);
}

void picker_update(struct picker *p, struct jvm *jvms, uint32_t count) {
    uint32_t *shown = calloc(count + 1, sizeof *shown);
    struct picker_row *rows = calloc(count + 1, sizeof *rows);
    if (!shown || !rows) { /* the last list stays */
        free(shown);
        free(rows);
        free(jvms);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        fill_row(p, &rows[i], &jvms[i]);
    free(jvms);
    free(p->rows);
    free(p->shown);
    p->rows = rows;
    p->count = count;
    p->shown = shown;
    arrange(p);
    if (!p->listed && p->shown_count)
        select_likely(p);
    p->listed = p->listed || count;
}

const struct jvm *picker_chosen(const struct picker *p) {
    const struct picker_row *r = picker_chosen_row(p);
    return r ? &r->jvm : NULL;
}

/* ---- presses ---- */

/* Chooses the JVM at the cursor. If it cannot be attached, the reason is shown instead. The filter
 * is cleared. */
static enum picker_wish choose(struct picker *p) {
    const struct picker_row *r = picker_chosen_row(p);
    if (!r)
        return PICKER_NOTHING;
    if (r->cannot) {
        picker_say(p, r->why);
        return PICKER_NOTHING;
    }
    struct cursor_rows rows = rows_of(p);
    cursor_select(&p->cursor, p->cursor.row, &rows); /* stay with this JVM when all are listed */
    line_editor_open(&p->filter, "");
    p->filter.open = false;
    arrange(p);
    return PICKER_CHOSEN;
}

static void sort_by(struct picker *p, enum picker_column column, bool falls) {
    p->sorted = column;
    p->falls = falls;
    arrange(p);
}

/* Sorts by the next column on screen; after the last one, in the default order. */
static void sort_next(struct picker *p) {
    int column = (int)p->sorted;
    do
        column = column + 1 < PICKER_COLUMNS ? column + 1 : PICKER_NO_COLUMN;
    while (column != PICKER_NO_COLUMN && !p->layout.cols[column]);
    sort_by(p, (enum picker_column)column,
            column != PICKER_NO_COLUMN && picker_falls((enum picker_column)column));
}

static void press_in_filter(struct picker *p, int32_t press) {
    if (press == PRESS_ENTER) {
        p->filter.open = false;
        return;
    }
    if (press == PRESS_ESCAPE) {
        line_editor_open(&p->filter, "");
        p->filter.open = false;
    } else {
        line_editor_press(&p->filter, press);
    }
    arrange(p);
}

static enum picker_wish press_in_help(struct picker *p, int32_t press) {
    switch (keymap_command(p->keys, press, SCOPE_HELP)) {
    case COMMAND_HELP:
    case COMMAND_BACK:
        p->help = false;
        break;
    case COMMAND_UP:
        p->help_top--;
        break;
    case COMMAND_DOWN:
        p->help_top++;
        break;
    case COMMAND_PAGE_UP:
        p->help_top -= p->help_page;
        break;
    case COMMAND_PAGE_DOWN:
        p->help_top += p->help_page;
        break;
    case COMMAND_HOME:
        p->help_top = 0;
        break;
    case COMMAND_END:
        p->help_top = p->help_last;
        break;
    case COMMAND_REDRAW:
        return PICKER_REDRAW;
    default:
        break;
    }
    p->help_top = p->help_top > p->help_last ? p->help_last : p->help_top < 0 ? 0 : p->help_top;
    return PICKER_NOTHING;
}

static enum picker_wish carry_out(struct picker *p, enum command command, int32_t press) {
    switch (command) {
    case COMMAND_QUIT:
        if (press != PRESS_ESCAPE)
            return PICKER_QUIT;
        if (p->filter.text[0]) {
            press_in_filter(p, PRESS_ESCAPE);
            return PICKER_NOTHING;
        }
        return p->behind ? PICKER_BACK : PICKER_QUIT;
    case COMMAND_ENTER:
        return choose(p);
    case COMMAND_FILTER:
        line_editor_open(&p->filter, p->filter.text);
        break;
    case COMMAND_SORT:
        sort_next(p);
        break;
    case COMMAND_REVERSE:
        if (p->sorted != PICKER_NO_COLUMN)
            sort_by(p, p->sorted, !p->falls);
        break;
    case COMMAND_HELP:
        p->help = true;
        p->help_top = 0;
        break;
    case COMMAND_MOUSE:
        return PICKER_MOUSE;
    case COMMAND_REDRAW:
        return PICKER_REDRAW;
    default:
        break;
    }
    return PICKER_NOTHING;
}

/* True for presses that an open filter takes. The other keys still move in the list. */
static bool is_typing(int32_t press) {
    if (press & PRESS_PASTED || press == PRESS_LEFT || press == PRESS_RIGHT)
        return true;
    return press < PRESS_UP && press != PRESS_CTRL('L');
}

enum picker_wish picker_press(struct picker *p, int32_t press) {
    if (p->help)
        return press_in_help(p, press);
    if (p->filter.open && is_typing(press)) {
        press_in_filter(p, press);
        return PICKER_NOTHING;
    }
    struct cursor_rows rows = rows_of(p);
    enum command command = keymap_command(p->keys, press, SCOPE_PICKER);
    if (command != COMMAND_NONE)
        p->said[0] = '\0';
    if (cursor_command(&p->cursor, command, &rows)) {
        cursor_select(&p->cursor, p->cursor.row, &rows);
        return PICKER_NOTHING;
    }
    return carry_out(p, command, press);
}

static void click_head(struct picker *p, int col) {
    enum picker_column column = picker_column_at(&p->layout, col);
    if (column != PICKER_NO_COLUMN)
        sort_by(p, column, column == p->sorted ? !p->falls : picker_falls(column));
}

enum picker_wish picker_mouse(struct picker *p, const struct mouse *press) {
    struct cursor_rows rows = rows_of(p);
    bool wheel = press->action == MOUSE_WHEEL_UP || press->action == MOUSE_WHEEL_DOWN;
    bool up = press->action == MOUSE_WHEEL_UP;
    if (press->action == MOUSE_MOVE || press->action == MOUSE_DRAG ||
        press->action == MOUSE_RELEASE)
        return PICKER_NOTHING;
    if (p->help && wheel)
        return press_in_help(p, up ? PRESS_UP : PRESS_DOWN);
    if (p->help)
        return PICKER_NOTHING;
    p->said[0] = '\0';
    if (wheel) {
        cursor_command(&p->cursor, up ? COMMAND_UP : COMMAND_DOWN, &rows);
        return PICKER_NOTHING;
    }
    if (press->row == PICKER_LIST_ROW - 1 && press->action == MOUSE_PRESS)
        click_head(p, press->col);
    uint32_t row = p->cursor.top + (uint32_t)(press->row - PICKER_LIST_ROW);
    if (press->row < PICKER_LIST_ROW || press->row >= PICKER_LIST_ROW + p->list_rows ||
        row >= p->shown_count)
        return PICKER_NOTHING;
    cursor_select(&p->cursor, row, &rows);
    return press->action == MOUSE_TWICE ? choose(p) : PICKER_NOTHING;
}
