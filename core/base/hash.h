/*
 * Hashes for tables in memory; they are never stored or sent.
 *
 * Where others choose the keys (names, addresses, numbers of a file), a table mixes a seed of its
 * own into them (hash_seed), so that nobody can prepare keys that all collide.
 *
 * Context: pure, any thread. The inline functions are signal-safe, in the JVM too.
 */
#ifndef JTOP_BASE_HASH_H
#define JTOP_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Spreads a word over 64 bits; the high bits are spread best. */
static inline uint64_t hash_word(uint64_t v) {
    return v * UINT64_C(0x9e3779b97f4a7c15);
}

/* Adds a word to a hash. */
static inline uint64_t hash_more(uint64_t h, uint64_t v) {
    h = hash_word(h ^ v);
    return h ^ h >> 29;
}

/* Adds a byte to a hash, for text that is not in one piece. The first hash is HASH_BYTE. source:
 * FNV-1a */
#define HASH_BYTE UINT64_C(14695981039346656037)
static inline uint64_t hash_byte(uint64_t h, uint8_t v) {
    return (h ^ v) * UINT64_C(1099511628211);
}

__extension__ typedef unsigned __int128 hash_wide;

/* Folds both halves of the product: every bit of either factor affects every bit of the result. */
static inline uint64_t hash_fold(uint64_t a, uint64_t b) {
    hash_wide m = (hash_wide)a * b;
    return (uint64_t)m ^ (uint64_t)(m >> 64);
}

static inline uint64_t hash_pair(uint64_t seed, uint64_t a, uint64_t b) {
    return hash_fold(a ^ seed ^ UINT64_C(0xa0761d6478bd642f), b ^ UINT64_C(0xe7037ed1a0b428db));
}

uint64_t hash_bytes(uint64_t seed, const void *data, size_t size);

/* Returns another seed each time; never 0. Frontend only. */
uint64_t hash_seed(void);

#endif
