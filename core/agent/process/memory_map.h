/*
 * A snapshot of the process's address ranges and their protection.
 *
 * Source: proc_pid_maps(5).
 * Context: any one thread; system calls, but no heap, no lock.
 */
#ifndef JTOP_AGENT_PROCESS_MEMORY_MAP_H
#define JTOP_AGENT_PROCESS_MEMORY_MAP_H

#include <stdint.h>

#define MEMORY_RANGES_MAX 65536u

struct memory_range {
    uintptr_t begin, end;
    int protection; /* PROT_READ … */
};

struct memory_map {
    struct memory_range *range; /* MEMORY_RANGES_MAX, address space; ascending */
    uint32_t count;
};

int memory_map_open(struct memory_map *m); /* 0 or -errno; the map is empty */
/* Reads the current ranges. 0 or -errno. */
int memory_map_read(struct memory_map *m);
void memory_map_close(struct memory_map *m);

/* Returns the protection of the memory at an address; -1: no range contains it. */
int memory_map_protection(const struct memory_map *m, uintptr_t address);
/* The same as it is now, from /proc/self/maps. -1 also if it cannot be found out. */
int memory_protection(uintptr_t address);

#endif
