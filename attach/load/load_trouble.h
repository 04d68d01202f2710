/*
 * Why a JVM does not load an agent library, and what to do about it.
 * source: os_linux.cpp (os::dll_load), jvmtiAgent.cpp / attachListener.cpp, JDK 8-28, for the JVM's
 * own words; the C library's dlerror texts, glibc and musl
 *
 * Context: frontend only, any thread; load_trouble may start a child for a moment (errand.h).
 */
#ifndef JTOP_ATTACH_LOAD_LOAD_TROUBLE_H
#define JTOP_ATTACH_LOAD_LOAD_TROUBLE_H

#include "attach/find/jvm.h"

enum load_kind {
    LOAD_UNKNOWN,
    LOAD_DISABLED,    /* -XX:-EnableDynamicAgentLoading */
    LOAD_MISSING,     /* the JVM sees no such file */
    LOAD_NEEDS,       /* a library that it requires is missing */
    LOAD_MACHINE,     /* built for another machine or word width */
    LOAD_NOEXEC,      /* nothing may be executed in its directory */
    LOAD_DENIED,      /* the JVM's user may not read it */
    LOAD_OLD_LIBC,    /* the JVM's C library is older than it requires, or a different one */
    LOAD_NOT_LIBRARY, /* the file is not a shared library */
    LOAD_NOT_AGENT,   /* a shared library, but without Agent_OnAttach */
};

/* The kind of problem that the JVM's text about `library` means. */
enum load_kind load_kind(const char *text, const char *library);

/* Checks what is known before loading: -EOPNOTSUPP for -XX:-EnableDynamicAgentLoading, -ENOEXEC for
 * a 32-bit process. 0 otherwise. */
int load_check(const struct jvm *j, const char *library, struct err *e);

/* Writes the message about a library that was not loaded. `text`: the JVM's words, one printable
 * line; if it is "" (JDK 8), the file is examined as the JVM sees it. Returns -EPROTO, or
 * -EOPNOTSUPP for LOAD_DISABLED. */
int load_trouble(const struct jvm *j, const char *library, const char *text, struct err *e);

#endif
