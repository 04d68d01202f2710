/*
 * The same canvas drawn by curses, with the same looks: how many bytes it sends, and the time it
 * takes. One at a time; terminfo_open must not be in force.
 */
#ifndef JTOP_TEST_TUI_CURSES_H
#define JTOP_TEST_TUI_CURSES_H

#include "tui/terminal/canvas.h"
#include "tui/terminal/look.h"
#include "tui/terminal/terminfo.h"
#include "tui/terminal/theme.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NCURSES_NOMACROS 1
#include <curses.h>

struct tui_curses {
    SCREEN *screen;
    FILE *file;
    bool colours;
    struct look look[2][ROLES]; /* of text, of a blank */
};

/* False if there is no such type of terminal here. */
static bool tui_curses_open(struct tui_curses *t, const char *type, const struct theme *theme,
                            int rows, int cols) {
    struct terminfo ti;
    struct emit_options o = {.mono = false};
    char number[16];
    *t = (struct tui_curses){.file = tmpfile()};
    if (!t->file || terminfo_open(&ti, type, STDERR_FILENO, NULL)) {
        if (t->file)
            fclose(t->file);
        return false;
    }
    for (int i = 0; i < ROLES; i++) {
        t->look[0][i] = look_of_style(&ti, &theme->style[i], &o);
        t->look[1][i] = look_of_blank(t->look[0][i]);
    }
    terminfo_close();
    snprintf(number, sizeof number, "%d", rows);
    setenv("LINES", number, 1);
    snprintf(number, sizeof number, "%d", cols);
    setenv("COLUMNS", number, 1);
    t->screen = newterm(type, t->file, stdin);
    t->colours = t->screen && has_colors();
    if (t->colours) {
        start_color();
        use_default_colors();
        for (int i = 0; i < 2 * ROLES; i++) {
            struct look l = t->look[i % 2][i / 2];
            init_extended_pair(1 + i, l.foreground == THEME_DEFAULT_COLOUR ? -1 : l.foreground,
                               l.background == THEME_DEFAULT_COLOUR ? -1 : l.background);
        }
    }
    return t->screen != NULL;
}

/* Returns the number of bytes. */
static size_t tui_curses_frame(struct tui_curses *t, const struct canvas *c) {
    off_t before = lseek(fileno(t->file), 0, SEEK_CUR);
    for (int row = 0; row < c->rows; row++) {
        for (int col = 0; col < c->cols; col++) {
            const struct cell *cell = &c->cells[row * c->cols + col];
            int blank = cell->text[0] == L' ' && !cell->text[1];
            const struct look *l = &t->look[blank][cell->role];
            wchar_t text[2 + CELL_MARKS] = {0};
            int pair = 1 + 2 * cell->role + blank;
            cchar_t out;
            attr_t a = (l->attributes & THEME_BOLD ? A_BOLD : 0) |
                       (l->attributes & THEME_DIM ? A_DIM : 0) |
                       (l->attributes & THEME_REVERSE ? A_REVERSE : 0) |
                       (l->attributes & THEME_UNDERLINE ? A_UNDERLINE : 0);
            if (!cell->width)
                continue;
            if (!t->colours ||
                (l->foreground == THEME_DEFAULT_COLOUR && l->background == THEME_DEFAULT_COLOUR))
                pair = 0;
            memcpy(text, cell->text, sizeof cell->text);
            setcchar(&out, text, a, 0, &pair);
            mvadd_wchnstr(row, col, &out, 1);
        }
    }
    move(0, 0);
    refresh();
    fflush(t->file);
    return (size_t)(lseek(fileno(t->file), 0, SEEK_CUR) - before);
}

static void tui_curses_close(struct tui_curses *t) {
    endwin();
    delscreen(t->screen);
    fclose(t->file);
}

#endif
