/*
 * The new address of an object that ZGC has moved. ZGC corrects a reference when the program loads
 * it, or in the next cycle. Until then the reference has the old address, and that memory may
 * already contain another object. ZGC keeps tables of the new addresses, with one slot for each 2
 * MiB of the heap (source: zForwarding.inline.hpp, zForwardingEntry.hpp, zHash.inline.hpp,
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
    uint32_t forwarding_bytes;      /* size of a ZForwarding; its entries follow */
};

struct vm_tables;

/* `generations`: read the generational ZGC. Some VMs have both, this one and the other. */
void zgc_learn(struct zgc_layout *z, struct vm_tables *t, bool generations);

/* Returns the object's current address. `address` and `colours` are from the reference. */
uintptr_t zgc_current(const struct zgc_layout *z, uint64_t colours, uintptr_t address);

/* Returns the new offset that a ZForwarding has for an old one (offsets in the heap); 0: none. */
uint64_t zgc_forwarded(const struct zgc_layout *z, uintptr_t forwarding, uint64_t offset);

#endif
