/*
 * The source text beside a method's lines, as JSON. Sources are found where the server was told to
 * look (serve_options.source_path), or in the src.zip of the JVM's own JDK. A request names a method;
 * the name of its class comes from the profile. Neither may name a file (source_file_base).
 *
 * A search may read many files, so there is one at a time, and its results are used for a while.
 *
 * Context: any thread.
 */
#ifndef JTOP_HTTP_SERVE_API_API_SOURCES_H
#define JTOP_HTTP_SERVE_API_API_SOURCES_H

#include "core/http/serve/api/json.h"
#include "core/profile/snapshot/snapshot.h"

#include <sys/types.h>

#define API_SOURCES_ROWS_MAX 1000u /* rows in an answer */
#define API_SOURCES_CONTEXT 4u     /* lines shown around one with samples */
#define API_SOURCES_CONTEXT_MAX 1000u

struct api_sources;

/* `path` as in source_finder_find; NULL: none. It lives as long as this. NULL: no memory. */
struct api_sources *api_sources_new(const char *path);
void api_sources_free(struct api_sources *s); /* NULL is fine */
/* Closes archives and forgets sources that were found a while ago. Call it now and then. NULL is fine. */
void api_sources_tidy(struct api_sources *s);

/* Writes the member "source". If it is null, "reason" follows: "not found", or "busy" if other
 * searches take too long or there is no memory. `class_name` "": not a Java method. `line` is sorted
 * as in a snapshot; `context` lines are shown around each, or fewer if these are too many rows. If
 * not even the lines themselves fit, only the hottest ones have rows, and the others are among the
 * hidden lines ("cut"). `pid` 0: the JVM is gone, so its JDK is not searched. */
void api_sources_write(struct json *j, struct api_sources *s, pid_t pid, const char *class_name,
                       const struct snapshot_line *line, uint32_t lines, uint32_t context);

#endif
