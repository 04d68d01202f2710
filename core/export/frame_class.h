/*
 * The kind of code that a frame runs, as flame graphs colour it.
 *
 * Context: pure.
 */
#ifndef JTOP_EXPORT_FRAME_CLASS_H
#define JTOP_EXPORT_FRAME_CLASS_H

#include "core/profile/profile.h"
#include "core/profile/table/method_table.h"

#include <stdint.h>

enum frame_class {
    CLASS_INTERPRETED,
    CLASS_JAVA, /* compiled by C2, or the tier is unknown */
    CLASS_C1,
    CLASS_INLINED, /* also a leaf that is the Java class of an object or lock */
    CLASS_NATIVE,
    CLASS_CPP,
    CLASS_KERNEL,
    CLASS_THREAD,
    CLASS_ERROR,
    FRAME_CLASSES
};

struct frame_class_look {
    char letter;       /* identifies the class in a file */
    const char *label; /* text in a legend */
    uint32_t colour;   /* 0xrrggbb, the darkest shade */
    uint32_t spread;   /* what the lightest shade adds to each channel */
};

extern const struct frame_class_look frame_class_looks[FRAME_CLASSES];

enum frame_class frame_class_of(enum method_kind kind, enum frame_tier tier);

#define FRAME_SHADES 6

/* Returns which of the FRAME_SHADES a name has. Different names mostly have different shades, so
 * neighbours can be told apart. A name always has the same shade, so equal parts of two profiles
 * look equal. */
unsigned frame_class_shade(const char *name);
uint32_t frame_class_colour(enum frame_class c, unsigned shade);

#endif
