/*
 * The value that a -XX flag was given when the JVM was started: on its command line, or in the
 * environment variables from which the JVM or its launcher takes options. Flags in files
 * (@argfiles, -XX:Flags, .hotspotrc, -XX:VMOptionsFile) are not seen.
 *
 * Context: frontend only, any thread; allocates.
 */
#ifndef JTOP_ATTACH_LOAD_JVM_FLAG_H
#define JTOP_ATTACH_LOAD_JVM_FLAG_H

#include "attach/find/jvm.h"

/* 1: -XX:+FLAG, -1: -XX:-FLAG, the later one overrides; 0: not given, or not readable. */
int jvm_flag(const struct jvm *j, const char *flag);

#endif
