/*
 * Files as a target process sees them, opened so that the target cannot play tricks on us: only
 * regular files are ever opened for reading (a FIFO would block, a device might do something), and
 * no symbolic link leads out of the target's root.
 *
 * The descriptors are taken once, at the start: they stay good after the process has ended, and
 * they never come to mean another process that got the same pid.
 *
 * Context: frontend only; one thread at a time per struct.
 */
#ifndef JTOP_SYMBOLS_ELF_TARGET_FILES_H
#define JTOP_SYMBOLS_ELF_TARGET_FILES_H

#include "core/base/err.h"
#include "symbols/elf/maps.h"

#include <stdbool.h>
#include <sys/types.h>

struct target_files {
    int proc;        /* /proc/PID */
    int root;        /* /proc/PID/root; -1 where that is denied */
    int own_root;    /* ours */
    bool same_mount; /* the process is in our mount namespace */
};

/* -ESRCH, -EACCES (message says what to try), -EMFILE, … */
int target_files_open(pid_t pid, struct target_files *t, struct err *e);
void target_files_close(struct target_files *t);

/* A regular file below the directory `root`, for reading; `path` is absolute or relative, and
 * links in it are taken to mean that root too. A descriptor, or -errno (-EINVAL: not a regular
 * file). */
int target_files_open_below(int root, const char *path);

/* The very file that is mapped: device and inode are checked. A descriptor, or -errno; -ESTALE
 * where the path holds another file by now and the kernel would not hand out the mapped one. */
int target_files_open_mapping(const struct target_files *t, const struct mapping *m);

#endif
