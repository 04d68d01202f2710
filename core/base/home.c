#include "core/base/home.h"

#include <stdio.h>
#include <stdlib.h>

const char *home_path(const char *variable, const char *fallback, const char *name, char *out,
                      size_t size) {
    const char *base = getenv(variable), *home = getenv("HOME");
    int n = -1;
    if (base && base[0] == '/') /* the specification says that a relative path is ignored */
        n = snprintf(out, size, "%s/jtop-prof/%s", base, name);
    else if (home && home[0] == '/')
        n = snprintf(out, size, "%s/%s/jtop-prof/%s", home, fallback, name);
    if (n < 0 || (size_t)n >= size)
        out[0] = '\0';
    return out;
}
