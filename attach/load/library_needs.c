#include "attach/load/library_needs.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIBRARY_MAX (32U << 20)
#define ENTRIES_MAX 4096

struct image {
    const unsigned char *data;
    size_t size;
};

static bool take(const struct image *m, uint64_t at, void *out, size_t n) {
    if (at > m->size || n > m->size - at)
        return false;
    memcpy(out, m->data + at, n);
    return true;
}

/* A string of the file; NULL if its end is not in the file. */
static const char *string(const struct image *m, uint64_t at) {
    if (at >= m->size || !memchr(m->data + at, '\0', m->size - at))
        return NULL;
    return (const char *)m->data + at;
}

/* musl's libc replaces all of these, whatever follows the dot. source: musl ldso/dynlink.c */
static bool is_libc(const char *name) {
    static const char *const own[] = {"libc.", "libpthread.", "librt.",
                                      "libm.", "libdl.",      "libutil."};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strncmp(name, own[i], strlen(own[i])) == 0)
            return true;
    return false;
}

/* Reads the needed libraries through the file's sections. Our build keeps sections; a library
 * without them yields "not known", not a wrong answer. */
static void read_needed(const struct image *m, const Elf64_Shdr *dynamic, uint64_t strings,
                        struct library_needs *out) {
    for (uint64_t i = 0; i < ENTRIES_MAX && (i + 1) * sizeof(Elf64_Dyn) <= dynamic->sh_size; i++) {
        Elf64_Dyn d;
        if (!take(m, dynamic->sh_offset + i * sizeof d, &d, sizeof d) || d.d_tag == DT_NULL)
            return;
        const char *name = d.d_tag == DT_NEEDED ? string(m, strings + d.d_un.d_val) : NULL;
        if (name && !is_libc(name) && !out->beyond_libc[0])
            snprintf(out->beyond_libc, sizeof out->beyond_libc, "%s", name);
    }
}

static void read_versions(const struct image *m, uint64_t strings, uint64_t bytes,
                          struct library_needs *out) {
    static const char prefix[] = "GLIBC_2.";
    for (uint64_t at = 0; at < bytes;) {
        const char *s = string(m, strings + at);
        if (!s)
            return;
        if (strncmp(s, prefix, sizeof prefix - 1) == 0) {
            unsigned minor = (unsigned)strtoul(s + sizeof prefix - 1, NULL, 10);
            out->glibc_minor = minor > out->glibc_minor ? minor : out->glibc_minor;
        }
        at += strlen(s) + 1;
    }
}

int library_needs_parse(const void *data, size_t size, struct library_needs *out) {
    const struct image m = {data, size};
    Elf64_Ehdr h;
    *out = (struct library_needs){.bytes = size};
    if (!take(&m, 0, &h, sizeof h) || memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 ||
        h.e_ident[EI_DATA] != ELFDATA2LSB)
        return -ENOEXEC;
    out->machine = h.e_machine;
    out->elf_class = h.e_ident[EI_CLASS];
    if (out->elf_class != ELFCLASS64 || h.e_shentsize != sizeof(Elf64_Shdr))
        return 0;
    for (unsigned i = 0; i < h.e_shnum; i++) {
        Elf64_Shdr s, strings;
        if (!take(&m, h.e_shoff + i * sizeof s, &s, sizeof s))
            return -ENOEXEC;
        if (s.sh_type != SHT_DYNAMIC || s.sh_link >= h.e_shnum ||
            !take(&m, h.e_shoff + s.sh_link * sizeof s, &strings, sizeof strings))
            continue;
        read_needed(&m, &s, strings.sh_offset, out);
        read_versions(&m, strings.sh_offset, strings.sh_size, out);
        return 0;
    }
    return 0;
}

int library_needs_read(const char *path, struct library_needs *out) {
    struct stat st;
    *out = (struct library_needs){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return -errno;
    int rc = fstat(fd, &st) ? -errno : !S_ISREG(st.st_mode) ? -EINVAL : 0;
    if (rc == 0 && (uint64_t)st.st_size > LIBRARY_MAX)
        rc = -EFBIG;
    void *data = rc == 0 ? malloc((size_t)st.st_size + 1) : NULL;
    if (rc == 0 && !data)
        rc = -ENOMEM;
    if (rc == 0) {
        ssize_t n = pread(fd, data, (size_t)st.st_size, 0);
        rc = n < 0 ? -errno : library_needs_parse(data, (size_t)n, out);
    }
    free(data);
    close(fd);
    return rc;
}

unsigned library_glibc_minor(const void *data, size_t size) {
    static const char name[] = "GNU C Library", version[] = " version 2.";
    const char *at = memmem(data, size, name, sizeof name - 1);
    if (!at)
        return 0;
    size_t left = size - (size_t)(at - (const char *)data);
    const char *v = memmem(at, left < 200 ? left : 200, version, sizeof version - 1);
    unsigned minor = 0;
    if (!v)
        return 0;
    v += sizeof version - 1;
    for (const char *end = (const char *)data + size;
         v < end && *v >= '0' && *v <= '9' && minor < 1000; v++)
        minor = minor * 10 + (unsigned)(*v - '0');
    return minor;
}

const char *library_machine(int machine) {
    static const struct {
        int number;
        const char *name;
    } known[] = {{EM_X86_64, "x86_64"}, {EM_AARCH64, "aarch64"}, {EM_386, "i386"},
                 {EM_ARM, "arm"},       {EM_PPC64, "ppc64"},     {EM_S390, "s390"},
                 {EM_RISCV, "riscv"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].number == machine)
            return known[i].name;
    return "another architecture";
}
