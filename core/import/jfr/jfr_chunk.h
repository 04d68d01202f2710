/*
 * A chunk of a JFR file: a header, then events one behind the other. Two of them are not the
 * program's:
 *
 *      metadata     what the types of all the others are; the last one counts
 *      checkpoint   constants that others refer to by number, any number of times in a chunk; the
 *                   first to give a number counts, as in the JDK's own reader
 *
 * Where a chunk is cut, or still being written, what is there of it is read.
 *
 * Context: as import.h.
 */
#ifndef JTOP_IMPORT_JFR_JFR_CHUNK_H
#define JTOP_IMPORT_JFR_JFR_CHUNK_H

#include "core/import/emit.h"
#include "core/import/jfr/jfr_types.h"

#define JFR_MAGIC "FLR"
#define JFR_HEADER_BYTES 68
#define JFR_EVENT_OF_METADATA 0u
#define JFR_EVENT_OF_CONSTANTS 1u

struct jfr_chunk {
    const uint8_t *begin; /* of its header */
    const uint8_t *end;   /* where the next one begins, or the file ends */
    bool whole;           /* all of it is there */
    bool fixed;           /* see jfr_cursor.h */
    uint64_t start_ns;    /* time of day */
    uint64_t lasts_ns;
    uint64_t start_ticks, ticks_a_second;
    struct jfr_types types;
    const struct jfr_type *string; /* java.lang.String; NULL: there is none */
    const uint8_t *damage;         /* where its events make no more sense; NULL: nowhere */
};

/* `data` is of the file's rest. 0, -ENOMEM, or -EINVAL with a reason: there is no chunk that can be
 * read. -ENODATA: there is one, but what its types are is not there; its `end` is set. */
int jfr_chunk_open(struct jfr_chunk *k, const uint8_t *data, size_t bytes, const char **why);
void jfr_chunk_close(struct jfr_chunk *k);

/* Reads the constants of all checkpoints. -ENOMEM. */
int jfr_chunk_read_constants(struct jfr_chunk *k);

/* Ticks as ns, and of a moment as ns since the epoch. */
uint64_t jfr_chunk_span(const struct jfr_chunk *k, uint64_t ticks);
uint64_t jfr_chunk_time(const struct jfr_chunk *k, uint64_t ticks);

/* An event: its type's number, and a cursor of what follows. */
struct jfr_event {
    uint64_t type;
    struct jfr_cursor c;
};

/* The one at `at`; moves `at` behind it. False at the end, and where it makes no sense, which is
 * kept in `damage`. */
bool jfr_chunk_next(struct jfr_chunk *k, const uint8_t **at, struct jfr_event *out);

static inline const uint8_t *jfr_chunk_first(const struct jfr_chunk *k) {
    return k->begin + JFR_HEADER_BYTES;
}

static inline struct jfr_cursor jfr_chunk_cursor(const struct jfr_chunk *k, const uint8_t *at) {
    return (struct jfr_cursor){.at = at, .end = k->end, .fixed = k->fixed};
}

/* NULL: there is none of that number. */
struct jfr_constant *jfr_constant_get(const struct jfr_type *t, uint64_t number);

/* Text that a value is: of a string, or of a constant whose first text it is (jdk.types.Symbol).
 * It lies in the file, or in `scratch`. Empty where there is none. */
struct wire_text jfr_text(const struct jfr_chunk *k, const struct jfr_field *f,
                          const struct jfr_value *v, char scratch[WIRE_STRING_MAX]);

#endif
