/* Collapsed stacks from anywhere; the input is the file. */
#include "test/fuzz/import_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0 || size > 16384)
        return 0;
    import_collapsed.knows(data, size, true);
    import_collapsed.knows(data, size, false);
    /* A line of 65 bytes can stand for samples that take 64 records. All large weights of a file together
     * take 16,384 more at most. */
    import_check(&import_collapsed, data, size, 64 * (size + 16) + (1u << 14));
    return 0;
}
