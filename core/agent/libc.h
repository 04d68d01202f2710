/*
 * Which functions of the C library the agent means. One library is loaded by glibc from 2.17 on and
 * by musl, wherever it was built: a build against a new glibc would ask for the new versions of
 * functions that have not changed, and for functions that others lack.
 *
 * The Makefile includes this before everything else that goes into the agent. test/lint/agent says
 * which symbol or version is too new, or is not in musl; then a line here, or a system call, helps.
 *
 * Before 2.34 dl* and some of pthread_* were in libraries of their own: a JVM has these loaded.
 */
#ifndef JTOP_AGENT_LIBC_H
#define JTOP_AGENT_LIBC_H

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The kernel's struct stat is that of both libraries, on the architectures there are. */
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
#define LIBC_AS_IT_IS /* a sanitizer stands in for functions by their plain names */
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
/* From glibc 2.38 on its headers send these elsewhere. */
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
