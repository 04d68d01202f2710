/*
 * The libraries and programs that a process has mapped, from /proc/PID/maps.
 *
 * Context: frontend only, any thread.
 */
#ifndef JTOP_ATTACH_PROC_PROCESS_LIBRARIES_H
#define JTOP_ATTACH_PROC_PROCESS_LIBRARIES_H

#include <stdint.h>
#include <sys/types.h>

#define PROCESS_LIBRARIES_MAX 1000 /* more are not told of */

/* Tells of each file with code in it, as the process sees it: its printable path and where its
 * mappings begin and end. 0 or -errno. */
int process_libraries(pid_t pid,
                      void (*tell)(void *arg, const char *path, uint64_t begin, uint64_t end),
                      void *arg);

#endif
