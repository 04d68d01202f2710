/*
 * What is drawn has a role, not a colour; a theme says what a role looks like. The default theme
 * is the shipped file themes/default.theme, compiled in.
 *
 * A theme is text, a line a role, five columns; '#' begins a comment:
 *
 *      ROLE    FOREGROUND  BACKGROUND  ATTRIBUTES  MONO
 *      cursor  black       cyan        bold        reverse
 *
 * Colours are "default", one of the eight names, or a number 0-255. Attributes and mono (the
 * attributes where there is no colour) are "-" or a list "bold,underline" of bold, dim, reverse,
 * underline.
 *
 * Context: pure.
 */
#ifndef JTOP_TUI_THEME_H
#define JTOP_TUI_THEME_H

#include "core/base/err.h"

#include <stdint.h>

/* Name in the code, name in a theme file. */
#define THEME_ROLES(X)                                                                             \
    X(TEXT, "text")                                                                                \
    X(TITLE, "title")                                                                              \
    X(LABEL, "label")                                                                              \
    X(VALUE, "value")                                                                              \
    X(WARNING, "warning")                                                                          \
    X(TAB, "tab")                                                                                  \
    X(TAB_ON, "tab-on")                                                                            \
    X(STATE, "state")                                                                              \
    X(STATE_HELD, "state-held")                                                                    \
    X(COLUMNS, "columns")                                                                          \
    X(CURSOR, "cursor")                                                                            \
    X(NUMBER, "number")                                                                            \
    X(HOT, "hot")                                                                                  \
    X(DIM, "dim")                                                                                  \
    X(GLYPH, "glyph")                                                                              \
    X(MATCH, "match")                                                                              \
    X(JAVA, "java")                                                                                \
    X(INTERPRETED, "interpreted")                                                                  \
    X(C1, "c1")                                                                                    \
    X(INLINED, "inlined")                                                                          \
    X(NATIVE, "native")                                                                            \
    X(CPP, "c++")                                                                                  \
    X(KERNEL, "kernel")                                                                            \
    X(ERROR, "error")                                                                              \
    X(STATUS, "status")                                                                            \
    X(EDITOR, "editor")                                                                            \
    X(KEY, "key")                                                                                  \
    X(FOOTER, "footer")

enum role {
#define THEME_ROLE(id, name) ROLE_##id,
    THEME_ROLES(THEME_ROLE)
#undef THEME_ROLE
        ROLES
};

enum { THEME_BOLD = 1, THEME_DIM = 2, THEME_REVERSE = 4, THEME_UNDERLINE = 8 };

#define THEME_DEFAULT_COLOUR (-1)

struct theme_style {
    int16_t foreground, background; /* 0-255 or THEME_DEFAULT_COLOUR */
    uint8_t attributes;             /* THEME_BOLD … */
    uint8_t mono;
};

struct theme {
    struct theme_style style[ROLES];
};

/* Roles the text does not name keep what `t` has, so a user's theme may be short: start from
 * theme_default. -EINVAL with `origin` (a file's name) and the line in the message. */
int theme_parse(struct theme *t, const char *origin, const char *text, struct err *e);

/* The shipped theme. */
int theme_default(struct theme *t, struct err *e);

#endif
