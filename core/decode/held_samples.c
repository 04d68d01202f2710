#include "core/decode/held_samples.h"

#include <stdlib.h>
#include <string.h>

void held_samples_init(struct held_samples *h) {
    *h = (struct held_samples){0};
    h->last = &h->first;
}

struct delivery *held_samples_add(struct held_samples *h, const struct delivery *what,
                                  uint64_t arrived_ns) {
    size_t key_bytes = what->frames * sizeof *what->key;
    size_t frame_bytes = what->frames * sizeof *what->frame;
    size_t bytes = sizeof(struct held_sample) + key_bytes + frame_bytes;
    if (h->count >= HELD_SAMPLES_MAX || h->bytes + bytes > HELD_BYTES_MAX)
        return NULL;
    struct held_sample *s = malloc(bytes);
    if (!s)
        return NULL;
    *s = (struct held_sample){.arrived_ns = arrived_ns, .bytes = bytes, .what = *what};
    s->what.key = (uint64_t *)(void *)(s + 1);
    s->what.frame = (struct profile_frame *)(void *)(s->what.key + what->frames);
    memcpy(s->what.key, what->key, key_bytes);
    memcpy(s->what.frame, what->frame, frame_bytes);
    *h->last = s;
    h->last = &s->next;
    h->count++;
    h->bytes += bytes;
    return &s->what;
}

struct held_sample *held_samples_take(struct held_samples *h, struct held_sample **link) {
    struct held_sample *s = *link;
    *link = s->next;
    if (h->last == &s->next)
        h->last = link;
    h->count--;
    h->bytes -= s->bytes;
    return s;
}
