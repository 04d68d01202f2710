#include "core/agent/process/exported_size.h"

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define CHAIN_MAX 65536 /* symbols in one place of a hash table */

struct search {
    const char *name;
    uintptr_t address;
    uint64_t size;
};

struct table {
    uintptr_t base;
    const Elf64_Sym *symbol;
    const char *strings;
    const uint32_t *gnu_hash, *hash; /* NULL: the library has not this kind */
};

static bool is_it(const struct table *t, const Elf64_Sym *s, const struct search *q) {
    return s->st_shndx != SHN_UNDEF && t->base + s->st_value == q->address &&
           strcmp(t->strings + s->st_name, q->name) == 0;
}

/* Words: buckets, first symbol, words of a filter, its shift; the filter; buckets; hashes. */
static uint64_t by_gnu_hash(const struct table *t, const struct search *q) {
    uint32_t h = 5381;
    const uint32_t *head = t->gnu_hash;
    for (const char *c = q->name; *c; c++)
        h = h * 33 + (unsigned char)*c;
    const uint32_t *bucket = head + 4 + (size_t)head[2] * 2;
    const uint32_t *hashes = bucket + head[0];
    uint32_t i = head[0] ? bucket[h % head[0]] : 0;
    for (int n = 0; i >= head[1] && n < CHAIN_MAX; i++, n++) {
        if (is_it(t, &t->symbol[i], q))
            return t->symbol[i].st_size;
        if (hashes[i - head[1]] & 1)
            break;
    }
    return 0;
}

/* Words: buckets, symbols; buckets; the next symbol after each. */
static uint64_t by_hash(const struct table *t, const struct search *q) {
    const uint32_t *head = t->hash;
    for (uint32_t i = 0; i < head[1]; i++)
        if (is_it(t, &t->symbol[i], q))
            return t->symbol[i].st_size;
    return 0;
}

static bool holds(const struct dl_phdr_info *info, uintptr_t address) {
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const Elf64_Phdr *p = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_LOAD && address >= begin && address - begin < p->p_memsz)
            return true;
    }
    return false;
}

/* glibc has made addresses of these, musl leaves what the file says. */
static const void *pointer(const struct table *t, Elf64_Addr value) {
    return (const void *)(value < t->base ? t->base + value
                                          : value); // NOLINT(performance-no-int-to-ptr)
}

static bool read_tables(const struct dl_phdr_info *info, struct table *t) {
    const Elf64_Dyn *d = NULL;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            d = (const void *)(t->base +
                               info->dlpi_phdr[i].p_vaddr); // NOLINT(performance-no-int-to-ptr)
    for (; d && d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_SYMTAB)
            t->symbol = pointer(t, d->d_un.d_ptr);
        else if (d->d_tag == DT_STRTAB)
            t->strings = pointer(t, d->d_un.d_ptr);
        else if (d->d_tag == DT_GNU_HASH)
            t->gnu_hash = pointer(t, d->d_un.d_ptr);
        else if (d->d_tag == DT_HASH)
            t->hash = pointer(t, d->d_un.d_ptr);
    }
    return t->symbol && t->strings;
}

static int visit(struct dl_phdr_info *info, size_t size, void *arg) {
    struct search *q = arg;
    struct table t = {.base = info->dlpi_addr};
    (void)size;
    if (!holds(info, q->address))
        return 0;
    if (read_tables(info, &t))
        q->size = t.gnu_hash ? by_gnu_hash(&t, q) : t.hash ? by_hash(&t, q) : 0;
    return 1;
}

uint64_t exported_size(const char *name, uintptr_t address) {
    struct search q = {.name = name, .address = address};
    dl_iterate_phdr(visit, &q);
    return q.size;
}
