/*
 * Frame sections put together by hand, and an ELF file around them: one executable segment that
 * says it reaches from CODE on, whatever the file holds.
 */
#ifndef JTOP_TEST_UNWIND_FIXTURE_H
#define JTOP_TEST_UNWIND_FIXTURE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define CODE UINT64_C(0x400000)
#define CODE_BYTES UINT64_C(0x100000)

struct fixture_bytes {
    uint8_t *data;
    size_t n, cap; /* what does not fit is left out */
};

static inline void fixture_put(struct fixture_bytes *b, const void *data, size_t n) {
    if (n > b->cap - b->n)
        n = b->cap - b->n;
    if (n)
        memcpy(b->data + b->n, data, n);
    b->n += n;
}

static inline void fixture_word(struct fixture_bytes *b, uint64_t value, size_t n) {
    fixture_put(b, &value, n);
}

/* An ELF file with these contents of .eh_frame and .debug_frame; 0 bytes: no such section.
 * `headers`: with section headers, else with PT_GNU_EH_FRAME, that points to .eh_frame. */
static inline void fixture_elf(struct fixture_bytes *out, uint16_t machine, bool headers,
                               const void *eh, size_t eh_bytes, const void *debug,
                               size_t debug_bytes) {
    static const char names[] = "\0.shstrtab\0.eh_frame\0.debug_frame";
    enum { HDR = 12, SHNUM = 4, PHNUM = 2 };
    uint64_t hdr_at = sizeof(Elf64_Ehdr) + PHNUM * sizeof(Elf64_Phdr);
    uint64_t eh_at = hdr_at + HDR + 4;
    uint64_t debug_at = eh_at + eh_bytes;
    uint64_t names_at = debug_at + debug_bytes;
    uint64_t sections_at = (names_at + sizeof names + 7) & ~UINT64_C(7);
    Elf64_Ehdr e = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_DYN,
        .e_machine = machine,
        .e_version = EV_CURRENT,
        .e_phoff = sizeof e,
        .e_shoff = headers ? sections_at : 0,
        .e_ehsize = sizeof e,
        .e_phentsize = sizeof(Elf64_Phdr),
        .e_phnum = PHNUM,
        .e_shentsize = sizeof(Elf64_Shdr),
        .e_shnum = headers ? SHNUM : 0,
        .e_shstrndx = headers ? 1 : 0,
    };
    Elf64_Phdr p[PHNUM] = {
        {.p_type = PT_LOAD,
         .p_flags = PF_R | PF_X,
         .p_vaddr = CODE,
         .p_filesz = CODE_BYTES,
         .p_memsz = CODE_BYTES,
         .p_align = 0x1000},
        {.p_type = headers ? PT_NULL : PT_GNU_EH_FRAME, .p_vaddr = CODE + hdr_at, .p_filesz = HDR},
    };
    Elf64_Shdr s[SHNUM] = {
        {0},
        {.sh_name = 1, .sh_type = SHT_STRTAB, .sh_offset = names_at, .sh_size = sizeof names},
        {.sh_name = 11,
         .sh_type = eh_bytes ? SHT_PROGBITS : SHT_NULL,
         .sh_addr = CODE + eh_at,
         .sh_offset = eh_at,
         .sh_size = eh_bytes},
        {.sh_name = 21,
         .sh_type = debug_bytes ? SHT_PROGBITS : SHT_NULL,
         .sh_offset = debug_at,
         .sh_size = debug_bytes},
    };
    fixture_put(out, &e, sizeof e);
    fixture_put(out, p, sizeof p);
    fixture_word(out, 0xffff0001, 4); /* version 1, pointer absolute, no table */
    fixture_word(out, CODE + eh_at, 8);
    fixture_word(out, 0, 4);
    fixture_put(out, eh, eh_bytes);
    fixture_put(out, debug, debug_bytes);
    fixture_put(out, names, sizeof names);
    fixture_word(out, 0, (size_t)(sections_at - names_at - sizeof names));
    if (headers)
        fixture_put(out, s, sizeof s);
}

/* Entries. `at` is the offset of the length, to be filled in when the entry is complete. */
static inline void fixture_close(struct fixture_bytes *b, size_t at) {
    while ((b->n - at) % 8 != 4)
        fixture_word(b, 0, 1); /* DW_CFA_nop */
    uint32_t length = (uint32_t)(b->n - at - 4);
    memcpy(b->data + at, &length, 4);
}

/* Returns the CIE's offset. Addresses are absolute where the augmentation does not say else. */
static inline size_t fixture_cie(struct fixture_bytes *b, bool eh, const char *augmentation,
                                 uint8_t data_align, uint8_t ra, const void *program, size_t n) {
    size_t at = b->n;
    fixture_word(b, 0, 4);
    fixture_word(b, eh ? 0 : UINT32_MAX, 4);
    fixture_word(b, eh ? 1 : 4, 1);
    fixture_put(b, augmentation, strlen(augmentation) + 1);
    if (!eh)
        fixture_word(b, 0x0008, 2); /* address bytes, selector bytes */
    fixture_word(b, 1, 1);
    fixture_word(b, data_align, 1); /* SLEB128 */
    fixture_word(b, ra, 1);
    if (augmentation[0] == 'z')
        fixture_word(b, 0, 1);
    fixture_put(b, program, n);
    fixture_close(b, at);
    return at;
}

static inline void fixture_fde(struct fixture_bytes *b, bool eh, bool sized, size_t cie,
                               uint64_t begin, uint64_t bytes, const void *program, size_t n) {
    size_t at = b->n;
    fixture_word(b, 0, 4);
    fixture_word(b, eh ? b->n - cie : cie, 4);
    fixture_word(b, begin, 8);
    fixture_word(b, bytes, 8);
    if (sized)
        fixture_word(b, 0, 1);
    fixture_put(b, program, n);
    fixture_close(b, at);
}

#endif
