/*
 * Everything drawn has a role, not a colour; a theme defines how each role looks. The shipped
 * themes are the files in themes/, compiled in.
 *
 * A theme is a text with one line per role and five columns. A '#' after a blank begins a comment:
 *
 *      ROLE    FOREGROUND  BACKGROUND  ATTRIBUTES  MONO
 *      cursor  black       #5fd7ff     bold        reverse
 *      background light
 *
 * Colours are "default", one of eight names, "bright-" and the name, a number 0-255 or "#rrggbb".
 * Attributes and mono (the attributes on a terminal without colours) are "-", or a list
 * "bold,underline" of bold, dim, reverse, underline. "background" is the kind of terminal that the
 * theme is made for, dark or light: theme_check must know what "default" is.
 *
 * Context: pure, except for theme_load.
 */
#ifndef JTOP_TUI_TERMINAL_THEME_H
#define JTOP_TUI_TERMINAL_THEME_H

#include "core/base/err.h"
#include "core/base/text.h"

#include <stdbool.h>
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
    X(TAGGED, "tagged")                                                                            \
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
    X(FOOTER, "footer")                                                                            \
    X(STRIP, "strip")                                                                              \
    X(GC, "gc")                                                                                    \
    X(SAFEPOINT, "safepoint")                                                                      \
    X(SPARK, "spark")                                                                              \
    X(MORE, "more")                                                                                \
    X(LESS, "less")                                                                                \
    X(DISABLED, "disabled")                                                                        \
    X(FLAME_JAVA, "flame-java")                                                                    \
    X(FLAME_INTERPRETED, "flame-interpreted")                                                      \
    X(FLAME_C1, "flame-c1")                                                                        \
    X(FLAME_INLINED, "flame-inlined")                                                              \
    X(FLAME_NATIVE, "flame-native")                                                                \
    X(FLAME_CPP, "flame-c++")                                                                      \
    X(FLAME_KERNEL, "flame-kernel")                                                                \
    X(FLAME_ERROR, "flame-error")                                                                  \
    X(FLAME_OTHER, "flame-other")                                                                  \
    X(FLAME_MORE, "flame-more")                                                                    \
    X(FLAME_LESS, "flame-less")                                                                    \
    X(FLAME_SAME, "flame-same")                                                                    \
    X(FLAME_MATCH, "flame-match")                                                                  \
    X(FLAME_CURSOR, "flame-cursor")                                                                \
    X(LINE_NUMBER, "line-number")                                                                  \
    X(SOURCE, "source")                                                                            \
    X(JVM_TAB, "jvm-tab")                                                                          \
    X(JVM_TAB_ON, "jvm-tab-on")

enum role {
#define THEME_ROLE(id, name) ROLE_##id,
    THEME_ROLES(THEME_ROLE)
#undef THEME_ROLE
        ROLES
};

enum { THEME_BOLD = 1, THEME_DIM = 2, THEME_REVERSE = 4, THEME_UNDERLINE = 8 };

#define THEME_DEFAULT_COLOUR (-1)
#define THEME_RGB 0x1000000

struct theme_style {
    int32_t foreground, background; /* 0-255, THEME_RGB | 0xrrggbb, or THEME_DEFAULT_COLOUR */
    uint8_t attributes;             /* THEME_BOLD and others */
    uint8_t mono;
};

struct theme {
    struct theme_style style[ROLES];
    bool light; /* made for a light background */
};

/* Parses a theme. Roles that the text does not name keep what `t` has, so a user's theme may be
 * short: start from theme_default. -EINVAL with `origin` (a file's name) and the line in the
 * message. */
int theme_parse(struct theme *t, const char *origin, const char *text, struct err *e);

/* Sets the shipped theme "default". */
int theme_default(struct theme *t, struct err *e);

/* Loads a theme: a shipped one by its name, or else NAME.theme in the user's own directory
 * ($XDG_CONFIG_HOME/jtop-prof/themes), or else a file by its path. "" is the default theme. Roles
 * that the theme leaves out are those of the default. -ENOENT with the existing names; -EINVAL with
 * file and line. */
int theme_load(const char *name, struct theme *t, struct err *e);

/* The names of the shipped themes; NULL after the last. */
extern const char *const theme_names[];
/* Returns a role's name, as in a theme file. */
const char *theme_role_name(enum role role);

/* Loads a theme and checks for roles that people could not read or tell apart (theme_check.c). Each
 * problem is a line in `out`. Returns the number of problems, or the error of theme_load. */
int theme_check(const char *name, struct text *out, struct err *e);

#endif
