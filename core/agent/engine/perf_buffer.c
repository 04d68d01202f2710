#include "core/agent/engine/perf_buffer.h"

#include "core/wire/record.h"

#include <linux/perf_event.h>
#include <string.h>

struct data {
    const uint8_t *bytes;
    uint64_t mask;
};

void perf_buffer_touch(void *buffer, size_t page_bytes) {
    struct perf_event_mmap_page *control = buffer;
    (void)__atomic_load_n((const uint8_t *)buffer + page_bytes, __ATOMIC_RELAXED);
    __atomic_store_n(&control->data_tail, 0, __ATOMIC_RELAXED);
}

/* Records are multiples of 8 bytes, so a word never wraps. */
static uint64_t word(const struct data *d, uint64_t at) {
    uint64_t value;
    memcpy(&value, d->bytes + (at & d->mask & ~UINT64_C(7)), sizeof value);
    return value;
}

/* The kernel's part of a call chain of `words` addresses. */
static void read_chain(struct perf_news *news, const struct data *d, uint64_t at, uint32_t words) {
    news->frames = 0;
    for (uint32_t i = 0; i < words && news->frames < PERF_KERNEL_FRAMES_MAX; i++) {
        uint64_t pc = word(d, at + 8 * (uint64_t)i);
        if (pc >= (uint64_t)PERF_CONTEXT_MAX) { /* a mark: whose addresses follow */
            if (pc != (uint64_t)PERF_CONTEXT_KERNEL)
                break;
            continue;
        }
        news->kernel[news->frames++] = wire_frame_address(WIRE_FRAME_KERNEL, pc);
    }
}

/* Behind a sample's header: its time if it is timed, the counter's value, the number of addresses,
 * the addresses. */
static bool read_all(void *buffer, size_t page_bytes, bool timed, uint64_t since_ns,
                     struct perf_news *news) {
    uint32_t before = timed ? 2 : 1; /* words before the counter */
    struct perf_event_mmap_page *control = buffer;
    struct data d = {(const uint8_t *)buffer + page_bytes, page_bytes - 1};
    uint64_t head = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE);
    uint64_t tail = control->data_tail;
    uint64_t newest = 0;
    uint32_t newest_bytes = 0;
    news->samples = 0;
    news->early = 0;
    while (head - tail >= 8 && head - tail <= page_bytes) {
        uint64_t header = word(&d, tail);
        uint32_t bytes = (uint32_t)(header >> 48);
        if (bytes < 8 || bytes % 8 || bytes > head - tail)
            break;
        if ((uint32_t)header == PERF_RECORD_SAMPLE && bytes >= 8 * (before + 2)) {
            bool early = timed && word(&d, tail + 8) <= since_ns;
            newest = tail;
            newest_bytes = bytes;
            news->early += early;
            news->samples += !early;
        }
        tail += bytes;
    }
    if (news->samples) {
        uint64_t counter = newest + 8 * (uint64_t)before;
        uint64_t words = word(&d, counter + 8);
        uint32_t room = newest_bytes / 8 - before - 2;
        news->time_ns = timed ? word(&d, newest + 8) : 0;
        news->counter = word(&d, counter);
        read_chain(news, &d, counter + 16, words < room ? (uint32_t)words : room);
    }
    __atomic_store_n(&control->data_tail, head, __ATOMIC_RELEASE);
    return news->samples > 0;
}

bool perf_buffer_read(void *buffer, size_t page_bytes, struct perf_news *news) {
    return read_all(buffer, page_bytes, false, 0, news);
}

bool perf_buffer_read_since(void *buffer, size_t page_bytes, uint64_t since_ns,
                            struct perf_news *news) {
    return read_all(buffer, page_bytes, true, since_ns, news);
}

bool perf_buffer_waits(void *buffer) {
    struct perf_event_mmap_page *control = buffer;
    return __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE) !=
           __atomic_load_n(&control->data_tail, __ATOMIC_RELAXED);
}

/* The kernel writes the control page, under this lock, when it puts the event on a processor. */
uint32_t perf_buffer_schedule(const void *buffer) {
    const struct perf_event_mmap_page *control = buffer;
    return __atomic_load_n(&control->lock, __ATOMIC_ACQUIRE);
}
