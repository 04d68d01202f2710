/*
 * Access to the archives that contain sources, through libzip. The library is loaded when the first
 * archive is opened: it needs a cryptographic library, whose loading takes as long as everything
 * else at the start of a command. Where libzip is not installed, and in a statically linked program
 * (JTOP_STATIC; distributions provide libzip as a shared library only), no archive can be opened.
 *
 * Context: any thread, one at a time.
 */
#ifndef JTOP_SOURCE_SOURCE_ARCHIVE_H
#define JTOP_SOURCE_SOURCE_ARCHIVE_H

#include <stdint.h>

struct source_archive;

/* Takes over the descriptor if it succeeds. NULL: it is no archive, or there is no libzip. */
struct source_archive *source_archive_open(int fd);
/* The name of the library that an archive needed and that is not installed; NULL: none. */
const char *source_archive_missing(void);
/* NULL is fine. */
void source_archive_close(struct source_archive *a);

int64_t source_archive_entries(struct source_archive *a);

/* Any bytes, as they are in the archive, or NULL. Valid until the archive is closed. */
const char *source_archive_name(struct source_archive *a, int64_t entry);

/* The length of an entry's content in bytes, as the archive states it; -1: it does not. */
int64_t source_archive_size(struct source_archive *a, int64_t entry);

/* Reads at most `bytes` of an entry's content. The number of bytes, or -1. */
int64_t source_archive_read(struct source_archive *a, int64_t entry, void *to, uint64_t bytes);

#endif
