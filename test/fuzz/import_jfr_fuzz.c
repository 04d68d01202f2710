/*
 * The reader of JFR files; the input is the file. What comes out goes into a decoder, each record in
 * a block of its own size.
 */
#include "core/decode/decoder.h"
#include "core/import/importer.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int decode(void *arg, const void *record) {
    uint64_t word;
    memcpy(&word, record, sizeof word);
    size_t length = wire_header_length(word);
    if (length < 8 || length % 8 || length > WIRE_RECORD_BYTES_MAX)
        abort();
    void *copy = malloc(length);
    if (!copy)
        abort();
    memcpy(copy, record, length);
    decoder_prepare(arg, copy);
    decoder_decode(arg, copy);
    free(copy);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct import_result result = {0};
    struct err e = {0};
    struct profile *p = profile_new(60);
    struct decoder *d = decoder_new(p, NULL);
    if (!d)
        abort();
    d->replay = true;
    if (import_jfr.knows(data, size, true)) {
        int r = import_jfr.read(data, size, decode, d, &result, &e);
        if (r < 0 && !e.message[0])
            abort();
        if (d->counts.bad || (r == 0 && !d->marks.any))
            abort();
    }
    decoder_flush(d);
    decoder_free(d);
    profile_free(p);
    return 0;
}
