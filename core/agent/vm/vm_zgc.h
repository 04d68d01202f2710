/*
 * Where ZGC has moved an object to. ZGC corrects a reference when a thread loads it, or in the next
 * cycle: until then it points to where the object was, and that memory may be in use by another.
 * The collector keeps tables, a slot for each 2 MiB of the heap, that say for the objects of that
 * range where they are (source: zForwarding.inline.hpp, zForwardingEntry.hpp, zHash.inline.hpp,
 * zGeneration.hpp; the same with X for Z, JDK 21-28).
 *
 * Context: zgc_learn at attach; zgc_current is signal-safe.
 */
#ifndef JTOP_AGENT_VM_VM_ZGC_H
#define JTOP_AGENT_VM_VM_ZGC_H

#include <stdbool.h>
#include <stdint.h>

#define ZGC_TABLES 2 /* one for each generation */

struct zgc_table {
    uintptr_t map; /* of pointers to ZForwarding */
    uint64_t slots;
};

struct zgc_layout {
    bool known;
    struct zgc_table table[ZGC_TABLES];
    uint32_t tables;
    uintptr_t bad_mask; /* address of the mask of colours that need correction */
    uint64_t offset_mask;
    uint32_t start, shift, entries; /* in a ZForwarding */
    uint32_t forwarding_bytes;      /* of one; its entries follow */
};

struct vm_tables;

/* `generations`: of the two ZGCs that some VMs have, the one with generations. */
void zgc_learn(struct zgc_layout *z, struct vm_tables *t, bool generations);

/* The object's address now, out of the one in a reference with these colours. */
uintptr_t zgc_current(const struct zgc_layout *z, uint64_t colours, uintptr_t address);

/* The new offset that a ZForwarding has for an old one (both in the heap); 0: it has none. */
uint64_t zgc_forwarded(const struct zgc_layout *z, uintptr_t forwarding, uint64_t offset);

#endif
