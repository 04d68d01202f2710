/*
 * The libraries and programs that a process has mapped, from /proc/PID/maps.
 *
 * Context: frontend only, any thread.
 */
#ifndef JTOP_ATTACH_PROC_PROCESS_LIBRARIES_H
#define JTOP_ATTACH_PROC_PROCESS_LIBRARIES_H

#include <stdint.h>
#include <sys/types.h>

#define PROCESS_LIBRARIES_MAX 1000 /* further ones are not reported */

/* Calls `tell` for each file with mapped code: its printable path as the process sees it, and where
 * its mappings begin and end. 0 or -errno. */
int process_libraries(pid_t pid,
                      void (*tell)(void *arg, const char *path, uint64_t begin, uint64_t end),
                      void *arg);

#endif
