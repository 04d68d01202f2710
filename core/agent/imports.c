#include "core/agent/imports.h"

#include "core/agent/memory_map.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
#define SLOT_OF_CALL R_X86_64_JUMP_SLOT
#define SLOT_OF_ADDRESS R_X86_64_GLOB_DAT
#elif defined(__aarch64__)
#define SLOT_OF_CALL R_AARCH64_JUMP_SLOT
#define SLOT_OF_ADDRESS R_AARCH64_GLOB_DAT
#endif

#define RELOCATIONS_MAX (1u << 20) /* of one library */
#define OFFSET_MAX (UINT64_C(1) << 47)
#define TURNS_AFTER_LOAD 20u /* of imports_refresh */
#define TURNS_BETWEEN 16u    /* two looks for slots that were bound meanwhile */
#define USERS_MAX 2u         /* nativemem, nativelock */
#define LOCK_TRIES 10000u    /* by others than the agent's thread, which come and go as they like */

/* Whose slots are patched; under the lock. */
static struct {
    _Atomic bool locked;
    pid_t pid; /* a child after fork may find the lock held by a thread it does not have */
    struct imports *user[USERS_MAX];
} patched;

static bool lock(uint32_t tries) {
    for (; atomic_exchange_explicit(&patched.locked, true, memory_order_acquire); tries--) {
        if (tries == 0)
            return false;
        sched_yield();
    }
    return true;
}

static void unlock(void) {
    atomic_store_explicit(&patched.locked, false, memory_order_release);
}

/* The agent's thread waits: whoever has it looks at libraries, and is done soon. */
static void lock_surely(void) {
    while (!lock(LOCK_TRIES))
        ;
}

/* A loaded file, as far as we look at it. */
struct object {
    uintptr_t base;
    const char *name;
    uintptr_t code_begin, code_end;   /* around its code: where unresolved slots point to */
    uintptr_t relro_begin, relro_end; /* whole pages that are read-only; 0, 0: none */
    const Elf64_Sym *symbols;
    const char *strings;
    struct {
        const Elf64_Rela *rela;
        size_t count;
    } table[2];
};

struct visit;
typedef void slot_action(const struct visit *v, const struct object *o, const struct import_hook *h,
                         uintptr_t slot);

struct visit {
    struct imports *im;
    slot_action *each;
    struct memory_map memory; /* patch_slot: as it is while the loader's lock is held … */
    bool begun;               /* … and that it has been read */
    uint64_t loads;
};

/* glibc has relocated the addresses in a dynamic section already, but for that of the vdso. */
static uintptr_t address_of(const struct object *o, Elf64_Addr value) {
    return value < o->base ? o->base + value : value;
}

static bool read_segments(const struct dl_phdr_info *info, struct object *o,
                          const Elf64_Dyn **dynamic) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    *dynamic = NULL;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const Elf64_Phdr *p = &info->dlpi_phdr[i];
        uintptr_t begin = o->base + p->p_vaddr;
        if (p->p_type == PT_DYNAMIC) {
            *dynamic = (const void *)begin;
        } else if (p->p_type == PT_LOAD && p->p_flags & PF_X) {
            if (!o->code_end || begin < o->code_begin)
                o->code_begin = begin;
            if (begin + p->p_memsz > o->code_end)
                o->code_end = begin + p->p_memsz;
        } else if (p->p_type == PT_GNU_RELRO) {
            /* As the loader rounds it: what is on the last page beside it stays writable. */
            o->relro_begin = begin & ~(page - 1);
            o->relro_end = (begin + p->p_memsz) & ~(page - 1);
        }
    }
    return *dynamic != NULL;
}

static bool read_dynamic(const Elf64_Dyn *d, struct object *o) {
    size_t bytes[2] = {0};
    for (int i = 0; d->d_tag != DT_NULL && i < 256; i++, d++) {
        switch (d->d_tag) {
        case DT_SYMTAB:
            o->symbols = (const void *)address_of(o, d->d_un.d_ptr);
            break;
        case DT_STRTAB:
            o->strings = (const void *)address_of(o, d->d_un.d_ptr);
            break;
        case DT_JMPREL:
            o->table[0].rela = (const void *)address_of(o, d->d_un.d_ptr);
            break;
        case DT_PLTRELSZ:
            bytes[0] = d->d_un.d_val;
            break;
        case DT_RELA:
            o->table[1].rela = (const void *)address_of(o, d->d_un.d_ptr);
            break;
        case DT_RELASZ:
            bytes[1] = d->d_un.d_val;
            break;
        default:
            break;
        }
    }
    for (int i = 0; i < 2; i++) {
        size_t count = o->table[i].rela ? bytes[i] / sizeof(Elf64_Rela) : 0;
        o->table[i].count = count < RELOCATIONS_MAX ? count : RELOCATIONS_MAX;
    }
    return o->symbols && o->strings && (o->table[0].count || o->table[1].count);
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Ourselves, the loader, and what has no file. */
static bool is_left_alone(const struct dl_phdr_info *info, const struct object *o) {
    uintptr_t own = (uintptr_t)&imports_patch;
    const char *name = base_name(o->name);
    return (own >= o->code_begin && own < o->code_end) || strncmp(name, "ld-linux", 8) == 0 ||
           strncmp(name, "linux-vdso", 10) == 0 || info->dlpi_phnum == 0;
}

static bool is_called(const char *name, const char *library) {
    size_t n = strlen(library);
    name = base_name(name);
    return strncmp(name, library, n) == 0 && (name[n] == '.' || name[n] == '-');
}

static const struct import_hook *find_hook(const struct imports *im, const char *name) {
    for (const struct import_hook *h = im->hook; h->name; h++)
        if (strcmp(h->name, name) == 0)
            return h;
    return NULL;
}

static bool is_wanted(const struct object *o, const struct import_hook *h) {
    /* An allocator's calls of itself are no further allocations. The C library's are: strdup's. */
    bool is_own = h->real >= o->code_begin && h->real < o->code_end && !is_called(o->name, "libc");
    return !is_own && !(h->not_in && is_called(o->name, h->not_in));
}

static void visit_table(const struct visit *v, const struct object *o, const Elf64_Rela *rela,
                        size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint32_t type = (uint32_t)ELF64_R_TYPE(rela[i].r_info);
        if ((type != SLOT_OF_CALL && type != SLOT_OF_ADDRESS) || rela[i].r_offset >= OFFSET_MAX)
            continue;
        const Elf64_Sym *symbol = &o->symbols[ELF64_R_SYM(rela[i].r_info)];
        const struct import_hook *h = find_hook(v->im, o->strings + symbol->st_name);
        if (h && is_wanted(o, h))
            v->each(v, o, h, o->base + rela[i].r_offset);
    }
}

/* Under the loader's lock: nothing is added or unloaded meanwhile. */
static int visit_object(struct dl_phdr_info *info, size_t size, void *arg) {
    struct visit *v = arg;
    struct object o = {.base = info->dlpi_addr, .name = info->dlpi_name ? info->dlpi_name : ""};
    const Elf64_Dyn *dynamic;
    if (!v->begun && memory_map_read(&v->memory) < 0)
        return 1;
    v->begun = true;
    if (size >= offsetof(struct dl_phdr_info, dlpi_subs) + sizeof info->dlpi_subs)
        v->loads = (uint64_t)info->dlpi_adds + (uint64_t)info->dlpi_subs;
    if (!read_segments(info, &o, &dynamic) || is_left_alone(info, &o) || !read_dynamic(dynamic, &o))
        return 0;
    for (int i = 0; i < 2; i++)
        visit_table(v, &o, o.table[i].rela, o.table[i].count);
    return 0;
}

/* `protection`: the page's. */
static bool write_slot(uintptr_t slot, uintptr_t value, int protection) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    void *at = (void *)(slot & ~(page - 1));
    bool sealed = protection == PROT_READ;
    if (!sealed && protection != (PROT_READ | PROT_WRITE))
        return false;
    if (sealed && mprotect(at, page, PROT_READ | PROT_WRITE) != 0)
        return false;
    __atomic_store_n((uintptr_t *)slot, value, __ATOMIC_RELEASE);
    if (sealed)
        mprotect(at, page, PROT_READ);
    return true;
}

static struct import_slot *find_slot(const struct imports *im, uintptr_t address) {
    for (uint32_t i = 0; i < im->slots; i++)
        if (im->slot[i].address == address)
            return &im->slot[i];
    return NULL;
}

/* One entry an address: a library may lie where an unloaded one was. */
static bool keep_slot(struct imports *im, const struct import_slot *slot) {
    struct import_slot *at = find_slot(im, slot->address);
    if (!at && im->slots == IMPORTS_MAX)
        return false;
    if (!at)
        at = &im->slot[im->slots++];
    *at = *slot;
    return true;
}

/* A library that is still being relocated is listed already. Its slots hold offsets, and those that
 * will be sealed are not yet: sealing such a page ourselves would make the loader's next store into
 * it fault. They are left for the next time. */
static bool is_ready(const struct object *o, uintptr_t slot, int protection) {
    bool to_be_sealed = slot >= o->relro_begin && slot < o->relro_end;
    return protection >= 0 && !(to_be_sealed && protection & PROT_WRITE);
}

static void patch_slot(const struct visit *v, const struct object *o, const struct import_hook *h,
                       uintptr_t slot) {
    struct imports *im = v->im;
    int protection = memory_map_protection(&v->memory, slot);
    if (!is_ready(o, slot, protection))
        return;
    uintptr_t value = __atomic_load_n((uintptr_t *)slot, __ATOMIC_RELAXED);
    bool lazy = !h->bound_only && value >= o->code_begin && value < o->code_end;
    if (value == h->hook || (value != h->real && !lazy))
        return;
    im->lookups += h->hook == (uintptr_t)imports_dlsym;
    const struct import_slot now = {slot, value, protection};
    if (!keep_slot(im, &now) || !write_slot(slot, h->hook, protection))
        im->refused++;
}

/* By what was found at the start, so that nothing can fail that did not fail then. */
static void restore_slot(const struct visit *v, const struct object *o, const struct import_hook *h,
                         uintptr_t slot) {
    const struct import_slot *at = find_slot(v->im, slot);
    (void)o;
    if (at && __atomic_load_n((uintptr_t *)slot, __ATOMIC_RELAXED) == h->hook)
        write_slot(slot, at->before, at->protection);
}

static int patch_all(struct imports *im) {
    struct visit v = {.im = im, .each = patch_slot};
    int r = memory_map_open(&v.memory);
    if (r < 0)
        return r;
    dl_iterate_phdr(visit_object, &v);
    memory_map_close(&v.memory);
    if (!v.begun)
        return -EACCES;
    im->loads = v.loads;
    return 0;
}

int imports_patch(struct imports *im, const struct import_hook *hook) {
    void *p = mmap(NULL, IMPORTS_MAX * sizeof *im->slot, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return -errno;
    lock_surely();
    *im = (struct imports){.hook = hook, .slot = p, .turns = TURNS_AFTER_LOAD};
    int r = patch_all(im);
    for (uint32_t i = 0; i < USERS_MAX; i++) {
        if (!patched.user[i]) {
            patched.user[i] = im;
            break;
        }
    }
    patched.pid = getpid();
    unlock();
    return r;
}

static int count_loads(struct dl_phdr_info *info, size_t size, void *arg) {
    if (size >= offsetof(struct dl_phdr_info, dlpi_subs) + sizeof info->dlpi_subs)
        *(uint64_t *)arg = (uint64_t)info->dlpi_adds + (uint64_t)info->dlpi_subs;
    return 1; /* the first one tells for all */
}

static bool waits_for_binding(const struct imports *im) {
    const struct import_hook *h = im->hook;
    while (h->name && !h->bound_only)
        h++;
    return h->name != NULL;
}

static void refresh(struct imports *im) {
    uint64_t loads = im->loads;
    dl_iterate_phdr(count_loads, &loads);
    if (loads != im->loads)
        im->turns = TURNS_AFTER_LOAD;
    bool unbound = waits_for_binding(im) && ++im->idle % TURNS_BETWEEN == 0;
    if (!im->turns && !unbound)
        return;
    im->turns -= im->turns > 0;
    patch_all(im);
}

void imports_refresh(struct imports *im) {
    lock_surely();
    refresh(im);
    unlock();
}

static void refresh_loaded(void) {
    for (uint32_t i = 0; i < USERS_MAX; i++) {
        struct imports *im = patched.user[i];
        uint64_t loads = im ? im->loads : 0;
        if (im)
            dl_iterate_phdr(count_loads, &loads);
        if (im && loads != im->loads)
            refresh(im);
    }
}

static __attribute__((noinline)) void before_lookup(void) {
    int saved = errno, cancel;
    if (getpid() != patched.pid)
        return;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    if (lock(LOCK_TRIES)) {
        refresh_loaded();
        unlock();
    }
    pthread_setcancelstate(cancel, NULL);
    errno = saved;
}

/* It must be a jump: RTLD_NEXT looks at the return address, which has to be the caller's.
 * test/lint/agent checks it. */
#if defined(__clang__)
#define JUMP __attribute__((musttail))
#define JUMPS
#else
#define JUMP
#define JUMPS __attribute__((optimize("O2")))
#endif

JUMPS void *imports_dlsym(void *handle, const char *name) {
    before_lookup();
    JUMP return dlsym(handle, name);
}

void imports_restore(struct imports *im) {
    if (!im->hook)
        return;
    struct visit v = {.im = im, .each = restore_slot, .begun = true};
    lock_surely();
    dl_iterate_phdr(visit_object, &v);
    for (uint32_t i = 0; i < USERS_MAX; i++)
        if (patched.user[i] == im)
            patched.user[i] = NULL;
    munmap(im->slot, IMPORTS_MAX * sizeof *im->slot);
    *im = (struct imports){0};
    unlock();
}
