#include "core/profile/table/big.h"

#include "core/base/grow.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)

void *big_alloc(size_t count, size_t size) {
    if (count == 0)
        count = 1;
    if (count > (SIZE_MAX - HUGE_PAGE) / size)
        return NULL;
    if (count * size < 2 * HUGE_PAGE)
        return malloc(count * size);
    size_t bytes = (count * size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    void *p = aligned_alloc(HUGE_PAGE, bytes);
    if (p)
        (void)madvise(p, bytes, MADV_HUGEPAGE); /* only a hint */
    return p;
}

bool big_grow(void *array, uint32_t *cap, uint32_t need, size_t size) {
    if (need <= *cap)
        return true;
    uint64_t want = (uint64_t)*cap + *cap / 2;
    want = want < need ? need : want;
    want = want < 64 ? 64 : want;
    void *p = want > UINT32_MAX ? NULL : big_alloc((size_t)want, size);
    void *old = array_get(array);
    if (!p)
        return false;
    if (old)
        memcpy(p, old, (size_t)*cap * size);
    free(old);
    array_set(array, p);
    *cap = (uint32_t)want;
    return true;
}

bool big_grow_zeroed(void *array, uint32_t *cap, uint32_t *have, uint32_t need, size_t size) {
    if (!big_grow(array, cap, need, size))
        return false;
    if (need > *have) { /* an empty array may have no memory yet */
        memset((char *)array_get(array) + *have * size, 0, (need - *have) * size);
        *have = need;
    }
    return true;
}
