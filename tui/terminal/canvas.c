#include "tui/terminal/canvas.h"

#include "core/base/utf8.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const glyphs[GLYPHS][2] = {
    [GLYPH_ELLIPSIS] = {"…", "~"}, [GLYPH_PLUS_MINUS] = {"±", "+-"}, [GLYPH_OPEN] = {"▾", "-"},
    [GLYPH_CLOSED] = {"▸", "+"},   [GLYPH_LEAF] = {"·", "."},        [GLYPH_BRANCH] = {"├", "|"},
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

/* Formatting characters draw nothing, but change how others are drawn. With them, a class name
 * could rewrite its line. */
static bool is_formatting(uint32_t ch) {
    return ch < 0x20 || (ch >= 0x7f && ch < 0xa0) || ch == 0xad || ch == 0x61c || ch == 0x180e ||
           (ch >= 0x200b && ch <= 0x200f) || (ch >= 0x2028 && ch <= 0x202e) ||
           (ch >= 0x2060 && ch <= 0x206f) || ch == 0xfeff || (ch >= 0xfff9 && ch <= 0xfffb) ||
           ch >= 0xe0000;
}

/* Decodes the next character as it will be drawn; width 0: a combining mark. Returns the bytes
 * used. */
static int next_character(const struct canvas *c, const char *s, wchar_t *ch, int *width) {
    uint32_t code;
    int used = (int)utf8_decode(s, SIZE_MAX, &code);
    *ch = L'?';
    *width = 1;
    if (used == 0)
        return 1;
    if (is_formatting(code) || (c->ascii_text && code >= 0x80))
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

/* Writes a character. If it overwrites one half of a wide character, the other half becomes a
 * blank. */
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
    while (*s && next_character(c, s, &ch, &w) && w == 0) /* skip marks of the last one cut off */
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

void canvas_dump(const struct canvas *c, struct text *out) {
    for (int row = 0; row < c->rows; row++) {
        const struct cell *line = c->cells + (size_t)row * (size_t)c->cols;
        int end = c->cols;
        while (end > 0 && line[end - 1].width == 1 && line[end - 1].text[0] == L' ' &&
               !line[end - 1].text[1])
            end--;
        for (int col = 0; col < end; col++)
            for (int i = 0; line[col].width && i <= CELL_MARKS && line[col].text[i]; i++)
                text_add_wide(out, line[col].text[i]);
        text_add(out, "\n");
    }
}
