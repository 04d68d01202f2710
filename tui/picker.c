#include "tui/picker.h"

#include "tui/cursor.h"
#include "tui/footer.h"
#include "tui/format.h"
#include "tui/line_editor.h"
#include "tui/screen.h"
#include "tui/view_help.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct picker {
    uid_t uid;
    struct jvm *jvms;
    uint32_t count;
    uint32_t *shown; /* indices of the rows the filter lets through */
    uint32_t shown_count;
    struct cursor cursor;
    struct line_editor filter;
    bool listed; /* there was a first list */
    bool help;
    int help_top, help_last;
    char said[512];
};

struct picker *picker_new(uid_t uid) {
    struct picker *p = calloc(1, sizeof *p);
    if (p)
        p->uid = uid;
    return p;
}

void picker_free(struct picker *p) {
    if (!p)
        return;
    free(p->jvms);
    free(p->shown);
    free(p);
}

void picker_say(struct picker *p, const char *text) {
    snprintf(p->said, sizeof p->said, "%s", text);
}

static uint64_t item(const void *arg, uint32_t row) {
    const struct picker *p = arg;
    return (uint64_t)p->jvms[p->shown[row]].pid;
}

static struct cursor_rows rows_of(const struct picker *p) {
    return (struct cursor_rows){.count = p->shown_count, .item = item, .arg = p};
}

static bool passes(const struct picker *p, const struct jvm *j) {
    char pid[16];
    snprintf(pid, sizeof pid, "%d", (int)j->pid);
    const char *f = p->filter.text;
    return strcasestr(j->name, f) || strcasestr(j->user, f) || strcasestr(j->version, f) ||
           strcasestr(j->arguments, f) || strstr(pid, f);
}

static void filter_rows(struct picker *p) {
    p->shown_count = 0;
    for (uint32_t i = 0; i < p->count; i++)
        if (passes(p, &p->jvms[i]))
            p->shown[p->shown_count++] = i;
    struct cursor_rows rows = rows_of(p);
    cursor_follow(&p->cursor, &rows);
}

static void keep_state(const struct picker *p, struct jvm *j) {
    for (uint32_t i = 0; i < p->count; i++) {
        if (p->jvms[i].pid != j->pid)
            continue;
        struct jvm old = p->jvms[i];
        if (!jvm_refresh(&old))
            *j = old;
        return;
    }
}

/* The busiest one is probably what somebody came for. */
static void select_busiest(struct picker *p) {
    struct cursor_rows rows = rows_of(p);
    uint32_t best = 0;
    for (uint32_t i = 1; i < p->shown_count; i++)
        if (p->jvms[p->shown[i]].cpu_percent > p->jvms[p->shown[best]].cpu_percent)
            best = i;
    if (best)
        cursor_select(&p->cursor, best, &rows);
}

void picker_update(struct picker *p, struct jvm *jvms, uint32_t count) {
    uint32_t *shown = calloc(count + 1, sizeof *shown);
    if (!shown) { /* the last list stays */
        free(jvms);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        keep_state(p, &jvms[i]);
    free(p->jvms);
    free(p->shown);
    p->jvms = jvms;
    p->count = count;
    p->shown = shown;
    filter_rows(p);
    if (!p->listed && count)
        select_busiest(p);
    p->listed = p->listed || count;
}

const struct jvm *picker_chosen(const struct picker *p) {
    return p->cursor.row < p->shown_count ? &p->jvms[p->shown[p->cursor.row]] : NULL;
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
    filter_rows(p);
}

static enum picker_wish press_in_help(struct picker *p, int32_t press) {
    switch (keymap_command(press, SCOPE_HELP)) {
    case COMMAND_HELP:
    case COMMAND_BACK:
        p->help = false;
        break;
    case COMMAND_UP:
    case COMMAND_PAGE_UP:
        p->help_top -= p->help_top > 0;
        break;
    case COMMAND_DOWN:
    case COMMAND_PAGE_DOWN:
        p->help_top += p->help_top < p->help_last;
        break;
    case COMMAND_REDRAW:
        return PICKER_REDRAW;
    default:
        break;
    }
    return PICKER_NOTHING;
}

enum picker_wish picker_press(struct picker *p, int32_t press) {
    if (p->help)
        return press_in_help(p, press);
    if (p->filter.open && (press < PRESS_UP || press == PRESS_LEFT || press == PRESS_RIGHT) &&
        press != PRESS_CTRL('L')) {
        press_in_filter(p, press);
        return PICKER_NOTHING;
    }
    struct cursor_rows rows = rows_of(p);
    enum command command = keymap_command(press, SCOPE_PICKER);
    if (command != COMMAND_NONE)
        p->said[0] = '\0';
    if (cursor_command(&p->cursor, command, &rows))
        return PICKER_NOTHING;
    switch (command) {
    case COMMAND_QUIT:
        if (press == PRESS_ESCAPE && p->filter.text[0]) {
            press_in_filter(p, PRESS_ESCAPE);
            return PICKER_NOTHING;
        }
        return PICKER_QUIT;
    case COMMAND_ENTER:
        return picker_chosen(p) ? PICKER_CHOSEN : PICKER_NOTHING;
    case COMMAND_FILTER:
        line_editor_open(&p->filter, p->filter.text);
        break;
    case COMMAND_HELP:
        p->help = true;
        p->help_top = 0;
        break;
    case COMMAND_REDRAW:
        return PICKER_REDRAW;
    default:
        break;
    }
    return PICKER_NOTHING;
}

/* HotSpot's version says the feature release first, but for 8: "25.412-b08". */
static void feature_release(const char *version, char *out, size_t size) {
    size_t n = strspn(version, "0123456789");
    if (!strncmp(version, "25.", 3) && strstr(version, "-b"))
        snprintf(out, size, "8");
    else
        snprintf(out, size, "%.*s", n < size ? (int)n : (int)size - 1, version);
}

static bool is_foreign(const struct picker *p, const struct jvm *j) {
    return p->uid != 0 && j->uid != p->uid;
}

/* Columns from the left; the name takes the rest. */
enum { MARK = 1, PID = 2, USER = 10, CPU = 19, RSS = 26, HEAP = 32, THREADS = 43, UP = 48 };
enum { VERSION = 55, NAME_NARROW = 59, NAME_WIDE = 84, WIDE = 120 };

static void draw_row(const struct picker *p, struct canvas *c, int y, const struct jvm *j) {
    enum role role = is_foreign(p, j) ? ROLE_DIM : ROLE_TEXT;
    struct format f = {""};
    char text[1024];
    if (is_foreign(p, j))
        canvas_text(c, y, MARK, 1, role, "o");
    snprintf(text, sizeof text, "%d", (int)j->pid);
    canvas_right(c, y, PID, 7, role, text);
    canvas_head(c, y, USER, 8, role, j->user);
    canvas_right(c, y, CPU, 6, j->cpu_percent >= 10 && role == ROLE_TEXT ? ROLE_HOT : role,
                 format_percent(&f, j->cpu_percent));
    canvas_right(c, y, RSS, 5, role, format_bytes(&f, j->rss_bytes));
    uint64_t most = j->heap_max_bytes ? j->heap_max_bytes : j->heap_capacity_bytes;
    canvas_right(c, y, HEAP, 10, role, most ? format_heap(&f, j->heap_used_bytes, most) : "-");
    snprintf(text, sizeof text, "%u", j->threads);
    canvas_right(c, y, THREADS, 4, role, text);
    canvas_right(c, y, UP, 6, role, format_age(&f, j->uptime_ms));
    bool wide = c->cols >= WIDE;
    if (wide)
        snprintf(text, sizeof text, "%s", j->version);
    else
        feature_release(j->version, text, sizeof text);
    int name = wide ? NAME_WIDE : NAME_NARROW;
    canvas_head(c, y, VERSION, name - VERSION - 1, role, text[0] ? text : "?");
    int used =
        canvas_tail(c, y, name, c->cols - name, role == ROLE_TEXT ? ROLE_VALUE : role, j->name);
    if (j->arguments[0] && name + used + 1 < c->cols)
        canvas_head(c, y, name + used + 1, c->cols - name - used - 1, ROLE_DIM, j->arguments);
}

static void draw_status(struct picker *p, struct canvas *c, int row, struct caret *caret) {
    const struct jvm *j = picker_chosen(p);
    if (p->filter.open) {
        int at = canvas_text(c, row, 0, c->cols, ROLE_EDITOR, "filter: ");
        canvas_text(c, row, at, c->cols, ROLE_EDITOR, p->filter.text);
        char before[LINE_EDITOR_BYTES];
        memcpy(before, p->filter.text, p->filter.at);
        before[p->filter.at] = '\0';
        *caret = (struct caret){.row = row, .col = at + canvas_width(c, before), .visible = true};
    } else if (p->said[0]) {
        /* Errors are sentences; the row above is free in all but the longest lists. */
        int used = canvas_text(c, row - 1, 0, c->cols, ROLE_WARNING, p->said);
        canvas_role(c, row - 1, 0, c->cols, ROLE_WARNING);
        for (int i = used; i < c->cols; i++)
            canvas_text(c, row - 1, i, 1, ROLE_TEXT, " ");
        size_t bytes = strlen(p->said), cut = (size_t)used < bytes ? (size_t)used : bytes;
        canvas_head(c, row, 0, c->cols, ROLE_WARNING, p->said + cut);
    } else if (j && is_foreign(p, j)) {
        canvas_textf(c, row, 0, c->cols, ROLE_STATUS,
                     "o: %s's JVM: run jtop-prof as %s or as root to attach", j->user, j->user);
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

void picker_draw(struct picker *p, struct canvas *c, struct caret *caret) {
    struct caret unused;
    if (!caret)
        caret = &unused;
    *caret = (struct caret){0};
    if (screen_too_small(c))
        return;
    canvas_clear(c);
    if (p->help) {
        p->help_last = view_help_draw(c, p->help_top);
        return;
    }
    canvas_text(c, 0, 0, c->cols, ROLE_TITLE, "jtop-prof");
    canvas_textf(c, 0, 11, c->cols, ROLE_TEXT, "%u JVM%s: Enter attaches", p->count,
                 p->count == 1 ? "" : "s");
    bool wide = c->cols >= WIDE;
    canvas_text(c, 1, 0, c->cols, ROLE_COLUMNS,
                "      PID USER       CPU%   RSS  HEAP/MAX  THR     UP JDK");
    canvas_text(c, 1, wide ? NAME_WIDE : NAME_NARROW, c->cols, ROLE_COLUMNS, "MAIN CLASS");
    canvas_role(c, 1, 0, c->cols, ROLE_COLUMNS);
    uint32_t page = (uint32_t)(c->rows - 4);
    cursor_fit(&p->cursor, p->shown_count, page);
    for (uint32_t i = 0; i < page && p->cursor.top + i < p->shown_count; i++)
        draw_row(p, c, 2 + (int)i, &p->jvms[p->shown[p->cursor.top + i]]);
    if (p->shown_count) {
        int y = 2 + (int)(p->cursor.row - p->cursor.top);
        canvas_text(c, y, 0, 1, ROLE_CURSOR, ">");
        canvas_role(c, y, 0, c->cols, ROLE_CURSOR);
        caret->row = y;
    } else {
        draw_empty(p, c);
    }
    draw_status(p, c, c->rows - 2, caret);
    footer_draw(c, c->rows - 1, SCOPE_PICKER);
}
