/*
 * Keeps each text once. What intern_text() returned stays valid until intern_free().
 *
 * Context: frontend only; one thread at a time per struct.
 */
#ifndef JTOP_SYMBOLS_INTERN_H
#define JTOP_SYMBOLS_INTERN_H

#include <stddef.h>
#include <stdint.h>

struct interned;

struct intern {
    struct interned *table;
    size_t bytes; /* held; does not grow beyond `limit` */
    size_t limit;
    uint64_t seed; /* random, so that a file cannot choose names with equal hashes */
};

/* NULL if memory ran out or the limit is reached. */
const char *intern_text(struct intern *i, const char *text);
/* The hash function used here, for other tables whose keys the target chooses. */
unsigned intern_hash(const struct intern *i, const char *text, size_t length);
void intern_free(struct intern *i);

#endif
