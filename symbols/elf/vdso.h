/*
 * The vdso: code that the kernel maps into every process (clock_gettime and such) and that is in no
 * file.
 *
 * Context: frontend only, any thread.
 */
#ifndef JTOP_SYMBOLS_ELF_VDSO_H
#define JTOP_SYMBOLS_ELF_VDSO_H

#include "symbols/elf/elf_symbols.h"
#include "symbols/elf/maps.h"

/* Copies the target's image through "mem" below /proc/PID. If that is denied or the process has
 * ended, copies ours, if it is as large: the kernel has one image for all processes of a kind. The
 * caller frees the copy with free(). 0, or -EFBIG, -ENOMEM, -errno. */
int vdso_copy(int proc_fd, const struct mapping *m, void **data, size_t *size);

/* Reads its symbols. 0 or an error as above or as elf_symbols_read(). */
int vdso_read(int proc_fd, const struct mapping *m, struct elf_symbols **out);

#endif
