/*
 * Writes pieces of Markdown as GitHub renders it, tables included. Names may contain any
 * characters.
 *
 * Context: pure.
 */
#ifndef JTOP_EXPORT_TEXT_MARKDOWN_TEXT_H
#define JTOP_EXPORT_TEXT_MARKDOWN_TEXT_H

#include "core/base/text.h"

/* Appends `s` as plain words, escaped so that no character has a special meaning. */
void markdown_text_words(struct text *out, const char *s);
/* Appends `s` as code that is safe in a table cell. */
void markdown_text_code(struct text *out, const char *s);

#endif
