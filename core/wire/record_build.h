/*
 * Builds the records that hold names, for recordings, feeds and importers. The agent builds its own
 * directly in the ring, because the memory with the names may disappear while it is read.
 *
 * Context: pure, any thread.
 */
#ifndef JTOP_WIRE_RECORD_BUILD_H
#define JTOP_WIRE_RECORD_BUILD_H

#include "core/wire/record.h"

#include <stddef.h>

/* Text that is not NUL-terminated; `data` NULL: empty. Text longer than WIRE_STRING_MAX is cut
 * between two characters. */
struct wire_text {
    const char *data;
    size_t bytes;
};

struct wire_text wire_text_of(const char *s); /* up to its NUL */
struct wire_text wire_text_fit(struct wire_text t);

/* The largest size of such a record, without its line table. */
#define RECORD_BUILD_BYTES 4096u

/* Each function fills the whole record, including its header word. `out` is aligned and has
 * RECORD_BUILD_BYTES, or WIRE_RECORD_BYTES_MAX for a method with lines. Lines are pairs of bci and
 * line; they are left out where they do not fit. */
void record_build_method(void *out, uint32_t id, struct wire_text class_name, struct wire_text name,
                         struct wire_text signature, const void *lines, size_t line_bytes);
void record_build_class(void *out, uint32_t id, struct wire_text name);
void record_build_stub(void *out, uint64_t begin, struct wire_text name);
void record_build_symbol(void *out, uint64_t address, uint32_t kind, struct wire_text name,
                         struct wire_text module);
void record_build_thread(void *out, uint32_t tid, uint64_t java_id, uint16_t flags,
                         struct wire_text name);

#endif
