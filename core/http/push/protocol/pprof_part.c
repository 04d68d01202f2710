#include "core/http/push/protocol/protocol_parts.h"

#include "core/http/push/protocol/protobuf.h"

#include <string.h>
#include <zlib.h>

#define LEVEL 1

enum { PROFILE_SAMPLE = 2, SAMPLE_LABEL = 3 };

static int inflate_all(const struct text *in, struct text *out) {
    z_stream z = {.next_in = (Bytef *)in->data, .avail_in = (uInt)in->len};
    char buf[4096];
    int r = inflateInit2(&z, 15 + 16);
    while (r == Z_OK && !out->failed) {
        z.next_out = (Bytef *)buf;
        z.avail_out = sizeof buf;
        r = inflate(&z, Z_NO_FLUSH);
        text_add_n(out, buf, sizeof buf - z.avail_out);
    }
    (void)inflateEnd(&z);
    return r == Z_STREAM_END && !out->failed ? 0 : -ENOMEM;
}

static int deflate_all(const struct text *in, struct text *out) {
    z_stream z = {.next_in = (Bytef *)in->data, .avail_in = (uInt)in->len};
    char buf[4096];
    int r = deflateInit2(&z, LEVEL, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    while (r == Z_OK) {
        z.next_out = (Bytef *)buf;
        z.avail_out = sizeof buf;
        r = deflate(&z, Z_FINISH);
        text_add_n(out, buf, sizeof buf - z.avail_out);
    }
    (void)deflateEnd(&z);
    return r == Z_STREAM_END && !out->failed ? 0 : -ENOMEM;
}

/* A sample's labels go: where each combination of them is a series of its own, threads would be too
 * many of them. */
static void add_unlabelled(struct text *out, const struct protobuf_field *sample) {
    struct text kept = {0};
    struct protobuf_field f;
    for (size_t at = 0; protobuf_next(sample->data, sample->size, &at, &f);)
        if (f.number != SAMPLE_LABEL && f.bytes)
            protobuf_add_bytes(&kept, f.number, f.data, f.size);
        else if (f.number != SAMPLE_LABEL)
            protobuf_add_number(&kept, f.number, f.value);
    protobuf_add_bytes(out, PROFILE_SAMPLE, kept.data, kept.len);
    out->failed |= kept.failed;
    text_free(&kept);
}

static int take_labels(const struct text *in, struct text *out) {
    struct text plain = {0}, kept = {0};
    struct protobuf_field f;
    int r = inflate_all(in, &plain);
    for (size_t at = 0; r == 0 && protobuf_next(plain.data, plain.len, &at, &f);)
        if (f.number == PROFILE_SAMPLE && f.bytes)
            add_unlabelled(&kept, &f);
        else if (f.bytes)
            protobuf_add_bytes(&kept, f.number, f.data, f.size);
        else
            protobuf_add_number(&kept, f.number, f.value);
    if (r == 0)
        r = kept.failed ? -ENOMEM : deflate_all(&kept, out);
    text_free(&plain);
    text_free(&kept);
    return r;
}

int pprof_part_add(struct text *out, const struct push_profile *f, const struct export_part *part,
                   const char *type, bool labels) {
    struct export_options o = {.question = part->question};
    struct export_quality quality = *part->quality;
    struct text with = {0};
    const struct exporter *x = exporter_by_format("pprof", &o);
    if (type)
        quality.event = type;
    if (labels)
        return x->write(out, f->profile, part->snapshot, &quality, &o);
    int r = x->write(&with, f->profile, part->snapshot, &quality, &o);
    if (r == 0)
        r = take_labels(&with, out);
    text_free(&with);
    return r;
}
