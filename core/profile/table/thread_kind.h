/*
 * What a thread works for: the application, or the VM. HotSpot's own threads have names of
 * their own, which have not changed for years.
 *
 * Context: pure.
 */
#ifndef JTOP_PROFILE_TABLE_THREAD_KIND_H
#define JTOP_PROFILE_TABLE_THREAD_KIND_H

enum thread_kind { THREAD_APPLICATION, THREAD_GC, THREAD_JIT, THREAD_VM, THREAD_KINDS };

/* "GC threads": the name of all threads of a kind. */
extern const char *const thread_kind_title[THREAD_KINDS];

/* Returns the kind of the platform thread with this name: Java's, or the 15 bytes that the kernel
 * keeps of it. Virtual threads always belong to the application. */
enum thread_kind thread_kind(const char *name);

#endif
