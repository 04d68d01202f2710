#include "symbols/elf/elf_image.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_LIMIT (UINT64_C(2) << 30)

enum {
    SECTIONS_MAX = 8192, /* a linked file has dozens */
    SEGMENTS_MAX = 512,
};

enum { TABLE_HEADER, TABLE_SEGMENTS, TABLE_SECTIONS };

/* Copies a part of the file to its place. The file may have become shorter since fstat. */
static int fetch(struct elf_image *image, uint64_t start, uint64_t end) {
    while (image->fd >= 0 && start < end) {
        ssize_t n = pread(image->fd, image->base + start, end - start, (off_t)start);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (n == 0)
            return -EINVAL;
        start += (uint64_t)n;
    }
    return 0;
}

/* The fields of the file header that locate the other two tables, for either class. */
struct layout {
    uint64_t segments, sections; /* offsets */
    size_t segment_size, segment_count, section_size, section_count;
    size_t header_size, segment_expected, section_expected;
};

static bool read_layout(const struct elf_image *image, struct layout *l) {
    const char *ident = image->base;
    char native = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
    if (image->size < sizeof(Elf64_Ehdr) || memcmp(ident, ELFMAG, SELFMAG) != 0 ||
        ident[EI_DATA] != native)
        return false;
    if (ident[EI_CLASS] == ELFCLASS64) {
        Elf64_Ehdr h;
        memcpy(&h, image->base, sizeof h);
        *l = (struct layout){h.e_phoff,          h.e_shoff,          h.e_phentsize,
                             h.e_phnum,          h.e_shentsize,      h.e_shnum,
                             sizeof(Elf64_Ehdr), sizeof(Elf64_Phdr), sizeof(Elf64_Shdr)};
        return true;
    }
    if (ident[EI_CLASS] == ELFCLASS32) {
        Elf32_Ehdr h;
        memcpy(&h, image->base, sizeof h);
        *l = (struct layout){h.e_phoff,          h.e_shoff,          h.e_phentsize,
                             h.e_phnum,          h.e_shentsize,      h.e_shnum,
                             sizeof(Elf32_Ehdr), sizeof(Elf32_Phdr), sizeof(Elf32_Shdr)};
        return true;
    }
    return false;
}

static bool place(struct elf_image *image, int table, uint64_t offset, uint64_t bytes) {
    if (offset > image->size || bytes > image->size - offset)
        return false;
    image->tables[table].start = offset;
    image->tables[table].end = offset + bytes;
    return true;
}

/* libelf allocates memory by the counts in the header, and takes 0 sections with an offset for a
 * count of up to 2^64 that is stored elsewhere. So the limits are checked before libelf sees
 * anything. */
static int take_headers(struct elf_image *image) {
    struct layout l;
    int rc = fetch(image, 0, image->size < sizeof(Elf64_Ehdr) ? image->size : sizeof(Elf64_Ehdr));
    if (rc)
        return rc;
    if (!read_layout(image, &l) || l.segment_count > SEGMENTS_MAX ||
        l.section_count > SECTIONS_MAX || (l.section_count == 0 && l.sections != 0) ||
        (l.segment_count && l.segment_size != l.segment_expected) ||
        (l.section_count && l.section_size != l.section_expected))
        return -EINVAL;
    if (!place(image, TABLE_HEADER, 0, l.header_size) ||
        !place(image, TABLE_SEGMENTS, l.segments, l.segment_count * l.segment_size) ||
        !place(image, TABLE_SECTIONS, l.sections, l.section_count * l.section_size))
        return -EINVAL;
    /* A table that overlaps the file header would replace the counts that were just checked. */
    uint64_t behind = l.header_size;
    if ((l.segment_count && l.segments < behind) || (l.section_count && l.sections < behind))
        return -EINVAL;
    rc = fetch(image, image->tables[TABLE_SEGMENTS].start, image->tables[TABLE_SEGMENTS].end);
    if (!rc)
        rc = fetch(image, image->tables[TABLE_SECTIONS].start, image->tables[TABLE_SECTIONS].end);
    return rc;
}

static int start(struct elf_image *image) {
    int rc = take_headers(image);
    if (rc == 0) {
        elf_version(EV_CURRENT);
        image->elf = elf_memory(image->base, image->size);
        if (!image->elf || elf_kind(image->elf) != ELF_K_ELF)
            rc = -EINVAL;
    }
    if (rc)
        elf_image_close(image);
    return rc;
}

static int reserve(struct elf_image *image, uint64_t size) {
    if (size < sizeof(Elf32_Ehdr))
        return -EINVAL;
    if (size > FILE_LIMIT)
        return -EFBIG;
    void *base = mmap(NULL, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return -ENOMEM;
    image->base = base;
    image->size = size;
    return 0;
}

int elf_image_open(int fd, struct elf_image *image) {
    struct stat st;
    *image = (struct elf_image){.fd = fd};
    if (fstat(fd, &st) < 0)
        return -errno;
    if (!S_ISREG(st.st_mode) || st.st_size < 0)
        return -EINVAL;
    int rc = reserve(image, (uint64_t)st.st_size);
    return rc ? rc : start(image);
}

int elf_image_copy(const void *data, size_t size, struct elf_image *image) {
    *image = (struct elf_image){.fd = -1};
    int rc = reserve(image, size);
    if (rc)
        return rc;
    memcpy(image->base, data, size);
    return start(image);
}

/* A section that overlaps one of the tables would change it while libelf uses it. */
static bool is_clear_of_tables(const struct elf_image *image, uint64_t start, uint64_t end) {
    for (size_t i = 0; i < sizeof image->tables / sizeof *image->tables; i++) {
        if (start < image->tables[i].end && end > image->tables[i].start)
            return false;
    }
    return true;
}

const void *elf_image_part(struct elf_image *image, uint64_t offset, uint64_t size) {
    if (size == 0 || offset > image->size || size > image->size - offset ||
        !is_clear_of_tables(image, offset, offset + size) || fetch(image, offset, offset + size))
        return NULL;
    return image->base + offset;
}

Elf_Data *elf_image_section(struct elf_image *image, size_t index, size_t limit) {
    GElf_Shdr header;
    Elf_Scn *section = elf_getscn(image->elf, index);
    if (!section || !gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS ||
        (header.sh_flags & SHF_COMPRESSED))
        return NULL;
    if (header.sh_size > limit || !elf_image_part(image, header.sh_offset, header.sh_size))
        return NULL;
    Elf_Data *data = elf_getdata(section, NULL);
    return data && data->d_buf && data->d_size == header.sh_size ? data : NULL;
}

void elf_image_close(struct elf_image *image) {
    if (image->elf)
        elf_end(image->elf);
    if (image->base)
        munmap(image->base, image->size);
    *image = (struct elf_image){.fd = -1};
}
