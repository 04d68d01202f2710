#include "symbols/elf/elf_function.h"

#include "symbols/elf/demangle.h"
#include "symbols/elf/elf_image.h"

#include <errno.h>
#include <string.h>

enum {
    SYMTAB_LIMIT = 64 << 20,
    STRTAB_LIMIT = 128 << 20,
};

struct search {
    const char *name;
    const char *last; /* part of it, after the last "::"; NULL: not a C++ name */
    size_t length;
};

/* How well a symbol matches; 0: not at all. Of two versions, the one that new programs are linked
 * with matches better: "f@@NEW", not "f@OLD", which is there for old programs. */
static int fit(const struct search *s, const char *spelled, bool old) {
    char text[DEMANGLE_BYTES];
    size_t length = strcspn(spelled, "@");
    if (length == s->length && strncmp(spelled, s->name, length) == 0)
        return old || (spelled[length] && spelled[length + 1] != '@') ? 3 : 4;
    /* Demangling is slow, and a file may have 100,000 names. */
    if (!s->last || !strstr(spelled, s->last) || strstr(spelled, ".cold") ||
        strstr(spelled, ".part") || !demangle(spelled, text) || strcmp(text, s->name) != 0)
        return 0;
    return strchr(spelled, '.') ? 1 : 2;
}

/* The versions of a .dynsym's symbols: 16 bits each, the highest means "old". NULL: none. */
static const Elf_Data *versions_of(struct elf_image *image, size_t index) {
    size_t count = 0;
    if (elf_getshdrnum(image->elf, &count) < 0)
        return NULL;
    for (size_t i = 1; i < count; i++) {
        GElf_Shdr header;
        Elf_Scn *section = elf_getscn(image->elf, i);
        if (section && gelf_getshdr(section, &header) && header.sh_type == SHT_GNU_versym &&
            header.sh_link == index)
            return elf_image_section(image, i, SYMTAB_LIMIT);
    }
    return NULL;
}

static bool is_old(const Elf_Data *versions, size_t i) {
    uint16_t version;
    if (!versions || i >= versions->d_size / sizeof version)
        return false;
    memcpy(&version, (const char *)versions->d_buf + i * sizeof version, sizeof version);
    return version & 0x8000;
}

static int search_table(const struct search *s, struct elf_image *image, const GElf_Shdr *header,
                        size_t index, int best, struct elf_function *out) {
    Elf_Data *symbols = elf_image_section(image, index, SYMTAB_LIMIT);
    Elf_Data *names = elf_image_section(image, header->sh_link, STRTAB_LIMIT);
    if (!symbols || symbols->d_type != ELF_T_SYM || !names || names->d_size == 0 ||
        ((const char *)names->d_buf)[names->d_size - 1] != '\0')
        return best;
    const Elf_Data *versions = versions_of(image, index);
    size_t count = symbols->d_size / gelf_fsize(image->elf, ELF_T_SYM, 1, EV_CURRENT);
    for (size_t i = 1; i < count && i < INT32_MAX; i++) {
        GElf_Sym symbol;
        if (!gelf_getsym(symbols, (int)i, &symbol) || symbol.st_name >= names->d_size ||
            symbol.st_shndx == SHN_UNDEF || symbol.st_value == 0)
            continue;
        unsigned type = GELF_ST_TYPE(symbol.st_info);
        if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_OBJECT && type != STT_NOTYPE)
            continue;
        int good = fit(s, (const char *)names->d_buf + symbol.st_name, is_old(versions, i));
        if (good <= best)
            continue;
        best = good;
        *out = (struct elf_function){.address = symbol.st_value,
                                     .size = symbol.st_size,
                                     .object = type == STT_OBJECT,
                                     .chosen_late = type == STT_GNU_IFUNC};
    }
    return best;
}

int elf_function_find(int fd, const char *name, struct elf_function *out, bool *stripped) {
    struct elf_image image;
    size_t count = 0;
    int best = 0;
    *stripped = true;
    int r = elf_image_open(fd, &image);
    if (r < 0)
        return r;
    struct search s = {.name = name, .length = strlen(name)};
    for (const char *p = name; (p = strstr(p, "::")) != NULL;)
        s.last = p += 2;
    if (s.last && !*s.last)
        s.last = NULL;
    if (elf_getshdrnum(image.elf, &count) < 0)
        count = 0;
    for (size_t i = 1; i < count; i++) {
        GElf_Shdr header;
        Elf_Scn *section = elf_getscn(image.elf, i);
        if (!section || !gelf_getshdr(section, &header))
            continue;
        if (header.sh_type == SHT_SYMTAB)
            *stripped = false;
        if (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM)
            best = search_table(&s, &image, &header, i, best, out);
    }
    elf_image_close(&image);
    return best ? 0 : -ENOENT;
}
