/*
 * The printed names of frames, each distinct text once. Different methods may have the same printed
 * name (overloads without -g, lambdas with -n). They get the same id here; this is what "the same
 * frame" means in a file.
 *
 * Context: pure, one thread at a time.
 */
#ifndef JTOP_EXPORT_FRAME_NAMES_H
#define JTOP_EXPORT_FRAME_NAMES_H

#include "core/base/text.h"
#include "core/profile/snapshot/snapshot.h"
#include "core/profile/table/method_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct frame_names;

struct frame_printed {
    uint32_t id; /* counts up from 0 */
    uint32_t len;
    const char *text; /* valid as long as the table */
};

/* `style`: NAME_* flags. `annotate`: Java names end with their tier: _[0] interpreted, _[j]
 * compiled, _[i] inlined, _[1] C1. `escape` (or NULL) appends a name in the form that the format
 * needs. Returns NULL if there is no memory. */
struct frame_names *frame_names_new(const struct method_table *methods, unsigned style,
                                    bool annotate, void (*escape)(struct text *, const char *));
void frame_names_free(struct frame_names *n);

/* `tier`: how often the frame was executed in each tier; the annotation shows the main tier. In a
 * snapshot taken with query.tiers each frame has one tier. An id that is not a method is printed as
 * the method table names it. Returns NULL if there is no memory. */
const struct frame_printed *frame_names_get(struct frame_names *n, uint32_t method,
                                            const uint64_t tier[TIERS]);

const struct frame_printed *frame_names_by_id(const struct frame_names *n, uint32_t id);
uint32_t frame_names_count(const struct frame_names *n);
const struct method *frame_names_method(const struct frame_names *n, uint32_t method);

#endif
