/* The parser of /proc/PID/maps; the input is the text. */
#include "symbols/elf/maps.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct maps m;
    size_t names = 0;
    if (maps_parse((const char *)data, size, &m))
        return 0;
    for (size_t i = 0; i < m.count; i++) {
        const struct mapping *one = &m.list[i];
        names += strlen(one->path) + strlen(mapping_base_name(one));
        if (one->start >= one->end || (i && one->start < m.list[i - 1].end) ||
            maps_find(&m, one->start) != one || maps_find(&m, one->end - 1) != one ||
            maps_find(&m, one->end) == one || !mapping_same_at(one, one, one->start))
            abort();
    }
    if (names > 2 * size)
        abort();
    maps_free(&m);
    return 0;
}
