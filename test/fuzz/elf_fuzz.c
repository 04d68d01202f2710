/*
 * The ELF reader and the demangler; the input is the file. Every other input is read through a
 * descriptor, where only the parts that are wanted get copied.
 */
#include "symbols/elf/demangle.h"
#include "symbols/elf/elf_function.h"
#include "symbols/elf/elf_symbols.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    NAMES = 64, /* of one input that are demangled */
};

static int read_file(const uint8_t *data, size_t size, struct elf_symbols **out) {
    int fd = memfd_create("elf_fuzz", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    int rc = elf_symbols_read(fd, out);
    if (rc == 0) {
        struct elf_function found;
        bool stripped;
        elf_symbols_add(*out, fd);
        elf_function_find(fd, "main", &found, &stripped);
        elf_function_find(fd, "A::begin", &found, &stripped);
    }
    close(fd);
    return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct elf_symbols *s;
    char name[DEMANGLE_BYTES];
    if (size % 2 ? read_file(data, size, &s) : elf_symbols_read_memory(data, size, &s))
        return 0;
    for (size_t i = 0; i < s->table.count; i++) {
        const struct symbol_entry *e = &s->table.entries[i];
        const char *raw = symbol_table_name(&s->table, e);
        if (!*raw || e->size == 0 || (i && e->start <= e[-1].start) ||
            raw + strlen(raw) >= s->table.names + s->table.names_length)
            abort();
        if (symbol_table_find(&s->table, e->start) != e)
            abort();
        if (i < NAMES && demangle(raw, name) && strlen(name) >= DEMANGLE_BYTES)
            abort();
    }
    for (uint64_t offset = 0; offset < size; offset += 13)
        elf_symbols_find(s, offset);
    if (symbol_table_bytes(&s->table) > 64 * size + (64 << 10))
        abort();
    elf_symbols_free(s);
    return 0;
}
