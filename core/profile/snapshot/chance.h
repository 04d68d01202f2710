/*
 * Whether chance can explain that a share changed: two shares of independent samples are compared,
 * by the normal distribution with correction for continuity, or exactly where samples are few.
 * Among many rows some always look changed. So Benjamini and Hochberg's procedure is used, which
 * keeps the expected share of wrong ones among all marked rows below CHANCE_FALSE.
 *
 * Context: pure.
 */
#ifndef JTOP_PROFILE_SNAPSHOT_CHANCE_H
#define JTOP_PROFILE_SNAPSHOT_CHANCE_H

#include <stdint.h>

#define CHANCE_FALSE 0.01
#define CHANCE_SAMPLES 10 /* a row with fewer, both sides together, is never marked */

/* Returns the probability that two samples of one population differ at least this much: `a` of
 * `of_a`, and `b` of `of_b`. 1 if there are too few samples, or more than all. */
double chance_of(uint64_t a, uint64_t of_a, uint64_t b, uint64_t of_b);

/* Returns the limit for these probabilities of all rows: rows with at most this probability are
 * marked. < 0: none is. Sorts them. */
double chance_limit(double *chance, uint32_t count);

#endif
