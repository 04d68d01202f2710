/*
 * What to do where a process may not be inspected: which right is missing.
 *
 * Context: any thread; neither allocates nor locks.
 */
#ifndef JTOP_ATTACH_FIND_NO_ACCESS_H
#define JTOP_ATTACH_FIND_NO_ACCESS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define NO_ACCESS_REMEDY 192 /* bytes */

/* `uid`, `capabilities`: effective ones of this process. `jvm_uid`, `jvm_gid`: those of the process
 * that may not be inspected. Returns out, NO_ACCESS_REMEDY bytes. */
const char *no_access_remedy(uid_t uid, uint64_t capabilities, uid_t jvm_uid, gid_t jvm_gid,
                             char *out);

#endif
