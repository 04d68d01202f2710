#include "core/base/nearest.h"

#include <ctype.h>
#include <string.h>

int nearest_distance(const char *a, const char *b) {
    enum { MAX = 31 };
    int d[MAX + 1][MAX + 1];
    int la = (int)strnlen(a, MAX), lb = (int)strnlen(b, MAX);
    for (int i = 0; i <= la; i++)
        d[i][0] = 2 * i;
    for (int j = 0; j <= lb; j++)
        d[0][j] = 2 * j;
    for (int i = 1; i <= la; i++) {
        for (int j = 1; j <= lb; j++) {
            unsigned char x = (unsigned char)a[i - 1], y = (unsigned char)b[j - 1];
            int change = x == y ? 0 : tolower(x) == tolower(y) ? 1 : 2;
            int best = d[i - 1][j - 1] + change;
            if (d[i - 1][j] + 2 < best)
                best = d[i - 1][j] + 2;
            if (d[i][j - 1] + 2 < best)
                best = d[i][j - 1] + 2;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                d[i - 2][j - 2] + 2 < best)
                best = d[i - 2][j - 2] + 2;
            d[i][j] = best;
        }
    }
    return d[la][lb];
}
