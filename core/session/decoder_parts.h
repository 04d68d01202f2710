/*
 * What the decoder's files share: decoder.c (beginning, end, dispatch), decoder_samples.c and
 * decoder_names.c.
 *
 * Context: as decoder.h; everything here needs the profile's lock.
 */
#ifndef JTOP_SESSION_DECODER_PARTS_H
#define JTOP_SESSION_DECODER_PARTS_H

#include "core/session/decoder.h"

/* Where a frame's name comes from. As a tag in bits 56-63 it makes one key space of all ids. A
 * method's frame keeps its bci in bits 32-47, for its line: see decoder_name_key. */
enum source {
    SOURCE_NONE = 0,
    SOURCE_METHOD,
    SOURCE_CLASS,
    SOURCE_STUB,
    SOURCE_NATIVE,
    SOURCE_KERNEL,
    SOURCE_ERROR,
    SOURCE_COMPILING, /* named by the method's record */
    SOURCES
};

static inline uint64_t decoder_key(enum source source, uint64_t id) {
    return (uint64_t)source << 56 | (id & WIRE_FRAME_ADDRESS_MASK);
}

/* Under which key the name of a frame with this key is found. */
static inline uint64_t decoder_name_key(uint64_t key) {
    enum source source = (enum source)(key >> 56);
    bool method = source == SOURCE_METHOD || source == SOURCE_COMPILING;
    return method ? decoder_key(SOURCE_METHOD, (uint32_t)key) : key;
}

/* Enters a name into the profile as long as there is room for its text. */
uint32_t decoder_intern(struct decoder *d, enum source source, enum method_kind kind,
                        const char *class_name, const char *name, const char *signature,
                        const char *module);

/* The sample in a record, or NULL where its counts contradict its length. */
const struct wire_sample *decoder_as_sample(const void *record, uint32_t length);

/* The address to look up for frame i, which has one: where the thread was is exact; everywhere
 * else a stack has return addresses, which may lie behind the end of the function that called. */
uint64_t decoder_looked_up(const struct wire_sample *w, uint32_t i);

bool decoder_decode_sample(struct decoder *d, const void *record, uint32_t length);

/* Delivers the held samples that waited for this name only. `key`: decoder_name_key. */
void decoder_release(struct decoder *d, uint64_t key);

/* Notes that the thread has samples. */
void decoder_see_thread(struct decoder *d, uint32_t tid);

/* One a record type; false: the record contradicts itself. `length` is at least the type's. */
bool decoder_decode_method(struct decoder *d, const void *record, uint32_t length);
bool decoder_decode_class(struct decoder *d, const void *record, uint32_t length);
bool decoder_decode_stub(struct decoder *d, const void *record, uint32_t length);
bool decoder_decode_symbol(struct decoder *d, const void *record, uint32_t length);
bool decoder_decode_thread(struct decoder *d, const void *record, uint32_t length);
bool decoder_decode_thread_end(struct decoder *d, const void *record, uint32_t length);

#endif
