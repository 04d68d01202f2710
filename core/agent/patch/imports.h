/*
 * Calls between libraries, led through functions of ours: the slots of import tables (.got,
 * .got.plt) that hold a function's address are made to hold the hook's.
 *
 * A slot that holds another profiler's hook (async-profiler leaves its own behind) gets the hook's
 * second form, which calls that one. There is one such function for each name as long as the
 * process lives, the first that is found: so hooks never call each other in a circle. Its library
 * is kept from being unloaded. Slots with a third profiler's hook stay as they are. So do those of
 * the other profiler's library: what it passes on to us was counted before. Other definitions of
 * the same function, such as an older version of the C library's, are no hooks. dlopen is not
 * changed: it finds libraries by its caller. Instead, the agent searches for new libraries now and
 * then: a library is in the loader's list before it is relocated, and what is not relocated is left
 * for the next time. It also searches when a function is looked up (imports_dlsym): the VM does
 * that for each library that Java code loads, before anything in it is called.
 *
 * Everything is put back as it was: the slot's own old value, the page's protection. A library that
 * was unloaded meanwhile has taken its slots along: restoring goes by the libraries there are.
 *
 * Source: ELF gABI (dynamic section), dl_iterate_phdr(3).
 *
 * Context: the agent's thread, except imports_dlsym and imports_is_passed_on. Hooks run in any
 * thread, at any moment from imports_patch on. That does not end with imports_restore: a caller may
 * have read the slot before, and another profiler's hook may go on calling ours.
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
    uintptr_t over;  /* the second form; 0: a slot with another profiler's hook is left alone */
    void *next;      /* the function pointer by which `over` calls that; set by imports_patch */
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
    uint32_t thirds;  /* slots with a third profiler's hook, when last checked */
    bool told;        /* imports_tell has reported that */
    uint32_t refused; /* for which there was no room, or whose page could not be written */
    uint32_t turns;   /* of imports_refresh that look again after a library came or went */
    uint32_t idle;    /* calls of imports_refresh */
    uint64_t loads;   /* the loader's count of libraries that came and went */
};

/* Looks up the real function of each of the first `count` hooks, and keeps it in *to[i] (a function
 * pointer) as well; behind them stands the hook of dlsym. False: there is no such function. */
bool imports_find_real(struct import_hook *hook, void *const *to, size_t count);
/* 0, or -errno; the number of slots is in `slots`. `hook` stays the caller's. */
int imports_patch(struct imports *im, const struct import_hook *hook);
/* Checks libraries that were loaded since, and slots that were bound since. Cheap if none were. */
void imports_refresh(struct imports *im);
void imports_restore(struct imports *im);
/* Says in `reason` what is not seen; nothing where all is. */
void imports_tell(struct imports *im, char *reason, size_t bytes);

/* The hook for dlsym, in every table of hooks: it patches new libraries, and then jumps to the real
 * dlsym, which reads its return address. Any thread. */
void *imports_dlsym(void *handle, const char *name);
#define IMPORTS_DLSYM "dlsym"

/* Whether the hook with this frame (__builtin_frame_address(0)) was called by another profiler's
 * hook, which passes on a call. Any thread, signal-safe. */
bool imports_is_passed_on(const void *frame);

#endif
