/*
 * Colours as numbers: THEME_DEFAULT_COLOUR, an index 0-255 of the palette that xterm made usual,
 * or THEME_RGB | 0xrrggbb; and which of fewer colours is nearest.
 *
 * Context: pure.
 */
#ifndef JTOP_TUI_TERMINAL_COLOUR_H
#define JTOP_TUI_TERMINAL_COLOUR_H

#include <stdint.h>

/* 0xrrggbb. The first sixteen are xterm's; terminals differ in them. */
uint32_t colour_rgb(int32_t colour);

/* The nearest of the first `colours` (8, 16 or 256). A palette index that there is stays; one of
 * 256 and exact colours never become one of the first sixteen where there are 256: people change
 * those. */
int32_t colour_nearest(int32_t colour, int colours);

/* Contrast of two 0xrrggbb, 1 to 21 (source: WCAG 2.1, relative luminance). */
double colour_contrast(uint32_t a, uint32_t b);

/* How far two colours look apart (CIE76 in CIELAB); below about 10 they are alike at a glance. */
double colour_distance(uint32_t a, uint32_t b);

enum colour_sight { SIGHT_USUAL, SIGHT_DEUTERANOPIA, SIGHT_TRITANOPIA, SIGHTS };
/* As somebody with that sight sees it (source: Machado, Oliveira, Fernandes 2009, severity 1). */
uint32_t colour_seen(uint32_t rgb, enum colour_sight sight);

#endif
