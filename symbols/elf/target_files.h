/*
 * Files as a target process sees them, opened so that the target cannot trick us: only regular
 * files are ever opened for reading (a FIFO would block, a device might have effects), and no
 * symbolic link leads out of the target's root.
 *
 * The descriptors are opened once, at the start: they stay valid after the process has ended, and
 * they never refer to another process that got the same pid.
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
    int root;        /* /proc/PID/root; -1 if that is denied */
    int own_root;    /* our own root */
    bool same_mount; /* the process is in our mount namespace */
};

/* -ESRCH, -EACCES (message says what to try), -EMFILE, … */
int target_files_open(pid_t pid, struct target_files *t, struct err *e);
void target_files_close(struct target_files *t);

/* Opens a regular file below the directory `root` for reading. `path` is absolute or relative;
 * links in it are resolved inside that root, too. Returns a descriptor, or -errno (-EINVAL: not a
 * regular file). */
int target_files_open_below(int root, const char *path);

/* Opens exactly the file that is mapped: device and inode are checked. Returns a descriptor, or
 * -errno; -ESTALE if another file is at the path now and the kernel does not give access to the
 * mapped one. */
int target_files_open_mapping(const struct target_files *t, const struct mapping *m);

#endif
