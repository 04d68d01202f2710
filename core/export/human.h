/*
 * Numbers as people read them, appended to a text. svg_script.js has the same rules: change both.
 *
 * Context: pure.
 */
#ifndef JTOP_EXPORT_HUMAN_H
#define JTOP_EXPORT_HUMAN_H

#include "core/base/text.h"

#include <stdint.h>

void human_count(struct text *out, uint64_t n); /* 1,234,567 */
/* `unit` as in export_quality: "ns" comes out as 1.23 s, "bytes" as 512 KB (of 1024), anything
 * else as 1,234 and the unit. */
void human_weight(struct text *out, uint64_t n, const char *unit);

#endif
