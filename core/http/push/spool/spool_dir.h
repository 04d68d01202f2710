/*
 * The directory of a spool.
 *
 * Context: one thread at a time.
 */
#ifndef JTOP_HTTP_PUSH_SPOOL_SPOOL_DIR_H
#define JTOP_HTTP_PUSH_SPOOL_SPOOL_DIR_H

#include "core/base/err.h"
#include "core/http/push/spool/spool_name.h"

#include <stdint.h>

/* Creates the directory if it is missing, checks that it is ours alone and writable, and locks it.
 * Returns a descriptor, and in *lock another one, which holds the lock; or -errno with a
 * message. */
int spool_dir_open(const char *path, int *lock, struct err *e);

struct spool_dir_file {
    struct spool_name name;
    uint64_t bytes;
};

/* Lists the messages in it, oldest first; the caller frees *out. Removes what a killed process was
 * just writing. 0 or -errno. */
int spool_dir_list(int dir, struct spool_dir_file **out, uint32_t *count);

#endif
