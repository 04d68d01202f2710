/*
 * How long a zip archive's list of entries is, read before libzip reads all of it: libzip keeps about
 * 300 bytes of memory for each entry, and an archive of a few megabytes can name millions of them.
 *
 * Source of the layout: PKWARE, APPNOTE.TXT 6.3.10, 4.3.14 to 4.3.16.
 *
 * Context: pure, any thread.
 */
#ifndef JTOP_SOURCE_ARCHIVE_LIST_H
#define JTOP_SOURCE_ARCHIVE_LIST_H

#include <stdbool.h>
#include <sys/types.h>

#define ARCHIVE_ENTRIES_MAX 200000u /* the JDK's own src.zip has about 15,000 */
#define ARCHIVE_LIST_BYTES_MAX (64u << 20)

/* Whether every list that the file's end declares is within these limits. `size` is the file's. False
 * also if the end cannot be read. A file without any such list is no archive: true. */
bool archive_list_is_short(int fd, off_t size);

#endif
