/*
 * The rows of a method: its lines with samples and, if the source is available, the
 * lines around each. Lines further away are a fold: one row with the number of hidden lines.
 *
 * Context: pure.
 */
#ifndef JTOP_SOURCE_LINE_ROWS_H
#define JTOP_SOURCE_LINE_ROWS_H

#include "core/profile/snapshot/snapshot.h"

#include <stdbool.h>
#include <stdint.h>

#define LINE_OPEN_MAX 32
#define LINE_ROW_NONE UINT32_MAX

struct line_row {
    uint32_t line;   /* of the file; 0: samples whose line is not known */
    uint32_t hidden; /* number of lines hidden, from `line` on; 0: not a fold */
    uint32_t at;     /* index in snapshot.lines; LINE_ROW_NONE: no samples */
};

struct line_rows {
    struct line_row *row;
    uint32_t count;
    /* internal state */
    uint32_t capacity;
    struct line_range {
        uint32_t from, to; /* opened lines, inclusive */
    } open[LINE_OPEN_MAX];
    uint32_t opened;
};

/* Makes the rows of these lines, which are sorted as in a snapshot. The source has `source_lines`
 * lines (0: no source); `context` lines are shown before and after each line with samples. If there
 * is no memory for all rows, the first ones are there. */
void line_rows_build(struct line_rows *r, const struct snapshot_line *line, uint32_t lines,
                     uint32_t source_lines, uint32_t context);
void line_rows_free(struct line_rows *r);

/* Opens a fold: the next build shows its lines. If LINE_OPEN_MAX folds are open, the oldest
 * closes. */
void line_rows_open(struct line_rows *r, uint32_t row);
/* Closes all folds, for another method. */
void line_rows_close_all(struct line_rows *r);

#endif
