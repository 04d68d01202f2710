#include "symbols/find.h"

#include "symbols/elf/debug_file.h"
#include "symbols/elf/elf_function.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PAGE UINT64_C(4096)

static bool is_file(const struct mapping *m) {
    return m->executable && m->path[0] == '/' && m->inode != 0;
}

static bool same_file(const struct mapping *a, const struct mapping *b) {
    return a->inode == b->inode && a->major == b->major && a->minor == b->minor;
}

/* "libc" means libc.so.6 too, but not libcap.so.2. */
static bool is_called(const struct mapping *m, const char *library) {
    const char *base = mapping_base_name(m);
    size_t length = strlen(library);
    return strcmp(m->path, library) == 0 || strcmp(base, library) == 0 ||
           (strncmp(base, library, length) == 0 && strncmp(base + length, ".so", 3) == 0);
}

/* The next file that `library` may mean, from mapping `i` on, each file once; NULL: no more. */
static const struct mapping *next_file(const struct maps *maps, const char *library, size_t *i) {
    for (; *i < maps->count; ++*i) {
        const struct mapping *m = &maps->list[*i];
        if (!is_file(m) || (library && !is_called(m, library)))
            continue;
        size_t before = 0;
        while (before < *i && !(is_file(&maps->list[before]) && same_file(&maps->list[before], m)))
            before++;
        if (before < *i)
            continue;
        ++*i;
        return m;
    }
    return NULL;
}

/* Searches the file and its debug file; `elf` has its segments if the result is 0. */
static int look_into(const struct target_files *files, const struct mapping *m, const char *name,
                     struct elf_function *found, struct elf_symbols **elf) {
    int fd = target_files_open_mapping(files, m);
    if (fd < 0)
        return -ENOENT;
    bool stripped;
    int r = elf_function_find(fd, name, found, &stripped);
    if (r == 0 || (r == -ENOENT && stripped)) {
        int read = elf_symbols_read(fd, elf);
        r = read < 0 ? read : r;
    }
    close(fd);
    int debug = r == -ENOENT && *elf ? debug_file_open(files, m->path, *elf) : -1;
    if (debug >= 0) {
        r = elf_function_find(debug, name, found, &stripped);
        close(debug);
    }
    return r;
}

/* Converts the file's addresses to the process's. False: the file's numbers are invalid. */
static bool place(const struct maps *maps, const struct mapping *m, const struct elf_symbols *elf,
                  const struct elf_function *f, struct symbol_place *out) {
    *out = (struct symbol_place){
        .offset = UINT64_MAX, .object = f->object, .chosen_late = f->chosen_late};
    bool placed = false;
    for (unsigned i = 0; i < elf->segment_count; i++) {
        uint64_t offset = elf->segments[i].offset, size = elf->segments[i].size;
        uint64_t vaddr = elf->segments[i].address;
        uint64_t page = offset & ~(PAGE - 1); /* a mapping begins with a whole page */
        if (!placed && m->offset >= page && m->offset - page < size + (offset - page)) {
            out->address = f->address + m->start - (vaddr + m->offset - offset);
            placed = true;
        }
        if (f->address >= vaddr && f->address - vaddr < size)
            out->offset = f->address - vaddr + offset;
    }
    const struct mapping *there = placed ? maps_find(maps, out->address) : NULL;
    if (!there || (!f->object && !(there->executable && same_file(there, m))))
        return false;
    return snprintf(out->path, sizeof out->path, "%s", m->path) < (int)sizeof out->path;
}

int find_symbol(const struct target_files *files, const struct maps *maps, const char *library,
                const char *name, struct symbol_place *out) {
    const struct mapping *m;
    int result = -ENODEV;
    for (size_t i = 0; (m = next_file(maps, library, &i)) != NULL;) {
        struct elf_symbols *elf = NULL;
        struct elf_function found;
        if (!name) {
            *out = (struct symbol_place){.address = m->start};
            return snprintf(out->path, sizeof out->path, "%s", m->path) < (int)sizeof out->path
                       ? 0
                       : -ENAMETOOLONG;
        }
        int r = look_into(files, m, name, &found, &elf);
        bool placed = r == 0 && place(maps, m, elf, &found, out);
        elf_symbols_free(elf);
        if (placed)
            return 0;
        if (r == -ENOMEM || (r == -EFBIG && library))
            return r;
        result = -ENOENT;
    }
    return result;
}

bool find_stripped(const struct target_files *files, const struct maps *maps, const char *library,
                   char build_id[132], bool *replaced) {
    size_t i = 0;
    struct elf_symbols *elf = NULL;
    const struct mapping *m = next_file(maps, library, &i);
    int fd = m ? target_files_open_mapping(files, m) : -1;
    if (fd < 0)
        return false;
    int r = elf_symbols_read(fd, &elf);
    close(fd);
    bool stripped = r == 0 && !elf->has_symtab && debug_file_add(files, m->path, elf) < 0;
    build_id[0] = '\0';
    for (size_t at = 0; stripped && at < elf->build_id_length; at++)
        snprintf(build_id + 2 * at, 3, "%02x", elf->build_id[at]);
    *replaced = m->deleted;
    if (r == 0)
        elf_symbols_free(elf);
    return stripped;
}
