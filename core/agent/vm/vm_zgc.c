#include "core/agent/vm/vm_zgc.h"

#include "core/agent/process/guarded.h"
#include "core/agent/vm/vm_tables.h"

#include <stdio.h>

#define WORD sizeof(uintptr_t)
#define GRANULE_SHIFT 21 /* a slot's range */
#define SLOTS_MAX (UINT64_C(1) << 24)
#define HEAP_BYTES_MAX 65536
#define ENTRIES_MAX (UINT64_C(1) << 20)
#define PROBES 64

/* An entry: bit 0 says that it is one, then 45 bits of new offset, then the object's number. */
#define ENTRY_TO(e) ((e) >> 1 & ((UINT64_C(1) << 45) - 1))
#define ENTRY_FROM(e) ((e) >> 46)

/* The two ZGCs' types have the same names except for the first letter. */
static int32_t offset_in(struct vm_tables *t, char letter, const char *type, const char *field) {
    char name[64];
    snprintf(name, sizeof name, "%c%s", letter, type);
    return vm_offset_required(t, name, field);
}

static int32_t size_of(struct vm_tables *t, char letter, const char *type) {
    char name[64];
    snprintf(name, sizeof name, "%c%s", letter, type);
    return vm_type_size(t, name);
}

/* A value that the VM describes by a pointer to it, in a struct made for debuggers. */
static uintptr_t global(struct vm_tables *t, const char *type, const char *field) {
    uintptr_t at = vm_static(t, type, "_instance_p");
    int32_t offset = vm_offset_required(t, type, field);
    uintptr_t globals = at ? guarded_load64(at) : 0;
    return globals && offset >= 0 ? guarded_load64(globals + (uintptr_t)offset) : 0;
}

static void add_table(struct zgc_layout *z, uintptr_t at) {
    struct zgc_table found = {.slots = guarded_load64(at), .map = guarded_load64(at + WORD)};
    if (z->tables < ZGC_TABLES && found.slots && found.slots <= SLOTS_MAX && found.map)
        z->table[z->tables++] = found;
}

/* A generation's table is not described. It follows the generation's pointers to the page allocator
 * and the page table, which are. */
static void find_tables(struct zgc_layout *z, uintptr_t heap, uintptr_t allocator, uintptr_t pages,
                        uint32_t bytes) {
    for (uint32_t i = 0; i + 4 * WORD <= bytes && bytes <= HEAP_BYTES_MAX; i += WORD)
        if (guarded_load64(heap + i) == allocator && guarded_load64(heap + i + WORD) == pages)
            add_table(z, heap + i + 2 * WORD);
}

static uintptr_t find_heap(struct vm_tables *t, char letter) {
    uintptr_t at = vm_static(t, "Universe", "_collectedHeap");
    uintptr_t collected = at ? guarded_load64(at) : 0;
    int32_t heap = offset_in(t, letter, "CollectedHeap", "_heap");
    return collected && heap >= 0 ? collected + (uintptr_t)heap : 0;
}

void zgc_learn(struct zgc_layout *z, struct vm_tables *t, bool generations) {
    char letter = generations || vm_offset(t, "XHeap", "_page_table") < 0 ? 'Z' : 'X';
    const char *globals = letter == 'Z' ? "ZGlobalsForVMStructs" : "XGlobalsForVMStructs";
    *z = (struct zgc_layout){0};
    uintptr_t heap = find_heap(t, letter);
    uintptr_t mask =
        global(t, globals, letter == 'Z' ? "_ZAddressOffsetMask" : "_XAddressOffsetMask");
    z->bad_mask = global(t, globals,
                         generations     ? "_ZPointerLoadBadMask"
                         : letter == 'Z' ? "_ZAddressBadMask"
                                         : "_XAddressBadMask");
    z->start = (uint32_t)offset_in(t, letter, "Forwarding", "_virtual") +
               (uint32_t)offset_in(t, letter, "VirtualMemory", "_start");
    z->shift = (uint32_t)offset_in(t, letter, "Forwarding", "_object_alignment_shift");
    z->entries = (uint32_t)offset_in(t, letter, "Forwarding", "_entries") +
                 (uint32_t)offset_in(t, letter, "AttachedArrayForForwarding", "_length");
    z->forwarding_bytes = (uint32_t)size_of(t, letter, "Forwarding");
    uint32_t pages = (uint32_t)offset_in(t, letter, "Heap", "_page_table");
    uint32_t allocator = (uint32_t)offset_in(t, letter, "Heap", "_page_allocator");
    uint32_t bytes = (uint32_t)size_of(t, letter, "Heap");
    if (!heap || !mask || !z->bad_mask || t->missing)
        return;
    z->offset_mask = guarded_load64(mask);
    if (generations)
        find_tables(z, heap, heap + allocator, heap + pages, bytes);
    else
        add_table(z, heap + (uintptr_t)offset_in(t, letter, "Heap", "_forwarding_table"));
    z->known = z->offset_mask && z->tables && !t->missing;
}

/* The VM's hash of an object's number, to find it where the VM has put it. */
static uint32_t hash(uint32_t key) {
    key = (key << 15) - key - 1;
    key ^= key >> 12;
    key *= 5;
    key ^= key >> 4;
    key *= 2057;
    return key ^ key >> 16;
}

uint64_t zgc_forwarded(const struct zgc_layout *z, uintptr_t forwarding, uint64_t offset) {
    uint64_t start = guarded_load64(forwarding + z->start);
    uint64_t shift = guarded_load64(forwarding + z->shift);
    uint64_t length = guarded_load64(forwarding + z->entries);
    if (offset < start || shift > GRANULE_SHIFT || !length || length > ENTRIES_MAX ||
        (length & (length - 1)))
        return 0;
    uint64_t number = (offset - start) >> shift;
    uint64_t at = hash((uint32_t)number);
    for (uint32_t i = 0; i < PROBES; i++, at++) {
        uint64_t e =
            guarded_load64(forwarding + z->forwarding_bytes + (at & (length - 1)) * sizeof e);
        if (!(e & 1))
            return 0;
        if (ENTRY_FROM(e) == number)
            return ENTRY_TO(e);
    }
    return 0;
}

uintptr_t zgc_current(const struct zgc_layout *z, uint64_t colours, uintptr_t address) {
    if (!z->known || !(colours & guarded_load64(z->bad_mask)))
        return address;
    uint64_t offset = address & z->offset_mask;
    for (uint32_t i = 0; i < z->tables; i++) {
        if (offset >> GRANULE_SHIFT >= z->table[i].slots)
            continue;
        uintptr_t slot = z->table[i].map + (uintptr_t)(offset >> GRANULE_SHIFT) * WORD;
        uintptr_t forwarding = guarded_load64(slot);
        uint64_t to = forwarding ? zgc_forwarded(z, forwarding, offset) : 0;
        if (to)
            return (address & ~(uintptr_t)z->offset_mask) | (uintptr_t)(to & z->offset_mask);
    }
    return address;
}
