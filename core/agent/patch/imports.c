#include "core/agent/patch/imports.h"

#include "core/agent/process/memory_map.h"
#include "core/agent/process/registers.h"
#include "core/agent/process/reserve.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
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
#define TURNS_BETWEEN 16u    /* two searches for slots that were bound or changed meanwhile */
#define USERS_MAX 2u         /* nativemem, nativelock */
#define LOCK_TRIES 10000u    /* by others than the agent's thread, which come and go as they like */
#define HOOKS_MAX 16u        /* of one table */
#define OTHERS_MAX 8u        /* libraries with hooks that ours call, and our own */
#define DEFINITIONS_MAX 64u

/* Whose slots are patched; under the lock. */
static struct {
    _Atomic bool locked;
    pid_t pid; /* a child after fork may find the lock held by a thread it does not have */
    struct imports *user[USERS_MAX];
} patched;

/* The code of libraries with hooks that ours call, which are never unloaded again, and our own. */
static struct {
    struct {
        uintptr_t begin, end;
    } code[OTHERS_MAX];
    _Atomic uint32_t count;
    uintptr_t definition[DEFINITIONS_MAX]; /* what was found in slots and is no hook */
    uint32_t definitions;
} others;

static void *(*real_dlsym)(void *, const char *) = dlsym;

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

/* The agent's thread waits: the thread that has the lock reads libraries, and is done soon. */
static void lock_surely(void) {
    while (!lock(LOCK_TRIES))
        ;
}

/* A loaded file, as far as we read it. */
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
typedef void slot_action(struct visit *v, const struct object *o, const struct import_hook *h,
                         uintptr_t slot);

struct visit {
    struct imports *im;
    slot_action *each;
    bool restores;
    struct memory_map memory; /* as it is while the loader's lock is held */
    bool begun;               /* `memory` has been read */
    uint64_t loads;
    uint64_t complete;       /* patch_once */
    bool unsealed;           /* there are pages to be sealed that are not */
    const char *library;     /* imports_find_slot */
    uint32_t slots;          /* found */
    struct import_slot *out; /* its result */
    uint32_t thirds;
    uintptr_t seen
        [HOOKS_MAX]; /* by hook: another profiler's in a slot, which ours does not call yet; 0: none */
};

/* glibc has relocated the addresses in a dynamic section already, except the vdso's. */
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

static uintptr_t next_of(const struct import_hook *h) {
    uintptr_t next = 0;
    if (h->over)
        memcpy(&next, h->next, sizeof next);
    return next;
}

static bool is_in(const struct object *o, uintptr_t pc) {
    return pc >= o->code_begin && pc < o->code_end;
}

bool imports_is_passed_on(const void *frame) {
    uint32_t count = atomic_load_explicit(&others.count, memory_order_acquire);
    uintptr_t caller = count ? registers_code_address(((const uintptr_t *)frame)[1]) : 0;
    for (uint32_t i = 0; i < count; i++)
        if (caller >= others.code[i].begin && caller < others.code[i].end)
            return true;
    return false;
}

/* Notes where the code of this library is, if one of our hooks calls it. Our own is noted as well:
 * where another profiler's hook passes a call on by a jump, the return address is in ours. */
static void note_other(const struct imports *im, const struct object *o) {
    bool noted = false, own = is_in(o, (uintptr_t)&imports_patch);
    for (const struct import_hook *h = im->hook; h->name; h++)
        noted = noted || is_in(o, next_of(h)) || (own && next_of(h));
    for (uint32_t i = 0; i < others.count; i++)
        noted = noted && others.code[i].begin != o->code_begin;
    if (!noted || others.count == OTHERS_MAX)
        return;
    others.code[others.count].begin = o->code_begin;
    others.code[others.count].end = o->code_end;
    atomic_fetch_add_explicit(&others.count, 1, memory_order_release);
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

static void visit_table(struct visit *v, const struct object *o, const Elf64_Rela *rela,
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
    if (!v->begun && memory_map_read(&v->memory) < 0 && !v->restores)
        return 1;
    v->begun = true;
    if (size >= offsetof(struct dl_phdr_info, dlpi_subs) + sizeof info->dlpi_subs)
        v->loads = (uint64_t)info->dlpi_adds + (uint64_t)info->dlpi_subs;
    if (!read_segments(info, &o, &dynamic))
        return 0;
    note_other(v->im, &o);
    if ((v->library && !is_called(o.name, v->library)) || is_left_alone(info, &o) ||
        !read_dynamic(dynamic, &o))
        return 0;
    for (int i = 0; i < 2; i++)
        visit_table(v, &o, o.table[i].rela, o.table[i].count);
    return 0;
}

static bool is_relro(const struct object *o, uintptr_t slot) {
    return slot >= o->relro_begin && slot < o->relro_end;
}

/* `protection`: the page's, before and after. */
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

/* By the protection that was found at the start where today's is not known, so that nothing can
 * fail that did not fail then. */
static void restore_slot(struct visit *v, const struct object *o, const struct import_hook *h,
                         uintptr_t slot) {
    (void)o;
    const struct import_slot *at = find_slot(v->im, slot);
    uintptr_t value = __atomic_load_n((uintptr_t *)slot, __ATOMIC_RELAXED);
    int protection = memory_map_protection(&v->memory, slot);
    if (at && (value == h->hook || (h->over && value == h->over)))
        write_slot(slot, at->before, protection < 0 ? at->protection : protection);
}

static bool is_definition(uintptr_t value) {
    for (uint32_t i = 0; i < others.definitions; i++)
        if (others.definition[i] == value)
            return true;
    return false;
}

/* The form of the hook for a slot with this value; 0: it stays as it is. */
static uintptr_t form_for(struct visit *v, const struct object *o, const struct import_hook *h,
                          uintptr_t value) {
    bool lazy = is_in(o, value);
    if (value == h->real || (lazy && !h->bound_only))
        return h->hook;
    if (!value || lazy || !h->over || value == h->hook || value == h->over || is_definition(value))
        return 0;
    uintptr_t next = next_of(h);
    if (value == next)
        return h->over;
    uintptr_t *seen = &v->seen[h - v->im->hook];
    int protection = memory_map_protection(&v->memory, value);
    if (protection < 0 || !(protection & PROT_EXEC))
        return 0;
    if (!next && !*seen)
        *seen = value;
    v->thirds++;
    return 0;
}

/* A library that is still being relocated is listed already. Its slots hold offsets, and those that
 * will be sealed are not yet: the loader may seal a page between our check and our store. They are
 * left for the next time. A page that another profiler has left unsealed looks the same, unless the
 * loader has done nothing since the library was complete. */
static bool is_ready(struct visit *v, const struct object *o, uintptr_t slot, int protection) {
    if (protection < 0)
        return false;
    if (!is_relro(o, slot) || !(protection & PROT_WRITE))
        return true;
    v->unsealed = true;
    return v->complete && v->complete == v->loads;
}

static void patch_slot(struct visit *v, const struct object *o, const struct import_hook *h,
                       uintptr_t slot) {
    struct imports *im = v->im;
    int protection = memory_map_protection(&v->memory, slot);
    uintptr_t next = next_of(h);
    if (next && is_in(o, next)) {
        restore_slot(v, o, h, slot);
        return;
    }
    uintptr_t value = __atomic_load_n((uintptr_t *)slot, __ATOMIC_RELAXED);
    if (value == h->hook || value == h->over || !is_ready(v, o, slot, protection))
        return;
    uintptr_t form = form_for(v, o, h, value);
    if (!form)
        return;
    im->lookups += h->hook == (uintptr_t)imports_dlsym;
    const struct import_slot now = {slot, value, protection};
    if (!keep_slot(im, &now) || !write_slot(slot, form, protection))
        im->refused++;
}

/* The same function by another definition: an older version of the C library's, an allocator's. */
static bool defines(const struct import_hook *h, const Dl_info *info) {
    Dl_info real;
    bool same = dladdr((void *)h->real, &real) && real.dli_fbase == info->dli_fbase;
    return same || is_called(info->dli_fname, "libc") || is_called(info->dli_fname, "libpthread") ||
           (info->dli_sname && strcmp(info->dli_sname, h->name) == 0);
}

/* Another profiler's function is called from now on, if it is a library's and that one stays. Not
 * under the loader's locks: it takes another one of them. */
static bool follow(const struct import_hook *h, uintptr_t seen) {
    Dl_info info, again;
    if (!seen || !dladdr((void *)seen, &info) || !info.dli_fname)
        return false;
    if (defines(h, &info)) {
        if (others.definitions < DEFINITIONS_MAX)
            others.definition[others.definitions++] = seen;
        return false;
    }
    void *library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    if (!library)
        return false;
    dlclose(library);
    if (!dladdr((void *)seen, &again) || again.dli_fbase != info.dli_fbase)
        return false;
    memcpy(h->next, &seen, sizeof seen);
    return true;
}

/* Waits for loads that have begun. */
static void await_loads(void) {
    void *program = dlopen(NULL, RTLD_LAZY | RTLD_NOLOAD);
    if (program)
        dlclose(program);
}

/* `complete`: the loader's count of libraries when all that were there had been loaded; 0: not
 * known. */
static int patch_once(struct imports *im, struct visit *v, uint64_t complete) {
    *v = (struct visit){.im = im, .each = patch_slot, .complete = complete};
    int r = memory_map_open(&v->memory);
    if (r < 0)
        return r;
    dl_iterate_phdr(visit_object, v);
    memory_map_close(&v->memory);
    if (!v->begun)
        return -EACCES;
    im->loads = v->loads;
    im->thirds = v->thirds;
    return 0;
}

/* `all`: what another profiler has changed is looked for, too. */
static int patch_all(struct imports *im, bool all) {
    struct visit v;
    bool more = false;
    uint64_t complete = 0;
    int r = patch_once(im, &v, complete);
    if (r == 0 && all && v.unsealed) {
        complete = v.loads;
        await_loads();
        r = patch_once(im, &v, complete);
    }
    for (uint32_t i = 0; r == 0 && all && im->hook[i].name; i++)
        more = follow(&im->hook[i], v.seen[i]) || more;
    return more ? patch_once(im, &v, complete) : r;
}

static void take_slot(struct visit *v, const struct object *o, const struct import_hook *h,
                      uintptr_t slot) {
    (void)o, (void)h;
    v->slots++;
    *v->out = (struct import_slot){slot, __atomic_load_n((uintptr_t *)slot, __ATOMIC_RELAXED),
                                   memory_map_protection(&v->memory, slot)};
}

bool imports_find_slot(const char *library, const char *name, struct import_slot *out) {
    const struct import_hook hook[] = {{.name = name}, {0}};
    struct imports im = {.hook = hook};
    struct visit v = {.im = &im, .each = take_slot, .library = library, .out = out};
    *out = (struct import_slot){0};
    if (memory_map_open(&v.memory) < 0)
        return false;
    dl_iterate_phdr(visit_object, &v);
    memory_map_close(&v.memory);
    return v.slots == 1;
}

bool imports_write_slot(const struct import_slot *slot, uintptr_t value) {
    return write_slot(slot->address, value, slot->protection);
}

bool imports_find_real(struct import_hook *hook, void *const *to, size_t count) {
    for (size_t i = 0; i <= count; i++) {
        void *found = dlsym(RTLD_DEFAULT, hook[i].name);
        if (!found && strcmp(hook[i].name, "mmap64") == 0)
            found = dlsym(RTLD_DEFAULT, "mmap"); /* musl has no other since 1.2.4 */
        if (!found)
            return false;
        memcpy(i < count ? to[i] : &real_dlsym, &found, sizeof found);
        hook[i].real = (uintptr_t)found;
    }
    return true;
}

int imports_patch(struct imports *im, const struct import_hook *hook) {
    void *p = reserve(IMPORTS_MAX * sizeof *im->slot);
    if (!p)
        return -errno;
    lock_surely();
    *im = (struct imports){.hook = hook, .slot = p, .turns = TURNS_AFTER_LOAD};
    int r = patch_all(im, true);
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

/* A library may bind its functions late, and another profiler may put its hooks over ours. */
static void refresh(struct imports *im, bool all) {
    uint64_t loads = im->loads;
    dl_iterate_phdr(count_loads, &loads);
    if (loads != im->loads)
        im->turns = TURNS_AFTER_LOAD;
    bool in_between = ++im->idle % TURNS_BETWEEN == 0;
    if (!im->turns && !in_between)
        return;
    im->turns -= im->turns > 0;
    patch_all(im, all);
}

void imports_refresh(struct imports *im) {
    lock_surely();
    refresh(im, true);
    unlock();
}

static void refresh_loaded(void) {
    for (uint32_t i = 0; i < USERS_MAX; i++) {
        struct imports *im = patched.user[i];
        uint64_t loads = im ? im->loads : 0;
        if (im)
            dl_iterate_phdr(count_loads, &loads);
        if (im && loads != im->loads)
            refresh(im, false);
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

/* It must be a jump: RTLD_NEXT depends on the return address, which has to be the caller's.
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
    JUMP return real_dlsym(handle, name);
}

void imports_restore(struct imports *im) {
    if (!im->hook)
        return;
    struct visit v = {.im = im, .each = restore_slot, .restores = true};
    v.begun = memory_map_open(&v.memory) < 0;
    lock_surely();
    dl_iterate_phdr(visit_object, &v);
    memory_map_close(&v.memory);
    for (uint32_t i = 0; i < USERS_MAX; i++)
        if (patched.user[i] == im)
            patched.user[i] = NULL;
    munmap(im->slot, IMPORTS_MAX * sizeof *im->slot);
    *im = (struct imports){0};
    unlock();
}

void imports_tell(struct imports *im, char *reason, size_t bytes) {
    if (im->thirds)
        snprintf(reason, bytes,
                 "calls through %" PRIu32
                 " import slots go to another profiler's functions and are not sampled",
                 im->thirds);
    else if (im->told)
        *reason = '\0';
    im->told = im->thirds > 0;
}
