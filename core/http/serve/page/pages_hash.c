#include "core/http/serve/page/pages_hash.h"

#include <string.h>

/* Fractions of the cube roots of the first 64 primes. */
static const uint32_t round_constant[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t turned(uint32_t x, unsigned n) {
    return x >> n | x << (32 - n);
}

static void spread_block(const unsigned char *block, uint32_t w[64]) {
    for (unsigned i = 0; i < 16; i++, block += 4)
        w[i] = (uint32_t)block[0] << 24 | (uint32_t)block[1] << 16 | (uint32_t)block[2] << 8 |
               block[3];
    for (unsigned i = 16; i < 64; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + w[i - 7] + (turned(a, 7) ^ turned(a, 18) ^ a >> 3) +
               (turned(b, 17) ^ turned(b, 19) ^ b >> 10);
    }
}

static void mix_block(struct pages_hash *h) {
    uint32_t w[64], s[8];
    spread_block(h->block, w);
    memcpy(s, h->state, sizeof s);
    for (unsigned i = 0; i < 64; i++) {
        uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
        uint32_t most = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
        uint32_t a = s[7] + (turned(s[4], 6) ^ turned(s[4], 11) ^ turned(s[4], 25)) + choice +
                     round_constant[i] + w[i];
        uint32_t b = (turned(s[0], 2) ^ turned(s[0], 13) ^ turned(s[0], 22)) + most;
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += a;
        s[0] = a + b;
    }
    for (unsigned i = 0; i < 8; i++)
        h->state[i] += s[i];
}

void pages_hash_begin(struct pages_hash *h) {
    static const uint32_t begin[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    *h = (struct pages_hash){.len = 0};
    memcpy(h->state, begin, sizeof begin);
}

void pages_hash_add(struct pages_hash *h, const char *data, size_t n) {
    for (size_t i = 0; i < n; i++) {
        h->block[h->len++ % sizeof h->block] = (unsigned char)data[i];
        if (h->len % sizeof h->block == 0)
            mix_block(h);
    }
}

static void add_base64(const unsigned char in[33], char out[PAGES_HASH_TEXT]) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (unsigned i = 0; i < 11; i++, in += 3) {
        uint32_t v = (uint32_t)in[0] << 16 | (uint32_t)in[1] << 8 | in[2];
        for (unsigned k = 0; k < 4; k++)
            *out++ = digits[v >> (18 - 6 * k) & 63];
    }
    out[-1] = '='; /* 32 bytes end in the middle of the last group */
    *out = '\0';
}

void pages_hash_end(struct pages_hash *h, char out[PAGES_HASH_TEXT]) {
    uint64_t bits = h->len * 8;
    pages_hash_add(h, "\x80", 1);
    while (h->len % sizeof h->block != 56)
        pages_hash_add(h, "", 1);
    for (unsigned i = 0; i < 8; i++) {
        char byte = (char)(bits >> (56 - 8 * i) & 0xff);
        pages_hash_add(h, &byte, 1);
    }
    unsigned char sum[33] = {0};
    for (unsigned i = 0; i < 32; i++)
        sum[i] = (unsigned char)(h->state[i / 4] >> (24 - 8 * (i % 4)));
    add_base64(sum, out);
}
