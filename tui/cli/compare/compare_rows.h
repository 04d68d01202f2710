/*
 * How each method changed between two profiles, and which changes are more than chance.
 *
 * Shares of the whole are compared. Whether chance would do is a matter of samples: two proportions
 * by the normal distribution, with the correction for continuity; and as among many methods some
 * always look changed, by Benjamini and Hochberg's procedure, which keeps the expected part of the
 * wrong ones among all marked below COMPARE_FALSE.
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
    uint64_t weight[2], samples[2]; /* self, of A and of B */
    double share[2];                /* of all weight */
    double chance;                  /* that chance alone makes such a difference */
    bool changed;                   /* marked */
};

struct compare_rows {
    struct compare_row *row; /* by how much the share changed, descending; then by method */
    uint32_t count, changed;
};

/* Of snapshots of one profile. Only methods with self in one of them. `counted`: their samples are
 * counts; else nothing is marked, for weights say nothing of chance. 0 or -ENOMEM. */
int compare_rows_make(const struct snapshot *a, const struct snapshot *b, bool counted,
                      struct compare_rows *out);
void compare_rows_free(struct compare_rows *r);

/* How likely it is that two samples of one population differ by at least so much. */
double compare_chance(uint64_t a, uint64_t of_a, uint64_t b, uint64_t of_b);

#endif
