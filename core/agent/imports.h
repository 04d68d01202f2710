/*
 * Calls between libraries, led through functions of ours: the slots of import tables (.got,
 * .got.plt) that hold a function's address are made to hold the hook's.
 *
 * Only slots that hold the function itself, or the stub that looks it up at its first call, are
 * touched, so that a slot somebody else has changed stays his. dlopen is left alone: it finds
 * libraries by who calls it. New libraries are looked for now and then instead: a library is in the
 * loader's list before it is relocated, and what is not relocated is left for the next time. And
 * they are looked for when somebody looks up a function (imports_dlsym): the VM does for each
 * library that Java code loads, before anything in it is called.
 *
 * Everything is put back as it was: the slot's own old value, the page's protection. A library that
 * was unloaded meanwhile has taken its slots along: restoring goes by the libraries there are.
 *
 * Source: ELF gABI (dynamic section), dl_iterate_phdr(3).
 *
 * Context: the agent's thread, but for imports_dlsym. Hooks run in any thread, at any moment from imports_patch until some
 * time after imports_restore: a caller may have read the slot before.
 */
#ifndef JTOP_AGENT_IMPORTS_H
#define JTOP_AGENT_IMPORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IMPORTS_MAX 65536u /* slots */

struct import_hook {
    const char *name;
    uintptr_t hook, real;
    bool bound_only; /* slots that were not called yet are left until they are: which version of the
                         function they want is not known before */
    const char *not_in; /* a library that is left out, by its base name without version; or NULL */
};

struct import_slot {
    uintptr_t address, before;
    int protection; /* of its page */
};

struct imports {
    const struct import_hook *hook; /* ends with a NULL name; NULL: nothing is patched */
    struct import_slot *slot;       /* IMPORTS_MAX, address space; sorted by nothing */
    uint32_t slots;
    uint32_t lookups; /* of them, those of IMPORTS_DLSYM; a slot patched again counts again */
    uint32_t refused; /* for which there was no room, or whose page could not be written */
    uint32_t turns;   /* of imports_refresh that look again after a library came or went */
    uint32_t idle;    /* calls of imports_refresh */
    uint64_t loads;   /* the loader's count of libraries that came and went */
};

/* 0, or -errno; the number of slots is in `slots`. `hook` stays the caller's. */
int imports_patch(struct imports *im, const struct import_hook *hook);
/* Looks at libraries that were loaded since, and at slots that were bound since. Cheap where there are
 * none. */
void imports_refresh(struct imports *im);
void imports_restore(struct imports *im);

/* The hook for dlsym, in every table of hooks: it patches new libraries, and then jumps to the real
 * dlsym, which looks at its return address. Any thread. */
void *imports_dlsym(void *handle, const char *name);
#define IMPORTS_DLSYM "dlsym"

#endif
