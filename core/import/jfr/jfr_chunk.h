/*
 * A chunk of a JFR file: a header, then events one after the other. Two types of events describe
 * the chunk itself:
 *
 *      metadata     describes the types of all other events; the last one is used
 *      checkpoint   constants that other events refer to by number. A chunk has any number of
 *                   checkpoints. If a number occurs twice, the first constant is used, as in
 *                   the JDK's own reader
 *
 * If a chunk is cut or still being written, the existing part is read.
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
    const uint8_t *begin; /* start of the chunk's header */
    const uint8_t *end;   /* where the next chunk begins, or the end of the file */
    bool whole;           /* the chunk is complete */
    bool fixed;           /* see jfr_cursor.h */
    uint64_t start_ns;    /* time of day */
    uint64_t lasts_ns;
    uint64_t start_ticks, ticks_a_second;
    struct jfr_types types;
    const struct jfr_type *string; /* java.lang.String; NULL: the chunk does not have this type */
    const uint8_t *damage;         /* position from which its events are invalid; NULL: all
                                      are valid */
};

/* `data` is the rest of the file. 0, -ENOMEM, or -EINVAL with a reason: there is no readable chunk.
 * -ENODATA: there is a chunk, but the description of its types is missing; its `end` is set. */
int jfr_chunk_open(struct jfr_chunk *k, const uint8_t *data, size_t bytes, const char **why);
void jfr_chunk_close(struct jfr_chunk *k);

/* Reads the constants of all checkpoints. -ENOMEM. */
int jfr_chunk_read_constants(struct jfr_chunk *k);

/* Convert ticks: a duration to ns, and a moment to ns since the epoch. */
uint64_t jfr_chunk_span(const struct jfr_chunk *k, uint64_t ticks);
uint64_t jfr_chunk_time(const struct jfr_chunk *k, uint64_t ticks);

/* An event: the number of its type, and a cursor for what follows. */
struct jfr_event {
    uint64_t type;
    struct jfr_cursor c;
};

/* Reads the event at `at` and moves `at` behind it. Returns false at the end, and for an invalid
 * event, whose position is stored in `damage`. */
bool jfr_chunk_next(struct jfr_chunk *k, const uint8_t **at, struct jfr_event *out);

static inline const uint8_t *jfr_chunk_first(const struct jfr_chunk *k) {
    return k->begin + JFR_HEADER_BYTES;
}

static inline struct jfr_cursor jfr_chunk_cursor(const struct jfr_chunk *k, const uint8_t *at) {
    return (struct jfr_cursor){.at = at, .end = k->end, .fixed = k->fixed};
}

/* NULL: there is no constant with this number. */
struct jfr_constant *jfr_constant_get(const struct jfr_type *t, uint64_t number);

/* Returns the text of a value: of a string, or of a constant whose first field is the text
 * (jdk.types.Symbol). The text is in the file or in `scratch`. Empty if there is none. */
struct wire_text jfr_text(const struct jfr_chunk *k, const struct jfr_field *f,
                          const struct jfr_value *v, char scratch[WIRE_STRING_MAX]);

#endif
