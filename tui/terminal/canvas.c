#include "tui/terminal/canvas.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const glyphs[GLYPHS][2] = {
    [GLYPH_ELLIPSIS] = {"…", "~"}, [GLYPH_PLUS_MINUS] = {"±", "~"}, [GLYPH_OPEN] = {"▾", "-"},
    [GLYPH_CLOSED] = {"▸", "+"},   [GLYPH_LEAF] = {"·", "."},       [GLYPH_BRANCH] = {"├", "|"},
    [GLYPH_LAST] = {"└", "`"},     [GLYPH_PIPE] = {"│", "|"},
};

const char *canvas_glyph(const struct canvas *c, enum glyph g) {
    return glyphs[g][c->ascii_lines];
}

int canvas_resize(struct canvas *c, int rows, int cols) {
    if (rows < 1)
        rows = 1;
    if (cols < 1)
        cols = 1;
    struct cell *cells = calloc((size_t)rows * (size_t)cols, sizeof *cells);
    if (!cells)
        return -ENOMEM;
    free(c->cells);
    c->cells = cells;
    c->rows = rows;
    c->cols = cols;
    canvas_clear(c);
    return 0;
}

void canvas_free(struct canvas *c) {
    free(c->cells);
    *c = (struct canvas){0};
}

static const struct cell blank = {.text = {L' '}, .width = 1, .role = ROLE_TEXT};

void canvas_clear(struct canvas *c) {
    for (int i = 0; i < c->rows * c->cols; i++)
        c->cells[i] = blank;
}

/* Decodes one code point; -1 for a byte that is no UTF-8. Returns the bytes used, at least 1. */
static int decode(const unsigned char *s, int32_t *out) {
    static const int32_t least[] = {0, 0x80, 0x800, 0x10000};
    *out = -1;
    if (s[0] < 0x80) {
        *out = s[0];
        return 1;
    }
    int more = s[0] >= 0xf0 && s[0] < 0xf8 ? 3 : s[0] >= 0xe0 ? 2 : s[0] >= 0xc0 ? 1 : 0;
    if (more == 0 || s[0] >= 0xf8)
        return 1;
    int32_t ch = s[0] & (0x3f >> more);
    for (int i = 1; i <= more; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 1;
        ch = ch << 6 | (s[i] & 0x3f);
    }
    if (ch < least[more] || ch > 0x10ffff || (ch >= 0xd800 && ch < 0xe000))
        return 1;
    *out = ch;
    return 1 + more;
}

/* Characters that draw nothing but change how others are drawn: with them a class name could
 * rewrite the line it stands in. */
static bool is_formatting(int32_t ch) {
    return ch < 0x20 || (ch >= 0x7f && ch < 0xa0) || ch == 0xad || ch == 0x61c || ch == 0x180e ||
           (ch >= 0x200b && ch <= 0x200f) || (ch >= 0x2028 && ch <= 0x202e) ||
           (ch >= 0x2060 && ch <= 0x206f) || ch == 0xfeff || (ch >= 0xfff9 && ch <= 0xfffb) ||
           ch >= 0xe0000;
}

/* The next character as it will be drawn; width 0 is a combining mark. Returns bytes used. */
static int next_character(const struct canvas *c, const char *s, wchar_t *ch, int *width) {
    int32_t code;
    int used = decode((const unsigned char *)s, &code);
    *ch = L'?';
    *width = 1;
    if (code < 0 || is_formatting(code) || (c->ascii_text && code >= 0x80))
        return used;
    int w = code < 0x80 ? 1 : wcwidth((wchar_t)code);
    if (w < 0 || w > 2)
        return used;
    *ch = (wchar_t)code;
    *width = w;
    return used;
}

int canvas_width(const struct canvas *c, const char *s) {
    int sum = 0;
    while (*s) {
        wchar_t ch;
        int width;
        s += next_character(c, s, &ch, &width);
        sum += width;
    }
    return sum;
}

/* A wide character that loses one half loses the other too. */
static void put(struct canvas *c, int row, int col, wchar_t ch, int width, enum role role) {
    struct cell *line = c->cells + (size_t)row * (size_t)c->cols;
    if (line[col].width == 0 && col > 0)
        line[col - 1] = (struct cell){.text = {L' '}, .width = 1, .role = line[col - 1].role};
    int end = col + width;
    if (end < c->cols && line[end].width == 0)
        line[end] = (struct cell){.text = {L' '}, .width = 1, .role = line[end].role};
    line[col] = (struct cell){.text = {ch}, .width = (uint8_t)width, .role = (uint8_t)role};
    if (width == 2)
        line[col + 1] = (struct cell){.text = {L' '}, .width = 0, .role = (uint8_t)role};
}

static void put_mark(struct canvas *c, int row, int col, wchar_t ch) {
    struct cell *at = c->cells + (size_t)row * (size_t)c->cols + col;
    for (int i = 1; i <= CELL_MARKS; i++) {
        if (!at->text[i]) {
            at->text[i] = ch;
            return;
        }
    }
}

int canvas_text(struct canvas *c, int row, int col, int cols, enum role role, const char *s) {
    if (row < 0 || row >= c->rows || col < 0 || col >= c->cols)
        return 0;
    if (cols > c->cols - col)
        cols = c->cols - col;
    int used = 0, base = -1;
    while (*s) {
        wchar_t ch;
        int width;
        s += next_character(c, s, &ch, &width);
        if (width == 0 && base >= 0) {
            put_mark(c, row, base, ch);
            continue;
        }
        if (width == 0) {
            ch = L'?';
            width = 1;
        }
        if (used + width > cols)
            break;
        base = col + used;
        put(c, row, base, ch, width, role);
        used += width;
    }
    return used;
}

int canvas_textf(struct canvas *c, int row, int col, int cols, enum role role, const char *fmt,
                 ...) {
    char buffer[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(buffer, sizeof buffer, fmt, ap);
    va_end(ap);
    return canvas_text(c, row, col, cols, role, buffer);
}

void canvas_right(struct canvas *c, int row, int col, int cols, enum role role, const char *s) {
    int width = canvas_width(c, s);
    int pad = width < cols ? cols - width : 0;
    canvas_text(c, row, col + pad, cols - pad, role, s);
}

int canvas_tail(struct canvas *c, int row, int col, int cols, enum role role, const char *s) {
    int width = canvas_width(c, s);
    if (width <= cols)
        return canvas_text(c, row, col, cols, role, s);
    if (cols < 1)
        return 0;
    wchar_t ch;
    int w = 0;
    while (*s && width > cols - 1) {
        s += next_character(c, s, &ch, &w);
        width -= w;
    }
    while (*s && next_character(c, s, &ch, &w) && w == 0) /* marks of what was cut */
        s += next_character(c, s, &ch, &w);
    int used = canvas_text(c, row, col, cols, role, canvas_glyph(c, GLYPH_ELLIPSIS));
    return used + canvas_text(c, row, col + used, cols - used, role, s);
}

int canvas_head(struct canvas *c, int row, int col, int cols, enum role role, const char *s) {
    if (canvas_width(c, s) <= cols)
        return canvas_text(c, row, col, cols, role, s);
    if (cols < 1)
        return 0;
    int used = canvas_text(c, row, col, cols - 1, role, s);
    return used +
           canvas_text(c, row, col + used, cols - used, role, canvas_glyph(c, GLYPH_ELLIPSIS));
}

int canvas_middle(struct canvas *c, int row, int col, int cols, enum role role, const char *s) {
    if (canvas_width(c, s) <= cols)
        return canvas_text(c, row, col, cols, role, s);
    int used = canvas_text(c, row, col, cols / 2, role, s);
    return used + canvas_tail(c, row, col + used, cols - used, role, s);
}

void canvas_role(struct canvas *c, int row, int col, int cols, enum role role) {
    if (row < 0 || row >= c->rows)
        return;
    for (int i = col < 0 ? 0 : col; i < c->cols && i < col + cols; i++)
        c->cells[(size_t)row * (size_t)c->cols + (size_t)i].role = (uint8_t)role;
}

static void add_utf8(struct text *out, wchar_t wide) {
    uint32_t ch = (uint32_t)wide;
    char b[4];
    size_t n = 0;
    if (ch < 0x80) {
        b[n++] = (char)ch;
    } else if (ch < 0x800) {
        b[n++] = (char)(0xc0 | ch >> 6);
    } else if (ch < 0x10000) {
        b[n++] = (char)(0xe0 | ch >> 12);
        b[n++] = (char)(0x80 | (ch >> 6 & 0x3f));
    } else {
        b[n++] = (char)(0xf0 | ch >> 18);
        b[n++] = (char)(0x80 | (ch >> 12 & 0x3f));
        b[n++] = (char)(0x80 | (ch >> 6 & 0x3f));
    }
    if (ch >= 0x80)
        b[n++] = (char)(0x80 | (ch & 0x3f));
    text_add_n(out, b, n);
}

void canvas_dump(const struct canvas *c, struct text *out) {
    for (int row = 0; row < c->rows; row++) {
        const struct cell *line = c->cells + (size_t)row * (size_t)c->cols;
        int end = c->cols;
        while (end > 0 && line[end - 1].width == 1 && line[end - 1].text[0] == L' ' &&
               !line[end - 1].text[1])
            end--;
        for (int col = 0; col < end; col++)
            for (int i = 0; line[col].width && i <= CELL_MARKS && line[col].text[i]; i++)
                add_utf8(out, line[col].text[i]);
        text_add(out, "\n");
    }
}
