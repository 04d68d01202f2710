#include "core/agent/patch/method_targets.h"

#include "core/agent/process/glob.h"

#include <stdlib.h>
#include <string.h>

static char *keep(char **room, const char *from, size_t n) {
    char *part = *room;
    memcpy(part, from, n);
    part[n] = '\0';
    *room += n + 1;
    return part;
}

/* "pkg.Outer$Inner.name(I)V 1000", `n` bytes without the number. */
static bool take_apart(const char *line, size_t n, char **room, struct method_target *t) {
    const char *end = memchr(line, '(', n);
    size_t bytes = end ? (size_t)(end - line) : n;
    const char *dot = memrchr(line, '.', bytes);
    if (!dot || dot == line || dot + 1 == line + bytes)
        return false;
    char *class_name = keep(room, line, (size_t)(dot - line));
    for (char *c = class_name; *c; c++)
        if (*c == '.')
            *c = '/';
    t->class_name = class_name;
    t->method = keep(room, dot + 1, (size_t)(line + bytes - dot - 1));
    t->signature = keep(room, line + bytes, n - bytes);
    return true;
}

bool method_targets_parse(struct method_targets *t, const char *text) {
    char *room = t->text;
    t->count = 0;
    t->exact = true;
    if (strnlen(text, WIRE_TEXT_BYTES) == WIRE_TEXT_BYTES)
        return false;
    for (size_t line; *text; text += line + (text[line] == '\n')) {
        struct method_target *one = &t->target[t->count];
        line = strcspn(text, "\n");
        size_t n = strcspn(text, " \n");
        if (t->count == WIRE_METHODS || !take_apart(text, n, &room, one))
            return false;
        one->least_ns = n < line ? strtoull(text + n + 1, NULL, 10) : 0;
        t->exact &= !strchr(one->class_name, '*');
        t->count++;
    }
    return t->count > 0;
}

uint32_t method_targets_in(const struct method_targets *t, const char *class_name, size_t n,
                           struct bytecode_target out[WIRE_METHODS]) {
    uint32_t found = 0;
    for (int patterns = 0; patterns < 2; patterns++) {
        for (uint32_t i = 0; i < t->count; i++) {
            const struct method_target *one = &t->target[i];
            bool pattern = strchr(one->class_name, '*') || strchr(one->method, '*');
            if (pattern == (patterns == 1) && glob_matches(one->class_name, class_name, n))
                out[found++] = (struct bytecode_target){one->method, one->signature, i};
        }
    }
    return found;
}
