/*
 * The printed names of frames, each distinct text once. Different methods may print alike
 * (overloads without -g, lambdas with -n): they get the same id here, which is what "the same
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
    const char *text; /* as long as the table */
};

/* `style`: NAME_*. `annotate`: Java names end in their tier, _[0] interpreted, _[j] compiled,
 * _[i] inlined, _[1] C1. `escape` (or NULL) appends a name the way the format needs it.
 * NULL: no memory. */
struct frame_names *frame_names_new(const struct method_table *methods, unsigned style,
                                    bool annotate, void (*escape)(struct text *, const char *));
void frame_names_free(struct frame_names *n);

/* `tier`: how often the frame was executed in each tier; the main one is what it is annotated with.
 * A snapshot taken with query.tiers has one tier a frame. NULL: no memory. An id that is no method
 * is printed as the method table names it. */
const struct frame_printed *frame_names_get(struct frame_names *n, uint32_t method,
                                            const uint64_t tier[TIERS]);

const struct frame_printed *frame_names_by_id(const struct frame_names *n, uint32_t id);
uint32_t frame_names_count(const struct frame_names *n);
const struct method *frame_names_method(const struct frame_names *n, uint32_t method);

#endif
