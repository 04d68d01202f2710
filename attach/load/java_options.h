/*
 * The options of a JVM that decide whether, and how well, it can be profiled. They are read from
 * its command line, from the @files named there, and from the variables that the launcher and the
 * VM take options from. Options that were changed later (jcmd VM.set_flag) are not visible.
 * source: arguments.cpp (order: JAVA_TOOL_OPTIONS, command line, _JAVA_OPTIONS), java.c and args.c
 * of the launcher (JDK_JAVA_OPTIONS, @files), JDK 8-28
 *
 * Context: frontend only, any thread.
 */
#ifndef JTOP_ATTACH_LOAD_JAVA_OPTIONS_H
#define JTOP_ATTACH_LOAD_JAVA_OPTIONS_H

#include "attach/find/jvm.h"

enum java_option {
    JAVA_DISABLE_ATTACH,
    JAVA_DYNAMIC_AGENTS,
    JAVA_FEW_SIGNALS, /* ReduceSignalUsage; also -Xrs */
    JAVA_START_LISTENER,
    JAVA_DEBUG_INFO,
    JAVA_PERF_DATA,
    JAVA_PERF_PRIVATE,
    JAVA_STACK_DEPTH, /* MaxJavaStackTraceDepth: -1 if it is given and not above 0 */
    JAVA_OPTIONS_COUNT
};

struct java_options {
    struct {
        int said;           /* 1: on; -1: off; 0: not given */
        const char *source; /* where: "its command line", "JAVA_TOOL_OPTIONS", "an @file";
                               constant */
    } option[JAVA_OPTIONS_COUNT];
    int error;          /* errno of a part that could not be read; 0: all parts were read */
    const char *unread; /* the unread part: "/proc/PID/cmdline"; a constant */
};

/* Adds the options in a text; they override those added before. NULs, blanks, newlines and quotes
 * separate words. */
void java_options_scan(struct java_options *o, const char *source, const char *text, size_t len);

/* `files`: reads the @files too, in a child that runs as the JVM's user (some milliseconds). */
void java_options_read(const struct jvm *j, bool files, struct java_options *out);

#endif
