#include "symbols/elf/vdso.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

enum {
    VDSO_LIMIT = 1 << 20,
};

static int read_memory(int proc_fd, uint64_t address, void *data, size_t size) {
    int fd = openat(proc_fd, "mem", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    ssize_t n = pread(fd, data, size, (off_t)address);
    int rc = n < 0 ? -errno : (size_t)n == size ? 0 : -EIO;
    close(fd);
    return rc;
}

/* Bytes of our own vdso's mapping; 0: there is none. */
static size_t own_size(uint64_t address) {
    struct maps own;
    int fd = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    size_t size = 0;
    if (maps_read(fd, &own) == 0) {
        const struct mapping *m = maps_find(&own, address);
        size = m && m->start == address ? m->end - m->start : 0;
        maps_free(&own);
    }
    close(fd);
    return size;
}

int vdso_copy(int proc_fd, const struct mapping *m, void **data, size_t *size) {
    *size = m->end - m->start;
    if (*size > VDSO_LIMIT)
        return -EFBIG;
    *data = malloc(*size);
    if (!*data)
        return -ENOMEM;
    int rc = read_memory(proc_fd, m->start, *data, *size);
    uintptr_t own = rc ? getauxval(AT_SYSINFO_EHDR) : 0;
    if (own && own_size(own) == *size) {
        memcpy(*data, (const void *)own, *size);
        rc = 0;
    }
    if (rc)
        free(*data);
    return rc;
}

int vdso_read(int proc_fd, const struct mapping *m, struct elf_symbols **out) {
    void *data;
    size_t size;
    int rc = vdso_copy(proc_fd, m, &data, &size);
    if (rc)
        return rc;
    rc = elf_symbols_read_memory(data, size, out);
    free(data);
    return rc;
}
