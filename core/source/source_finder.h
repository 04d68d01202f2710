/*
 * Files:
 *   archive_list    length of an archive's list of entries, before it is read
 *   line_rows       rows of a method's lines: those with samples, context and folds
 *   source_archive  access to zip archives of sources; libzip is loaded when it is needed
 *   source_file     text of a source file by lines, safe for the screen
 *   source_finder   search for a class's source file in folders, archives and the JDK
 *
 * Finds the source of a class: in the directories and archives that the user named, otherwise in
 * the src.zip of the JVM's own JDK. In a directory or archive, the file is searched below the root
 * or a usual place below it ("src/main/java"), also with a module's name in between. Its name is
 * "pkg/Outer" with .java, .kt, .scala or .groovy; otherwise it is any file in the package's
 * directory that declares the class.
 *
 * A search costs as much as reading a directory or an archive's list of entries. So the last
 * results are kept, including those without a file.
 *
 * Archives and files may come from any user. Sizes and numbers are limited, and only regular files
 * are opened. Those of the JVM's JDK are opened only below the JVM's own root directory.
 *
 * Context: any thread, one at a time.
 */
#ifndef JTOP_SOURCE_SOURCE_FINDER_H
#define JTOP_SOURCE_SOURCE_FINDER_H

#include "core/source/source_file.h"

#include <sys/types.h>

struct source_finder;

/* NULL: no memory. source_finder_free accepts NULL. */
struct source_finder *source_finder_new(void);
void source_finder_free(struct source_finder *f);

/* Finds the file with the class (internal form, "java/lang/Thread"); NULL: none. The result lives
 * until the next call. `path` lists directories and archives with ':' between them, "" for none.
 * `pid` 0: no JVM, so only `path` is searched. */
const struct source_file *source_finder_find(struct source_finder *f, const char *path, pid_t pid,
                                             const char *class_name);

#endif
