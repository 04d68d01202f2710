/*
 * Reads and writes big-endian numbers, for class files.
 *
 * Context: any thread, not in signal handlers. Memory comes from mmap, because the heap belongs to
 * the application.
 */
#ifndef JTOP_AGENT_PROCESS_BYTES_H
#define JTOP_AGENT_PROCESS_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads [at, end). Reads beyond the end return 0 and set `bad`. */
struct bytes_in {
    const uint8_t *at, *end;
    bool bad;
};

/* Grows as needed. `failed`: there was no memory; nothing more is added. */
struct bytes_out {
    uint8_t *at;
    size_t n, capacity;
    bool failed;
};

const uint8_t *bytes_skip(struct bytes_in *in, size_t n); /* their address, or NULL */
uint8_t bytes_u1(struct bytes_in *in);
uint16_t bytes_u2(struct bytes_in *in);
uint32_t bytes_u4(struct bytes_in *in);

void bytes_put(struct bytes_out *out, const void *from, size_t n);
void bytes_put1(struct bytes_out *out, uint32_t value);
void bytes_put2(struct bytes_out *out, uint32_t value);
void bytes_put4(struct bytes_out *out, uint32_t value);
void bytes_end(struct bytes_out *out); /* frees the memory */

/* Returns zeroed memory; NULL: there is none. bytes_free needs the same size, and accepts NULL. */
void *bytes_alloc(size_t n);
void bytes_free(void *p, size_t n);

/* Overwrites four, or two, bytes written before. */
void bytes_set4(struct bytes_out *out, size_t where, uint32_t value);
void bytes_set2(struct bytes_out *out, size_t where, uint32_t value);

#endif
