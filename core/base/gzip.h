/*
 * Compresses a text in memory.
 *
 * Context: pure, any thread.
 */
#ifndef JTOP_BASE_GZIP_H
#define JTOP_BASE_GZIP_H

#include "core/base/text.h"

/* Replaces the text by a gzip stream of it. `level` is zlib's: 1 is fast, 9 gives the smallest
 * result. 0, or -ENOMEM: the text is unchanged. */
int gzip_text(struct text *t, int level);

#endif
