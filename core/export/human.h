/*
 * Formats numbers for people and appends them to a text. svg_script.js follows the same rules:
 * change both.
 *
 * Context: pure.
 */
#ifndef JTOP_EXPORT_HUMAN_H
#define JTOP_EXPORT_HUMAN_H

#include "core/base/text.h"

#include <stdint.h>

void human_count(struct text *out, uint64_t n); /* 1,234,567 */
/* `unit` as in export_quality: "ns" gives 1.23 s; "bytes" gives 512 KB (1 KB is 1024 bytes); any
 * other unit gives 1,234 followed by the unit. */
void human_weight(struct text *out, uint64_t n, const char *unit);

#endif
