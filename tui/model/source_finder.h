/*
 * Where the source of a class is: in the directories and archives a person named, else in the
 * src.zip of the JVM's own JDK. In a directory or archive, below a root or a usual place under one
 * ("src/main/java"), a module's name in between included, as "pkg/Outer" with .java, .kt, .scala or
 * .groovy; else in any file of the package's directory that declares the class.
 *
 * Looking costs as much as reading a directory or an archive's list of entries: what was found
 * last is kept, and what was not found too.
 *
 * Archives and files may be anybody's: sizes and numbers are bounded, only regular files are
 * opened, and those of the JVM's JDK only below its own root.
 *
 * Context: frontend main thread.
 */
#ifndef JTOP_TUI_MODEL_SOURCE_FINDER_H
#define JTOP_TUI_MODEL_SOURCE_FINDER_H

#include "tui/model/source_file.h"

#include <sys/types.h>

struct source_finder;

/* NULL: no memory. free(NULL) is fine. */
struct source_finder *source_finder_new(void);
void source_finder_free(struct source_finder *f);

/* The file with the class (internal form, "java/lang/Thread"); NULL: there is none. It lives until
 * the next call. `path` has ':' between directories and archives, "" for none; `pid` 0: no JVM, so
 * only those. */
const struct source_file *source_finder_find(struct source_finder *f, const char *path, pid_t pid,
                                             const char *class_name);

#endif
