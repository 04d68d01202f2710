/*
 * What the decoder's files share:
 *      decoder.c           begin, end and dispatch; samples, waits for locks, and what the stream
 *                          says about itself and the VM
 *      decoder_names.c     names of methods, classes, stubs, addresses and threads; translation of
 *                          frame words into the profile's frames
 *      decoder_restate.c   for recordings that begin later
 *      decoder_delivery.c  adds to the profile, at once or when names are known; repeats; ends
 *
 * Context: as decoder.h. All functions here need the profile's lock, unless their comment says
 * otherwise.
 */
#ifndef JTOP_DECODE_DECODER_PARTS_H
#define JTOP_DECODE_DECODER_PARTS_H

#include "core/decode/decoder.h"

/* Where a frame's name comes from. As a tag in bits 56-63 of a key, it puts all ids into one key
 * space. The key of a method's frame also has its bci in bits 32-47, for the line: see
 * decoder_name_key. */
enum source {
    SOURCE_NONE = 0,
    SOURCE_METHOD,
    SOURCE_CLASS,
    SOURCE_STUB,
    SOURCE_NATIVE,
    SOURCE_KERNEL,
    SOURCE_ERROR,
    SOURCE_COMPILING, /* named by the method's record */
    SOURCE_PC,        /* named by its number */
    SOURCE_OUTSIDE,   /* named by the class's record */
    SOURCES,
    /* Not of frames, but samples wait for these names, too: */
    SOURCE_THREAD = SOURCES,
    SOURCE_VIRTUAL,
};

static inline uint64_t decoder_key(enum source source, uint64_t id) {
    return (uint64_t)source << 56 | (id & WIRE_FRAME_ADDRESS_MASK);
}

/* The key under which the name for a frame with this key is stored. */
static inline uint64_t decoder_name_key(uint64_t key) {
    enum source source = (enum source)(key >> 56);
    if (source == SOURCE_METHOD || source == SOURCE_COMPILING)
        return decoder_key(SOURCE_METHOD, (uint32_t)key);
    return source == SOURCE_OUTSIDE ? decoder_key(SOURCE_CLASS, (uint32_t)key) : key;
}

/* The key of the name that decides whether a thread is wanted. */
static inline uint64_t decoder_thread_key(uint32_t tid, uint64_t virtual_id) {
    return virtual_id ? decoder_key(SOURCE_VIRTUAL, virtual_id) : decoder_key(SOURCE_THREAD, tid);
}

/* Frame words in a record, leaf first. */
struct stack {
    const uint64_t *frame;
    uint32_t frames; /* WIRE_FRAMES_MAX at most */
};

/* Names. */

/* Notes that the thread has samples. */
void decoder_see_thread(struct decoder *d, uint32_t tid);

/* Frames. */

/* The stack of a sample or a lock's owner; false: the record contradicts itself. No lock needed. */
bool decoder_stack(const void *record, uint32_t length, struct stack *out);

/* The address to look up for frame i, which must have one. The frame's own address is exact where
 * the thread was executing. All other frames have return addresses, which may lie behind the end of
 * the calling function; for them it is one less. */
uint64_t decoder_looked_up(const struct stack *s, uint32_t i);

/* Translates the stack into `frame` and `key`, which have room for as many frames. Returns the
 * reason why the walk ended, an enum wire_failure; WIRE_FAILURES: no frame has one. */
uint32_t decoder_translate(struct decoder *d, struct stack *s, struct profile_frame *frame,
                           uint64_t *key);

/* Fills in the frames whose names are known by now. Returns the key of the name that the first
 * remaining frame waits for; 0: none. */
uint64_t decoder_fill_in(struct decoder *d, struct profile_frame *frame, uint64_t *key,
                         uint32_t frames);

/* Adds the tags at the root's end of d->frame. Returns the new number of frames. */
uint32_t decoder_add_tags(struct decoder *d, const struct wire_sample *w, uint32_t frames);
/* Reads a thread's scheduling policy, only once. No lock needed. */
void decoder_learn_policy(struct decoder *d, uint32_t tid);

/* For recordings that begin later. No lock needed. */

void decoder_keep_init(struct decoder_kept *k);
void decoder_keep_free(struct decoder_kept *k);
/* Whether a recording of this profile is to have the record: it is of its events and its time. */
bool decoder_is_ours(const struct decoder *d, const void *record);
/* Keeps a copy of the record if a later recording may need it. */
void decoder_keep(struct decoder *d, const void *record, uint32_t type, uint32_t length);
/* If the record repeats a sample that some receivers have not got, returns that sample with the
 * repeat's values, and sets `fresh` to these receivers. Otherwise returns the record itself. */
const void *decoder_spell_out(struct decoder *d, const void *record, uint32_t type, uint32_t length,
                              uint32_t *fresh);
/* The receivers of records, as bits. */
#define DECODER_FILE 1u
static inline uint32_t decoder_feed_bit(uint32_t slot) {
    return 2u << slot;
}

/* Delivery. */

/* The time, but not later than now and not before the beginning of the stream. */
uint64_t decoder_plausible_time(const struct decoder *d, uint64_t time_ns);
/* Returns how much of a weight still fits into its sum, and adds that to the sum. */
uint64_t decoder_bounded(uint64_t *sum, uint64_t weight);
/* Returns the occurrences that a record's count stands for, up to the limit. */
uint32_t decoder_count(uint32_t count);

/* Counts the delivery, now or as soon as the names that it waits for are known. */
void decoder_accept(struct decoder *d, struct delivery *what);

/* Forgets the last sample of this thread and event, which then cannot be repeated. */
void decoder_forget_sample(struct decoder *d, uint32_t tid, uint32_t event);
void decoder_forget_thread(struct decoder *d, uint32_t tid);

/* Delivers what waited for this name only. `key`: a decoder_name_key or decoder_thread_key. */
void decoder_release(struct decoder *d, uint64_t key);

/* One function per record type. False: the record contradicts itself. `length` is at least the
 * smallest size of the type. */
bool decoder_decode_repeat(struct decoder *d, const void *record, uint32_t length);
bool decoder_decode_free(struct decoder *d, const void *record, uint32_t length);
bool decoder_decode_method(struct decoder *d, const void *record, uint32_t length);
bool decoder_decode_class(struct decoder *d, const void *record, uint32_t length);
bool decoder_decode_stub(struct decoder *d, const void *record, uint32_t length);
bool decoder_decode_symbol(struct decoder *d, const void *record, uint32_t length);
bool decoder_decode_thread(struct decoder *d, const void *record, uint32_t length);
bool decoder_decode_thread_end(struct decoder *d, const void *record, uint32_t length);
bool decoder_decode_java_state(struct decoder *d, const void *record, uint32_t length);

#endif
