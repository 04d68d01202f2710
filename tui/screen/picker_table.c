#include "tui/screen/picker_table.h"

#include "core/base/format.h"

#include <stdio.h>
#include <string.h>

/* Screen columns 0 and 1 are for the cursor and a mark. */
#define FIRST 2
#define MARK 1
#define NAME_LEAST 18 /* a column is left out if names would have less */
/* Columns kept for the name, beside the reason why the JVM cannot be attached */
#define NAME_KEPT 10
#define WIDE 120

static const struct column {
    const char *head;
    int cols, wide; /* wide: on a wide screen */
    bool right, falls;
    int rank; /* if there is little room, columns of lower rank come first */
} columns[PICKER_COLUMNS] = {
    [PICKER_PID] = {"PID", 7, 7, true, false, 0},
    [PICKER_USER] = {"USER", 8, 12, false, false, 4},
    [PICKER_UP] = {"UPTIME", 7, 7, true, true, 6},
    [PICKER_CPU] = {"CPU%", 6, 6, true, true, 1},
    [PICKER_RSS] = {"RSS", 5, 5, true, true, 3},
    [PICKER_HEAP] = {"HEAP/MAX", 10, 10, true, true, 2},
    [PICKER_THREADS] = {"THR", 4, 5, true, true, 7},
    [PICKER_VERSION] = {"VER", 4, 25, false, true, 5},
    [PICKER_CONTAINER] = {"CONTAINER", 12, 12, false, false, 8},
    [PICKER_NAME] = {"NAME", 0, 0, false, false, 0},
};

void picker_layout(struct picker_layout *l, int cols, bool containers) {
    bool wide = cols >= WIDE;
    int left = cols - FIRST;
    *l = (struct picker_layout){{0}, {0}};
    for (int rank = 0; rank < PICKER_COLUMNS; rank++) {
        for (int i = 0; i < PICKER_NAME; i++) {
            int need = wide ? columns[i].wide : columns[i].cols;
            if (columns[i].rank != rank || (i == PICKER_CONTAINER && !containers) ||
                left - need - 1 < NAME_LEAST)
                continue;
            l->cols[i] = need;
            left -= need + 1;
        }
    }
    int at = FIRST;
    for (int i = 0; i < PICKER_NAME; i++) {
        l->at[i] = at;
        at += l->cols[i] ? l->cols[i] + 1 : 0;
    }
    l->at[PICKER_NAME] = at;
    l->cols[PICKER_NAME] = cols - at;
}

enum picker_column picker_column_at(const struct picker_layout *l, int col) {
    for (int i = 0; i < PICKER_COLUMNS; i++)
        if (l->cols[i] && col >= l->at[i] && col < l->at[i] + l->cols[i])
            return (enum picker_column)i;
    return PICKER_NO_COLUMN;
}

const char *picker_column_name(enum picker_column column) {
    return columns[column].head;
}

bool picker_falls(enum picker_column column) {
    return columns[column].falls;
}

/* Writes the feature release. HotSpot's version begins with it, except in JDK 8: "25.412-b08". */
static void feature_release(const char *version, char *out, size_t size) {
    size_t n = strspn(version, "0123456789");
    if (!strncmp(version, "25.", 3) && strstr(version, "-b"))
        snprintf(out, size, "8");
    else
        snprintf(out, size, "%.*s", n < size ? (int)n : (int)size - 1, version);
}

static int number_of_release(const char *version) {
    char text[16];
    int n = 0;
    feature_release(version, text, sizeof text);
    return sscanf(text, "%d", &n) == 1 ? n : 0;
}

static int compare_numbers(double a, double b) {
    return (a > b) - (a < b);
}

static int compare_column(const struct picker_row *a, const struct picker_row *b,
                          enum picker_column column) {
    const struct jvm *x = &a->jvm, *y = &b->jvm;
    switch (column) {
    case PICKER_USER:
        return strcmp(x->user, y->user);
    case PICKER_UP:
        return compare_numbers((double)x->uptime_ms, (double)y->uptime_ms);
    case PICKER_CPU:
        return compare_numbers(x->cpu_percent, y->cpu_percent);
    case PICKER_RSS:
        return compare_numbers((double)x->rss_bytes, (double)y->rss_bytes);
    case PICKER_HEAP:
        return compare_numbers((double)x->heap_used_bytes, (double)y->heap_used_bytes);
    case PICKER_THREADS:
        return compare_numbers(x->threads, y->threads);
    case PICKER_VERSION: {
        int by = compare_numbers(number_of_release(x->version), number_of_release(y->version));
        return by ? by : strcmp(x->version, y->version);
    }
    case PICKER_CONTAINER:
        return strcmp(a->container, b->container);
    case PICKER_NAME:
        return strcasecmp(x->name, y->name);
    default:
        return 0;
    }
}

int picker_compare(const struct picker_row *a, const struct picker_row *b,
                   enum picker_column column, bool falls) {
    int pid = compare_numbers(a->jvm.pid, b->jvm.pid);
    if (column == PICKER_NO_COLUMN) {
        unsigned x = (unsigned)a->recent, y = (unsigned)b->recent; /* not recent (-1): last */
        return x != y ? (x > y) - (x < y) : pid;
    }
    int by = column == PICKER_PID ? pid : compare_column(a, b, column);
    if (by == 0)
        return pid;
    return falls ? -by : by;
}

void picker_draw_heads(struct canvas *c, int y, const struct picker_layout *l,
                       enum picker_column sorted, bool falls) {
    static const char *const marks[2][2] = {{"▴", "▾"}, {"^", "v"}};
    for (int i = 0; i < PICKER_COLUMNS; i++) {
        char text[32];
        const char *mark = i == (int)sorted ? marks[c->ascii_lines][falls] : "";
        bool right = columns[i].right;
        if (!l->cols[i])
            continue;
        snprintf(text, sizeof text, "%s%s%s", right ? mark : "", columns[i].head,
                 right ? "" : mark);
        if (right)
            canvas_right(c, y, l->at[i], l->cols[i], ROLE_COLUMNS, text);
        else
            canvas_text(c, y, l->at[i], l->cols[i], ROLE_COLUMNS, text);
    }
    canvas_role(c, y, 0, c->cols, ROLE_COLUMNS);
}

static void cell_text(const struct picker_row *r, enum picker_column column, int cols, char *out,
                      size_t size) {
    const struct jvm *j = &r->jvm;
    uint64_t most = j->heap_max_bytes ? j->heap_max_bytes : j->heap_capacity_bytes;
    struct format f = {""};
    const char *text = f.s;
    switch (column) {
    case PICKER_PID:
        snprintf(out, size, "%d", (int)j->pid);
        return;
    case PICKER_THREADS:
        snprintf(out, size, "%u", j->threads);
        return;
    case PICKER_USER:
        text = j->user;
        break;
    case PICKER_UP:
        format_age(&f, j->uptime_ms);
        break;
    case PICKER_CPU:
        format_percent(&f, j->cpu_percent);
        break;
    case PICKER_RSS:
        format_bytes(&f, j->rss_bytes);
        break;
    case PICKER_HEAP:
        text = most ? format_heap(&f, j->heap_used_bytes, most) : "-";
        break;
    case PICKER_VERSION:
        if (cols < 8)
            feature_release(j->version, out, size);
        else
            snprintf(out, size, "%s", j->version);
        if (!out[0])
            snprintf(out, size, "?");
        return;
    case PICKER_CONTAINER:
        text = r->container[0] ? r->container : "-";
        break;
    default:
        text = j->name;
    }
    snprintf(out, size, "%s", text);
}

/* Draws a name. The reason why the JVM cannot be attached comes first, because it could be cut off
 * behind a long name. */
static void draw_name(struct canvas *c, int y, const struct picker_layout *l,
                      const struct picker_row *r) {
    int at = l->at[PICKER_NAME];
    if (r->cannot) {
        int name = canvas_width(c, r->jvm.name), cols = canvas_width(c, r->cannot);
        int left = c->cols - at - 3 - (name < NAME_KEPT ? name : NAME_KEPT);
        at += canvas_text(c, y, at, c->cols - at, ROLE_DISABLED, "[");
        at +=
            canvas_head(c, y, at, left > 0 && cols > left ? left : cols, ROLE_DISABLED, r->cannot);
        at += canvas_text(c, y, at, c->cols - at, ROLE_DISABLED, "] ");
        canvas_tail(c, y, at, c->cols - at, ROLE_DISABLED, r->jvm.name);
        return;
    }
    at += canvas_tail(c, y, at, c->cols - at, ROLE_VALUE, r->jvm.name) + 1;
    if (r->jvm.arguments[0] && at < c->cols)
        canvas_head(c, y, at, c->cols - at, ROLE_DIM, r->jvm.arguments);
}

void picker_draw_row(struct canvas *c, int y, const struct picker_layout *l,
                     const struct picker_row *r) {
    enum role role = r->cannot ? ROLE_DISABLED : ROLE_TEXT;
    const char *mark = r->open ? "o" : r->cannot ? "x" : r->recent >= 0 ? "*" : " ";
    canvas_text(c, y, MARK, 1, r->cannot ? ROLE_DISABLED : ROLE_LABEL, mark);
    for (int i = 0; i < PICKER_NAME; i++) {
        char text[128];
        enum role own = i == PICKER_CPU && r->jvm.cpu_percent >= 10 && !r->cannot ? ROLE_HOT : role;
        if (!l->cols[i])
            continue;
        cell_text(r, (enum picker_column)i, l->cols[i], text, sizeof text);
        if (columns[i].right)
            canvas_right(c, y, l->at[i], l->cols[i], own, text);
        else
            canvas_head(c, y, l->at[i], l->cols[i], own, text);
    }
    draw_name(c, y, l, r);
}
