#include "core/base/gzip.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

#define GZIP_WINDOW (15 + 16) /* 32 KiB, with gzip's header */

int gzip_text(struct text *t, int level) {
    if (t->len > UINT_MAX / 2)
        return -ENOMEM;
    z_stream z = {0};
    if (deflateInit2(&z, level, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return -ENOMEM;
    size_t bound = deflateBound(&z, t->len);
    unsigned char *out = malloc(bound + 1);
    z.next_in = (unsigned char *)t->data;
    z.avail_in = (unsigned)t->len;
    z.next_out = out;
    z.avail_out = (unsigned)bound;
    int done = out ? deflate(&z, Z_FINISH) : Z_MEM_ERROR;
    size_t bytes = z.total_out;
    deflateEnd(&z);
    if (done != Z_STREAM_END) {
        free(out);
        return -ENOMEM;
    }
    free(t->data);
    *t = (struct text){.len = bytes, .cap = bytes + 1};
    t->data = realloc(out, t->cap);
    if (!t->data)
        t->data = (char *)out; /* the block that was not made smaller */
    t->data[bytes] = '\0';
    return 0;
}
