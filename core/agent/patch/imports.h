/*
 * Redirects calls between libraries to functions of ours, the hooks: the address of the hook
 * replaces the address of the function in the slots of import tables (.got, .got.plt).
 *
 * A slot may contain the hook of another profiler (async-profiler leaves its hooks behind). Such a
 * slot gets the second form of our hook, which calls that one. For each name, the first hook found
 * is the only one that ours calls while the process lives, so hooks never call each other in a
 * circle. Its library is kept from being unloaded. Slots with a third profiler's hook are not
 * changed. Neither are slots of the other profiler's library, because a call that it passes on to
 * us was counted before. Other definitions of the same function, such as an older version in the C
 * library, are not hooks.
 *
 * dlopen has no hook, because it finds libraries depending on its caller. Instead, we look for new
 * libraries from time to time. A library is in the loader's list before it is relocated; slots that
 * are not relocated yet are left for the next time. We also look for new libraries when a function
 * is looked up (imports_dlsym): the VM does so for each library that Java code loads, before
 * anything in it is called.
 *
 * imports_restore restores everything: each slot's old value and the page's protection. It visits
 * only libraries that are still loaded.
 *
 * Source: ELF gABI (dynamic section), dl_iterate_phdr(3).
 *
 * Context: the agent's thread, except imports_dlsym and imports_is_passed_on. Hooks run in any
 * thread, from imports_patch on. They may still run after imports_restore: a caller may have read
 * the slot before, and another profiler's hook may continue to call ours.
 */
#ifndef JTOP_AGENT_PATCH_IMPORTS_H
#define JTOP_AGENT_PATCH_IMPORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IMPORTS_MAX 65536u /* slots */

struct import_hook {
    const char *name;
    uintptr_t hook, real;
    uintptr_t over;  /* second form; 0: slots with another profiler's hook are not changed */
    void *next;      /* function pointer by which `over` calls that hook; set by imports_patch */
    bool bound_only; /* change a slot only after its first call: before that, it is not known which
                         version of the function it needs */
    const char *not_in; /* a library to leave out, by its base name without version; or NULL */
};

struct import_slot {
    uintptr_t address, before;
    int protection; /* of its page */
};

struct imports {
    const struct import_hook *hook; /* ends with a NULL name; NULL: nothing is patched */
    struct import_slot *slot;       /* IMPORTS_MAX, address space; sorted by nothing */
    uint32_t slots;
    uint32_t lookups; /* slots of IMPORTS_DLSYM; a slot that is patched again counts again */
    uint32_t thirds;  /* slots with a third profiler's hook, at the last visit */
    bool told;        /* imports_tell has reported them */
    uint32_t refused; /* slots without room in `slot`, or whose page could not be written */
    uint32_t turns;   /* calls of imports_refresh that still visit all slots after a load */
    uint32_t idle;    /* calls of imports_refresh */
    uint64_t loads;   /* the loader's count of loads and unloads */
};

/* Looks up the real function of each of the first `count` hooks, and also stores it in *to[i] (a
 * function pointer). hook[count] must be the hook of dlsym. False: a function was not found. */
bool imports_find_real(struct import_hook *hook, void *const *to, size_t count);
/* 0, or -errno; the number of slots is in `slots`. `hook` still belongs to the caller. */
int imports_patch(struct imports *im, const struct import_hook *hook);
/* Patches libraries that were loaded since, and slots that were bound since. Cheap if there are
 * none. */
void imports_refresh(struct imports *im);
void imports_restore(struct imports *im);
/* Writes to `reason` which calls are not sampled, and clears it when that is over. */
void imports_tell(struct imports *im, char *reason, size_t bytes);

/* The hook for dlsym, the last one in every table of hooks. It patches new libraries, and then
 * jumps to the real dlsym, which reads its return address. Any thread. */
void *imports_dlsym(void *handle, const char *name);
#define IMPORTS_DLSYM "dlsym"

/* Finds the slot of one function in one library, by its base name without version; `before` is its
 * value now. False: there is none, or more than one. */
bool imports_find_slot(const char *library, const char *name, struct import_slot *out);
bool imports_write_slot(const struct import_slot *slot, uintptr_t value);

/* Whether the hook with this frame (__builtin_frame_address(0)) was called by another profiler's
 * hook, which passes a call on. Any thread, signal-safe. */
bool imports_is_passed_on(const void *frame);

#endif
