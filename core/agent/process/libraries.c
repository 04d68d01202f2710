#include "core/agent/process/libraries.h"

#include <link.h>
#include <stddef.h>

struct filling {
    struct code_range *range;
    uint32_t count;
    uint64_t loads;
};

static void insert(struct filling *f, uintptr_t begin, uintptr_t end) {
    if (f->count == LIBRARIES_MAX)
        return;
    uint32_t i = f->count++;
    for (; i > 0 && f->range[i - 1].begin > begin; i--)
        f->range[i] = f->range[i - 1];
    f->range[i] = (struct code_range){begin, end};
}

static int add_library(struct dl_phdr_info *info, size_t size, void *arg) {
    struct filling *f = arg;
    if (size >= offsetof(struct dl_phdr_info, dlpi_subs) + sizeof info->dlpi_subs)
        f->loads = (uint64_t)info->dlpi_adds + (uint64_t)info->dlpi_subs;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && p->p_flags & PF_X) {
            uintptr_t begin = (uintptr_t)(info->dlpi_addr + p->p_vaddr);
            insert(f, begin, begin + p->p_memsz);
        }
    }
    return 0;
}

static int count_loads(struct dl_phdr_info *info, size_t size, void *arg) {
    if (size >= offsetof(struct dl_phdr_info, dlpi_subs) + sizeof info->dlpi_subs)
        *(uint64_t *)arg = (uint64_t)info->dlpi_adds + (uint64_t)info->dlpi_subs;
    return 1; /* the first one tells for all */
}

bool libraries_refresh(struct libraries *l) {
    uint64_t loads = 0;
    dl_iterate_phdr(count_loads, &loads);
    uint32_t current = atomic_load_explicit(&l->current, memory_order_relaxed);
    if (l->count[current] && loads == l->loads)
        return false;
    struct filling f = {.range = l->range[!current]};
    dl_iterate_phdr(add_library, &f);
    l->count[!current] = f.count;
    l->loads = f.loads;
    atomic_store_explicit(&l->current, !current, memory_order_release);
    return true;
}

bool libraries_contain(const struct libraries *l, uintptr_t pc) {
    uint32_t current = atomic_load_explicit(&l->current, memory_order_acquire);
    const struct code_range *range = l->range[current];
    uint32_t low = 0;
    uint32_t high = l->count[current];
    while (low < high) { /* the first one that begins behind pc */
        uint32_t middle = low + (high - low) / 2;
        if (range[middle].begin <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && pc < range[low - 1].end;
}
