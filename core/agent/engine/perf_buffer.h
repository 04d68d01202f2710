/*
 * The buffer into which the kernel writes an event's samples: a control page, then a page of data.
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
    uint64_t time_ns;                        /* of the newest sample; 0: not timed */
    uint64_t counter;                        /* at the newest sample, since the event was opened */
    uint32_t samples;                        /* number of samples read, without early ones */
    uint32_t early;                          /* number of samples not later than since_ns */
    uint32_t frames;                         /* number of frames in kernel[] (newest sample) */
    uint64_t kernel[PERF_KERNEL_FRAMES_MAX]; /* frame words, leaf first */
};

/* Touches both pages of a new buffer. A handler that did it first could hang: to make the control page
 * writable, the kernel starts the access again, but not while a signal is pending, and an event that
 * counts page faults sends one each time (seen with 6.18). */
void perf_buffer_touch(void *buffer, size_t page_bytes);

/* Reads and removes all samples. False: there was none. If the kernel had no room for a sample, the
 * counter of the next one includes it. */
bool perf_buffer_read(void *buffer, size_t page_bytes, struct perf_news *news);
/* The same, of an event that notes times (PERF_SAMPLE_TIME). Samples up to since_ns are removed, but
 * only counted. */
bool perf_buffer_read_since(void *buffer, size_t page_bytes, uint64_t since_ns,
                            struct perf_news *news);

/* Whether there are records to read. Any thread. */
bool perf_buffer_waits(void *buffer);

/* A number that changes when the thread begins or goes on running. */
uint32_t perf_buffer_schedule(const void *buffer);

#endif
