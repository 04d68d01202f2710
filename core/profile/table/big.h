/*
 * Large scratch memory. A snapshot of a large profile touches tens of megabytes for a few
 * milliseconds; in pages of 4 KiB the kernel would spend longer handing them out than we spend
 * using them. So large arrays are aligned for, and advised to be, huge pages.
 *
 * Context: pure, any thread. Free with free().
 */
#ifndef JTOP_PROFILE_TABLE_BIG_H
#define JTOP_PROFILE_TABLE_BIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Room for `count` elements (or one if there are none), not zeroed. NULL: no memory. */
void *big_alloc(size_t count, size_t size);

/* As grow_array, see grow.h, in large memory. */
bool big_grow(void *array, uint32_t *cap, uint32_t need, size_t size);

#endif
