/*
 * How each method changed between two profiles, and which changes are more than chance.
 *
 * Shares of the whole are compared. Whether chance can explain a change depends on the number of
 * samples: two proportions are compared by the normal distribution, with correction for continuity.
 * Among many methods some always look changed. So Benjamini and Hochberg's procedure is used, which
 * keeps the expected share of wrong ones among all marked methods below COMPARE_FALSE.
 *
 * Context: pure.
 */
#ifndef JTOP_TUI_CLI_COMPARE_COMPARE_ROWS_H
#define JTOP_TUI_CLI_COMPARE_COMPARE_ROWS_H

#include "core/profile/snapshot/snapshot.h"

#include <stdbool.h>

#define COMPARE_FALSE 0.01

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

/* Returns the probability that two samples of one population differ at least this much. */
double compare_chance(uint64_t a, uint64_t of_a, uint64_t b, uint64_t of_b);

#endif
