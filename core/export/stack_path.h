/*
 * The frames from the root to where a walk is, as one piece of text with separators: what formats
 * with a line a stack are made of. A frame's part is written once, for all stacks it is in.
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
    size_t *end; /* by depth: where the frame's part ends, separator included */
    size_t depth_cap;
};

/* Puts a frame at `depth`, under the one at depth - 1; what was there and below is gone. 0 or
 * -ENOMEM. */
int stack_path_set(struct stack_path *p, uint32_t depth, const char *text, size_t len,
                   char separator);

/* The path to the frame at `depth`, without a separator at its end. */
static inline size_t stack_path_length(const struct stack_path *p, uint32_t depth) {
    return p->end[depth] - 1;
}

void stack_path_free(struct stack_path *p);

#endif
