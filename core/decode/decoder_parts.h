/*
 * What the decoder's files share:
 *      decoder.c           beginning, end, dispatch; samples, waits for locks, and what the stream
 *                          says about itself and the VM
 *      decoder_names.c     names of methods, classes, stubs, addresses, threads; from frame words to
 *                          the profile's frames
 *      decoder_restate.c   for recordings that begin later
 *      decoder_delivery.c  into the profile, at once or when names are there; once more; taken back
 *
 * Context: as decoder.h; everything here needs the profile's lock, but for what says otherwise.
 */
#ifndef JTOP_DECODE_DECODER_PARTS_H
#define JTOP_DECODE_DECODER_PARTS_H

#include "core/decode/decoder.h"

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
    SOURCE_PC,        /* named by its number */
    SOURCE_OUTSIDE,   /* named by the class's record */
    SOURCES,
    /* No frame's, but waited for all the same: */
    SOURCE_THREAD = SOURCES,
    SOURCE_VIRTUAL,
};

static inline uint64_t decoder_key(enum source source, uint64_t id) {
    return (uint64_t)source << 56 | (id & WIRE_FRAME_ADDRESS_MASK);
}

/* Under which key the name of a frame with this key is found. */
static inline uint64_t decoder_name_key(uint64_t key) {
    enum source source = (enum source)(key >> 56);
    if (source == SOURCE_METHOD || source == SOURCE_COMPILING)
        return decoder_key(SOURCE_METHOD, (uint32_t)key);
    return source == SOURCE_OUTSIDE ? decoder_key(SOURCE_CLASS, (uint32_t)key) : key;
}

/* And the name that decides about a thread. */
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

/* The address to look up for frame i, which has one: where the thread was is exact; everywhere
 * else a stack has return addresses, which may lie behind the end of the function that called. */
uint64_t decoder_looked_up(const struct stack *s, uint32_t i);

/* Translates into `frame` and `key`, both of that many. Returns the reason why the walk ended, an
 * enum wire_failure; WIRE_FAILURES: no frame says so. */
uint32_t decoder_translate(struct decoder *d, struct stack *s, struct profile_frame *frame,
                           uint64_t *key);

/* Fills in what has a name by now. Returns the name that the first frame without one waits for, or
 * 0. */
uint64_t decoder_fill_in(struct decoder *d, struct profile_frame *frame, uint64_t *key,
                         uint32_t frames);

/* Adds the tags to the root's end of d->frame; returns how many frames there are then. */
uint32_t decoder_add_tags(struct decoder *d, const struct wire_sample *w, uint32_t frames);
/* Asks for a thread's scheduling policy, once. No lock needed. */
void decoder_learn_policy(struct decoder *d, uint32_t tid);

/* Recordings that begin later. No lock needed. */

void decoder_keep_init(struct decoder_kept *k);
void decoder_keep_free(struct decoder_kept *k);
/* Takes note of a record gone by. */
void decoder_keep(struct decoder *d, const void *record, uint32_t type, uint32_t length);
/* What says the same without those before, for those of `fresh`, who have not got them; the record
 * itself where there is nobody like that. */
const void *decoder_spell_out(struct decoder *d, const void *record, uint32_t type, uint32_t length,
                              uint32_t *fresh);
/* Where records are written to, as bits. */
#define DECODER_FILE 1u
static inline uint32_t decoder_feed_bit(uint32_t slot) {
    return 2u << slot;
}

/* Delivery. */

/* Not later than now, not earlier than the stream. */
uint64_t decoder_plausible_time(const struct decoder *d, uint64_t time_ns);
/* As much of a weight as still fits its sum, and adds it to that. */
uint64_t decoder_bounded(uint64_t *sum, uint64_t weight);
/* What a record's count stands for, within what one may. */
uint32_t decoder_count(uint32_t count);

/* Counts it, now or as soon as the names are there that it waits for. */
void decoder_accept(struct decoder *d, struct delivery *what);

/* The last sample of this pair cannot be repeated. */
void decoder_forget_sample(struct decoder *d, uint32_t tid, uint32_t event);
void decoder_forget_thread(struct decoder *d, uint32_t tid);

/* Delivers what waited for this name only. `key`: decoder_name_key, decoder_thread_key. */
void decoder_release(struct decoder *d, uint64_t key);

/* One a record type; false: the record contradicts itself. `length` is at least the type's. */
bool decoder_decode_repeat(struct decoder *d, const void *record, uint32_t length);
bool decoder_decode_free(struct decoder *d, const void *record, uint32_t length);
bool decoder_decode_method(struct decoder *d, const void *record, uint32_t length);
bool decoder_decode_class(struct decoder *d, const void *record, uint32_t length);
bool decoder_decode_stub(struct decoder *d, const void *record, uint32_t length);
bool decoder_decode_symbol(struct decoder *d, const void *record, uint32_t length);
bool decoder_decode_thread(struct decoder *d, const void *record, uint32_t length);
bool decoder_decode_thread_end(struct decoder *d, const void *record, uint32_t length);

#endif
