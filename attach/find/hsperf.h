/*
 * HotSpot's performance data: the counters that a JVM keeps in a file of about 32 KiB.
 * source: perfMemory.hpp (PerfDataPrologue, PerfDataEntry), JDK 8-28
 *
 *   prologue  magic ca fe c0 c0 | byte order, major, minor, accessible | used | overflow |
 *             time stamp (8) | offset of the first entry | number of entries
 *   entry     length | name offset | vector length | type, flags, units, variability |
 *             data offset | name NUL | padding | data          (20 bytes before the name)
 *
 * The functions are pure and work on a copy of the file. Another process wrote the bytes, so they
 * are treated as hostile: the offsets and lengths of each entry are checked before anything is
 * read. The first wrong entry ends the list.
 *
 * Context: any thread.
 */
#ifndef JTOP_ATTACH_FIND_HSPERF_H
#define JTOP_ATTACH_FIND_HSPERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hsperf {
    const uint8_t *data; /* borrowed */
    size_t used;
    /* cursor of hsperf_next */
    size_t at;
    uint32_t left;
};

struct hsperf_entry {
    const char *name; /* NUL-terminated, inside the buffer; not cleaned */
    bool is_text;
    int64_t number;   /* value of an entry of type J; valid if !is_text */
    const char *text; /* type B vector, not NUL-terminated, not cleaned */
    size_t text_len;  /* up to its first NUL */
};

/* 0; -EINVAL: not performance data, or of another byte order or version; -EAGAIN: the JVM is still
 * initializing it. The buffer must outlive `h`. */
int hsperf_open(struct hsperf *h, const void *data, size_t size);

/* Reads the next entry that holds a number or a text; false at the end. */
bool hsperf_next(struct hsperf *h, struct hsperf_entry *e);

#endif
