/*
 * Writes text inside the SVG. Names come from a JVM that may be hostile: no name can end an
 * element. Characters that must not be shown (core/base/utf8.h) become '?'.
 *
 * Context: pure.
 */
#ifndef JTOP_EXPORT_SVG_TEXT_H
#define JTOP_EXPORT_SVG_TEXT_H

#include "core/base/text.h"

#include <stdint.h>

#define SVG_TEXT_NONE UINT32_MAX

/* Returns the code point at *s, or SVG_TEXT_NONE for a character that must not be shown or for
 * invalid UTF-8. Moves *s behind it. Must not be called at the end of the string. */
uint32_t svg_text_next(const unsigned char **s);

/* Appends `s`, escaped for element content and quoted attributes. */
void svg_text_add(struct text *out, const char *s);

/* Appends as much of a frame's name as fits into `columns` of a monospaced font: the whole name;
 * or, for Java, the name without the package; or its beginning and an ellipsis; or nothing.
 * svg_script.js follows the same rules: change both. */
void svg_text_add_label(struct text *out, const char *name, bool java, unsigned columns);

#endif
