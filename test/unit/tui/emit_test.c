/* What reaches the terminal, read back by a small terminal of the test's own: for random canvases
 * it must show the canvas, whatever the terminal's type, and with fewer bytes than curses takes. */
#include "tui/terminal/escapes.h"

#include "tui/terminal/colour.h"
#include "tui/terminal/theme.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "test/unit/tui/tui_curses.h"

/* ---- a terminal ---- */

struct vt_look {
    int32_t foreground, background;
    unsigned attributes;
};

struct screen_cell {
    wchar_t text[1 + CELL_MARKS];
    int width; /* 0: right half */
    struct vt_look look;
};

#define ROWS_MAX 60
#define COLS_MAX 170
struct vt {
    int rows, cols, row, col;
    bool pending; /* the last column was written: the next character would wrap */
    bool fills;   /* erases with the background in use */
    bool bright;  /* SGR 90-107 */
    bool visible;
    struct vt_look look;
    struct screen_cell cell[ROWS_MAX][COLS_MAX];
};

static const struct vt_look plain = {THEME_DEFAULT_COLOUR, THEME_DEFAULT_COLOUR, 0};

static void vt_erase(struct vt *v, int row, int from, int to) {
    for (int col = from; col < to; col++)
        v->cell[row][col] =
            (struct screen_cell){.text = {L' '},
                                 .width = 1,
                                 .look = {THEME_DEFAULT_COLOUR,
                                          v->fills ? v->look.background : THEME_DEFAULT_COLOUR, 0}};
}

static void vt_open(struct vt *v, int rows, int cols, bool fills) {
    *v = (struct vt){.rows = rows, .cols = cols, .fills = fills, .visible = true, .look = plain};
    for (int row = 0; row < rows; row++)
        for (int col = 0; col < cols; col++)
            v->cell[row][col].text[0] = L'#'; /* something else was there */
}

static int32_t sgr_colour(const int *p, int n, int *i) {
    if (*i + 2 < n && p[*i + 1] == 5) {
        *i += 2;
        return p[*i];
    }
    assert_true(*i + 4 < n && p[*i + 1] == 2);
    *i += 4;
    return THEME_RGB | p[*i - 2] << 16 | p[*i - 1] << 8 | p[*i];
}

static void vt_sgr(struct vt *v, const int *p, int n) {
    static const unsigned bit[] = {
        [1] = THEME_BOLD, [2] = THEME_DIM, [4] = THEME_UNDERLINE, [7] = THEME_REVERSE};
    for (int i = 0; i < n; i++) {
        int c = p[i];
        if (c == 0 || c == 10)
            v->look = plain;
        else if (c == 1 || c == 2 || c == 4 || c == 7)
            v->look.attributes |= bit[c];
        else if (c == 22)
            v->look.attributes &= ~(unsigned)(THEME_BOLD | THEME_DIM);
        else if (c == 24 || c == 27)
            v->look.attributes &= ~bit[c - 20];
        else if (c >= 30 && c < 38)
            v->look.foreground = c - 30;
        else if (c >= 40 && c < 48)
            v->look.background = c - 40;
        else if (c >= 90 && c < 98)
            v->look.foreground = c - 90 + 8;
        else if (c >= 100 && c < 108)
            v->look.background = c - 100 + 8;
        else if (c == 39 || c == 49)
            *(c == 39 ? &v->look.foreground : &v->look.background) = THEME_DEFAULT_COLOUR;
        else if (c == 38)
            v->look.foreground = sgr_colour(p, n, &i);
        else if (c == 48)
            v->look.background = sgr_colour(p, n, &i);
        else
            fail_msg("SGR %d", c);
    }
}

static int least(int a, int b) {
    return a < b ? a : b;
}

/* CSI, from the byte behind "["; returns the byte behind its end. */
static const char *vt_control(struct vt *v, const char *s) {
    int p[16] = {0}, n = 1;
    bool private_mode = *s == '?';
    for (s += private_mode; (*s >= '0' && *s <= '9') || *s == ';'; s++) {
        if (*s == ';')
            n++;
        else
            p[n - 1] = p[n - 1] * 10 + (*s - '0');
        assert_true(n < 16);
    }
    int count = p[0] ? p[0] : 1;
    if (*s != 'm' && *s != 'h' && *s != 'l')
        v->pending = false;
    switch (*s) {
    case 'm':
        vt_sgr(v, p, n);
        break;
    case 'H':
        v->row = p[0] ? p[0] - 1 : 0;
        v->col = n > 1 && p[1] ? p[1] - 1 : 0;
        break;
    case 'C':
        v->col = least(v->col + count, v->cols - 1);
        break;
    case 'D':
        v->col = v->col < count ? 0 : v->col - count;
        break;
    case 'G':
        v->col = count - 1;
        break;
    case 'K':
        vt_erase(v, v->row, v->col, v->cols);
        break;
    case 'P':
        for (int col = v->col; col < v->cols; col++) /* terminals differ in how wide others are */
            assert_int_equal(v->cell[v->row][col].width, 1);
        for (int col = v->col; col + 1 < v->cols; col++)
            v->cell[v->row][col] = v->cell[v->row][col + 1];
        vt_erase(v, v->row, v->cols - 1, v->cols);
        break;
    case 'X':
        vt_erase(v, v->row, v->col, least(v->col + count, v->cols));
        break;
    case 'J':
        for (int row = p[0] == 2 ? 0 : v->row; row < v->rows; row++)
            vt_erase(v, row, row == v->row && p[0] != 2 ? v->col : 0, v->cols);
        break;
    case 'h':
    case 'l':
        if (private_mode && p[0] == 25)
            v->visible = *s == 'h';
        break;
    case 'c': /* the Linux console's caret */
        break;
    default:
        fail_msg("CSI %c", *s);
    }
    assert_true(v->row < v->rows && v->col < v->cols);
    return s + 1;
}

static void vt_put(struct vt *v, wchar_t ch) {
    int width = wcwidth(ch);
    if (width == 0) {
        struct screen_cell *base = &v->cell[v->row][v->col - !v->pending];
        base -= base->width == 0;
        base->text[base->text[1] ? 2 : 1] = ch;
        return;
    }
    assert_false(v->pending); /* nothing of ours wraps */
    assert_true(v->col + width <= v->cols);
    for (int i = 0; i < width; i++)
        v->cell[v->row][v->col + i] =
            (struct screen_cell){.text = {i ? L' ' : ch}, .width = i ? 0 : width, .look = v->look};
    v->col += width;
    if (v->col == v->cols) {
        v->pending = true;
        v->col--;
    }
}

static void vt_take(struct vt *v, const struct text *t) {
    const char *s = t->data, *end = t->data + t->len;
    while (s < end) {
        if (s[0] == '\033' && s[1] == '(') {
            s += 3; /* the character set */
        } else if (s[0] == '\033') {
            assert_int_equal(s[1], '[');
            s = vt_control(v, s + 2);
        } else if (*s == '\r' || *s == '\b' || *s == '\n') {
            assert_false(v->pending); /* terminals differ in what that means */
            assert_true(*s != '\n' || v->row + 1 < v->rows);
            v->row += *s == '\n';
            v->col = *s == '\r' ? 0 : v->col - (*s == '\b' && v->col > 0);
            s++;
        } else if (*s == '\017') {
            s++;
        } else {
            wchar_t ch;
            int n = mbtowc(&ch, s, (size_t)(end - s));
            assert_true(n > 0 && ch >= L' ');
            vt_put(v, ch);
            s += n;
        }
    }
}

/* ---- what it should show ---- */

static struct theme theme; /* every look a theme can have, by role */

static void make_theme(void) {
    for (int i = 0; i < ROLES; i++) {
        static const int32_t colours[] = {THEME_DEFAULT_COLOUR, 1,  2,   7,
                                          THEME_DEFAULT_COLOUR, 12, 130, THEME_RGB | 0x1256fe};
        theme.style[i] = (struct theme_style){
            .foreground = colours[i % 8],
            .background = i % 3 ? THEME_DEFAULT_COLOUR : colours[i / 3 % 8],
            .attributes = (uint8_t)(i % 5 ? 0 : i / 5 % 16),
            .mono = (uint8_t)(i % 16),
        };
    }
}

struct type {
    const char *name;
    int colours;
    bool mono, rgb, dims, no_dim_in_colour;
};

static struct vt_look expected_look(const struct type *k, const struct terminfo *ti, int role) {
    const struct theme_style *s = &theme.style[role];
    bool colours = k->colours && !k->mono;
    struct vt_look l = plain;
    l.attributes = colours ? s->attributes : s->mono;
    if (colours) {
        bool rgb = k->rgb && s->foreground != THEME_DEFAULT_COLOUR && (s->foreground & THEME_RGB);
        l.foreground = rgb ? s->foreground : colour_nearest(s->foreground, k->colours);
        if (k->colours == 8 && s->foreground == 12)
            l.attributes |= THEME_BOLD;
        rgb = k->rgb && s->background != THEME_DEFAULT_COLOUR && (s->background & THEME_RGB);
        l.background = rgb ? s->background : colour_nearest(s->background, k->colours);
    }
    if (!k->dims)
        l.attributes &= ~(unsigned)THEME_DIM;
    bool coloured = l.foreground != THEME_DEFAULT_COLOUR || l.background != THEME_DEFAULT_COLOUR;
    if (k->no_dim_in_colour && coloured)
        l.attributes &= ~(unsigned)(THEME_DIM | THEME_UNDERLINE);
    (void)ti;
    return l;
}

static void assert_shows(const struct vt *v, const struct canvas *c, const struct type *k,
                         const struct terminfo *ti) {
    for (int row = 0; row < c->rows; row++) {
        for (int col = 0; col < c->cols; col++) {
            const struct cell *want = &c->cells[row * c->cols + col];
            const struct screen_cell *have = &v->cell[row][col];
            if (want->width != have->width ||
                memcmp(want->text, have->text, sizeof have->text) != 0)
                fail_msg("%s: cell %d,%d is U+%04X, should be U+%04X", k->name, row, col,
                         (unsigned)have->text[0], (unsigned)want->text[0]);
            if (want->width == 0)
                continue;
            struct vt_look l = expected_look(k, ti, want->role);
            bool blank = want->text[0] == L' ' && !want->text[1] &&
                         !(l.attributes & (THEME_REVERSE | THEME_UNDERLINE));
            bool wrong = l.background != have->look.background;
            if (blank)
                wrong = wrong || (have->look.attributes & (THEME_REVERSE | THEME_UNDERLINE));
            else
                wrong = wrong || l.foreground != have->look.foreground ||
                        l.attributes != have->look.attributes;
            if (wrong)
                fail_msg("%s: cell %d,%d (role %d) looks %x/%x/%u, should %x/%x/%u", k->name, row,
                         col, want->role, (unsigned)have->look.foreground,
                         (unsigned)have->look.background, have->look.attributes,
                         (unsigned)l.foreground, (unsigned)l.background, l.attributes);
        }
    }
}

/* ---- random canvases ---- */

static uint32_t seed;

static int roll(int below) {
    seed = seed * 1664525u + 1013904223u;
    return (int)((seed >> 8) % (uint32_t)below);
}

/* Moves the rest of a row to the left, as a chart does that scrolls. */
static void scroll_left(struct canvas *c, int row, int from) {
    struct cell *cell = c->cells + (ptrdiff_t)row * c->cols;
    if (from + 1 >= c->cols || cell[from].width != 1 || cell[from + 1].width == 0 ||
        cell[c->cols - 1].width != 1)
        return; /* half a character would be left */
    memmove(&cell[from], &cell[from + 1], (size_t)(c->cols - from - 1) * sizeof *cell);
    canvas_text(c, row, c->cols - 1, 1, ROLE_TEXT, roll(2) ? "#" : "\u2587");
}

static void scribble(struct canvas *c) {
    static const char *const words[] = {"java.util.HashMap.get",
                                        " 12.4",
                                        "日本語",
                                        "e\xcc\x81t\xcc\x81",
                                        "                                    ",
                                        "▸ ",
                                        "──────",
                                        "x",
                                        "aaaaaaaaaaaaaaaaaaaaaaaa",
                                        "\xf0\x9f\x98\x80"};
    for (int n = roll(30); n >= 0; n--) {
        int row = roll(c->rows), col = roll(c->cols);
        enum role role = (enum role)roll(ROLES);
        canvas_text(c, row, col, c->cols, roll(3) ? ROLE_TEXT : role,
                    words[roll(c->ascii_text ? 2 : (int)(sizeof words / sizeof words[0]))]);
        if (!roll(4))
            canvas_role(c, row, col, roll(c->cols), role);
        if (!roll(10)) /* a row that ends in blanks of some look */
            for (int i = col; i < c->cols; i++)
                canvas_text(c, row, i, 1, role, " ");
    }
    if (!roll(25))
        canvas_clear(c);
    if (!roll(2))
        scroll_left(c, roll(c->rows), roll(c->cols));
}

static void every_type(void **unused) {
    (void)unused;
    static const struct type types[] = {
        {"xterm-256color", 256, .dims = true},
        {"xterm-256color", 256, .dims = true, .rgb = true},
        {"xterm-256color", 256, .dims = true, .mono = true},
        {"xterm", 8, .dims = true},
        {"screen-256color", 256, .dims = true},
        {"tmux-256color", 256, .dims = true},
        {"screen", 8, .dims = true},
        {"linux", 8, .dims = true, .no_dim_in_colour = true},
        {"rxvt", 8, .mono = false},
        {"vt100", 0, .mono = false},
        {"ansi", 8, .mono = false},
    };
    static const int sizes[][2] = {{24, 80}, {50, 160}, {10, 40}, {1, 1}, {3, 2}};
    assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
    make_theme();
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        struct terminfo ti;
        struct err e;
        if (terminfo_open(&ti, types[i].name, STDERR_FILENO, &e)) {
            assert_true(i > 0); /* small systems have few types, but not none */
            print_message("no terminal type %s here\n", types[i].name);
            continue;
        }
        struct emit_options o = {.mono = types[i].mono, .rgb = types[i].rgb};
        struct emit *emit = emit_new(&ti, &theme, &o);
        struct canvas c = {0};
        struct text out = {0};
        struct vt *v = calloc(1, sizeof *v);
        assert_true(emit && v);
        for (int frame = 0; frame < 600; frame++) {
            if (frame % 60 == 0) {
                const int *size = sizes[roll(5)];
                assert_int_equal(canvas_resize(&c, size[0], size[1]), 0);
                vt_open(v, c.rows, c.cols, ti.fills);
                emit_forget(emit);
            }
            scribble(&c);
            struct caret caret = {roll(c.rows + 1), roll(c.cols + 1), roll(2)};
            text_clear(&out);
            emit_frame(emit, &c, &caret, &out);
            vt_take(v, &out);
            if (ti.whole)
                assert_shows(v, &c, &types[i], &ti);
            assert_int_equal(v->row, least(caret.row, c.rows - 1));
            assert_int_equal(v->col, least(caret.col, c.cols - 1));
            assert_true(!ti.hide[0] || v->visible == caret.visible);
            text_clear(&out);
            emit_frame(emit, &c, &caret, &out);
            assert_int_equal(out.len, 0); /* nothing changed: nothing is sent */
        }
        text_free(&out);
        canvas_free(&c);
        emit_free(emit);
        terminfo_close();
        free(v);
    }
}

/* A chart that scrolls: each second costs a few bytes, not a row. */
static void scrolling_is_cheap(void **unused) {
    (void)unused;
    static const char *const bar[] = {"\u2581", "\u2583", "\u2585", "\u2587"};
    struct terminfo ti;
    struct canvas c = {0};
    struct text out = {0};
    assert_int_equal(terminfo_open(&ti, "xterm", STDERR_FILENO, NULL), 0);
    struct emit *emit = emit_new(&ti, &theme, &(struct emit_options){.mono = false});
    assert_int_equal(canvas_resize(&c, 3, 160), 0);
    for (int second = 0; second < 200; second++) {
        canvas_clear(&c);
        canvas_text(&c, 1, 0, 9, ROLE_LABEL, "   50%");
        for (int col = 9; col < c.cols; col++) {
            uint32_t height = (uint32_t)(second + col) * 2654435761u >> 30;
            canvas_text(&c, 1, col, 1, ROLE_STRIP, bar[height]);
        }
        text_clear(&out);
        emit_frame(emit, &c, &(struct caret){0}, &out);
        assert_true(second == 0 || out.len < 40);
    }
    text_free(&out);
    canvas_free(&c);
    emit_free(emit);
    terminfo_close();
}

/* ---- against curses ---- */

/* A screen like ours: rows of numbers and names, some of which change. */
static void table(struct canvas *c, int second) {
    canvas_clear(c);
    for (int row = 0; row < c->rows; row++) {
        uint32_t kept = seed;
        seed = (uint32_t)(row * 7919 + (row % 3 ? 0 : second) * 104729 + 1);
        canvas_textf(c, row, 0, 8, ROLE_NUMBER, "%6.1f", roll(1000) / 10.0);
        canvas_textf(c, row, 8, 8, roll(9) ? ROLE_NUMBER : ROLE_HOT, "%6.1f", roll(1000) / 10.0);
        canvas_textf(c, row, 18, 12, ROLE_DIM, "%9d", roll(100000));
        seed = (uint32_t)(row + (row == second ? 1000 : 0));
        canvas_textf(c, row, 34, 60, row % 2 ? ROLE_JAVA : ROLE_KERNEL,
                     "com.example.package%d.Class%d.method", roll(100), roll(1000));
        seed = kept;
    }
    canvas_role(c, second % c->rows, 0, c->cols, ROLE_CURSOR);
}

/* Bytes that curses sends for `frames` tables after the first; ours in *ours. 0: no such type. */
static size_t bytes_of_curses(const char *type, int frames, size_t *ours) {
    struct tui_curses curses;
    struct canvas c = {0};
    size_t bytes = 0;
    assert_int_equal(canvas_resize(&c, 50, 160), 0);
    if (!tui_curses_open(&curses, type, &theme, c.rows, c.cols)) {
        canvas_free(&c);
        return 0;
    }
    for (int i = 0; i <= frames; i++) {
        table(&c, i);
        size_t n = tui_curses_frame(&curses, &c);
        bytes += i ? n : 0;
    }
    tui_curses_close(&curses);
    struct terminfo ti;
    assert_int_equal(terminfo_open(&ti, type, STDERR_FILENO, NULL), 0);
    struct emit *emit = emit_new(&ti, &theme, &(struct emit_options){.mono = false});
    struct text out = {0};
    for (int i = 0; i <= frames; i++) {
        table(&c, i);
        emit_frame(emit, &c, &(struct caret){0}, &out);
        if (i == 0)
            text_clear(&out);
    }
    *ours = out.len;
    text_free(&out);
    canvas_free(&c);
    emit_free(emit);
    terminfo_close();
    return bytes;
}

static void no_more_than_curses(void **unused) {
    (void)unused;
    static const char *const types[] = {"xterm-256color", "screen-256color", "linux", "vt100"};
    assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
    assert_int_equal(theme_default(&theme, NULL), 0);
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        size_t ours = 0;
        size_t theirs = bytes_of_curses(types[i], 30, &ours);
        if (!theirs)
            continue;
        print_message("%s: %zu bytes a frame, curses %zu\n", types[i], ours / 30, theirs / 30);
        assert_true(ours <= theirs);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type),
        cmocka_unit_test(scrolling_is_cheap),
        cmocka_unit_test(no_more_than_curses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
