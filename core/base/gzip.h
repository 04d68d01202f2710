/*
 * A text made smaller.
 *
 * Context: pure, any thread.
 */
#ifndef JTOP_BASE_GZIP_H
#define JTOP_BASE_GZIP_H

#include "core/base/text.h"

/* Replaces the bytes by a gzip stream of them; `level` is zlib's: 1 is fast, 9 is small. 0, or
 * -ENOMEM: they are as they were. */
int gzip_text(struct text *t, int level);

#endif
