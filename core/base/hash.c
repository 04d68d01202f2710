#include "core/base/hash.h"

#include <string.h>
#include <sys/random.h>

uint64_t hash_bytes(uint64_t seed, const void *data, size_t size) {
    const unsigned char *p = data;
    uint64_t h = seed ^ size;
    for (; size >= 16; p += 16, size -= 16) {
        uint64_t a, b;
        memcpy(&a, p, 8);
        memcpy(&b, p + 8, 8);
        h = hash_pair(h, a, b ^ seed);
    }
    uint64_t tail[2] = {0, 0};
    memcpy(tail, p, size);
    return hash_pair(h, tail[0], tail[1] ^ seed);
}

uint64_t hash_seed(void) {
    uint64_t seed;
    /* Without entropy, which may be missing early at boot, the seed comes from the addresses that
     * the loader has chosen. */
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != sizeof seed)
        seed = hash_word((uintptr_t)&seed ^ (uint64_t)(uintptr_t)&hash_bytes << 24);
    return seed | 1;
}
