/*
 * Arrays that double in size.
 *
 * Context: pure, any thread.
 */
#ifndef JTOP_BASE_GROW_H
#define JTOP_BASE_GROW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Reads the pointer at `array`. Its type is not void *, so memcpy copies it. */
static inline void *array_get(const void *array) {
    void *p;
    memcpy(&p, array, sizeof p);
    return p;
}

static inline void array_set(void *array, void *p) {
    memcpy(array, &p, sizeof p);
}

/* `array` is the address of a pointer to elements of `size` bytes; there is room for `cap`
 * elements. Makes room for at least `need`. False: no memory; nothing has changed. */
static inline bool grow_array(void *array, uint32_t *cap, uint32_t need, size_t size) {
    if (need <= *cap)
        return true;
    uint64_t want = *cap ? (uint64_t)*cap * 2 : 16;
    if (want < need)
        want = need;
    if (want > UINT32_MAX || want > SIZE_MAX / size)
        return false;
    void *p = realloc(array_get(array), (size_t)want * size);
    if (!p)
        return false;
    array_set(array, p);
    *cap = (uint32_t)want;
    return true;
}

/* Makes room for one more element after `count` elements. */
#define GROW(array, count, cap) grow_array(&(array), &(cap), (count) + 1, sizeof *(array))

#endif
