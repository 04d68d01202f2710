/*
 * How a cell looks on this terminal: the theme's style, in the colours and attributes that the
 * terminal has. Also the bytes that change one look into another (ECMA-48, SGR).
 *
 * Context: frontend main thread; terminfo_open was called, and its entry is still loaded.
 */
#ifndef JTOP_TUI_TERMINAL_LOOK_H
#define JTOP_TUI_TERMINAL_LOOK_H

#include "core/base/text.h"
#include "tui/terminal/escapes.h"
#include "tui/terminal/terminfo.h"
#include "tui/terminal/theme.h"

#include <stdbool.h>
#include <stdint.h>

struct look {
    int32_t foreground, background; /* as in a theme, but only colours that the terminal has */
    uint8_t attributes;             /* THEME_BOLD and others */
};

/* Attributes that a blank shows. */
#define LOOK_BLANK_SHOWS (THEME_REVERSE | THEME_UNDERLINE)

struct look look_of_style(const struct terminfo *ti, const struct theme_style *s,
                          const struct emit_options *o);
/* Returns the look of a blank, which has no foreground: blanks that look the same have equal
 * looks. */
struct look look_of_blank(struct look l);
bool look_equal(const struct look *a, const struct look *b);

/* Appends the shortest sequence that changes `from` (NULL: not known) into `to`. */
void look_change(const struct terminfo *ti, const struct look *from, const struct look *to,
                 struct text *out);

#endif
