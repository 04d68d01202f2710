#include "core/agent/process/mapping.h"

#include "core/base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_memfd(off_t size) {
    int fd = memfd_create(WIRE_MEMFD_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return -errno;
    if (ftruncate(fd, size) != 0 ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
        int e = errno;
        close(fd);
        return -e;
    }
    return fd;
}

static int open_readers(const char *path, off_t size) {
    struct stat st;
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return -errno;
    int seals = fcntl(fd, F_GET_SEALS);
    if (fstat(fd, &st) != 0 || st.st_size != size || seals < 0 || !(seals & F_SEAL_SHRINK)) {
        close(fd);
        return -EINVAL;
    }
    return fd;
}

int agent_mapping_open(struct agent_mapping *m, const char *path, uint64_t ring_bytes,
                       uint64_t session) {
    off_t size = (off_t)wire_mapping_bytes(ring_bytes);
    m->memfd = *path ? open_readers(path, size) : open_memfd(size);
    if (m->memfd < 0)
        return m->memfd;
    void *p = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, m->memfd, 0);
    if (p == MAP_FAILED) {
        int e = errno;
        close(m->memfd);
        m->memfd = -1;
        return -e;
    }
    m->wire = p;
    m->ring_bytes = ring_bytes;
    m->wire->header = (struct wire_header){
        .magic = WIRE_MAGIC,
        .abi_major = WIRE_ABI_MAJOR,
        .abi_minor = WIRE_ABI_MINOR,
        .ring_bytes = ring_bytes,
        .pid = (uint32_t)getpid(),
        .session = session,
        .clock_ns = clock_now_ns(),
    };
    return 0;
}

const struct wire_unwind *agent_mapping_unwind(const struct agent_mapping *m) {
    return (const void *)((const uint8_t *)m->wire + wire_unwind_offset(m->ring_bytes));
}

const uint8_t *agent_mapping_threads(const struct agent_mapping *m) {
    return (const uint8_t *)m->wire + wire_threads_offset(m->ring_bytes);
}

void agent_mapping_close(struct agent_mapping *m) {
    if (m->wire)
        munmap(m->wire, wire_mapping_bytes(m->ring_bytes));
    if (m->memfd >= 0)
        close(m->memfd);
    m->wire = NULL;
    m->memfd = -1;
}
