#include "core/http/push/spool/spool_name.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIME_DIGITS 20
#define NUMBER_DIGITS 8
#define NUMBER_MAX 99999999u

void spool_name_format(struct spool_name n, char out[SPOOL_NAME_SIZE]) {
    snprintf(out, SPOOL_NAME_SIZE, "%020llu-%08u.profile", (unsigned long long)n.time_ns,
             n.number <= NUMBER_MAX ? n.number : NUMBER_MAX);
}

int spool_name_parse(const char *text, struct spool_name *out) {
    static const char digits[] = "0123456789";
    if (strspn(text, digits) != TIME_DIGITS || text[TIME_DIGITS] != '-')
        return -EINVAL;
    const char *number = text + TIME_DIGITS + 1;
    if (strspn(number, digits) != NUMBER_DIGITS || strcmp(number + NUMBER_DIGITS, ".profile") != 0)
        return -EINVAL;
    errno = 0;
    out->time_ns = strtoull(text, NULL, 10);
    out->number = (uint32_t)strtoul(number, NULL, 10);
    char again[SPOOL_NAME_SIZE];
    spool_name_format(*out, again);
    bool future = out->time_ns > INT64_MAX; /* leaves room for names after it */
    return errno || future || strcmp(again, text) != 0 ? -EINVAL : 0;
}

int spool_name_compare(struct spool_name a, struct spool_name b) {
    if (a.time_ns != b.time_ns)
        return a.time_ns < b.time_ns ? -1 : 1;
    return (a.number > b.number) - (a.number < b.number);
}

struct spool_name spool_name_after(struct spool_name last, uint64_t now_ns) {
    if (now_ns > last.time_ns)
        return (struct spool_name){now_ns, 0};
    if (last.number < NUMBER_MAX)
        return (struct spool_name){last.time_ns, last.number + 1};
    return (struct spool_name){last.time_ns + 1, 0};
}
