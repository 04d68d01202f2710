/*
 * Makes C++ and Rust names readable.
 *
 * A name comes from a file that the target chose. Demangling can expand a short name to gigabytes
 * and take minutes (a name may refer back to parts of itself, doubling each time). So the output is
 * cut when it gets too long, and names of the kinds that cost time without output are left as they
 * are.
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
 * hash. Returns false and leaves `out` unchanged if the name is not mangled. The result was cleaned
 * by utf8_clean(). */
bool demangle(const char *name, char out[DEMANGLE_BYTES]);

#endif
