/*
 * Colours as numbers: THEME_DEFAULT_COLOUR, an index 0-255 of xterm's palette, or THEME_RGB |
 * 0xrrggbb. Also finds the nearest colour of a smaller palette.
 *
 * Context: pure.
 */
#ifndef JTOP_TUI_TERMINAL_COLOUR_H
#define JTOP_TUI_TERMINAL_COLOUR_H

#include <stdint.h>

/* Returns 0xrrggbb. The first sixteen colours are xterm's; terminals differ in them. */
uint32_t colour_rgb(int32_t colour);

/* Returns the nearest of the first `colours` colours (8, 16 or 256). A palette index below
 * `colours` stays. With 256 colours, an exact colour never becomes one of the first sixteen,
 * because users change those. */
int32_t colour_nearest(int32_t colour, int colours);

/* Returns the contrast of two 0xrrggbb, 1 to 21 (source: WCAG 2.1, relative luminance). */
double colour_contrast(uint32_t a, uint32_t b);

/* Returns how different two colours look (CIE76 in CIELAB). Below about 10, they look alike at a
 * glance. */
double colour_distance(uint32_t a, uint32_t b);

enum colour_sight { SIGHT_USUAL, SIGHT_DEUTERANOPIA, SIGHT_TRITANOPIA, SIGHTS };
/* Returns the colour as eyes with that sight see it (source: Machado, Oliveira, Fernandes
 * 2009, severity 1). */
uint32_t colour_seen(uint32_t rgb, enum colour_sight sight);

#endif
