#include "core/profile/snapshot/frame_pattern.h"

#include "core/profile/table/frame_name.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool frame_pattern_is(const char *pattern, const char *name) {
    size_t length = strlen(pattern), of = strlen(name);
    bool open_left = length > 0 && pattern[0] == '*';
    bool open_right = length > 1 && pattern[length - 1] == '*';
    const char *middle = pattern + open_left;
    size_t bytes = length - open_left - open_right;
    if (open_left && open_right)
        return memmem(name, of, middle, bytes) != NULL;
    if (bytes > of || (!open_left && !open_right && bytes != of))
        return false;
    return memcmp(open_left ? name + of - bytes : name, middle, bytes) == 0;
}

static int write_name(struct frame_names *n, const struct method *m, unsigned style) {
    size_t size = frame_name(m, style, n->text, n->size) + 1;
    if (size <= n->size)
        return 0;
    char *bigger = realloc(n->text, size);
    if (!bigger)
        return -ENOMEM;
    n->text = bigger;
    n->size = size;
    frame_name(m, style, n->text, n->size);
    return 0;
}

static bool can_match(const char *pattern, unsigned style) {
    return (!(style & NAME_SIGNATURE) || strchr(pattern, '(')) &&
           (!(style & NAME_LIBRARY) || strchr(pattern, '`'));
}

static int any_in_style(struct frame_names *n, const struct method *m, unsigned style,
                        const char *const *pattern, uint32_t patterns) {
    bool written = false;
    for (uint32_t i = 0; i < patterns; i++) {
        if (!can_match(pattern[i], style))
            continue;
        if (!written && write_name(n, m, style) != 0)
            return -ENOMEM;
        written = true;
        if (frame_pattern_is(pattern[i], n->text))
            return 1;
    }
    return 0;
}

int frame_pattern_any(struct frame_names *n, const struct method *m, bool simple,
                      const char *const *pattern, uint32_t patterns) {
    static const unsigned forms[] = {0,
                                     NAME_DOTTED,
                                     NAME_MARKS,
                                     NAME_SIGNATURE,
                                     NAME_SIGNATURE | NAME_DOTTED,
                                     NAME_LIBRARY,
                                     NAME_LIBRARY | NAME_MARKS};
    int match = simple ? any_in_style(n, m, NAME_SIMPLE, pattern, patterns) : 0;
    for (size_t i = 0; match == 0 && i < sizeof forms / sizeof *forms; i++)
        match = any_in_style(n, m, forms[i], pattern, patterns);
    return match;
}
