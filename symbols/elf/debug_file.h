/*
 * The separate debug file of a stripped library. It is searched by build-id or by .gnu_debuglink in
 * the places where gdb searches, in the target's root and then in ours.
 *
 * Context: frontend only; one thread at a time per struct.
 */
#ifndef JTOP_SYMBOLS_ELF_DEBUG_FILE_H
#define JTOP_SYMBOLS_ELF_DEBUG_FILE_H

#include "symbols/elf/elf_symbols.h"
#include "symbols/elf/target_files.h"

/* Adds the symbols of the debug file that belongs to `s`, which was read from `path` as the target
 * sees it. The build-id must be the same; if the file has none, the CRC must match. 0, or -ENOENT:
 * no file matches. */
int debug_file_add(const struct target_files *t, const char *path, struct elf_symbols *s);

/* The same, and returns the file as a descriptor, which the caller owns; or -ENOENT. */
int debug_file_open(const struct target_files *t, const char *path, struct elf_symbols *s);

#endif
