/* A pprof file from anywhere; the input is the file, plain or gzipped. */
#include "test/fuzz/import_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0 || size > 16384)
        return 0;
    import_pprof.knows(data, size, true);
    import_pprof.knows(data, size, false);
    import_check(&import_pprof, data, size, UINT64_MAX);
    return 0;
}
