/*
 * Files with what was found out before, for later processes, in $XDG_CACHE_HOME/jtop-prof/FOLDER.
 *
 * No directory is made but below an existing cache or home directory of this user, and nothing is
 * kept in file systems that other hosts share. A file is used
 * only if it and its directory belong to this user and nobody else may write to them; the caller
 * checks what is in it nevertheless. There is no error: without a cache, the work is done again.
 *
 * Context: frontend only, any thread while no thread changes the environment.
 */
#ifndef JTOP_BASE_CACHE_FILE_H
#define JTOP_BASE_CACHE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

struct cache_map {
    void *data; /* read-only */
    size_t bytes;
};

/* Maps a whole file. Pages of it are shared with others who use it. It does not become shorter: it
 * is only replaced as a whole. False: there is none that can be trusted. */
bool cache_file_map(const char *folder, const char *name, struct cache_map *out);
void cache_file_unmap(struct cache_map *m);

/* Writes a file, or replaces it. All files of a folder have names that begin with `prefix`; the
 * oldest ones above `most` are removed. */
void cache_file_store(const char *folder, const char *prefix, const char *name,
                      const struct iovec *piece, int pieces, int most);

#endif
