#include "symbols/elf/debug_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum {
    PATH_BYTES = 4096 + 300,
    CRC_LIMIT = 256 << 20, /* a larger file is not read only to check it */
};

static bool has_crc(int fd, uint32_t expected) {
    static const size_t step = 64 << 10;
    unsigned char buffer[64 << 10];
    struct stat st;
    uLong crc = crc32(0, Z_NULL, 0);
    if (fstat(fd, &st) < 0 || st.st_size > CRC_LIMIT)
        return false;
    for (off_t at = 0; at < st.st_size;) {
        ssize_t n = pread(fd, buffer, step, at);
        if (n <= 0)
            return false;
        crc = crc32(crc, buffer, (uInt)n);
        at += n;
    }
    return (uint32_t)crc == expected;
}

/* Tries one path in one root: a descriptor, or -ENOENT. */
static int try_path(int root, const char *path, struct elf_symbols *s) {
    int fd = target_files_open_below(root, path);
    if (fd < 0)
        return -ENOENT;
    bool fits = s->build_id_length || has_crc(fd, s->debug_link_crc);
    if (fits && elf_symbols_add(s, fd) == 0)
        return fd;
    close(fd);
    return -ENOENT;
}

static int try_roots(const struct target_files *t, const char *path, struct elf_symbols *s) {
    int fd = try_path(t->root, path, s);
    return fd >= 0 ? fd : try_path(t->own_root, path, s);
}

static int try_build_id(const struct target_files *t, struct elf_symbols *s) {
    char path[64 + 2 * ELF_BUILD_ID];
    if (!s->build_id_length)
        return -ENOENT;
    int n = snprintf(path, sizeof path, "/usr/lib/debug/.build-id/%02x/", s->build_id[0]);
    for (size_t i = 1; i < s->build_id_length; i++)
        n += snprintf(path + n, sizeof path - (size_t)n, "%02x", s->build_id[i]);
    snprintf(path + n, sizeof path - (size_t)n, ".debug");
    return try_roots(t, path, s);
}

static int try_link(const struct target_files *t, const char *path, struct elf_symbols *s) {
    static const char *const places[] = {"", "/usr/lib/debug"};
    char candidate[PATH_BYTES];
    const char *slash = strrchr(path, '/');
    if (!s->debug_link[0] || !slash)
        return -ENOENT;
    int length = (int)(slash - path);
    for (size_t i = 0; i < 2; i++) {
        for (int hidden = 0; hidden < 2; hidden++) {
            int n = snprintf(candidate, sizeof candidate, "%s%.*s/%s%s", places[i], length, path,
                             hidden ? ".debug/" : "", s->debug_link);
            if (n < 0 || (size_t)n >= sizeof candidate)
                continue;
            /* The path is the target's; in our root it could name anything. */
            bool strange = !t->same_mount && i == 0;
            int fd = strange ? try_path(t->root, candidate, s) : try_roots(t, candidate, s);
            if (fd >= 0)
                return fd;
        }
    }
    return -ENOENT;
}

int debug_file_open(const struct target_files *t, const char *path, struct elf_symbols *s) {
    int fd = try_build_id(t, s);
    return fd >= 0 ? fd : try_link(t, path, s);
}

int debug_file_add(const struct target_files *t, const char *path, struct elf_symbols *s) {
    int fd = debug_file_open(t, path, s);
    if (fd < 0)
        return fd;
    close(fd);
    return 0;
}
