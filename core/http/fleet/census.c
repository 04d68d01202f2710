#include "core/http/fleet/census.h"

#include "core/base/hash.h"

#include <dirent.h>
#include <stdlib.h>

bool census_note(struct census *c, uint64_t sum, uint64_t count, uint64_t now_s) {
    bool same = c->due_s && sum == c->sum && count == c->count;
    if (!same)
        c->changed_s = now_s;
    c->sum = sum;
    c->count = count;
    if (same && now_s > c->changed_s + CENSUS_UNREST_S && now_s < c->due_s)
        return false;
    c->due_s = now_s + CENSUS_SELDOM_S;
    return true;
}

/* Mixes a pid, so that two processes that started and two that ended do not cancel out in the
 * sum. */
static uint64_t mixed(uint64_t n) {
    return hash_more(0, n);
}

bool census_due(struct census *c, uint64_t now_s) {
    uint64_t sum = 0, count = 0;
    DIR *dir = opendir("/proc");
    for (struct dirent *d; dir && (d = readdir(dir));)
        if (d->d_name[0] >= '1' && d->d_name[0] <= '9') {
            sum += mixed(strtoull(d->d_name, NULL, 10));
            count++;
        }
    if (dir)
        closedir(dir);
    return census_note(c, sum, count, now_s);
}
