/* Calls put into the methods of a class file; the input is the file. What comes out must be one that
 * calls can be put into again. */
#include "core/agent/patch/bytecode.h"

#include <errno.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const struct bytecode_target every[] = {{"m*", "()*", 1}, {"*", NULL, 0}};
    static _Atomic uint16_t ids;
    static const struct bytecode_request all = {"java/lang/Calls", &ids, every, 2};
    struct bytecode_result once, twice;
    int r = bytecode_add_calls(data, (uint32_t)size, &all, &once);
    if ((r != 0 && r != -EINVAL) || !once.file.at != !once.methods)
        abort();
    if (!once.file.at)
        return 0;
    r = bytecode_add_calls(once.file.at, (uint32_t)once.file.n, &all, &twice);
    /* The only reason may be that the constants do not fit any more. */
    if (r == 0 && twice.methods + twice.oversized != once.methods + once.oversized)
        abort();
    if (r != 0 && (uint32_t)once.file.n < UINT16_MAX)
        abort();
    bytes_end(&once.file);
    bytes_end(&twice.file);
    return 0;
}
