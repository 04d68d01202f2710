#include "tui/terminal/escapes.h"

#include "core/base/utf8.h"
#include "tui/terminal/look.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A cell as the terminal shows it. Cells are compared with memcmp. */
struct shown {
    wchar_t text[1 + CELL_MARKS];
    uint8_t width;
    uint8_t look;
    uint16_t zero;
};

/* Number of looks: the default look, one per role, and one for the blanks of each role, which have
 * no foreground. */
#define LOOKS (1 + 2 * ROLES)
_Static_assert(LOOKS <= UINT8_MAX, "a look's number is a byte");
#define UNKNOWN (-1)
/* A row is moved by a column if that saves at least as many cells. */
#define SHIFT_LEAST 12
#define MOVE_MAX 64
/* An erase and the move after it are as long as this many blanks. */
#define ERASE_LEAST 10
#define FEEDS_MAX 6 /* more line feeds are longer than a move */

/* A few adjacent cells that change and have the same look. */
struct run {
    uint8_t look;
    int row, col, length;
};
#define RUNS 1024
#define RUN_MAX 6
/* Frames of at most this many bytes are sent row by row, without trying a shorter order. */
#define PLAIN_MOST 96

struct emit {
    const struct terminfo *ti;
    struct look look[LOOKS];
    int looks;
    uint8_t of_role[ROLES], of_blank[ROLES];
    struct shown *cells; /* rows × cols, as the terminal has them */
    struct shown *next;  /* as the terminal shall have them */
    struct shown *spare; /* as the terminal had them before this frame */
    struct run run[RUNS];
    struct text other; /* the same frame in another order */
    int rows, cols;
    bool all;
    /* the terminal's state */
    int row, col; /* col UNKNOWN: only an absolute move is possible */
    struct look now;
    bool now_known;
    int caret; /* visible or not, as last sent; UNKNOWN */
};

/* ---- looks ---- */

static uint8_t add_look(struct emit *e, struct look l) {
    for (int i = 0; i < e->looks; i++)
        if (look_equal(&e->look[i], &l))
            return (uint8_t)i;
    e->look[e->looks] = l;
    return (uint8_t)e->looks++;
}

struct emit *emit_new(const struct terminfo *ti, const struct theme *theme,
                      const struct emit_options *o) {
    struct emit *e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    e->ti = ti;
    e->caret = UNKNOWN;
    e->all = true;
    add_look(e, (struct look){THEME_DEFAULT_COLOUR, THEME_DEFAULT_COLOUR, 0}); /* look 0 */
    for (int i = 0; i < ROLES; i++) {
        struct look l = look_of_style(ti, &theme->style[i], o);
        e->of_role[i] = add_look(e, l);
        e->of_blank[i] = add_look(e, look_of_blank(l));
    }
    return e;
}

void emit_free(struct emit *e) {
    if (e) {
        free(e->cells);
        text_free(&e->other);
    }
    free(e);
}

void emit_forget(struct emit *e) {
    e->all = true;
}

/* ---- cells ---- */

static struct shown *at(struct emit *e, int row, int col) {
    return e->cells + (size_t)row * (size_t)e->cols + (size_t)col;
}

static bool is_blank(const struct shown *s) {
    return s->text[0] == L' ' && !s->text[1] && s->width == 1;
}

/* Converts a cell. The right half of a wide character gets the look of the left half. */
static struct shown shown_of(const struct emit *e, const struct cell *c, bool first) {
    const struct cell *whole = c->width == 0 && !first ? c - 1 : c;
    struct shown s = {.width = c->width, .look = e->of_role[whole->role]};
    if (c->width) {
        memcpy(s.text, c->text, sizeof s.text);
        if (is_blank(&s))
            s.look = e->of_blank[c->role];
    }
    return s;
}

/* True if terminals agree on the character's width: ASCII, Latin, Greek, Cyrillic, and the
 * characters that screens are drawn with. After any other character, the caret's column is not
 * certain. */
static bool is_sure(const struct shown *s) {
    uint32_t ch = (uint32_t)s->text[0];
    return s->width == 1 && !s->text[1] &&
           (ch < 0x300 || (ch >= 0x370 && ch < 0x483) || (ch >= 0x2010 && ch < 0x2028) ||
            (ch >= 0x2190 && ch < 0x2200) || (ch >= 0x2500 && ch < 0x2600) ||
            (ch >= 0x2800 && ch < 0x2900));
}

static size_t cell_bytes(const struct shown *s, char out[(1 + CELL_MARKS) * 4]) {
    size_t n = 0;
    for (int i = 0; s->width && i <= CELL_MARKS && s->text[i]; i++)
        n += utf8_encode(out + n, (uint32_t)s->text[i]);
    return n;
}

/* Whether the cell can be written without changing attributes. */
static bool in_look(const struct emit *e, const struct shown *s) {
    const struct look *l = &e->look[s->look];
    if (!e->now_known || l->background != e->now.background)
        return false;
    if (is_blank(s) && !(l->attributes & LOOK_BLANK_SHOWS))
        return !(e->now.attributes & LOOK_BLANK_SHOWS);
    return l->foreground == e->now.foreground && l->attributes == e->now.attributes;
}

static void set_look(struct emit *e, const struct look *to, struct text *out) {
    look_change(e->ti, e->now_known ? &e->now : NULL, to, out);
    e->now = *to;
    e->now_known = true;
}

/* Sets a look that shows the cell correctly, with the smallest change. */
static void set_look_for(struct emit *e, const struct shown *s, struct text *out) {
    if (in_look(e, s))
        return;
    struct look to = e->look[s->look];
    if (is_blank(s) && !(to.attributes & LOOK_BLANK_SHOWS) && e->now_known && e->ti->single_off) {
        to.foreground = e->now.foreground;
        to.attributes = e->now.attributes & (uint8_t)~LOOK_BLANK_SHOWS;
    }
    set_look(e, &to, out);
}

/* ---- the caret ---- */

struct move {
    char text[MOVE_MAX];
    size_t length; /* bytes in `text`; not used unless `possible` */
    bool possible;
};

static void add_bytes(struct move *m, const char *s, size_t n) {
    if (m->length + n > sizeof m->text) {
        m->possible = false;
        return;
    }
    memcpy(m->text + m->length, s, n);
    m->length += n;
}

/* Writes CSI n LETTER. n is left out if it is 1, the default. */
static size_t csi(char *out, size_t size, int n, char letter) {
    int length = n == 1 ? snprintf(out, size, "\033[%c", letter)
                        : snprintf(out, size, "\033[%d%c", n, letter);
    return (size_t)length;
}

/* Moves right by writing the cells in between again. Returns 0 if that is not possible, or longer
 * than `most`. */
static size_t rewrite(struct emit *e, int row, int from, int to, size_t most, char *out) {
    size_t n = 0;
    for (int col = from; col < to; col++) {
        const struct shown *s = at(e, row, col);
        char bytes[(1 + CELL_MARKS) * 4];
        size_t length = cell_bytes(s, bytes);
        if (!is_sure(s) || !in_look(e, s) || n + length > most)
            return 0;
        memcpy(out + n, bytes, length);
        n += length;
    }
    return n;
}

/* Adds the shortest move along a row. */
static void add_sideways(struct emit *e, struct move *m, int row, int from, int to) {
    const struct terminfo *ti = e->ti;
    char best[MOVE_MAX], other[MOVE_MAX];
    size_t length = 0;
    if (from == to)
        return;
    if (to > from && ti->forward)
        length = csi(best, sizeof best, to - from, 'C');
    if (to < from && ti->back)
        length = csi(best, sizeof best, from - to, 'D');
    if (ti->column) {
        size_t n = csi(other, sizeof other, to + 1, 'G');
        if (!length || n < length) {
            memcpy(best, other, n);
            length = n;
        }
    }
    if (to > from) {
        size_t n = rewrite(e, row, from, to, length ? length : MOVE_MAX, other);
        if (n) {
            memcpy(best, other, n);
            length = n;
        }
    } else if (ti->backspace && from - to < (length ? (int)length : MOVE_MAX)) {
        length = (size_t)(from - to);
        memset(best, '\b', length);
    }
    if (!length)
        m->possible = false;
    add_bytes(m, best, length);
}

/* Makes a move from the caret, or from the beginning of its row. */
static struct move relative(struct emit *e, int row, int col, bool from_start) {
    struct move m = {.possible = e->col != UNKNOWN && row >= e->row && row - e->row <= FEEDS_MAX &&
                                 (row == e->row || e->ti->feed) && (!from_start || e->ti->feed)};
    if (!m.possible)
        return m;
    if (from_start)
        add_bytes(&m, "\r", 1);
    for (int i = e->row; i < row; i++)
        add_bytes(&m, "\n", 1);
    add_sideways(e, &m, row, from_start ? 0 : e->col, col);
    return m;
}

static void move(struct emit *e, int row, int col, struct text *out) {
    if (e->col == col && e->row == row)
        return;
    struct move best = {.possible = true};
    best.length = (size_t)terminfo_move(e->ti, row, col, best.text, sizeof best.text);
    if (best.length >= sizeof best.text)
        best.length = sizeof best.text - 1;
    for (int i = 0; i < 2; i++) {
        struct move m = relative(e, row, col, i == 1);
        if (m.possible && m.length < best.length)
            best = m;
    }
    text_add_n(out, best.text, best.length);
    e->row = row;
    e->col = col;
}

/* ---- rows ---- */

/* True if a blank with this look can be erased instead of written. If attributes are on, terminals
 * differ in what erasing leaves. */
static bool erasable(const struct emit *e, const struct shown *s) {
    const struct look *l = &e->look[s->look];
    return is_blank(s) && !(l->attributes & LOOK_BLANK_SHOWS) &&
           (e->ti->fills || l->background == THEME_DEFAULT_COLOUR);
}

static bool same(const struct shown *a, const struct shown *b) {
    return !memcmp(a, b, sizeof *a);
}

static int blanks(const struct emit *e, const struct shown *now, int col, int end) {
    int n = 0;
    if (!erasable(e, &now[col]))
        return 0;
    while (col + n < end && same(&now[col + n], &now[col]))
        n++;
    return n;
}

/* Erases cells if that is shorter than blanks. Returns the number of columns done. */
static int erase_cells(struct emit *e, const struct shown *now, int row, int col, int end,
                       struct text *out) {
    int n = e->ti->erase_cells ? blanks(e, now, col, end) : 0;
    while (n > 0 && same(at(e, row, col + n - 1), &now[col + n - 1]))
        n--; /* the last cells are already correct */
    if (n < ERASE_LEAST)
        return 0;
    char s[MOVE_MAX];
    set_look_for(e, &now[col], out);
    text_add_n(out, s, csi(s, sizeof s, n, 'X'));
    for (int i = 0; i < n; i++)
        *at(e, row, col + i) = now[col + i];
    return n;
}

static void write_cell(struct emit *e, const struct shown *now, int row, int col,
                       struct text *out) {
    char bytes[(1 + CELL_MARKS) * 4];
    set_look_for(e, now, out);
    text_add_n(out, bytes, cell_bytes(now, bytes));
    for (int i = 0; i < now->width; i++)
        *at(e, row, col + i) = now[i];
    e->col = col + now->width;
    if (e->col >= e->cols || !is_sure(now))
        e->col = UNKNOWN;
}

/* Returns where the row's last blanks begin, if erasing to the end of the row is worth it; else
 * cols. */
static int find_tail(const struct emit *e, const struct shown *now, const struct shown *was) {
    int end = e->cols, changed = 0, tail = end;
    if (!e->ti->erase_line || !erasable(e, &now[end - 1]))
        return end;
    while (tail > 0 && same(&now[tail - 1], &now[end - 1]))
        tail--;
    for (int col = tail; col < end; col++)
        changed += !same(&now[col], &was[col]);
    while (tail < end && same(&now[tail], &was[tail]))
        tail++;
    return changed > 4 ? tail : end;
}

static void emit_row(struct emit *e, int row, const struct shown *now, struct text *out) {
    struct shown *was = at(e, row, 0);
    int tail = find_tail(e, now, was);
    /* If writing the last cell would scroll, that cell stays blank. */
    int end = e->ti->whole || row < e->rows - 1 ? tail : tail < e->cols ? tail : e->cols - 1;
    for (int col = 0; col < end;) {
        if (same(&now[col], &was[col]) || now[col].width == 0) {
            col++;
            continue;
        }
        move(e, row, col, out);
        int done = erase_cells(e, now, row, col, end, out);
        if (!done) {
            write_cell(e, &now[col], row, col, out);
            done = now[col].width;
        }
        col += done;
    }
    if (tail < e->cols) {
        move(e, row, tail, out);
        set_look_for(e, &now[tail], out);
        text_add(out, "\033[K");
        memcpy(&was[tail], &now[tail], (size_t)(e->cols - tail) * sizeof *now);
    }
}

/* Returns the first cell of a row that changes, if all cells from there on are one column wide and
 * most of them are those to the right of them before; else cols. */
static int find_shift(const struct emit *e, const struct shown *now, const struct shown *was) {
    int from = 0, changed = 0, after = 1; /* the last cell is always new */
    while (from < e->cols && same(&now[from], &was[from]))
        from++;
    for (int col = from; col < e->cols; col++) {
        if (!is_sure(&now[col]) || !is_sure(&was[col]))
            return e->cols;
        changed += !same(&now[col], &was[col]);
        after += col + 1 < e->cols && !same(&now[col], &was[col + 1]);
    }
    return changed - after >= SHIFT_LEAST ? from : e->cols;
}

/* Moves rows to the left by one cell if they then need fewer cells to be written: charts that
 * scroll. What is not right after that is written as usual. */
static void shift_rows(struct emit *e, struct text *out) {
    for (int row = 0; row < e->rows && e->ti->delete_cell; row++) {
        struct shown *was = at(e, row, 0);
        int from = find_shift(e, e->next + (size_t)row * (size_t)e->cols, was);
        if (from == e->cols)
            continue;
        move(e, row, from, out);
        if (!e->now_known || e->now.background != THEME_DEFAULT_COLOUR || e->now.attributes)
            set_look(e, &e->look[0], out); /* the cell that comes in gets the background */
        text_add(out, "\033[P");
        memmove(&was[from], &was[from + 1], (size_t)(e->cols - 1 - from) * sizeof *was);
        was[e->cols - 1] = (struct shown){.text = {L' '}, .width = 1, .look = 0};
    }
}

/* ---- frames ---- */

static void clear(struct emit *e, struct text *out) {
    text_add(out, e->ti->reset);
    text_add(out, e->ti->clear);
    e->now = (struct look){THEME_DEFAULT_COLOUR, THEME_DEFAULT_COLOUR, 0};
    e->now_known = e->ti->reset[0] != '\0';
    e->row = 0;
    e->col = e->ti->clear[0] ? 0 : UNKNOWN;
    e->caret = UNKNOWN;
    for (int i = 0; i < e->rows * e->cols; i++)
        e->cells[i] = (struct shown){.text = {L' '}, .width = 1, .look = 0};
}

static int fit(struct emit *e, const struct canvas *c) {
    if (e->rows == c->rows && e->cols == c->cols)
        return 0;
    size_t count = (size_t)c->rows * (size_t)c->cols;
    struct shown *cells = calloc(3 * count, sizeof *cells);
    if (!cells)
        return -1;
    free(e->cells);
    e->cells = cells;
    e->next = cells + count;
    e->spare = cells + 2 * count;
    e->rows = c->rows;
    e->cols = c->cols;
    e->all = true;
    return 0;
}

static void read_canvas(struct emit *e, const struct canvas *c) {
    for (int row = 0; row < c->rows; row++) {
        const struct cell *from = c->cells + (size_t)row * (size_t)c->cols;
        struct shown *to = e->next + (size_t)row * (size_t)c->cols;
        for (int col = 0; col < c->cols; col++)
            to[col] = shown_of(e, &from[col], col == 0);
    }
}

static void emit_rows(struct emit *e, struct text *out) {
    for (int row = 0; row < e->rows; row++) {
        const struct shown *now = e->next + (size_t)row * (size_t)e->cols;
        if (memcmp(now, at(e, row, 0), (size_t)e->cols * sizeof *now) != 0)
            emit_row(e, row, now, out);
    }
}

/* True if the cell changes and its width is certain. The caller leaves out the last column, after
 * which the caret's column is not known. */
static bool in_run(const struct shown *now, const struct shown *was) {
    return !same(now, was) && now->width == 1 && was->width == 1 && is_sure(now);
}

static int find_runs(struct emit *e) {
    int runs = 0;
    for (int row = 0; row < e->rows; row++) {
        const struct shown *now = e->next + (size_t)row * (size_t)e->cols, *was = at(e, row, 0);
        if (!memcmp(now, was, (size_t)e->cols * sizeof *now))
            continue;
        int tail = find_tail(e, now, was), end = tail < e->cols ? tail : e->cols - 1;
        for (int col = 0, length; col < end && runs < RUNS; col += length + 1) {
            for (length = 0; col + length < end && in_run(&now[col + length], &was[col + length]) &&
                             now[col + length].look == now[col].look;)
                length++;
            if (length && length <= RUN_MAX)
                e->run[runs++] = (struct run){now[col].look, row, col, length};
            length -= length > 0; /* the next cell may begin another run */
        }
    }
    return runs;
}

/* Sorts by look, then by the last column, then by row: figures of a table end in the same
 * column. */
static int compare_runs(const void *a, const void *b) {
    const struct run *x = a, *y = b;
    int order = x->look - y->look;
    if (order == 0)
        order = x->col + x->length - y->col - y->length;
    return order ? order : x->row - y->row;
}

/* Emits the frame in another order. In a table of figures, most rows change in the same columns.
 * The next cell down a column is only a line feed and a backspace away, and has the same look. */
static void emit_columns(struct emit *e, struct text *out) {
    int runs = find_runs(e);
    qsort(e->run, (size_t)runs, sizeof e->run[0], compare_runs);
    for (int i = 0; i < runs; i++) {
        const struct run *r = &e->run[i];
        move(e, r->row, r->col, out);
        for (int k = 0; k < r->length; k++)
            write_cell(e, &e->next[(size_t)r->row * (size_t)e->cols + (size_t)(r->col + k)], r->row,
                       r->col + k, out);
    }
    emit_rows(e, out);
}

/* Emits the shorter of two orders. Both end with the same cells, but with different positions of
 * the caret and different attributes. */
static void emit_shorter(struct emit *e, struct text *out) {
    size_t bytes = (size_t)e->rows * (size_t)e->cols * sizeof *e->cells, begin = out->len;
    struct look look = e->now;
    int row = e->row, col = e->col;
    bool known = e->now_known;
    memcpy(e->spare, e->cells, bytes);
    emit_rows(e, out);
    size_t length = out->len - begin;
    if (length <= PLAIN_MOST || out->failed)
        return;
    struct look rows_look = e->now;
    int rows_row = e->row, rows_col = e->col;
    bool rows_known = e->now_known;
    memcpy(e->cells, e->spare, bytes);
    e->now = look;
    e->row = row;
    e->col = col;
    e->now_known = known;
    text_clear(&e->other);
    emit_columns(e, &e->other);
    if (!e->other.failed && e->other.len < length) {
        out->len = begin;
        text_add_n(out, e->other.data, e->other.len);
        return;
    }
    if (e->other.failed)
        text_free(&e->other);
    e->now = rows_look;
    e->row = rows_row;
    e->col = rows_col;
    e->now_known = rows_known;
}

static void show_caret(struct emit *e, const struct caret *caret, struct text *out) {
    int row = caret->row < e->rows ? caret->row : e->rows - 1;
    int col = caret->col < e->cols ? caret->col : e->cols - 1;
    move(e, row < 0 ? 0 : row, col < 0 ? 0 : col, out);
    if (e->caret != caret->visible)
        text_add(out, caret->visible ? e->ti->show : e->ti->hide);
    e->caret = caret->visible;
}

void emit_frame(struct emit *e, const struct canvas *c, const struct caret *caret,
                struct text *out) {
    if (fit(e, c))
        return; /* no memory: the screen stays as it is */
    if (e->all)
        clear(e, out);
    read_canvas(e, c);
    if (e->all) {
        emit_rows(e, out);
    } else {
        shift_rows(e, out);
        emit_shorter(e, out);
    }
    show_caret(e, caret, out);
    e->all = out->failed;
}
