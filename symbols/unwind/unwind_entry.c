#include "symbols/unwind/unwind_entry.h"

enum { LETTERS = 16 }; /* limit of an augmentation, because every FDE reads it */

enum { /* how a pointer is encoded: its format in the low four bits, its base in the high ones */
       PE_ABSPTR = 0x00,
       PE_ULEB = 0x01,
       PE_UDATA2 = 0x02,
       PE_UDATA4 = 0x03,
       PE_UDATA8 = 0x04,
       PE_SLEB = 0x09,
       PE_SDATA2 = 0x0a,
       PE_SDATA4 = 0x0b,
       PE_SDATA8 = 0x0c,
       PE_FORMAT = 0x0f,
       PE_PCREL = 0x10,
};

/* The head of an entry of either kind. */
struct entry {
    struct unwind_bytes body; /* after the id */
    bool cie;
    uint64_t cie_offset; /* of an FDE: the offset of its CIE */
};

static uint64_t place(const struct unwind_section *s, const struct unwind_bytes *b) {
    return (uint64_t)(b->at - s->data);
}

/* 1: *out is filled; 0: padding, or too short; -1: no entry can be there. *next: the offset after
 * it. */
static int read_entry(const struct unwind_section *s, uint64_t offset, struct entry *out,
                      uint64_t *next) {
    if (offset >= s->size)
        return -1;
    struct unwind_bytes b = {.at = s->data + offset, .end = s->data + s->size};
    uint64_t length = unwind_bytes_number(&b, 4);
    size_t word = 4;
    if (length == UINT32_MAX) {
        length = unwind_bytes_number(&b, 8);
        word = s->eh ? 4 : 8;
    }
    if (b.bad || length > unwind_bytes_left(&b) || (length == 0 && s->eh))
        return -1;
    *next = place(s, &b) + length;
    if (length == 0)
        return 0;
    b.end = b.at + length;
    uint64_t from = place(s, &b);
    uint64_t id = unwind_bytes_number(&b, word);
    if (b.bad)
        return 0;
    *out = (struct entry){.body = b};
    if (s->eh) {
        out->cie = id == 0;
        out->cie_offset = from - id; /* before the FDE; a wrong distance becomes a huge offset */
    } else {
        out->cie = id == (word == 4 ? UINT32_MAX : UINT64_MAX);
        out->cie_offset = id;
    }
    return 1;
}

int unwind_entry_next(const struct unwind_section *s, size_t *offset) {
    struct entry e;
    uint64_t next;
    int r = read_entry(s, *offset, &e, &next);
    if (r < 0)
        return -1;
    *offset = (size_t)next;
    return r == 1 && !e.cie;
}

static uint64_t read_format(uint8_t encoding, struct unwind_bytes *b) {
    switch (encoding & PE_FORMAT) {
    case PE_ABSPTR:
    case PE_UDATA8:
    case PE_SDATA8:
        return unwind_bytes_number(b, 8);
    case PE_ULEB:
        return unwind_bytes_uleb(b);
    case PE_UDATA2:
        return unwind_bytes_number(b, 2);
    case PE_UDATA4:
        return unwind_bytes_number(b, 4);
    case PE_SLEB:
        return (uint64_t)unwind_bytes_sleb(b);
    case PE_SDATA2:
        return (uint64_t)(int64_t)(int16_t)unwind_bytes_number(b, 2);
    case PE_SDATA4:
        return (uint64_t)(int64_t)(int32_t)unwind_bytes_number(b, 4);
    default:
        b->bad = true;
        return 0;
    }
}

uint64_t unwind_pointer(const struct unwind_section *s, uint8_t encoding, struct unwind_bytes *b) {
    uint64_t from = s->address + place(s, b);
    uint64_t value = read_format(encoding, b);
    if ((encoding & ~PE_FORMAT) == PE_PCREL)
        return value + from;
    if ((encoding & ~PE_FORMAT) != 0)
        b->bad = true;
    return value;
}

/* The letters after the 'z' list what the augmentation data holds, in this order. */
static bool read_augmentation(const char *letters, struct unwind_bytes *b, struct unwind_cie *c) {
    uint64_t length = unwind_bytes_uleb(b);
    const uint8_t *data = unwind_bytes_skip(b, length);
    if (!data)
        return false;
    struct unwind_bytes a = {.at = data, .end = data + length};
    for (; *letters; letters++) {
        switch (*letters) {
        case 'R':
            c->encoding = (uint8_t)unwind_bytes_number(&a, 1);
            break;
        case 'L': /* how FDEs point to their exception tables */
            unwind_bytes_skip(&a, 1);
            break;
        case 'P': /* the personality routine */
            read_format((uint8_t)unwind_bytes_number(&a, 1), &a);
            break;
        case 'S':
            c->signal = true;
            break;
        case 'B': /* aarch64: how return addresses are signed */
        case 'G': /* aarch64: tagged stack memory */
            break;
        default:
            return false;
        }
    }
    return !a.bad;
}

static bool read_cie(const struct unwind_section *s, uint64_t offset, struct unwind_cie *c) {
    struct entry e;
    uint64_t next;
    if (read_entry(s, offset, &e, &next) != 1 || !e.cie)
        return false;
    struct unwind_bytes *b = &e.body;
    uint64_t version = unwind_bytes_number(b, 1);
    const char *letters = (const char *)b->at;
    size_t room = unwind_bytes_left(b) < LETTERS ? unwind_bytes_left(b) : LETTERS;
    const uint8_t *end = b->bad ? NULL : memchr(b->at, '\0', room);
    if (!end || (version != 1 && version != 3 && version != 4))
        return false;
    b->at = end + 1;
    if (version == 4) {
        uint64_t address_bytes = unwind_bytes_number(b, 1);
        uint64_t selector_bytes = unwind_bytes_number(b, 1);
        if (address_bytes != 8 || selector_bytes != 0)
            return false;
    }
    *c = (struct unwind_cie){.encoding = PE_ABSPTR};
    c->code_align = unwind_bytes_uleb(b);
    c->data_align = unwind_bytes_sleb(b);
    c->ra_register = version == 1 ? unwind_bytes_number(b, 1) : unwind_bytes_uleb(b);
    c->sized = letters[0] == 'z';
    if (c->sized ? !read_augmentation(letters + 1, b, c) : letters[0] != '\0')
        return false;
    c->program = *b;
    return !b->bad;
}

bool unwind_fde_read(const struct unwind_section *s, size_t offset, struct unwind_fde *out) {
    struct entry e;
    uint64_t next;
    if (read_entry(s, offset, &e, &next) != 1 || e.cie || !read_cie(s, e.cie_offset, &out->cie))
        return false;
    struct unwind_bytes *b = &e.body;
    out->begin = unwind_pointer(s, out->cie.encoding, b);
    out->end = out->begin + read_format(out->cie.encoding, b);
    if (out->cie.sized)
        unwind_bytes_skip(b, unwind_bytes_uleb(b));
    out->program = *b;
    return !b->bad && out->begin < out->end;
}
