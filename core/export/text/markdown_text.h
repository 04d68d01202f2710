/*
 * Pieces of Markdown as GitHub renders it, tables included. Names may hold anything.
 *
 * Context: pure.
 */
#ifndef JTOP_EXPORT_TEXT_MARKDOWN_TEXT_H
#define JTOP_EXPORT_TEXT_MARKDOWN_TEXT_H

#include "core/base/text.h"

/* Appends `s` as words, none of which means anything. */
void markdown_text_words(struct text *out, const char *s);
/* Appends `s` as code, fit for a cell of a table. */
void markdown_text_code(struct text *out, const char *s);

#endif
