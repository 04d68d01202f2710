#include "core/session/held_samples.h"

#include <stdlib.h>
#include <string.h>

void held_samples_init(struct held_samples *h) {
    *h = (struct held_samples){0};
    h->last = &h->first;
}

bool held_samples_add(struct held_samples *h, const struct profile_sample *sample,
                      const uint64_t *key, uint64_t awaited, uint64_t arrived_ns) {
    size_t key_bytes = sample->frames * sizeof *key;
    size_t frame_bytes = sample->frames * sizeof *sample->frame;
    size_t bytes = sizeof(struct held_sample) + key_bytes + frame_bytes;
    if (h->count >= HELD_SAMPLES_MAX || h->bytes + bytes > HELD_BYTES_MAX)
        return false;
    struct held_sample *s = malloc(bytes);
    if (!s)
        return false;
    *s = (struct held_sample){
        .arrived_ns = arrived_ns,
        .awaited = awaited,
        .bytes = bytes,
        .sample = *sample,
        .key = (uint64_t *)(void *)(s + 1),
    };
    memcpy(s->key, key, key_bytes);
    memcpy(s->key + sample->frames, sample->frame, frame_bytes);
    s->sample.frame = held_sample_frames(s);
    *h->last = s;
    h->last = &s->next;
    h->count++;
    h->bytes += bytes;
    return true;
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

struct profile_frame *held_sample_frames(struct held_sample *s) {
    return (struct profile_frame *)(void *)(s->key + s->sample.frames);
}
