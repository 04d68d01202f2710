/*
 * What a JVM was told of a -XX flag when it was started: on its command line and in the variables
 * of its environment that it, or its launcher, takes options from. Flags in files (@argfiles,
 * -XX:Flags, .hotspotrc, -XX:VMOptionsFile) are not seen.
 *
 * Context: frontend only, any thread; allocates.
 */
#ifndef JTOP_ATTACH_LOAD_JVM_FLAG_H
#define JTOP_ATTACH_LOAD_JVM_FLAG_H

#include "attach/find/jvm.h"

/* 1: -XX:+FLAG, -1: -XX:-FLAG, the later overriding the earlier; 0: not told, or not to be seen. */
int jvm_flag(const struct jvm *j, const char *flag);

#endif
