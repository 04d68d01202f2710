/*
 * Big-endian numbers in and out: class files.
 *
 * Context: any thread, not in signal handlers. Memory is mapped: the heap is the application's.
 */
#ifndef JTOP_AGENT_PROCESS_BYTES_H
#define JTOP_AGENT_PROCESS_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads [at, end); what is behind the end reads as 0 and sets `bad`. */
struct bytes_in {
    const uint8_t *at, *end;
    bool bad;
};

/* Grows; `failed` when memory ran out, and nothing is added any more. */
struct bytes_out {
    uint8_t *at;
    size_t n, capacity;
    bool failed;
};

const uint8_t *bytes_skip(struct bytes_in *in, size_t n); /* where they were; NULL: not there */
uint8_t bytes_u1(struct bytes_in *in);
uint16_t bytes_u2(struct bytes_in *in);
uint32_t bytes_u4(struct bytes_in *in);

void bytes_put(struct bytes_out *out, const void *from, size_t n);
void bytes_put1(struct bytes_out *out, uint32_t value);
void bytes_put2(struct bytes_out *out, uint32_t value);
void bytes_put4(struct bytes_out *out, uint32_t value);
void bytes_end(struct bytes_out *out); /* frees what was written */

/* Zeroed memory; NULL: there is none. bytes_free wants the same size; NULL is fine. */
void *bytes_alloc(size_t n);
void bytes_free(void *p, size_t n);

/* Overwrites four, or two, bytes written before. */
void bytes_set4(struct bytes_out *out, size_t where, uint32_t value);
void bytes_set2(struct bytes_out *out, size_t where, uint32_t value);

#endif
