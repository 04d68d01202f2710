/*
 * The vdso: code the kernel maps into every process (clock_gettime and such), in no file.
 *
 * Context: frontend only, any thread.
 */
#ifndef JTOP_SYMBOLS_VDSO_H
#define JTOP_SYMBOLS_VDSO_H

#include "symbols/elf_symbols.h"
#include "symbols/maps.h"

/* Reads the target's through "mem" below /proc/PID; where that is denied or the process is gone,
 * ours, if it is as large: the kernel has one image for all processes of a kind.
 * 0 or an error as elf_symbols_read(). */
int vdso_read(int proc_fd, const struct mapping *m, struct elf_symbols **out);

#endif
