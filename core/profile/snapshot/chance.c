#include "core/profile/snapshot/chance.h"

#include <math.h>
#include <stdlib.h>

#define EXPECTED_MIN 5 /* of each kind; with less, the normal distribution does not fit */

static double log_choose(double n, double k) {
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
}

/* Fisher's exact test, two-sided: sums all outcomes that are no more likely than the observed
 * one. */
static double exact(uint64_t a, uint64_t n, uint64_t b, uint64_t m) {
    uint64_t k = a + b;
    double whole = log_choose((double)n + (double)m, (double)k), sum = 0;
    double found = log_choose((double)n, (double)a) + log_choose((double)m, (double)b) - whole;
    for (uint64_t x = k > m ? k - m : 0; x <= k && x <= n; x++) {
        double likely =
            log_choose((double)n, (double)x) + log_choose((double)m, (double)(k - x)) - whole;
        if (likely <= found + 1e-7)
            sum += exp(likely);
    }
    return fmin(sum, 1);
}

double chance_of(uint64_t a, uint64_t of_a, uint64_t b, uint64_t of_b) {
    if (of_a == 0 || of_b == 0 || a > of_a || b > of_b || a + b < CHANCE_SAMPLES)
        return 1;
    double n = (double)of_a, m = (double)of_b, step = fabs((double)a / n - (double)b / m);
    double both = ((double)a + (double)b) / (n + m);
    if (fmin(n, m) * fmin(both, 1 - both) < EXPECTED_MIN)
        return both > 0 && both < 1 ? exact(a, of_a, b, of_b) : 1;
    double variance = both * (1 - both) * (1 / n + 1 / m);
    step -= (1 / n + 1 / m) / 2;
    if (step <= 0 || variance <= 0)
        return 1;
    return erfc(step / sqrt(2 * variance));
}

static int by_chance(const void *a, const void *b) {
    const double *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

double chance_limit(double *chance, uint32_t count) {
    if (count > 1)
        qsort(chance, count, sizeof *chance, by_chance);
    for (uint32_t k = count; k > 0; k--)
        if (chance[k - 1] <= CHANCE_FALSE * k / count)
            return chance[k - 1];
    return -1;
}
