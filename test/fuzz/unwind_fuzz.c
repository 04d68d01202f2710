/*
 * Unwind tables of hostile files. The first byte says what the rest is: an ELF file, or the share
 * of .eh_frame in what follows, .eh_frame and .debug_frame, to be put into a sound file.
 */
#include "symbols/unwind/unwind_table.h"

#include "test/unit/symbols/unwind_fixture.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    WHOLE_FILE = 1,
    AARCH64 = 2,
    NO_HEADERS = 4,
    BY_DESCRIPTOR = 8,
    ROOM = 1024, /* for headers around the sections */
};

static int read_file(const uint8_t *data, size_t size, struct unwind_table *t) {
    int fd = memfd_create("unwind_fuzz", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    int rc = unwind_table_read(fd, fd, t);
    close(fd);
    return rc;
}

static int read_sections(const uint8_t *data, size_t size, uint8_t how, struct unwind_table *t) {
    struct fixture_bytes file = {.data = malloc(size + ROOM), .cap = size + ROOM};
    if (!file.data)
        abort();
    size_t share = size ? *data++ : 0; /* of .eh_frame, in 255ths */
    size -= size > 0;
    size_t eh = share * size / 255;
    fixture_elf(&file, how & AARCH64 ? EM_AARCH64 : EM_X86_64, !(how & NO_HEADERS), data, eh,
                data + eh, size - eh);
    int rc = unwind_table_read_memory(file.data, file.n, t);
    free(file.data);
    return rc;
}

static void check(const struct unwind_table *t, size_t size) {
    uint64_t base;
    if (t->count > 16 * (size + ROOM) || t->covered > UINT32_MAX)
        abort();
    for (size_t i = 0; i < t->count; i++) {
        const struct unwind_row *r = &t->rows[i];
        if (r->cfa >= UNWIND_CFAS || (i && r->pc <= r[-1].pc) || unwind_table_find(t, r->pc) != r)
            abort();
    }
    if (t->count && t->rows[t->count - 1].cfa != UNWIND_CFA_NONE)
        abort();
    for (uint64_t offset = 0; offset < size; offset += 4096)
        unwind_table_base(t, offset, 0x7f0000000000 + offset, &base);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct unwind_table t;
    if (size == 0)
        return 0;
    uint8_t how = *data++;
    size--;
    int rc = !(how & WHOLE_FILE)   ? read_sections(data, size, how, &t)
             : how & BY_DESCRIPTOR ? read_file(data, size, &t)
                                   : unwind_table_read_memory(data, size, &t);
    if (rc)
        return 0;
    check(&t, size);
    unwind_table_free(&t);
    return 0;
}
