#include "core/http/push/protocol/message.h"

#include "core/base/gzip.h"

#include <stdlib.h>
#include <string.h>

#define GZIP_LEVEL 6

static bool field_is_sound(const char *s, size_t size, char least) {
    size_t n = strnlen(s, size);
    if (n == size)
        return false;
    for (size_t i = 0; i < n; i++)
        if (s[i] < least || s[i] > '~')
            return false;
    return true;
}

static bool subject_is_sound(const char *s, size_t size) {
    size_t n = strnlen(s, size);
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)s[i] < ' ' || s[i] == 0x7f)
            return false;
    return n < size;
}

bool message_is_sound(const struct push_message *m) {
    return m->path[0] == '/' && field_is_sound(m->path, sizeof m->path, '!') &&
           !strpbrk(m->path, "?#") && field_is_sound(m->query, sizeof m->query, '!') &&
           !strchr(m->query, '#') && m->type[0] && field_is_sound(m->type, sizeof m->type, ' ') &&
           subject_is_sound(m->subject, sizeof m->subject) && m->from_ns <= m->to_ns &&
           m->body.len <= MESSAGE_BODY_MAX && (m->body.len == 0 || m->body.data);
}

struct push_message *message_take(struct push_message *m) {
    if (m->gzip)
        m->gzip = gzip_text(&m->body, GZIP_LEVEL) == 0; /* no memory to compress: sent as it is */
    struct push_message *own = malloc(sizeof *own);
    if (!own)
        return NULL;
    *own = *m;
    m->body = (struct text){0};
    if (own->body.cap > own->body.len + 1) { /* grew by doubling, and may wait long */
        char *less = realloc(own->body.data, own->body.len + 1);
        if (less) {
            own->body.data = less;
            own->body.cap = own->body.len + 1;
        }
    }
    return own;
}

void message_free(struct push_message *m) {
    if (m)
        text_free(&m->body);
    free(m);
}

size_t message_bytes(const struct push_message *m) {
    return sizeof *m + m->body.cap;
}
