/*
 * Prints a method's name. The forms are those of async-profiler (COMING FROM ASYNC-PROFILER):
 *
 *   collapsed, svg, html   java/lang/Thread.run      do_syscall_64_[k]   java.lang.String[]_[i]
 *   text, screen           java.lang.Thread.run      do_syscall_64_[k]
 *   simple (-s)            Thread.run
 *   signatures (-g)        java/lang/Thread.run()V   (text: java.lang.Thread.run(int, String))
 *   normalized (-n)        Main$$Lambda.run, $Proxy.f instead of Main$$Lambda$14/0x01.run, $Proxy3.f
 *
 * Context: pure, any thread.
 */
#ifndef JTOP_PROFILE_TABLE_FRAME_NAME_H
#define JTOP_PROFILE_TABLE_FRAME_NAME_H

#include "core/profile/table/method_table.h"

#include <stddef.h>

enum {
    NAME_DOTTED = 1,    /* java.lang.Thread.run instead of java/lang/Thread.run */
    NAME_SIMPLE = 2,    /* no package */
    NAME_SIGNATURE = 4, /* with the argument types */
    NAME_NORMALIZE = 8, /* no counters and addresses in names of generated classes */
    NAME_LIBRARY = 16,  /* native symbols as library`symbol */
    NAME_MARKS = 32,    /* kernel frames end in _[k], classes in _[i] */
};

/* Writes at most `size` bytes, NUL included, and returns the length without that limit. Characters
 * that must not be shown (core/base/utf8.h) become '?'. */
size_t frame_name(const struct method *m, unsigned style, char *out, size_t size);

#endif
