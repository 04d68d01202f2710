/*
 * The capabilities of a terminal, read once from its terminfo entry (terminfo(5)). A capability
 * counts only if it is the sequence of ECMA-48. That is so for every terminal of this century, and
 * the sender then knows the length of each sequence. Any other terminal gets cursor moves through
 * tparm, and attributes one by one.
 *
 * Context: frontend main thread. The library keeps its entry in a global: one at a time.
 */
#ifndef JTOP_TUI_TERMINAL_TERMINFO_H
#define JTOP_TUI_TERMINAL_TERMINFO_H

#include "core/base/err.h"
#include "tui/terminal/input.h"

#include <stdbool.h>
#include <stddef.h>

#define TERMINFO_TEXT 64

struct terminfo {
    bool ansi;        /* cursor moves and attributes are as below */
    bool forward;     /* CUF */
    bool back;        /* CUB */
    bool column;      /* CHA, or HPA by the same letter */
    bool erase_line;  /* EL to the end */
    bool erase_cells; /* ECH */
    bool delete_cell; /* DCH of one cell */
    bool backspace;   /* BS moves left */
    bool feed;        /* LF moves down, without output processing */
    bool fills;       /* erased cells get the current background (bce) */
    bool whole;       /* the last cell of the last row can be written without scrolling */
    bool single_off;  /* SGR 22, 24, 27, 39, 49 switch attributes off one by one */
    bool modern;      /* knows private modes and string sequences, or ignores them */
    bool bold, dim, reverse, underline;
    bool direct;               /* colours from 8 on are 24-bit values (RGB, user_caps(5)) */
    int colours;               /* 0, 8, 16, 88, 256 */
    unsigned colourless;       /* attributes that cannot be combined with a colour (ncv) */
    int rows, cols;            /* used if the terminal does not report its size */
    char move[TERMINFO_TEXT];  /* cup, for tparm */
    char clear[TERMINFO_TEXT]; /* clears the screen, caret to the top */
    char reset[TERMINFO_TEXT]; /* switches attributes off */
    char show[TERMINFO_TEXT], hide[TERMINFO_TEXT]; /* caret visible or hidden; may be "" */
    char enter[2 * TERMINFO_TEXT];                 /* alternate screen, keypad */
    char leave[2 * TERMINFO_TEXT];
    char bold_on[TERMINFO_TEXT], dim_on[TERMINFO_TEXT], reverse_on[TERMINFO_TEXT],
        underline_on[TERMINFO_TEXT];
    struct input_key key[INPUT_KEYS];
    size_t keys;
};

/* Loads the entry of that name (NULL: $TERM). -ENOTTY if there is none, or the terminal cannot move
 * its cursor; the message suggests what to try. */
int terminfo_open(struct terminfo *t, const char *name, int fd, struct err *e);
void terminfo_close(void);

/* Writes the sequence that moves to (row, col), both from 0. Returns its length. */
int terminfo_move(const struct terminfo *t, int row, int col, char *out, size_t size);

/* Writes the parameters of SGR for a colour 0..colours-1: "31", "38;5;200". */
void terminfo_colour(int colour, bool background, char *out, size_t size);

#endif
