/*
 * The frames from the root to the current position of a walk, as one text with separators. Formats
 * with one line per stack use it. Each frame's part is written once and is shared by all stacks
 * that contain it.
 *
 * Context: pure.
 */
#ifndef JTOP_EXPORT_STACK_PATH_H
#define JTOP_EXPORT_STACK_PATH_H

#include <stddef.h>
#include <stdint.h>

struct stack_path {
    char *text; /* owned */
    size_t cap;
    size_t *end; /* by depth: end of the frame's part, separator included */
    size_t depth_cap;
};

/* Puts a frame at `depth`, under the frame at depth - 1. The frame that was there, and all frames
 * below it, are dropped. 0 or -ENOMEM. */
int stack_path_set(struct stack_path *p, uint32_t depth, const char *text, size_t len,
                   char separator);

/* Length of the path to the frame at `depth`, without the separator at its end. */
static inline size_t stack_path_length(const struct stack_path *p, uint32_t depth) {
    return p->end[depth] - 1;
}

void stack_path_free(struct stack_path *p);

#endif
