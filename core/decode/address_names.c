#include "core/decode/address_names.h"

#include "core/base/grow.h"

#include <stdlib.h>

void address_names_init(struct address_names *a, struct symbols *symbols) {
    *a = (struct address_names){.symbols = symbols};
    id_map_init(&a->index, ADDRESS_NAMES_MAX);
}

void address_names_free(struct address_names *a) {
    id_map_free(&a->index);
    free(a->entry);
    *a = (struct address_names){0};
}

/* A map's key is never 0, an address may be. */
static uint64_t key_of(uint64_t address) {
    return address ? address : UINT64_MAX;
}

static struct address_name *add(struct address_names *a, uint64_t address) {
    if (!GROW(a->entry, a->count, a->capacity))
        return NULL;
    if (id_map_put(&a->index, key_of(address), a->count) != 0)
        return NULL;
    return &a->entry[a->count++];
}

static enum method_kind kind_of(enum symbol_language language) {
    switch (language) {
    case SYMBOL_CPP:
        return METHOD_CPP;
    case SYMBOL_KERNEL:
        return METHOD_KERNEL;
    case SYMBOL_C:
        break;
    }
    return METHOD_NATIVE;
}

bool address_names_look_up(struct address_names *a, uint64_t address) {
    uint32_t known;
    if (!a->symbols || id_map_get(&a->index, key_of(address), &known))
        return false;
    struct address_name *entry = add(a, address);
    if (!entry)
        return false;
    struct symbol symbol;
    if (address >> 63)
        symbols_resolve_kernel(a->symbols, address, &symbol);
    else
        symbols_resolve(a->symbols, address, &symbol);
    *entry = (struct address_name){
        .name = symbol.name,
        .module = symbol.module,
        .kind = kind_of(symbol.language),
        .method = METHOD_NONE,
    };
    return true;
}

struct address_name *address_names_get(struct address_names *a, uint64_t address) {
    uint32_t index;
    return id_map_get(&a->index, key_of(address), &index) ? &a->entry[index] : NULL;
}

void address_names_put(struct address_names *a, uint64_t address, uint32_t method) {
    struct address_name *entry = address_names_get(a, address);
    if (!entry)
        entry = add(a, address);
    if (entry)
        *entry = (struct address_name){.method = method};
}

void address_names_refresh(struct address_names *a) {
    if (!a->symbols)
        return;
    symbols_refresh(a->symbols);
    id_map_clear(&a->index);
    a->count = 0;
}
