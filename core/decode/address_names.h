/*
 * Finds the profile's method for a native or kernel address. It may take long to look an address up
 * in ELF files, and the profile's lock is needed to add its name to the profile. These are separate
 * steps, so that the lock is never held while files are read.
 *
 * Context: drain thread, or the thread that replays.
 */
#ifndef JTOP_DECODE_ADDRESS_NAMES_H
#define JTOP_DECODE_ADDRESS_NAMES_H

#include "core/base/id_map.h"
#include "core/profile/table/method_table.h"
#include "symbols/symbols.h"

#define ADDRESS_NAMES_MAX (1u << 20)

struct address_name {
    const char *name, *module; /* owned by the symbols; NULL once `method` is known */
    enum method_kind kind;
    uint32_t method; /* METHOD_NONE: not in the profile yet */
};

struct address_names {
    struct symbols *symbols; /* not owned; NULL: only entries of address_names_put */
    struct id_map index;     /* address → entry */
    struct address_name *entry;
    uint32_t count, capacity;
};

void address_names_init(struct address_names *a, struct symbols *symbols);
void address_names_free(struct address_names *a);

/* Makes an entry for the address if there is none. True: the entry is new, and its name and module
 * are the result of the look-up. Blocks on files; call it without the profile's lock. */
bool address_names_look_up(struct address_names *a, uint64_t address);

/* NULL: the address was not looked up, or there was no room. Valid until the next look-up. */
struct address_name *address_names_get(struct address_names *a, uint64_t address);

/* For a recording: the address is this method from here on. */
void address_names_put(struct address_names *a, uint64_t address, uint32_t method);

/* To be called when libraries were loaded or unloaded: reads the maps again and removes all
 * entries. Blocks on files. */
void address_names_refresh(struct address_names *a);

#endif
