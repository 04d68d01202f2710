#include "symbols/elf/elf_symbols.h"

#include "core/base/clock.h"
#include "symbols/elf/elf_image.h"
#include "symbols/elf/table_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    SYMTAB_LIMIT = 64 << 20,
    STRTAB_LIMIT = 128 << 20,
    NOTES_LIMIT = 64 << 10,
    RELOCATIONS_LIMIT = 16 << 20,
    UNSIZED_REACH = 4 << 10, /* bytes that a symbol without a size may cover */
    KEPT_FILES = 64,
    JUST_CHANGED_NS = 100000000,
};

/* State while one file is read. A section index is 0 if there is no such section. */
struct reader {
    struct elf_symbols *out;
    struct elf_image *image;
    GElf_Shdr *sections;
    size_t count;
    size_t symtab, dynsym, rela_plt, plt, plt_sec;
    uint32_t dynamic_names; /* offset of .dynstr in the names; UINT32_MAX: not read */
    uint16_t machine;
};

static bool section_is_code(const struct reader *r, const GElf_Sym *symbol) {
    if (symbol->st_shndx == SHN_XINDEX)
        return true;
    if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= r->count)
        return false;
    return (r->sections[symbol->st_shndx].sh_flags & SHF_EXECINSTR) != 0;
}

/* Bytes from the symbol to the end of its section. */
static uint64_t room(const struct reader *r, const GElf_Sym *symbol) {
    if (symbol->st_shndx >= r->count)
        return UNSIZED_REACH;
    const GElf_Shdr *h = &r->sections[symbol->st_shndx];
    uint64_t into = symbol->st_value - h->sh_addr;
    return symbol->st_value >= h->sh_addr && into < h->sh_size ? h->sh_size - into : 0;
}

static bool is_function(const struct reader *r, const GElf_Sym *symbol, const char *name) {
    unsigned type = GELF_ST_TYPE(symbol->st_info);
    if (!section_is_code(r, symbol))
        return false;
    if (type == STT_FUNC || type == STT_GNU_IFUNC)
        return true;
    /* Assembly without .type. '$' begins ARM's marks for code and data, ".L" a local label. */
    return type == STT_NOTYPE && name[0] != '$' && strncmp(name, ".L", 2) != 0;
}

static int add_symbols(struct reader *r, Elf_Data *symbols, uint32_t base, size_t names_length) {
    size_t count = symbols->d_size / gelf_fsize(r->image->elf, ELF_T_SYM, 1, EV_CURRENT);
    struct symbol_table *t = &r->out->table;
    for (size_t i = 1; i < count; i++) {
        GElf_Sym symbol;
        if (!gelf_getsym(symbols, (int)i, &symbol) || symbol.st_name >= names_length ||
            !is_function(r, &symbol, t->names + base + symbol.st_name))
            continue;
        uint64_t size = symbol.st_size;
        if (!size) {
            size = room(r, &symbol);
            if (size > UNSIZED_REACH)
                size = UNSIZED_REACH;
        }
        struct symbol_entry e = {
            .start = symbol.st_value,
            .size = size > UINT32_MAX ? UINT32_MAX : (uint32_t)size,
            .name = base + (uint32_t)symbol.st_name,
            .sized = symbol.st_size != 0,
        };
        unsigned bind = GELF_ST_BIND(symbol.st_info);
        int rc = symbol_table_add(t, &e,
                                  bind == STB_LOCAL  ? SYMBOL_LOCAL
                                  : bind == STB_WEAK ? SYMBOL_WEAK
                                                     : SYMBOL_GLOBAL);
        if (rc)
            return rc;
    }
    return 0;
}

/* Reads .symtab or .dynsym with its string table. A damaged one is skipped. */
static int read_table(struct reader *r, size_t index, uint32_t *base) {
    if (!index || r->sections[index].sh_link >= r->count ||
        r->sections[r->sections[index].sh_link].sh_type != SHT_STRTAB)
        return 0;
    Elf_Data *symbols = elf_image_section(r->image, index, SYMTAB_LIMIT);
    Elf_Data *names = elf_image_section(r->image, r->sections[index].sh_link, STRTAB_LIMIT);
    if (!symbols || symbols->d_type != ELF_T_SYM || !names)
        return 0;
    int rc = symbol_table_names(&r->out->table, names->d_buf, names->d_size, base);
    return rc ? rc : add_symbols(r, symbols, *base, names->d_size);
}

/* Finds the jump of the first relocation, and the distance between jumps. */
static bool plt_layout(const struct reader *r, size_t count, uint64_t *first, uint64_t *step) {
    const GElf_Shdr *h = &r->sections[r->plt_sec ? r->plt_sec : r->plt];
    uint64_t head = r->plt_sec ? 0 : r->machine == EM_AARCH64 ? 32 : 16;
    if (!count || h->sh_size <= head || (h->sh_size - head) % count)
        return false;
    *first = h->sh_addr + head;
    *step = (h->sh_size - head) / count;
    return *step == 16 || *step == 24;
}

/* Calls into other files go through a table of jumps, in the order of .rela.plt. */
static int read_plt(struct reader *r) {
    if (!r->rela_plt || !(r->plt || r->plt_sec) || !r->dynsym ||
        r->sections[r->rela_plt].sh_link != r->dynsym ||
        (r->machine != EM_X86_64 && r->machine != EM_AARCH64))
        return 0;
    Elf_Data *relocations = elf_image_section(r->image, r->rela_plt, RELOCATIONS_LIMIT);
    Elf_Data *symbols = elf_image_section(r->image, r->dynsym, SYMTAB_LIMIT);
    uint64_t first, step;
    size_t count = r->sections[r->rela_plt].sh_size / sizeof(Elf64_Rela);
    if (!relocations || relocations->d_type != ELF_T_RELA || !symbols ||
        symbols->d_type != ELF_T_SYM || r->dynamic_names == UINT32_MAX ||
        !plt_layout(r, count, &first, &step))
        return 0;
    for (size_t i = 0; i < count; i++) {
        GElf_Rela relocation;
        GElf_Sym symbol;
        size_t names_length = r->sections[r->sections[r->dynsym].sh_link].sh_size;
        if (!gelf_getrela(relocations, (int)i, &relocation) ||
            GELF_R_SYM(relocation.r_info) > INT32_MAX ||
            !gelf_getsym(symbols, (int)GELF_R_SYM(relocation.r_info), &symbol) ||
            symbol.st_name == 0 || symbol.st_name >= names_length)
            continue;
        struct symbol_entry e = {
            .start = first + i * step,
            .size = (uint32_t)step,
            .name = r->dynamic_names + (uint32_t)symbol.st_name,
            .sized = true,
            .plt = true,
        };
        int rc = symbol_table_add(&r->out->table, &e, SYMBOL_GLOBAL);
        if (rc)
            return rc;
    }
    return 0;
}

static void read_build_id(struct reader *r, size_t index) {
    GElf_Nhdr note;
    size_t name, description, at = 0, next;
    Elf_Data *data = elf_image_section(r->image, index, NOTES_LIMIT);
    if (!data || r->out->build_id_length)
        return;
    while ((next = gelf_getnote(data, at, &note, &name, &description)) > at) {
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof "GNU" &&
            memcmp((char *)data->d_buf + name, "GNU", sizeof "GNU") == 0 && note.n_descsz >= 4 &&
            note.n_descsz <= ELF_BUILD_ID) {
            memcpy(r->out->build_id, (char *)data->d_buf + description, note.n_descsz);
            r->out->build_id_length = note.n_descsz;
            return;
        }
        at = next;
    }
}

/* File name, NUL, padding to 4, CRC. A name with a slash is refused: it would lead elsewhere. */
static void read_debug_link(struct reader *r, size_t index) {
    Elf_Data *data = elf_image_section(r->image, index, sizeof r->out->debug_link + 8);
    if (!data)
        return;
    size_t length = strnlen(data->d_buf, data->d_size);
    size_t crc = (length + 4) & ~(size_t)3;
    if (!length || length >= sizeof r->out->debug_link || crc + 4 > data->d_size ||
        memchr(data->d_buf, '/', length))
        return;
    memcpy(r->out->debug_link, data->d_buf, length + 1);
    memcpy(&r->out->debug_link_crc, (char *)data->d_buf + crc, 4);
}

static bool has_name(const Elf_Data *names, const GElf_Shdr *h, const char *name) {
    size_t length = strlen(name) + 1;
    return names && h->sh_name < names->d_size && length <= names->d_size - h->sh_name &&
           memcmp((const char *)names->d_buf + h->sh_name, name, length) == 0;
}

/* Notes the index of each section; the first one of a kind counts. */
static int survey(struct reader *r) {
    GElf_Ehdr header;
    size_t names_index = 0;
    if (!gelf_getehdr(r->image->elf, &header) || elf_getshdrnum(r->image->elf, &r->count) < 0 ||
        elf_getshdrstrndx(r->image->elf, &names_index) < 0)
        return -EINVAL;
    r->machine = header.e_machine;
    r->sections = calloc(r->count + 1, sizeof *r->sections);
    if (!r->sections)
        return -ENOMEM;
    Elf_Data *names =
        names_index ? elf_image_section(r->image, names_index, STRTAB_LIMIT >> 7) : NULL;
    for (size_t i = 1; i < r->count; i++) {
        GElf_Shdr *h = &r->sections[i];
        Elf_Scn *section = elf_getscn(r->image->elf, i);
        if (!section || !gelf_getshdr(section, h))
            return -EINVAL;
        size_t *kind = h->sh_type == SHT_SYMTAB          ? &r->symtab
                       : h->sh_type == SHT_DYNSYM        ? &r->dynsym
                       : has_name(names, h, ".rela.plt") ? &r->rela_plt
                       : has_name(names, h, ".plt.sec")  ? &r->plt_sec
                       : has_name(names, h, ".plt")      ? &r->plt
                                                         : NULL;
        if (kind && !*kind)
            *kind = i;
        if (h->sh_type == SHT_NOTE)
            read_build_id(r, i);
        else if (h->sh_type == SHT_PROGBITS && has_name(names, h, ".gnu_debuglink"))
            read_debug_link(r, i);
    }
    return 0;
}

static void read_segments(struct reader *r) {
    struct elf_symbols *s = r->out;
    size_t count = 0;
    if (elf_getphdrnum(r->image->elf, &count) < 0)
        return;
    for (size_t i = 0; i < count && s->segment_count < ELF_SEGMENTS; i++) {
        GElf_Phdr h;
        if (!gelf_getphdr(r->image->elf, (int)i, &h) || h.p_type != PT_LOAD || !(h.p_flags & PF_X))
            continue;
        s->segments[s->segment_count].offset = h.p_offset;
        s->segments[s->segment_count].size = h.p_filesz;
        s->segments[s->segment_count++].address = h.p_vaddr;
    }
}

/* Closes the image. Nothing is kept of a file that was only partly read. */
static int read_image(struct elf_image *image, struct elf_symbols **out) {
    struct reader r = {.image = image, .out = calloc(1, sizeof **out), .dynamic_names = UINT32_MAX};
    int rc = r.out ? survey(&r) : -ENOMEM;
    if (!rc) {
        uint32_t base;
        read_segments(&r);
        rc = read_table(&r, r.symtab, &base);
        r.out->has_symtab = r.out->table.count > 0;
    }
    if (!rc)
        rc = read_table(&r, r.dynsym, &r.dynamic_names);
    if (!rc)
        rc = read_plt(&r);
    free(r.sections);
    elf_image_close(image);
    if (rc) {
        elf_symbols_free(r.out);
        return rc;
    }
    symbol_table_finish(&r.out->table);
    *out = r.out;
    return 0;
}

int elf_symbols_read(int fd, struct elf_symbols **out) {
    struct elf_image image;
    int rc = elf_image_open(fd, &image);
    return rc ? rc : read_image(&image, out);
}

bool elf_identify(int fd, struct elf_identity *id) {
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return false;
    *id = (struct elf_identity){st.st_dev, st.st_ino, (uint64_t)st.st_size, st.st_ctim.tv_sec,
                                st.st_ctim.tv_nsec};
    /* The file system's clock is coarse: another change may get the same time. */
    uint64_t changed = (uint64_t)st.st_ctim.tv_sec * 1000000000u + (uint64_t)st.st_ctim.tv_nsec;
    uint64_t now = clock_ns(CLOCK_REALTIME);
    return changed > now || now - changed > JUST_CHANGED_NS;
}

/* Fills `name` with the file's name. Everything except the table is kept with it. */
static struct table_file file_of(const struct elf_identity *id, struct elf_symbols *rest,
                                 char name[64]) {
    snprintf(name, 64, "elf-%" PRIx64 "-%" PRIx64, id->device, id->inode);
    return (struct table_file){.magic = "elf symbols 1",
                               .folder = "symbols",
                               .prefix = "elf-",
                               .name = name,
                               .most = KEPT_FILES,
                               .id = id,
                               .id_bytes = sizeof *id,
                               .more = rest,
                               .more_bytes = sizeof *rest};
}

/* Images of file systems that are made with fixed times may differ only in their contents. */
static bool has_build_id(int fd, const struct elf_symbols *s) {
    struct elf_image image;
    struct elf_symbols now = {0};
    struct reader r = {.image = &image, .out = &now};
    if (elf_image_open(fd, &image) != 0)
        return false;
    bool same = survey(&r) == 0 && now.build_id_length > 0 &&
                now.build_id_length == s->build_id_length &&
                memcmp(now.build_id, s->build_id, now.build_id_length) == 0;
    free(r.sections);
    elf_image_close(&image);
    return same;
}

struct elf_symbols *elf_symbols_kept(int fd, const struct elf_identity *id) {
    char name[64];
    struct symbol_table table;
    struct elf_symbols *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    const struct table_file file = file_of(id, s, name);
    if (!table_file_load(&file, &table)) {
        free(s);
        return NULL;
    }
    s->table = table;
    s->has_symtab = true;
    if (s->segment_count <= ELF_SEGMENTS && s->build_id_length <= ELF_BUILD_ID &&
        memchr(s->debug_link, 0, sizeof s->debug_link) && has_build_id(fd, s))
        return s;
    elf_symbols_free(s);
    return NULL;
}

void elf_symbols_keep(const struct elf_symbols *s, int fd, const struct elf_identity *id) {
    char name[64];
    struct elf_identity now;
    struct elf_symbols rest;
    if (!s->has_symtab || !s->build_id_length || !elf_identify(fd, &now) ||
        memcmp(&now, id, sizeof now) != 0)
        return;
    memcpy(&rest, s, sizeof rest); /* padding, too */
    rest.table = (struct symbol_table){0};
    const struct table_file file = file_of(id, &rest, name);
    table_file_store(&file, &s->table);
}

int elf_symbols_read_memory(const void *data, size_t size, struct elf_symbols **out) {
    struct elf_image image;
    int rc = elf_image_copy(data, size, &image);
    return rc ? rc : read_image(&image, out);
}

int elf_symbols_add(struct elf_symbols *s, int fd) {
    struct elf_image image;
    uint32_t base;
    int rc = elf_image_open(fd, &image);
    if (rc)
        return rc;
    struct elf_symbols scratch = {0}; /* for what comes from the debug file's own headers */
    struct reader r = {.image = &image, .out = &scratch};
    rc = survey(&r);
    if (!rc && s->build_id_length &&
        (s->build_id_length != scratch.build_id_length ||
         memcmp(s->build_id, scratch.build_id, s->build_id_length) != 0))
        rc = -ESTALE;
    r.out = s;
    if (!rc)
        rc = read_table(&r, r.symtab, &base);
    free(r.sections);
    elf_image_close(&image);
    symbol_table_finish(&s->table);
    return rc;
}

const struct symbol_entry *elf_symbols_find(const struct elf_symbols *s, uint64_t offset) {
    for (unsigned i = 0; i < s->segment_count; i++) {
        uint64_t into = offset - s->segments[i].offset;
        if (offset >= s->segments[i].offset && into < s->segments[i].size)
            return symbol_table_find(&s->table, s->segments[i].address + into);
    }
    return NULL;
}

void elf_symbols_free(struct elf_symbols *s) {
    if (!s)
        return;
    symbol_table_free(&s->table);
    free(s);
}
