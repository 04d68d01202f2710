#include "core/http/serve/server/server_gzip.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define LEVEL 5
#define WINDOW_OF_GZIP (15 + 16)
#define MEMORY_LEVEL 8

/* "gzip", "gzip;q=0.5" and "*" do, "gzip;q=0" does not. */
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

int server_gzip_text(struct text *t) {
    z_stream z = {0};
    if (t->len > UINT32_MAX / 2 || deflateInit2(&z, LEVEL, Z_DEFLATED, WINDOW_OF_GZIP, MEMORY_LEVEL,
                                                Z_DEFAULT_STRATEGY) != Z_OK)
        return -ENOMEM;
    size_t room = deflateBound(&z, (uLong)t->len);
    char *out = malloc(room);
    z.next_in = (Bytef *)(void *)t->data;
    z.avail_in = (uInt)t->len;
    z.next_out = (Bytef *)(void *)out;
    z.avail_out = (uInt)room;
    bool done = out && deflate(&z, Z_FINISH) == Z_STREAM_END;
    size_t length = z.total_out;
    deflateEnd(&z);
    if (!done) {
        free(out);
        return -ENOMEM;
    }
    text_free(t);
    *t = (struct text){.data = out, .len = length, .cap = room};
    return 0;
}
