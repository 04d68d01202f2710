#include "tui/screen/plain_page.h"

#include "tui/view/view.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS_MAX 48
#define NAME_COLS 12 /* the first column of words at least this wide names the row */
#define CELL 512

/* A column of a table. Columns are separated by blanks that go from the head to the last row. */
struct column {
    int at, end;
    char head[64];
};

struct table {
    int first, end; /* rows, without the heads */
    struct column column[COLUMNS_MAX];
    int columns, name; /* name: index of the column that names a row */
    int indent;        /* where the leftmost name with a mark of a fold begins */
};

static const struct cell *cell_at(const struct canvas *c, int row, int col) {
    return &c->cells[row * c->cols + col];
}

/* True for parts of bars, sparklines and tree lines, which mean nothing when spoken. */
static bool is_picture(wchar_t ch) {
    return (ch >= 0x2500 && ch <= 0x25ff) || (ch >= 0x2800 && ch <= 0x28ff) || ch == 0xb7;
}

static bool is_fold(wchar_t ch) {
    return ch == L'▾' || ch == L'▸' || ch == 0xb7;
}

/* Appends the text of some cells without pictures and outer blanks. Cells of the role `skip` are
 * left out (-1: none). Several blanks in a row become `gap`. */
static void add_cells(const struct canvas *c, int row, int at, int end, int skip, const char *gap,
                      struct text *out) {
    int blanks = 0;
    bool any = false;
    for (int col = at; col < end; col++) {
        const struct cell *cell = cell_at(c, row, col);
        wchar_t ch = cell->text[0];
        if (cell->width == 0)
            continue;
        if (ch == L' ' || is_picture(ch) || cell->role == skip) {
            blanks++;
            continue;
        }
        if (blanks && any)
            text_add(out, blanks > 1 ? gap : " ");
        blanks = 0;
        any = true;
        for (int i = 0; i <= CELL_MARKS && cell->text[i]; i++)
            text_add_wide(out, cell->text[i]);
    }
}

static void copy_cells(const struct canvas *c, int row, int at, int end, char *out, size_t size) {
    struct text t = {0};
    add_cells(c, row, at, end, -1, " ", &t);
    size_t n = t.data ? t.len : 0;
    n = n < size ? n : size - 1;
    if (n)
        memcpy(out, t.data, n);
    out[n] = '\0';
    text_free(&t);
}

/* True if the row has the mark of a tag. */
static bool is_tagged(const struct canvas *c, int row) {
    const struct cell *cell = cell_at(c, row, VIEW_TAG_COL);
    return cell->text[0] == L'*' && (cell->role == ROLE_TAGGED || cell->role == ROLE_CURSOR);
}

static bool is_heads(const struct canvas *c, int row) {
    return cell_at(c, row, 0)->role == ROLE_COLUMNS;
}

static bool is_blank(const struct canvas *c, const struct table *t, int col) {
    for (int row = t->first - 1; row < t->end; row++) {
        wchar_t ch = cell_at(c, row, col)->text[0];
        /* The mark of the sort column stands beside a head. A tag is not a column. */
        bool mark =
            (row < t->first && is_picture(ch)) || (col == VIEW_TAG_COL && is_tagged(c, row));
        if ((ch != L' ' && !mark) || cell_at(c, row, col)->width == 0)
            return false;
    }
    return true;
}

/* Finds the columns. A part without a head belongs to the column before it. */
static void find_columns(const struct canvas *c, struct table *t) {
    for (int col = 1; col < c->cols; col++) { /* 0: the cursor's mark */
        if (is_blank(c, t, col))
            continue;
        int end = col;
        while (end < c->cols && !is_blank(c, t, end))
            end++;
        char head[sizeof t->column->head];
        copy_cells(c, t->first - 1, col, end, head, sizeof head);
        if (!head[0] && t->columns)
            t->column[t->columns - 1].end = end;
        else if (t->columns < COLUMNS_MAX) {
            struct column *k = &t->column[t->columns++];
            *k = (struct column){.at = col, .end = end};
            memcpy(k->head, head, sizeof k->head);
        }
        col = end;
    }
}

/* Returns where the cell's words begin, and sets the mark of a fold before them (0: none). */
static int name_at(const struct canvas *c, int row, const struct column *k, wchar_t *fold) {
    *fold = 0;
    for (int col = k->at; col < k->end; col++) {
        wchar_t ch = cell_at(c, row, col)->text[0];
        if (is_fold(ch))
            *fold = ch;
        else if (ch != L' ' && !is_picture(ch))
            return col;
    }
    return k->end;
}

/* Finds the column that names a row: the first wide one with words, or else the last. States are
 * words, too, but no names. */
static void find_name(const struct canvas *c, struct table *t) {
    t->name = t->columns - 1;
    for (int i = 0; i < t->columns; i++) {
        char text[CELL];
        copy_cells(c, t->first, t->column[i].at, t->column[i].end, text, sizeof text);
        bool states = strstr(t->column[i].head, "STATE") != NULL;
        bool wide = t->column[i].end - t->column[i].at >= NAME_COLS;
        if (wide && !states && isalpha((unsigned char)text[0])) {
            t->name = i;
            break;
        }
    }
    t->indent = c->cols;
    for (int row = t->first; t->columns && row < t->end; row++) {
        wchar_t fold;
        int at = name_at(c, row, &t->column[t->name], &fold);
        t->indent = fold && at < t->indent ? at : t->indent;
    }
}

/* Appends a value with its head: "self 33.1 %" for SELF% and 33.1. */
static void add_pair(struct text *out, const char *head, const char *value) {
    size_t n = strlen(head);
    bool percent = n > 1 && head[n - 1] == '%';
    if (!strncmp(head, "±", strlen("±")) || !strcmp(head, "~")) {
        while (*value && !isdigit((unsigned char)*value))
            value++;
        if (*value)
            text_addf(out, ", plus or minus %s", value);
        return;
    }
    text_add(out, ", ");
    for (size_t i = 0; i < n - percent; i++)
        text_addf(out, "%c", tolower((unsigned char)head[i]));
    text_addf(out, "%s%s%s", n ? " " : "", value, percent ? " %" : "");
}

static void add_row(const struct canvas *c, const struct table *t, int row, bool selected,
                    int number, struct text *out) {
    const struct column *k = &t->column[t->name];
    char text[CELL];
    wchar_t fold;
    int at = name_at(c, row, k, &fold);
    text_addf(out, "%d. ", number);
    if (selected)
        text_add(out, "selected, ");
    if (is_tagged(c, row))
        text_add(out, "tagged, ");
    if (fold)
        text_addf(out, "level %d, %s", 1 + (at - t->indent) / 2,
                  fold == L'▾'   ? "open, "
                  : fold == L'▸' ? "closed, "
                                 : "");
    copy_cells(c, row, k->at, k->end, text, sizeof text);
    text_add(out, text[0] ? text : "-");
    for (int i = 0; i < t->columns; i++) {
        if (i == t->name)
            continue;
        copy_cells(c, row, t->column[i].at, t->column[i].end, text, sizeof text);
        char *end = strstr(text, " ±"); /* the error has its own column */
        if (end)
            *end = '\0';
        if (text[0])
            add_pair(out, t->column[i].head, text);
    }
    text_add(out, "\n");
}

static bool row_is_empty(const struct canvas *c, int row) {
    char text[CELL];
    copy_cells(c, row, 0, c->cols, text, sizeof text);
    return !text[0];
}

/* False for a sentence in place of rows, as in an empty list: it has one column. */
static bool is_list(const struct table *t) {
    return t->columns > 1;
}

static int add_table(const struct canvas *c, int heads, int end, int cursor, struct text *out) {
    struct table t = {.first = heads + 1, .end = heads + 1};
    while (t.end < end && !is_heads(c, t.end))
        t.end++;
    int next = t.end;
    while (t.end > t.first && row_is_empty(c, t.end - 1))
        t.end--;
    find_columns(c, &t);
    if (t.end > t.first && t.columns)
        find_name(c, &t);
    if (!is_list(&t) || t.end == t.first) {
        for (int row = heads; row < t.end; row++) {
            add_cells(c, row, 1, c->cols, -1, ", ", out);
            text_add(out, "\n");
        }
        return next;
    }
    for (int row = t.first, number = 1; row < t.end; row++)
        if (!row_is_empty(c, row))
            add_row(c, &t, row, row == cursor, number++, out);
    return next;
}

static void add_line(const struct canvas *c, int row, int skip, struct text *out) {
    size_t before = out->len;
    add_cells(c, row, 0, c->cols, skip, ", ", out);
    if (out->len > before)
        text_add(out, "\n");
}

void plain_page(const struct canvas *c, int cursor, bool head, struct text *out) {
    int row = 0, end = c->rows - 2;
    while (row < end && !is_heads(c, row))
        row++;
    for (int i = head ? 0 : row - 1; i < row; i++)
        if (i >= 0)
            add_line(c, i, ROLE_TAB, out); /* without the tabs of hidden views */
    while (row < end)
        row = add_table(c, row, end, cursor, out);
    add_line(c, c->rows - 2, -1, out);
}
