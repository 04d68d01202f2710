/*
 * What all pages have in common: head, style, script, and what their scripts want to know of the
 * colours of frames.
 *
 * Context: any thread.
 */
#ifndef JTOP_SERVE_PAGES_SHELL_H
#define JTOP_SERVE_PAGES_SHELL_H

#include "core/http/serve/page/pages.h"

/* Everything up to the body's content; `attributes` is HTML inside the body's tag. */
void pages_begin(struct text *out, const char *title, const char *attributes);
void pages_end(struct text *out, enum page page);

#endif
