/*
 * Text inside the SVG. Names come from a JVM that may be hostile: nothing in them can end an
 * element, and what may not be shown (core/base/utf8.h) is a '?'.
 *
 * Context: pure.
 */
#ifndef JTOP_EXPORT_SVG_TEXT_H
#define JTOP_EXPORT_SVG_TEXT_H

#include "core/base/text.h"

#include <stdint.h>

#define SVG_TEXT_NONE UINT32_MAX

/* The code point at *s, or SVG_TEXT_NONE for what may not be shown or is no UTF-8; *s moves
 * behind. Not to be called at the end. */
uint32_t svg_text_next(const unsigned char **s);

/* Appends `s`, good for element content and quoted attributes. */
void svg_text_add(struct text *out, const char *s);

/* Appends as much of a frame's name as fits into `columns` of a monospaced font: all of it; or,
 * for Java, without the package; or its beginning and an ellipsis; or nothing.
 * svg_script.js has the same rules: change both. */
void svg_text_add_label(struct text *out, const char *name, bool java, unsigned columns);

#endif
