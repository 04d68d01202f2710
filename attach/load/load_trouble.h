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
    LOAD_NEEDS,       /* a library that it needs is missing */
    LOAD_MACHINE,     /* built for another machine, or word width */
    LOAD_NOEXEC,      /* where it lies, nothing may be executed */
    LOAD_DENIED,      /* the JVM's user may not read it */
    LOAD_OLD_LIBC,    /* the JVM's C library is older than it needs, or another one */
    LOAD_NOT_LIBRARY, /* the file is no shared library */
    LOAD_NOT_AGENT,   /* it is, but has no Agent_OnAttach */
};

/* What the JVM's text about `library` means. */
enum load_kind load_kind(const char *text, const char *library);

/* Nothing is tried where it is known before: -EOPNOTSUPP for -XX:-EnableDynamicAgentLoading, and
 * -ENOEXEC for a 32-bit process. 0 otherwise. */
int load_check(const struct jvm *j, const char *library, struct err *e);

/* `text`: the JVM's words, one printable line; "" where it has none (JDK 8): then the file is looked
 * at as the JVM would. Returns -EPROTO, or -EOPNOTSUPP for LOAD_DISABLED, with the message. */
int load_trouble(const struct jvm *j, const char *library, const char *text, struct err *e);

#endif
