#include "core/http/serve/server/server_gzip.h"

#include <string.h>
#include <strings.h>

/* "gzip", "gzip;q=0.5" and "*" accept gzip, "gzip;q=0" does not. */
static bool is_gzip(const char *piece, size_t length) {
    size_t name = 0;
    while (name < length && !strchr("; \t", piece[name]))
        name++;
    if (!(name == 4 && strncasecmp(piece, "gzip", 4) == 0) && !(name == 1 && *piece == '*'))
        return false;
    const char *q = memchr(piece, '=', length);
    size_t at = q ? (size_t)(q - piece) + 1 : length;
    while (at < length && strchr("0. \t", piece[at]))
        at++;
    return !q || at < length;
}

bool server_gzip_taken(const char *accepted) {
    for (const char *c = accepted; c && *c;) {
        c += strspn(c, ", \t");
        size_t length = strcspn(c, ",");
        if (is_gzip(c, length))
            return true;
        c += length;
    }
    return false;
}
