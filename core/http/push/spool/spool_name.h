/*
 * Names of the files of a spool: their order is the order of the messages.
 *
 *      01795312345123456789-00000042.profile      time of day in ns, number
 *
 * Context: pure, any thread.
 */
#ifndef JTOP_HTTP_PUSH_SPOOL_SPOOL_NAME_H
#define JTOP_HTTP_PUSH_SPOOL_SPOOL_NAME_H

#include <stdint.h>

#define SPOOL_NAME_SIZE 40

struct spool_name {
    uint64_t time_ns;
    uint32_t number;
};

void spool_name_format(struct spool_name n, char out[SPOOL_NAME_SIZE]);
/* 0; -EINVAL: not a name that spool_name_format writes. */
int spool_name_parse(const char *text, struct spool_name *out);
int spool_name_compare(struct spool_name a, struct spool_name b);
/* A name that comes after `last`, even if the clock was set back. */
struct spool_name spool_name_after(struct spool_name last, uint64_t now_ns);

#endif
