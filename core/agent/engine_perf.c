#include "core/agent/engine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define KERNEL_FRAMES_MAX 127
#define FDS_MAX (1u << 20)
#define WEIGHT_MAX UINT64_C(3600000000000) /* ns; more since the last sample is nonsense */

/* Descriptor → index of its thread + 1: what a signal brings is the descriptor. Address space
 * only; pages are touched as descriptors are used. */
static _Atomic uint32_t *_Atomic index_of_fd;
static size_t page_bytes; /* of the machine: the control page and the data page of an event */
static uint32_t fd_limit; /* the application keeps what is above */

static void fill_attr(struct perf_event_attr *a, uint64_t interval) {
    memset(a, 0, sizeof *a);
    a->size = sizeof *a;
    a->type = PERF_TYPE_SOFTWARE;
    a->config = PERF_COUNT_SW_CPU_CLOCK;
    a->sample_period = interval;
    a->sample_type = PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN;
    a->exclude_callchain_user = 1; /* the walker knows better */
    a->disabled = 1;
    a->wakeup_events = 1;
}

static int open_event(const struct perf_event_attr *a, pid_t tid) {
    long fd = syscall(SYS_perf_event_open, a, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
    return fd < 0 ? -errno : (int)fd;
}

static int read_number(const char *path) {
    char text[32];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0)
        return -1;
    text[n] = '\0';
    return atoi(text);
}

/* Every thread takes a descriptor of the application's limit: leave it at least half. */
static int check_descriptors(const struct engine_config *config, char *why, size_t why_bytes) {
    struct rlimit limit;
    fd_limit = FDS_MAX;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 0;
    if (limit.rlim_cur / 2 < fd_limit)
        fd_limit = (uint32_t)(limit.rlim_cur / 2);
    if (fd_limit > config->threads + 64)
        return 0;
    snprintf(why, why_bytes, "no perf_events: %u threads would take half of the %lu descriptors",
             config->threads, (unsigned long)limit.rlim_cur);
    return -EMFILE;
}

static int perf_start(const struct engine_config *config, char *why, size_t why_bytes) {
    int r = check_descriptors(config, why, why_bytes);
    if (r < 0)
        return r;
    page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    struct perf_event_attr a;
    fill_attr(&a, config->interval);
    int fd = open_event(&a, 0);
    if (fd == -EACCES || fd == -EPERM) {
        snprintf(why, why_bytes,
                 "no perf_events: denied, kernel.perf_event_paranoid is %d (kernel stacks: <= 1)",
                 read_number("/proc/sys/kernel/perf_event_paranoid"));
        return fd;
    }
    if (fd < 0) {
        snprintf(why, why_bytes, "no perf_events: perf_event_open failed with errno %d", -fd);
        return fd;
    }
    void *page = mmap(NULL, 2 * page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    int e = errno;
    if (page != MAP_FAILED)
        munmap(page, 2 * page_bytes);
    close(fd);
    if (page == MAP_FAILED) {
        snprintf(why, why_bytes,
                 "no perf_events: buffer of 8 KiB refused with errno %d "
                 "(kernel.perf_event_mlock_kb, memlock limit)",
                 e);
        return -e;
    }
    if (!index_of_fd) {
        void *p = mmap(NULL, FDS_MAX * sizeof *index_of_fd, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p == MAP_FAILED)
            return -ENOMEM;
        index_of_fd = p;
    }
    return 0;
}

static int perf_arm(const struct engine_config *config, struct engine_thread *t, uint32_t index) {
    struct perf_event_attr a;
    fill_attr(&a, config->interval);
    int fd = open_event(&a, (pid_t)t->tid);
    if (fd < 0)
        return fd;
    int r = 0;
    struct f_owner_ex owner = {F_OWNER_TID, (pid_t)t->tid};
    if ((uint32_t)fd >= fd_limit)
        r = -EMFILE;
    t->counted = 0;
    t->page = mmap(NULL, 2 * page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (r == 0 && t->page == MAP_FAILED)
        r = -errno;
    if (r == 0) {
        atomic_store_explicit(&index_of_fd[fd], index + 1, memory_order_release);
        if (fcntl(fd, F_SETFL, O_ASYNC) != 0 || fcntl(fd, F_SETSIG, config->signo) != 0 ||
            fcntl(fd, F_SETOWN_EX, &owner) != 0 || ioctl(fd, PERF_EVENT_IOC_REFRESH, 1) != 0) {
            r = -errno;
            atomic_store_explicit(&index_of_fd[fd], 0, memory_order_release);
        }
    }
    t->handle = fd;
    if (r < 0) {
        if (t->page != MAP_FAILED)
            munmap(t->page, 2 * page_bytes);
        t->page = NULL;
        close(fd);
    }
    return r;
}

/* In a thread that disarms itself a signal may come at any line: the handler finds the thread by
 * the descriptor, so that goes first. Other threads' events are only taken down when the thread is
 * gone or all handlers are shut out. */
static void perf_disarm(struct engine_thread *t) {
    atomic_store_explicit(&index_of_fd[t->handle], 0, memory_order_release);
    atomic_signal_fence(memory_order_seq_cst);
    ioctl(t->handle, PERF_EVENT_IOC_DISABLE, 0);
    munmap(t->page, 2 * page_bytes);
    close(t->handle);
    t->page = NULL;
}

static void perf_stop(void) {
    if (index_of_fd)
        munmap((void *)index_of_fd, FDS_MAX * sizeof *index_of_fd);
    index_of_fd = NULL;
}

struct perf_sample {
    uint64_t counter; /* ns since the event was opened; 0: there was no sample */
    uint64_t *kernel; /* frame words, leaf first */
    uint32_t frames;
};

/* The kernel's part of a sample's call chain, `words` addresses at `at` in the data page. */
static void read_chain(struct perf_sample *out, const uint8_t *data, uint64_t at, uint32_t words) {
    out->frames = 0;
    for (uint32_t i = 0; i < words && out->frames < KERNEL_FRAMES_MAX; i++) {
        uint64_t pc;
        memcpy(&pc, data + ((at + 8 * (uint64_t)i) & (page_bytes - 1)), sizeof pc);
        if (pc >= (uint64_t)PERF_CONTEXT_MAX) { /* a mark: whose addresses follow */
            if (pc != (uint64_t)PERF_CONTEXT_KERNEL)
                break;
            continue;
        }
        out->kernel[out->frames++] = wire_frame_address(WIRE_FRAME_KERNEL, pc);
    }
}

/* Takes the newest sample out of the event's own buffer. Behind its header: the counter's value,
 * the number of addresses, the addresses (source: perf_event_open(2), PERF_RECORD_SAMPLE). */
static void read_sample(void *page, struct perf_sample *out) {
    struct perf_event_mmap_page *control = page;
    const uint8_t *data = (const uint8_t *)page + page_bytes;
    uint64_t head = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE);
    uint64_t tail = control->data_tail;
    while (head - tail >= 16 && head - tail <= page_bytes) {
        uint64_t header;
        memcpy(&header, data + (tail & (page_bytes - 1)), sizeof header);
        uint32_t type = (uint32_t)header;
        uint32_t size = (uint32_t)(header >> 48);
        if (size < 16 || size % 8 || size > head - tail)
            break;
        if (type == PERF_RECORD_SAMPLE && size >= 24) {
            memcpy(&out->counter, data + ((tail + 8) & (page_bytes - 1)), sizeof out->counter);
            read_chain(out, data, tail + 24, size / 8 - 3);
        }
        tail += size;
    }
    __atomic_store_n(&control->data_tail, head, __ATOMIC_RELEASE);
}

/* The counter stands still while the thread does not run and while its handler does. A signal may
 * come late, or the sample be missing where the buffer was full: the next one makes up for it. */
static uint64_t weigh(struct engine_thread *t, uint64_t counter, uint64_t interval) {
    uint64_t now = counter ? counter : t->counted + interval;
    uint64_t weight = now - t->counted; /* enormous where it went back */
    t->counted = now;
    return weight && weight <= WEIGHT_MAX ? weight : interval;
}

static void perf_handle(struct sampler *s, const struct engine_config *config,
                        struct engine_thread *thread, uint32_t threads, const siginfo_t *info,
                        void *context) {
    if (info->si_code <= 0 || info->si_fd < 0 || (uint32_t)info->si_fd >= FDS_MAX)
        return;
    _Atomic uint32_t *indices = index_of_fd;
    if (!indices)
        return;
    uint32_t index = atomic_load_explicit(&indices[info->si_fd], memory_order_acquire) - 1;
    if (index >= threads || !thread[index].page)
        return;
    uint64_t kernel[KERNEL_FRAMES_MAX];
    struct perf_sample sample = {.kernel = kernel};
    read_sample(thread[index].page, &sample);
    struct sample_request q = {
        .context = context,
        .tid = thread[index].tid,
        .event = WIRE_EVENT_CPU,
        .weight = weigh(&thread[index], sample.counter, config->interval),
        .kernel = kernel,
        .kernel_frames = sample.frames,
    };
    sampler_take(s, &q);
    /* The event switched itself off: time spent here is not the application's. */
    ioctl(info->si_fd, PERF_EVENT_IOC_REFRESH, 1);
}

const struct engine engine_perf = {
    .mechanism = WIRE_MECHANISM_PERF,
    .per_thread = true,
    .start = perf_start,
    .arm = perf_arm,
    .disarm = perf_disarm,
    .stop = perf_stop,
    .handle = perf_handle,
};
