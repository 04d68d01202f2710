/*
 * A reader of foreign profiles on a hostile file: what it tells must be whole records that a
 * decoder takes, and no more of them than the file's size allows.
 *
 * Context: fuzz targets.
 */
#ifndef JTOP_TEST_IMPORT_CHECK_H
#define JTOP_TEST_IMPORT_CHECK_H

#include "core/decode/decoder.h"
#include "core/import/importer.h"
#include "core/profile/snapshot/snapshot.h"

#include <stdlib.h>
#include <string.h>

struct import_check {
    struct decoder *decoder;
    uint64_t records;
};

static inline void import_must(bool holds) {
    if (!holds)
        abort();
}

static inline int import_check_record(void *arg, const void *record) {
    struct import_check *c = arg;
    uint64_t word;
    memcpy(&word, record, sizeof word);
    uint32_t length = wire_header_length(word);
    import_must((uintptr_t)record % 8 == 0 && length >= 8 && length % 8 == 0 &&
                length <= WIRE_RECORD_BYTES_MAX);
    void *copy = malloc(length); /* ASan sees every step beyond it */
    import_must(copy != NULL);
    memcpy(copy, record, length);
    decoder_decode(c->decoder, copy);
    free(copy);
    c->records++;
    return 0;
}

static inline void import_check(const struct import_reader *reader, const uint8_t *data,
                                size_t size, uint64_t most) {
    struct profile *p = profile_new(0);
    struct import_check c = {.decoder = decoder_new(p, NULL)};
    struct import_result result = {0};
    struct err e = {0};
    import_must(c.decoder != NULL);
    c.decoder->replay = true;
    int r = reader->read(data, size, import_check_record, &c, &result, &e);
    import_must(r == 0 || (r == -e.code && e.message[0]));
    import_must(strnlen(result.damage, sizeof result.damage) < sizeof result.damage);
    import_must(c.records <= most);
    import_must(c.decoder->held.count == 0 && c.decoder->counts.bad == 0);
    for (int event = 0; event < EVENT_KINDS; event++) {
        struct snapshot *s = snapshot_take(p, &(struct query){.event = event, .tree = true});
        import_must(s != NULL && s->samples == profile_samples(p, event));
        snapshot_free(s);
    }
    decoder_free(c.decoder);
    profile_free(p);
}

#endif
