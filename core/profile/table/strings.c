#include "core/profile/table/strings.h"

#include "core/base/grow.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = 1 << 16 };

struct strings_chunk {
    struct strings_chunk *next;
    size_t used, size;
    char data[];
};

static char *copy(struct strings *s, const char *text, size_t size) {
    struct strings_chunk *c = s->chunk;
    if (!c || c->size - c->used < size) {
        size_t room = size > CHUNK_BYTES / 4 ? size : CHUNK_BYTES;
        if (room > s->limit - s->bytes || !(c = malloc(sizeof *c + room)))
            return NULL;
        s->bytes += room;
        c->size = room;
        c->used = 0;
        /* A long string gets its own chunk, which is linked behind the chunk that still
         * has room. */
        struct strings_chunk **at = s->chunk && room == size ? &s->chunk->next : &s->chunk;
        c->next = *at;
        *at = c;
    }
    char *p = c->data + c->used;
    memcpy(p, text, size);
    c->used += size;
    return p;
}

const char *strings_intern(struct strings *s, const char *text) {
    if (!text || !*text)
        return "";
    size_t size = strlen(text) + 1;
    uint32_t hash = (uint32_t)hash_bytes(index_seed(&s->index), text, size - 1), pos = hash, id;
    while ((id = index_next(&s->index, hash, &pos)) != INDEX_NONE)
        if (strcmp(s->text[id], text) == 0)
            return s->text[id];
    if (index_reserve(&s->index) != 0 || !GROW(s->text, s->count, s->cap))
        return NULL;
    const char *p = copy(s, text, size);
    if (!p)
        return NULL;
    s->text[s->count] = p;
    index_put(&s->index, hash, s->count++);
    return p;
}

void strings_free(struct strings *s) {
    for (struct strings_chunk *c = s->chunk, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    free(s->text);
    index_free(&s->index);
    *s = (struct strings){.limit = s->limit};
}
