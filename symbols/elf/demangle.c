#include "symbols/elf/demangle.h"

#include "core/base/utf8.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    /* libiberty searches for the pack inside a pack expansion by walking a tree. It visits shared
     * parts of the tree again and again and prints nothing meanwhile. This limit of references back
     * to earlier parts keeps that below some milliseconds. */
    REFERENCES_MAX = 32,
};

struct writer {
    jmp_buf full;
    char *out;
    size_t length;
};

/* The only way to stop libiberty is to jump out of it. The _callback functions hold no memory but
 * their stack, except for a few hundred bytes while they write a Rust name in punycode. */
static void write_part(const char *part, size_t length, void *opaque) {
    struct writer *w = opaque;
    size_t room = DEMANGLE_BYTES - 1 - w->length;
    bool full = length > room;
    size_t n = full ? room : length;
    if (n) /* an empty part may come as NULL */
        memcpy(w->out + w->length, part, n);
    w->length += n;
    if (full)
        longjmp(w->full, 1);
}

typedef int demangler(const char *mangled, int options, demangle_callbackref callback,
                      void *opaque);

/* Separate from its callers, so that none of their local variables lives across the jump. */
static bool run(demangler *function, const char *name, struct writer *w) {
    w->length = 0;
    if (setjmp(w->full))
        return true;
    return function(name, DMGL_NO_OPTS, write_part, w) != 0 && w->length > 0;
}

static bool is_pack_expansion(const char *p) {
    return (p[0] == 'D' && p[1] == 'p') ||
           (p[0] == 's' && (p[1] == 'p' || p[1] == 'Z' || p[1] == 'P'));
}

static bool too_costly(const char *name) {
    unsigned references = 0;
    bool pack = false;
    for (const char *p = name; *p; p++) {
        pack |= is_pack_expansion(p);
        if (*p == 'S') {
            const char *q = p + 1;
            while ((*q >= '0' && *q <= '9') || (*q >= 'A' && *q <= 'Z'))
                q++;
            references += *q == '_';
        }
    }
    return pack && references > REFERENCES_MAX;
}

bool demangle(const char *name, char out[DEMANGLE_BYTES]) {
    char buffer[DEMANGLE_BYTES];
    struct writer w = {.out = buffer};
    bool cpp = name[0] == '_' && name[1] == 'Z';
    if (!cpp && !(name[0] == '_' && name[1] == 'R'))
        return false;
    if (strnlen(name, DEMANGLE_BYTES) == DEMANGLE_BYTES || too_costly(name))
        return false;
    if (!run(rust_demangle_callback, name, &w) &&
        !(cpp && run(cplus_demangle_v3_callback, name, &w)))
        return false;
    memcpy(out, buffer, w.length);
    out[w.length] = '\0';
    utf8_clean(out);
    return true;
}
