/*
 * How each method changed between two profiles, and which changes are more than chance: shares of
 * the whole are compared, as chance.h says.
 *
 * Context: pure.
 */
#ifndef JTOP_TUI_CLI_COMPARE_COMPARE_ROWS_H
#define JTOP_TUI_CLI_COMPARE_COMPARE_ROWS_H

#include "core/profile/snapshot/snapshot.h"

#include <stdbool.h>

struct compare_row {
    uint32_t method;
    uint64_t weight[2], samples[2]; /* self, in A and in B */
    double share[2];                /* of all weight */
    double chance;                  /* probability that chance alone makes such a difference */
    bool changed;                   /* the method is marked */
};

struct compare_rows {
    struct compare_row *row; /* by change of the share, descending; then by method */
    uint32_t count, changed;
};

/* Makes the rows of two snapshots of one profile; only methods with self in one of them. `counted`:
 * their samples are real counts. Otherwise no row is marked, because weights do not show what
 * chance can do. 0 or -ENOMEM. */
int compare_rows_make(const struct snapshot *a, const struct snapshot *b, bool counted,
                      struct compare_rows *out);
void compare_rows_free(struct compare_rows *r);

#endif
