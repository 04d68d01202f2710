#include "core/agent/process/memory_map.h"

#include "core/agent/process/reserve.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

int memory_map_open(struct memory_map *m) {
    void *p = reserve(MEMORY_RANGES_MAX * sizeof *m->range);
    *m = (struct memory_map){0};
    if (!p)
        return -errno;
    m->range = p;
    return 0;
}

void memory_map_close(struct memory_map *m) {
    if (m->range)
        munmap(m->range, MEMORY_RANGES_MAX * sizeof *m->range);
    *m = (struct memory_map){0};
}

/* "begin-end rwxp …": where in such a line we are. */
struct line {
    enum { IN_BEGIN, IN_END, IN_PROTECTION, IN_REST } part;
    struct memory_range range;
};

static uintptr_t hex(uintptr_t value, char c) {
    return value << 4 | (uintptr_t)(c <= '9' ? c - '0' : c - 'a' + 10);
}

static void take_char(struct memory_map *m, struct line *l, char c) {
    if (c == '\n') {
        *l = (struct line){.part = IN_BEGIN};
    } else if (l->part == IN_BEGIN) {
        if (c == '-')
            l->part = IN_END;
        else
            l->range.begin = hex(l->range.begin, c);
    } else if (l->part == IN_END) {
        if (c == ' ')
            l->part = IN_PROTECTION;
        else
            l->range.end = hex(l->range.end, c);
    } else if (l->part == IN_PROTECTION) {
        l->range.protection |= c == 'r' ? PROT_READ : 0;
        l->range.protection |= c == 'w' ? PROT_WRITE : 0;
        l->range.protection |= c == 'x' ? PROT_EXEC : 0;
        if (c != ' ')
            return;
        l->part = IN_REST;
        if (m->count < MEMORY_RANGES_MAX)
            m->range[m->count++] = l->range;
    }
}

int memory_map_read(struct memory_map *m) {
    char text[2048];
    struct line l = {.part = IN_BEGIN};
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    ssize_t n;
    m->count = 0;
    do {
        n = read(fd, text, sizeof text);
        for (ssize_t i = 0; i < n; i++)
            take_char(m, &l, text[i]);
    } while (n > 0 || (n < 0 && errno == EINTR));
    int r = n < 0 ? -errno : 0;
    close(fd);
    return r;
}

int memory_map_protection(const struct memory_map *m, uintptr_t address) {
    uint32_t low = 0;
    uint32_t high = m->count;
    while (low < high) { /* the first one that begins behind the address */
        uint32_t middle = low + (high - low) / 2;
        if (m->range[middle].begin <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && address < m->range[low - 1].end ? m->range[low - 1].protection : -1;
}

/* Since Linux 6.11, and not in older headers; source: struct procmap_query in linux/fs.h. */
struct query {
    uint64_t size, flags, address;
    uint64_t begin, end, protection, page_bytes, offset, inode;
    uint32_t major, minor, name_bytes, id_bytes;
    uint64_t name, id;
};
#define QUERY _IOWR('f', 17, struct query)
enum { QUERY_READ = 1, QUERY_WRITE = 2, QUERY_EXECUTE = 4 };

/* -1: no range contains it; -ENOTTY: the kernel does not answer. */
static int ask_protection(uintptr_t address) {
    struct query q = {.size = sizeof q, .address = address};
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    int r = ioctl(fd, QUERY, &q) == 0 ? 0 : errno == ENOENT ? -1 : -ENOTTY;
    close(fd);
    if (r < 0)
        return r;
    return (q.protection & QUERY_READ ? PROT_READ : 0) |
           (q.protection & QUERY_WRITE ? PROT_WRITE : 0) |
           (q.protection & QUERY_EXECUTE ? PROT_EXEC : 0);
}

int memory_protection(uintptr_t address) {
    int protection = ask_protection(address);
    struct memory_map m;
    if (protection >= -1 || memory_map_open(&m) < 0)
        return protection < 0 ? -1 : protection;
    protection = memory_map_read(&m) < 0 ? -1 : memory_map_protection(&m, address);
    memory_map_close(&m);
    return protection;
}
