/*
 * Chooses the versions of C library functions that the agent needs, so that one library is loaded
 * by glibc 2.17 and later and by musl, wherever it was built. Otherwise a build against a new glibc
 * would require new versions of functions that have not changed, and functions that the other
 * libraries lack.
 *
 * The Makefile includes this file before every other file of the agent. test/lint/agent reports
 * symbols and versions that are too new or missing in musl. The remedy is a line here, or a system
 * call.
 *
 * Before glibc 2.34, dl* and some pthread_* functions were in libraries of their own. A JVM has
 * these loaded.
 */
#ifndef JTOP_AGENT_LIBC_H
#define JTOP_AGENT_LIBC_H

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* On the supported architectures, both libraries use the kernel's struct stat. */
static inline int libc_fstat(int fd, struct stat *to) {
    return (int)syscall(SYS_fstat, fd, to);
}
static inline int libc_stat(const char *path, struct stat *to) {
    return (int)syscall(SYS_newfstatat, AT_FDCWD, path, to, 0);
}
static inline int libc_memfd_create(const char *name, unsigned flags) {
    return (int)syscall(SYS_memfd_create, name, flags);
}
#define fstat(fd, to) libc_fstat(fd, to)
#define stat(path, to) libc_stat(path, to)
#define memfd_create(name, flags) libc_memfd_create(name, flags)

#ifdef __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define LIBC_AS_IT_IS /* a sanitizer replaces functions by their plain names */
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LIBC_AS_IT_IS
#endif

#if defined(__GLIBC__) && !defined(LIBC_AS_IT_IS)
#if defined(__x86_64__)
#define LIBC_FIRST "GLIBC_2.2.5"
#define LIBC_SETNAME "GLIBC_2.12"
#elif defined(__aarch64__)
#define LIBC_FIRST "GLIBC_2.17"
#define LIBC_SETNAME LIBC_FIRST
#endif
#endif

#ifdef LIBC_FIRST
#define LIBC_VERSION(name, version) __asm__(".symver " #name "," #name "@" version)
LIBC_VERSION(dladdr, LIBC_FIRST);
LIBC_VERSION(dlclose, LIBC_FIRST);
LIBC_VERSION(dlopen, LIBC_FIRST);
LIBC_VERSION(dlsym, LIBC_FIRST);
LIBC_VERSION(pthread_attr_setstacksize, LIBC_FIRST);
LIBC_VERSION(pthread_create, LIBC_FIRST);
LIBC_VERSION(pthread_detach, LIBC_FIRST);
LIBC_VERSION(pthread_getspecific, LIBC_FIRST);
LIBC_VERSION(pthread_join, LIBC_FIRST);
LIBC_VERSION(pthread_key_create, LIBC_FIRST);
LIBC_VERSION(pthread_kill, LIBC_FIRST);
LIBC_VERSION(pthread_mutex_trylock, LIBC_FIRST);
LIBC_VERSION(pthread_once, LIBC_FIRST);
LIBC_VERSION(pthread_rwlock_rdlock, LIBC_FIRST);
LIBC_VERSION(pthread_rwlock_tryrdlock, LIBC_FIRST);
LIBC_VERSION(pthread_rwlock_trywrlock, LIBC_FIRST);
LIBC_VERSION(pthread_rwlock_wrlock, LIBC_FIRST);
LIBC_VERSION(pthread_setname_np, LIBC_SETNAME);
LIBC_VERSION(pthread_setspecific, LIBC_FIRST);
LIBC_VERSION(pthread_sigmask, LIBC_FIRST);
/* The headers of glibc 2.38 and later redirect these functions to other symbols. */
#if __GLIBC_PREREQ(2, 38)
#define LIBC_RENAMED(new, name, version) __asm__(".symver " #new "," #name "@" version)
LIBC_RENAMED(__isoc23_strtol, strtol, LIBC_FIRST);
LIBC_RENAMED(__isoc23_strtoul, strtoul, LIBC_FIRST);
LIBC_RENAMED(__isoc23_strtoll, strtoll, LIBC_FIRST);
LIBC_RENAMED(__isoc23_strtoull, strtoull, LIBC_FIRST);
#if defined(__x86_64__)
LIBC_RENAMED(__isoc23_sscanf, __isoc99_sscanf, "GLIBC_2.7");
#else
LIBC_RENAMED(__isoc23_sscanf, __isoc99_sscanf, LIBC_FIRST);
#endif
#endif
#endif

#endif
