/*
 * One message in a file. It is written and read without trusting what is in the directory.
 *
 *    0  "JTOPPUSH"   8  version 1   12 CRC-32 of all other bytes
 *   16  flags (1: the body is gzip)   20 lengths of protocol, path, query, type, subject (u32 each)
 *   40  from   48  to   56  length of the body (u64 each)
 *   64  protocol path query type subject body, without NULs between them
 *
 * Little endian; the file has exactly this length.
 *
 * Context: one thread at a time.
 */
#ifndef JTOP_HTTP_PUSH_SPOOL_SPOOL_FILE_H
#define JTOP_HTTP_PUSH_SPOOL_SPOOL_FILE_H

#include "core/http/push/protocol/protocol.h"

#include <stdint.h>

#define SPOOL_FILE_HEADER 64

/* The size that `m` has in a file. */
uint64_t spool_file_bytes(const char *protocol, const struct push_message *m);

/* Writes the message as `name` into the directory, as a whole or not at all: 0 or -errno. */
int spool_file_write(int dir, const char *name, const char *protocol, const struct push_message *m);

/* Reads a message; the caller owns *out (message.h). 0; -ENOENT: no such file; -ESTALE: another
 * version of the format, or another protocol; -EBADMSG: broken, or not our file; -ENOMEM; or
 * -errno. */
int spool_file_read(int dir, const char *name, const char *protocol, struct push_message **out);

/* The same from memory. */
int spool_file_parse(const void *data, size_t bytes, const char *protocol,
                     struct push_message **out);

#endif
