/*
 * The buffer in which the kernel leaves an event's samples: a control page, then one page of data.
 *
 * source: perf_event_open(2), "MMAP layout" and PERF_RECORD_SAMPLE
 *
 * Context: signal-safe; a buffer belongs to the thread that its event counts.
 */
#ifndef JTOP_AGENT_ENGINE_PERF_BUFFER_H
#define JTOP_AGENT_ENGINE_PERF_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PERF_KERNEL_FRAMES_MAX 127

struct perf_news {
    uint64_t counter;                        /* at the newest sample, since the event was opened */
    uint32_t samples;                        /* how many there were */
    uint32_t frames;                         /* of the newest one's, in kernel[] */
    uint64_t kernel[PERF_KERNEL_FRAMES_MAX]; /* frame words, leaf first */
};

/* Takes everything out; False: there was no sample. Samples the
 * kernel had no room for are in the counter of the next sample. */
bool perf_buffer_read(void *buffer, size_t page_bytes, struct perf_news *news);

/* Whether there is something to take out. Any thread. */
bool perf_buffer_waits(void *buffer);

#endif
