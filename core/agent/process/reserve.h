/*
 * Address space of a size that is known from the start: pages are zero, and take memory only when they
 * are touched. The agent has no heap.
 *
 * Context: any thread, but no signal handler. Free with munmap.
 */
#ifndef JTOP_AGENT_PROCESS_RESERVE_H
#define JTOP_AGENT_PROCESS_RESERVE_H

#include <stddef.h>
#include <sys/mman.h>

/* NULL: there is none left; errno has the reason. */
static inline void *reserve(size_t bytes) {
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

#endif
