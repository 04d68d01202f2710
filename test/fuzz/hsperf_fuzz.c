/* The performance data parser and what is read from it; the input is the file. */
#include "attach/find/hsperf.h"
#include "attach/find/perf_values.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct hsperf h;
    struct hsperf_entry e;
    struct perf_values v;
    size_t n = 0;
    if (hsperf_open(&h, data, size) == 0)
        while (hsperf_next(&h, &e)) {
            n += strlen(e.name) + 1 + (e.is_text ? strnlen(e.text, e.text_len) : 0);
            if (n > 2 * size) /* entries do not overlap, though a name and its text may */
                abort();
        }
    if (perf_values_read(&v, data, size) == 0 && (v.heap_used < 0 || v.gc_ms < 0 || v.classes < 0))
        abort();
    return 0;
}
