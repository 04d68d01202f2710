/*
 * What goes out compressed.
 *
 * Context: pure, any thread.
 */
#ifndef JTOP_PUSH_GZIP_H
#define JTOP_PUSH_GZIP_H

#include "core/base/text.h"

/* Replaces the bytes by a gzip stream of them. 0; -ENOMEM: they are as they were. */
int gzip_text(struct text *t);

#endif
