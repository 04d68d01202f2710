/*
 * Describes where a profile is taken and of which program, for people who read it on another
 * machine: lines of "key=value".
 *
 *      host=build-7
 *      kernel=6.1.0-18-amd64 x86_64
 *      processors=2
 *      time=2026-11-22T09:00:00Z
 *      profiler=jtop-prof 0.1.0
 *      profiler.command=jtop-prof -d 30 --record x.jtop 1234
 *      command=java -Xmx1g -jar shop.jar
 *      JAVA_TOOL_OPTIONS=-XX:+UseSerialGC
 *
 * The JVM's command line contains its flags and everything else that was written there. If that
 * must stay secret, do not pass recordings on.
 *
 * Context: any thread. Reads /proc.
 */
#ifndef JTOP_RECORD_ENVIRONMENT_H
#define JTOP_RECORD_ENVIRONMENT_H

#include <stddef.h>
#include <sys/types.h>

#define ENVIRONMENT_SIZE 8192 /* size of the whole text, NUL included; longer values are cut */

/* Returns the length of the text. Values that cannot be found out are left out. */
size_t environment_describe(pid_t pid, char *out, size_t size);

/* Copies lines that another process wrote: only whole lines, without control characters. Returns
 * the length. */
size_t environment_clean(char *out, size_t size, const void *in, size_t bytes);

#endif
