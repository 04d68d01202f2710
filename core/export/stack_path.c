#include "core/export/stack_path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int reserve(struct stack_path *p, size_t len, uint32_t depth) {
    if (len > p->cap) {
        size_t cap = len * 2;
        char *text = realloc(p->text, cap);
        if (!text)
            return -ENOMEM;
        p->text = text;
        p->cap = cap;
    }
    if (depth >= p->depth_cap) {
        size_t cap = (size_t)depth * 2 + 64;
        size_t *end = realloc(p->end, cap * sizeof *end);
        if (!end)
            return -ENOMEM;
        p->end = end;
        p->depth_cap = cap;
    }
    return 0;
}

int stack_path_set(struct stack_path *p, uint32_t depth, const char *text, size_t len,
                   char separator) {
    size_t at = depth ? p->end[depth - 1] : 0;
    int err = reserve(p, at + len + 1, depth);
    if (err)
        return err;
    memcpy(p->text + at, text, len);
    p->text[at + len] = separator;
    p->end[depth] = at + len + 1;
    return 0;
}

void stack_path_free(struct stack_path *p) {
    free(p->text);
    free(p->end);
    *p = (struct stack_path){0};
}
