/*
 * Where and of what a profile is taken, for whoever reads it elsewhere: lines of "key=value".
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
 * The JVM's command line has its flags, and what else was written there: keep recordings to
 * yourself where that is to be kept.
 *
 * Context: any thread. Reads /proc.
 */
#ifndef JTOP_RECORD_ENVIRONMENT_H
#define JTOP_RECORD_ENVIRONMENT_H

#include <stddef.h>
#include <sys/types.h>

#define ENVIRONMENT_SIZE 8192 /* of the whole text, NUL included; longer values are cut */

/* Returns the length of the text. What cannot be found out is left out. */
size_t environment_describe(pid_t pid, char *out, size_t size);

/* Copies lines that somebody else wrote: whole ones, no control characters. Returns the length. */
size_t environment_clean(char *out, size_t size, const void *in, size_t bytes);

#endif
