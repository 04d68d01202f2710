/*
 * The picker's table: its columns, as many as fit, its sort order, and its rows.
 *
 * Context: frontend main thread.
 */
#ifndef JTOP_TUI_SCREEN_PICKER_TABLE_H
#define JTOP_TUI_SCREEN_PICKER_TABLE_H

#include "attach/find/container.h"
#include "attach/find/jvm.h"
#include "tui/terminal/canvas.h"

#include <stdbool.h>

struct picker_row {
    struct jvm jvm;
    char container[CONTAINER_NAME]; /* "": not in a container */
    const char *cannot;             /* word for why it cannot be attached; NULL: it can */
    char why[512];                  /* the same as a sentence */
    int recent;                     /* place among recent JVMs, 0: newest; -1: not recent */
    bool open;                      /* open in a tab */
    uint64_t check_due_ns;          /* monotonic; when to check again whether it can be attached */
};

enum picker_column {
    PICKER_NO_COLUMN = -1, /* recently viewed ones first, then by pid */
    PICKER_PID = 0,
    PICKER_USER,
    PICKER_UP,
    PICKER_CPU,
    PICKER_RSS,
    PICKER_HEAP,
    PICKER_THREADS,
    PICKER_VERSION,
    PICKER_CONTAINER,
    PICKER_NAME,
    PICKER_COLUMNS
};

struct picker_layout {
    int at[PICKER_COLUMNS], cols[PICKER_COLUMNS]; /* cols 0: no room for it */
};

/* `containers`: some JVM is in a container. */
void picker_layout(struct picker_layout *l, int cols, bool containers);
/* Returns the column whose head is there; PICKER_NO_COLUMN: none. */
enum picker_column picker_column_at(const struct picker_layout *l, int col);
const char *picker_column_name(enum picker_column column);
/* True if the column is sorted in descending order at first: numbers and versions, but not pids and
 * other texts. */
bool picker_falls(enum picker_column column);

/* < 0: `a` comes before `b`; 0 only for the same row. */
int picker_compare(const struct picker_row *a, const struct picker_row *b,
                   enum picker_column column, bool falls);

void picker_draw_heads(struct canvas *c, int y, const struct picker_layout *l,
                       enum picker_column sorted, bool falls);
void picker_draw_row(struct canvas *c, int y, const struct picker_layout *l,
                     const struct picker_row *r);

#endif
