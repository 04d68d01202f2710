/*
 * What a terminal can do, read once out of its terminfo entry (terminfo(5)). A capability counts
 * only where it is the sequence of ECMA-48; that is so for every terminal of this century, and
 * what sends then knows lengths without asking. A terminal that is otherwise gets cursor moves
 * through tparm, and attributes one by one.
 *
 * Context: frontend main thread. The library keeps its entry in a global: one at a time.
 */
#ifndef JTOP_TUI_TERMINAL_TERMINFO_H
#define JTOP_TUI_TERMINAL_TERMINFO_H

#include "core/base/err.h"

#include <stdbool.h>
#include <stddef.h>

#define TERMINFO_TEXT 64

struct terminfo {
    bool ansi;        /* cursor moves and attributes as below */
    bool forward;     /* CUF */
    bool back;        /* CUB */
    bool column;      /* CHA, or HPA by the same letter */
    bool erase_line;  /* EL to the end */
    bool erase_cells; /* ECH */
    bool backspace;   /* BS moves left */
    bool feed;        /* LF moves down, without output processing */
    bool fills;       /* erased cells get the background in use (bce) */
    bool whole;       /* the last cell of the last row may be written: nothing scrolls */
    bool single_off;  /* SGR 22, 24, 27, 39, 49: attributes go off one by one */
    bool modern;      /* knows private modes and string sequences, or ignores them */
    bool bold, dim, reverse, underline;
    int colours;               /* 0, 8, 16, 88, 256 */
    unsigned colourless;       /* attributes that do not go together with a colour (ncv) */
    int rows, cols;            /* where the terminal itself does not say */
    char move[TERMINFO_TEXT];  /* cup, for tparm */
    char clear[TERMINFO_TEXT]; /* the screen, caret to the top */
    char reset[TERMINFO_TEXT]; /* attributes */
    char show[TERMINFO_TEXT], hide[TERMINFO_TEXT]; /* the caret; may be "" */
    char enter[2 * TERMINFO_TEXT];                 /* alternate screen, keypad */
    char leave[2 * TERMINFO_TEXT];
    char bold_on[TERMINFO_TEXT], dim_on[TERMINFO_TEXT], reverse_on[TERMINFO_TEXT],
        underline_on[TERMINFO_TEXT];
};

/* Loads the entry of that name (NULL: $TERM). -ENOTTY where there is none, or where it cannot move
 * its cursor; the message says what to try. */
int terminfo_open(struct terminfo *t, const char *name, int fd, struct err *e);
void terminfo_close(void);

/* The sequence to (row, col), both from 0; its length. */
int terminfo_move(const struct terminfo *t, int row, int col, char *out, size_t size);

/* The parameters of SGR for colour 0..colours-1: "31", "38;5;200". */
void terminfo_colour(int colour, bool background, char *out, size_t size);

#endif
