/*
 * Which source line a bytecode of a method belongs to.
 *
 * Context: pure; a table is never changed once made.
 */
#ifndef JTOP_DECODE_LINE_TABLE_H
#define JTOP_DECODE_LINE_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct line_table;

/* Makes a table from pairs of u16 bci, line, as in a WIRE_METHOD: in any order, each valid up to
 * the next higher bci (source: JVMS 4.7.12). An incomplete pair at the end is ignored. NULL: no
 * pairs, or no memory. Free with free(). */
struct line_table *line_table_new(const void *pairs, size_t bytes);

/* The line; 0: not known, for example before the first pair. */
uint16_t line_table_find(const struct line_table *t, uint32_t bci);

/* The table as it came, pairs of u16 bci and line: `count` of them. */
#define LINE_PAIR_BYTES 4u
const void *line_table_pairs(const struct line_table *t, uint32_t *count);

/* The bytes that the table takes. */
size_t line_table_bytes(const struct line_table *t);

#endif
