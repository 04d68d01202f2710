/*
 * Which method of the profile a native or kernel address is. Looking one up in ELF files may take
 * long, entering its name into the profile needs the profile's lock: the two are separate steps,
 * so that the lock is never held while files are read.
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
    const char *name, *module; /* owned by the symbols; NULL once the method is known */
    enum method_kind kind;
    uint32_t method; /* METHOD_NONE: not entered into the profile yet */
};

struct address_names {
    struct symbols *symbols; /* not owned; NULL: only what was put in is known */
    struct id_map index;     /* address → entry */
    struct address_name *entry;
    uint32_t count, capacity;
};

void address_names_init(struct address_names *a, struct symbols *symbols);
void address_names_free(struct address_names *a);

/* Makes sure the address has an entry. True when it is new: the entry's name and module say what
 * was found. Blocks on files; call it without the profile's lock. */
bool address_names_look_up(struct address_names *a, uint64_t address);

/* NULL where it was not looked up or there was no room. Valid until the next look-up. */
struct address_name *address_names_get(struct address_names *a, uint64_t address);

/* From a recording: the address is this method from here on. */
void address_names_put(struct address_names *a, uint64_t address, uint32_t method);

/* Libraries came or went: reads the maps again, forgets all entries. Blocks on files. */
void address_names_refresh(struct address_names *a);

#endif
