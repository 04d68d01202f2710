/*
 * C++ and Rust names as people write them.
 *
 * A name comes from a file the target chose. Demangling can blow a short one up to gigabytes and
 * minutes (a name may refer back to parts of itself, doubling each time), so it is cut where it
 * gets too long, and names of the kinds that cost time without output are left as they are.
 *
 * Context: frontend only, any thread.
 */
#ifndef JTOP_SYMBOLS_ELF_DEMANGLE_H
#define JTOP_SYMBOLS_ELF_DEMANGLE_H

#include <stdbool.h>

enum {
    DEMANGLE_BYTES = 1024, /* a name with its NUL; longer ones are cut */
};

/* "_ZNSt6vectorIiE4pushEi" → "std::vector<int>::push": no parameters, no clone suffix, no Rust
 * hash. Returns false and leaves `out` alone where the name is not mangled. The result went
 * through utf8_clean(). */
bool demangle(const char *name, char out[DEMANGLE_BYTES]);

#endif
