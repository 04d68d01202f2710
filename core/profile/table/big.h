/*
 * Large scratch memory. A snapshot of a large profile uses tens of megabytes for a few
 * milliseconds. With pages of 4 KiB, the kernel would need longer to provide them than we need to
 * use them. So large arrays are aligned for huge pages, and madvise asks for them.
 *
 * Context: pure, any thread. Free with free().
 */
#ifndef JTOP_PROFILE_TABLE_BIG_H
#define JTOP_PROFILE_TABLE_BIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Allocates room for `count` elements (or for one if `count` is 0), not zeroed. NULL: no memory. */
void *big_alloc(size_t count, size_t size);

/* As grow_array, see grow.h, but with large memory. */
bool big_grow(void *array, uint32_t *cap, uint32_t need, size_t size);
/* The same; the elements from *have to before `need` become zero, and *have becomes `need` if that
 * is greater. */
bool big_grow_zeroed(void *array, uint32_t *cap, uint32_t *have, uint32_t need, size_t size);

#endif
