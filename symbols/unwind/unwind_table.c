#include "symbols/unwind/unwind_table.h"

#include "symbols/elf/elf_image.h"
#include "symbols/unwind/unwind_program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    SECTION_LIMIT = 64 << 20, /* bytes */
    FDES_LIMIT = 1 << 21,
    INSTRUCTIONS_PER_BYTE = 4, /* an FDE's own and its CIE's; usually less than one */
    NAMES_LIMIT = 1 << 20,
    HDR_BYTES = 4 + 8, /* of .eh_frame_hdr, up to and including the pointer to .eh_frame */
    SOURCES = 3,
};

struct fde_place {
    uint64_t begin, end;
    uint32_t offset; /* in its section */
    uint32_t source; /* index of the section; if two sections know a function, the first counts */
};

struct builder {
    struct unwind_table *table;
    struct unwind_section source[SOURCES];
    uint32_t sources;
    struct fde_place *fde;
    size_t fdes, fdes_cap, rows_cap;
    uint64_t cursor; /* address up to which there are rows */
    struct unwind_program program;
};

static int read_segments(struct elf_image *image, struct unwind_table *t) {
    size_t count = 0;
    if (elf_getphdrnum(image->elf, &count) < 0)
        return -EINVAL;
    t->address = UINT64_MAX;
    for (size_t i = 0; i < count && t->segment_count < UNWIND_SEGMENTS; i++) {
        GElf_Phdr h;
        if (!gelf_getphdr(image->elf, (int)i, &h) || h.p_type != PT_LOAD || !(h.p_flags & PF_X) ||
            h.p_filesz > UINT32_MAX / 2 || h.p_vaddr > UINT64_MAX - h.p_filesz)
            continue;
        t->segments[t->segment_count].offset = h.p_offset;
        t->segments[t->segment_count].size = h.p_filesz;
        t->segments[t->segment_count++].address = h.p_vaddr;
        if (h.p_vaddr < t->address)
            t->address = h.p_vaddr;
    }
    return 0;
}

static bool is_code(const struct unwind_table *t, uint64_t begin, uint64_t end) {
    if (end < begin || end - t->address > UINT32_MAX)
        return false;
    for (unsigned i = 0; i < t->segment_count; i++) {
        uint64_t into = begin - t->segments[i].address;
        if (begin >= t->segments[i].address && into <= t->segments[i].size &&
            end - begin <= t->segments[i].size - into)
            return true;
    }
    return false;
}

/* Sections. */

static void add_source(struct builder *b, const void *data, uint64_t size, uint64_t address,
                       bool eh) {
    if (data && b->sources < SOURCES)
        b->source[b->sources++] =
            (struct unwind_section){.data = data, .size = size, .address = address, .eh = eh};
}

static bool named(const Elf_Data *names, const GElf_Shdr *h, const char *name) {
    size_t length = strlen(name) + 1;
    return names && h->sh_name < names->d_size && length <= names->d_size - h->sh_name &&
           memcmp((const char *)names->d_buf + h->sh_name, name, length) == 0;
}

static void add_section(struct builder *b, struct elf_image *image, const char *name, bool eh) {
    size_t count, names_index;
    if (elf_getshdrnum(image->elf, &count) < 0 || elf_getshdrstrndx(image->elf, &names_index) < 0)
        return;
    Elf_Data *names = names_index ? elf_image_section(image, names_index, NAMES_LIMIT) : NULL;
    for (size_t i = 1; i < count; i++) {
        GElf_Shdr h;
        Elf_Scn *section = elf_getscn(image->elf, i);
        if (!section || !gelf_getshdr(section, &h) || !named(names, &h, name))
            continue;
        Elf_Data *data = elf_image_section(image, i, SECTION_LIMIT);
        if (data)
            add_source(b, data->d_buf, data->d_size, h.sh_addr, eh);
        return;
    }
}

/* The file's bytes at an address: `*size` of them; if that is 0, all up to the segment's end. */
static const void *bytes_at(struct elf_image *image, uint64_t address, uint64_t *size) {
    size_t count = 0;
    if (elf_getphdrnum(image->elf, &count) < 0)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr h;
        if (!gelf_getphdr(image->elf, (int)i, &h) || h.p_type != PT_LOAD || address < h.p_vaddr ||
            address - h.p_vaddr >= h.p_filesz)
            continue;
        uint64_t into = address - h.p_vaddr;
        uint64_t left = h.p_filesz - into;
        if (h.p_offset > image->size || into > image->size - h.p_offset)
            return NULL;
        if (left > image->size - h.p_offset - into)
            left = image->size - h.p_offset - into;
        if (*size == 0)
            *size = left < SECTION_LIMIT ? left : SECTION_LIMIT;
        if (*size > left)
            return NULL;
        return elf_image_part(image, h.p_offset + into, *size);
    }
    return NULL;
}

/* For a file without section headers: .eh_frame_hdr points to .eh_frame, which ends by itself. */
static void add_by_segment(struct builder *b, struct elf_image *image) {
    size_t count = 0;
    if (elf_getphdrnum(image->elf, &count) < 0)
        return;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr h;
        uint64_t size = HDR_BYTES;
        if (!gelf_getphdr(image->elf, (int)i, &h) || h.p_type != PT_GNU_EH_FRAME)
            continue;
        const uint8_t *data = bytes_at(image, h.p_vaddr, &size);
        if (!data || data[0] != 1)
            return;
        struct unwind_section hdr = {.data = data, .size = size, .address = h.p_vaddr};
        struct unwind_bytes at = {.at = data + 4, .end = data + size};
        uint64_t address = unwind_pointer(&hdr, data[1], &at);
        size = 0;
        const void *frames = at.bad ? NULL : bytes_at(image, address, &size);
        add_source(b, frames, size, address, true);
        return;
    }
}

static int gather_sources(struct builder *b, struct elf_image *image, struct elf_image *debug) {
    GElf_Ehdr header;
    if (!gelf_getehdr(image->elf, &header) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        (header.e_machine != EM_X86_64 && header.e_machine != EM_AARCH64))
        return -EINVAL;
    b->program.machine = header.e_machine;
    int rc = read_segments(image, b->table);
    if (rc)
        return rc;
    add_section(b, image, ".eh_frame", true);
    if (!b->sources)
        add_by_segment(b, image);
    add_section(b, image, ".debug_frame", false);
    if (debug->elf)
        add_section(b, debug, ".debug_frame", false);
    for (uint32_t i = 0; i < b->sources; i++)
        b->program.budget += b->source[i].size * INSTRUCTIONS_PER_BYTE;
    return 0;
}

/* FDEs. */

static int add_fde(struct builder *b, const struct fde_place *f) {
    if (b->fdes == b->fdes_cap) {
        size_t cap = b->fdes_cap ? b->fdes_cap * 2 : 1024;
        struct fde_place *more = realloc(b->fde, cap * sizeof *more);
        if (!more)
            return -ENOMEM;
        b->fde = more;
        b->fdes_cap = cap;
    }
    b->fde[b->fdes++] = *f;
    return 0;
}

static int gather_fdes(struct builder *b, uint32_t source) {
    const struct unwind_section *s = &b->source[source];
    struct unwind_fde fde;
    int rc = 0;
    int kind;
    for (size_t offset = 0, at = 0; !rc && b->fdes < FDES_LIMIT; at = offset) {
        kind = unwind_entry_next(s, &offset);
        if (kind < 0)
            break;
        if (kind && unwind_fde_read(s, at, &fde) && is_code(b->table, fde.begin, fde.end))
            rc = add_fde(b, &(struct fde_place){fde.begin, fde.end, (uint32_t)at, source});
    }
    return rc;
}

static int by_address(const void *a, const void *b) {
    const struct fde_place *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Rows. */

static bool same_rule(const struct unwind_row *a, const struct unwind_row *b) {
    return a->cfa == b->cfa && a->cfa_offset == b->cfa_offset && a->fp_offset == b->fp_offset &&
           a->ra_offset == b->ra_offset;
}

static int add_row(struct builder *b, uint64_t address, const struct unwind_row *row) {
    struct unwind_table *t = b->table;
    if (t->count && same_rule(&t->rows[t->count - 1], row))
        return 0;
    if (t->count == UNWIND_ROWS_LIMIT)
        return -E2BIG;
    if (t->count == b->rows_cap) {
        size_t cap = b->rows_cap ? b->rows_cap * 2 : 4096;
        struct unwind_row *more = realloc(t->rows, cap * sizeof *more);
        if (!more)
            return -ENOMEM;
        t->rows = more;
        b->rows_cap = cap;
    }
    t->rows[t->count] = *row;
    t->rows[t->count++].pc = (uint32_t)(address - t->address);
    return 0;
}

static const struct unwind_row nothing = {.fp_offset = UNWIND_SAME, .ra_offset = UNWIND_SAME};

static int emit(void *arg, uint64_t begin, uint64_t end, const struct unwind_row *row) {
    struct builder *b = arg;
    if (end <= b->cursor)
        return 0;
    if (begin < b->cursor)
        begin = b->cursor;
    int rc = b->table->count && begin > b->cursor ? add_row(b, b->cursor, &nothing) : 0;
    if (!rc)
        rc = add_row(b, begin, row);
    if (rc)
        return rc;
    if (row->cfa != UNWIND_CFA_NONE)
        b->table->covered += end - begin;
    b->cursor = end;
    return 0;
}

/* Limits are no errors: the rows up to there are valid. The last row always says that nothing is
 * known after it. */
static int make_rows(struct builder *b) {
    struct unwind_table *t = b->table;
    int rc = 0;
    b->program.emit = emit;
    b->program.arg = b;
    for (size_t i = 0; i < b->fdes && !rc; i++) {
        const struct unwind_section *s = &b->source[b->fde[i].source];
        struct unwind_fde fde;
        if (b->fde[i].end > b->cursor && unwind_fde_read(s, b->fde[i].offset, &fde))
            rc = unwind_program_run(&b->program, s, &fde);
    }
    if (rc == -ENOMEM || !t->count)
        return rc == -ENOMEM ? rc : 0;
    if (t->count == UNWIND_ROWS_LIMIT) {
        uint32_t pc = t->rows[t->count - 1].pc;
        t->rows[t->count - 1] = nothing;
        t->rows[t->count - 1].pc = pc;
        return 0;
    }
    return add_row(b, b->cursor, &nothing);
}

static int build(struct elf_image *image, struct elf_image *debug, struct unwind_table *t) {
    struct builder b = {.table = t};
    int rc = gather_sources(&b, image, debug);
    for (uint32_t i = 0; i < b.sources && !rc; i++)
        rc = gather_fdes(&b, i);
    if (!rc && b.fdes) {
        qsort(b.fde, b.fdes, sizeof *b.fde, by_address);
        rc = make_rows(&b);
    }
    free(b.fde);
    if (rc)
        unwind_table_free(t);
    return rc;
}

int unwind_table_read(int fd, int debug_fd, struct unwind_table *out) {
    struct elf_image image, debug = {.fd = -1};
    *out = (struct unwind_table){0};
    int rc = elf_image_open(fd, &image);
    if (rc)
        return rc;
    if (debug_fd >= 0 && elf_image_open(debug_fd, &debug))
        debug = (struct elf_image){.fd = -1};
    rc = build(&image, &debug, out);
    elf_image_close(&debug);
    elf_image_close(&image);
    return rc;
}

int unwind_table_read_memory(const void *data, size_t size, struct unwind_table *out) {
    struct elf_image image, debug = {.fd = -1};
    *out = (struct unwind_table){0};
    int rc = elf_image_copy(data, size, &image);
    if (rc)
        return rc;
    rc = build(&image, &debug, out);
    elf_image_close(&image);
    return rc;
}

void unwind_table_free(struct unwind_table *t) {
    if (t->map)
        munmap(t->map, t->map_bytes);
    else
        free(t->rows);
    *t = (struct unwind_table){0};
}

/* Lookup. */

uint64_t unwind_table_code(const struct unwind_table *t) {
    uint64_t bytes = 0;
    for (unsigned i = 0; i < t->segment_count; i++)
        bytes += t->segments[i].size;
    return bytes;
}

/* A mapping begins with a whole page; a segment may begin anywhere. */
bool unwind_table_base(const struct unwind_table *t, uint64_t offset, uint64_t address,
                       uint64_t *base) {
    static const uint64_t page[] = {1, 4 << 10, 64 << 10};
    for (size_t p = 0; p < sizeof page / sizeof page[0]; p++) {
        for (unsigned i = 0; i < t->segment_count; i++) {
            uint64_t first = t->segments[i].offset & ~(page[p] - 1);
            if (offset < first ||
                offset - t->segments[i].offset + page[p] - 1 >= t->segments[i].size + page[p] - 1)
                continue;
            *base = address - offset + t->segments[i].offset - t->segments[i].address + t->address;
            return true;
        }
    }
    return false;
}

const struct unwind_row *unwind_table_find(const struct unwind_table *t, uint32_t pc) {
    size_t low = 0, high = t->count;
    while (low < high) { /* the first row after pc */
        size_t middle = low + (high - low) / 2;
        if (t->rows[middle].pc <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &t->rows[low - 1] : NULL;
}
