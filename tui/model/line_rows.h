/*
 * The rows of the lines view: a method's lines with samples, and, where there is a source, the
 * lines around each; what is further away is a fold, a row that says how many lines it hides.
 *
 * Context: pure.
 */
#ifndef JTOP_TUI_MODEL_LINE_ROWS_H
#define JTOP_TUI_MODEL_LINE_ROWS_H

#include "core/profile/snapshot/snapshot.h"

#include <stdbool.h>
#include <stdint.h>

#define LINE_OPEN_MAX 32
#define LINE_ROW_NONE UINT32_MAX

struct line_row {
    uint32_t line;   /* of the file; 0: samples of which no line is known */
    uint32_t hidden; /* so many lines from that one on; 0: it is no fold */
    uint32_t at;     /* in snapshot.lines; LINE_ROW_NONE: no samples */
};

struct line_rows {
    struct line_row *row;
    uint32_t count;
    /* inner state */
    uint32_t capacity;
    struct line_range {
        uint32_t from, to; /* opened, inclusive */
    } open[LINE_OPEN_MAX];
    uint32_t opened;
};

/* Makes the rows of these lines, sorted as a snapshot's, of a source with `source_lines` (0: there
 * is none), and `context` lines before and after each. Without memory for all, those that fit are
 * there. */
void line_rows_build(struct line_rows *r, const struct snapshot_line *line, uint32_t lines,
                     uint32_t source_lines, uint32_t context);
void line_rows_free(struct line_rows *r);

/* A fold shows its lines from the next build on; one of LINE_OPEN_MAX closes for it. */
void line_rows_open(struct line_rows *r, uint32_t row);
/* All folds are closed again: another method. */
void line_rows_close_all(struct line_rows *r);

#endif
