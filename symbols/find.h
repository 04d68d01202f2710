/*
 * Finds symbols by name in all mapped files: the implementation of symbols_find().
 *
 * Context: frontend only; one thread at a time per struct.
 */
#ifndef JTOP_SYMBOLS_FIND_H
#define JTOP_SYMBOLS_FIND_H

#include "symbols/elf/target_files.h"
#include "symbols/symbols.h"

/* As symbols_find. */
int find_symbol(const struct target_files *files, const struct maps *maps, const char *library,
                const char *name, struct symbol_place *out);

/* As symbols_are_missing. */
bool find_stripped(const struct target_files *files, const struct maps *maps, const char *library,
                   char build_id[132], bool *replaced);

#endif
