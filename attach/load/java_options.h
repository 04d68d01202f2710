/*
 * What a JVM was told by its options that decides whether, and how well, it can be profiled: its
 * command line with the @files in it, and the variables that the launcher and the VM take options
 * from. What it was told later (jcmd VM.set_flag) does not show.
 * source: arguments.cpp (order: JAVA_TOOL_OPTIONS, command line, _JAVA_OPTIONS), java.c and args.c of
 * the launcher (JDK_JAVA_OPTIONS, @files), JDK 8-28
 *
 * Context: frontend only, any thread.
 */
#ifndef JTOP_ATTACH_LOAD_JAVA_OPTIONS_H
#define JTOP_ATTACH_LOAD_JAVA_OPTIONS_H

#include "attach/find/jvm.h"

enum java_option {
    JAVA_DISABLE_ATTACH,
    JAVA_DYNAMIC_AGENTS,
    JAVA_FEW_SIGNALS, /* -Xrs too */
    JAVA_START_LISTENER,
    JAVA_DEBUG_INFO,
    JAVA_PERF_DATA,
    JAVA_PERF_PRIVATE,
    JAVA_STACK_DEPTH, /* MaxJavaStackTraceDepth: -1 where it is given and not above 0 */
    JAVA_OPTIONS_COUNT
};

struct java_options {
    struct {
        int said;           /* 1: on; -1: off; 0: not said */
        const char *source; /* "its command line", "JAVA_TOOL_OPTIONS", "an @file"; a constant */
    } option[JAVA_OPTIONS_COUNT];
    int error;          /* errno of what of it could not be read; 0: all was */
    const char *unread; /* which that is: "/proc/PID/cmdline"; a constant */
};

/* Adds what a text of options says, over what was said before; words are separated by NULs, spaces
 * or quotes. */
void java_options_scan(struct java_options *o, const char *source, const char *text, size_t len);

/* `files`: look into the @files as well, in a child as the JVM's user (some milliseconds). */
void java_options_read(const struct jvm *j, bool files, struct java_options *out);

#endif
