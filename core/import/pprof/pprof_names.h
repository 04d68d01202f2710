/*
 * The data that the samples of a pprof file refer to: strings, functions, mappings and locations.
 * Locations become frames.
 *
 * Context: as emit.h. References are checked; an invalid one becomes "[unknown]".
 */
#ifndef JTOP_IMPORT_PPROF_PPROF_NAMES_H
#define JTOP_IMPORT_PPROF_PPROF_NAMES_H

#include "core/import/emit.h"
#include "core/import/gunzip.h"
#include "core/import/pprof/pprof_bytes.h"

struct pprof_names;

/* Reads all of them. -ENOMEM, or -EINVAL: there are more than any profile has. */
int pprof_names_read(const struct gunzip *b, struct pprof_names **out, struct err *e);
void pprof_names_free(struct pprof_names *n);

/* "" if there is no such string. */
struct wire_text pprof_string(const struct pprof_names *n, int64_t at);

/* The file of the first mapping, which is the program; "" if there is none. */
struct wire_text pprof_program(const struct pprof_names *n);

/* Writes the frames of a location, leaf first, to `frame`, at most `room`; returns their number.
 * `leaf`: the first frame is a leaf. `class_leaf`: a leaf may be a class. */
uint32_t pprof_location_frames(struct pprof_names *n, struct emit *m, uint64_t id, bool leaf,
                               bool class_leaf, uint64_t *frame, uint32_t room);

#endif
