/*
 * What the samples of a pprof file refer to: strings, functions, mappings, and locations, which
 * become frames.
 *
 * Context: as emit.h. References are looked up, and those that lead nowhere are "[unknown]".
 */
#ifndef JTOP_IMPORT_PPROF_PPROF_NAMES_H
#define JTOP_IMPORT_PPROF_PPROF_NAMES_H

#include "core/import/emit.h"
#include "core/import/gunzip.h"
#include "core/import/pprof/pprof_bytes.h"

struct pprof_names;

/* Reads them all. -ENOMEM, or -EINVAL where there are more than any profile has. */
int pprof_names_read(const struct gunzip *b, struct pprof_names **out, struct err *e);
void pprof_names_free(struct pprof_names *n);

/* "" where there is none. */
struct wire_text pprof_string(const struct pprof_names *n, int64_t at);

/* The file of the first mapping, which is the program; "" where there is none. */
struct wire_text pprof_program(const struct pprof_names *n);

/* Adds the frames of a location, leaf first, to `frame` of at most `room`; returns how many.
 * `leaf`: the first one is one; `class_leaf`: and may be a class. */
uint32_t pprof_location_frames(struct pprof_names *n, struct emit *m, uint64_t id, bool leaf,
                               bool class_leaf, uint64_t *frame, uint32_t room);

#endif
