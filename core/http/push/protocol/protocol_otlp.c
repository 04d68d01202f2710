/*
 * OTLP profiles over HTTP: an ExportProfilesServiceRequest. It is what the exporter writes, except
 * for the resource, which has all labels under OpenTelemetry's names.
 * source: opentelemetry-proto, collector/profiles/v1development; OTLP specification 1.9,
 * "OTLP/HTTP"
 */
#include "core/http/push/protocol/protocol_parts.h"

#include "core/http/push/protocol/labels.h"
#include "core/http/push/protocol/protobuf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    REQUEST_RESOURCE_PROFILES = 1,
    RESOURCE_PROFILES_RESOURCE = 1,
    RESOURCE_ATTRIBUTES = 1,
    KEY_VALUE_KEY = 1,
    KEY_VALUE_VALUE = 2,
    ANY_VALUE_STRING = 1,
    ANY_VALUE_INT = 3,
    RESPONSE_PARTIAL_SUCCESS = 1,
    PARTIAL_REJECTED = 1,
    PARTIAL_MESSAGE = 2,
};

static void add_attribute(struct text *resource, const struct push_label *label) {
    struct text value = {0}, pair = {0};
    bool number;
    const char *name = label_otel_name(label, &number);
    char *end;
    long long n = strtoll(label->value, &end, 10);
    if (number && !*end)
        protobuf_add_number(&value, ANY_VALUE_INT, (uint64_t)n);
    else
        protobuf_add_bytes(&value, ANY_VALUE_STRING, label->value, strlen(label->value));
    protobuf_add_bytes(&pair, KEY_VALUE_KEY, name, strlen(name));
    protobuf_add_bytes(&pair, KEY_VALUE_VALUE, value.data, value.len);
    protobuf_add_bytes(resource, RESOURCE_ATTRIBUTES, pair.data, pair.len);
    resource->failed |= value.failed || pair.failed;
    text_free(&value);
    text_free(&pair);
}

/* Copies a ResourceProfiles, with our resource in place of its own. */
static void add_resource_profiles(struct text *out, const struct protobuf_field *theirs,
                                  const struct push_labels *labels) {
    struct text resource = {0}, all = {0};
    struct protobuf_field f;
    for (uint32_t i = 0; i < labels->count; i++)
        add_attribute(&resource, &labels->item[i]);
    protobuf_add_bytes(&all, RESOURCE_PROFILES_RESOURCE, resource.data, resource.len);
    for (size_t at = 0; protobuf_next(theirs->data, theirs->size, &at, &f);)
        if (f.bytes && f.number != RESOURCE_PROFILES_RESOURCE)
            protobuf_add_bytes(&all, f.number, f.data, f.size);
    protobuf_add_bytes(out, REQUEST_RESOURCE_PROFILES, all.data, all.len);
    out->failed |= resource.failed || all.failed;
    text_free(&resource);
    text_free(&all);
}

int protocol_otlp_make(const struct push_protocol *p, const struct push_profile *f,
                       int (*put)(void *arg, struct push_message *m), void *arg) {
    struct push_message m;
    struct export_options o = {0};
    struct text whole = {0};
    struct protobuf_field field;
    const struct exporter *x = exporter_by_format(p->name, &o);
    protocol_begin(&m, p, f);
    strncpy(m.type, "application/x-protobuf", sizeof m.type - 1);
    m.gzip = true;
    int r = x->write_all(&whole, f->profile, f->part, f->parts, &o);
    for (size_t at = 0; r == 0 && protobuf_next(whole.data, whole.len, &at, &field);)
        if (field.number == REQUEST_RESOURCE_PROFILES)
            add_resource_profiles(&m.body, &field, f->labels);
        else
            protobuf_add_bytes(&m.body, field.number, field.data, field.size);
    m.body.failed |= r < 0 || whole.failed;
    text_free(&whole);
    return protocol_put(&m, put, arg);
}

/* A partial success that rejects nothing is only a remark, and nothing if it has no text. */
int protocol_otlp_judge(unsigned status, const char *body, size_t bytes, char *why, size_t size) {
    struct protobuf_field f, in;
    uint64_t rejected = 0;
    size_t at = 0;
    snprintf(why, size, "%s", "");
    if (status / 100 != 2)
        return 0;
    while (protobuf_next(body, bytes, &at, &f)) {
        if (f.number != RESPONSE_PARTIAL_SUCCESS || !f.bytes)
            continue;
        for (size_t k = 0; protobuf_next(f.data, f.size, &k, &in);)
            if (in.number == PARTIAL_REJECTED && !in.bytes)
                rejected = in.value;
            else if (in.number == PARTIAL_MESSAGE && in.bytes)
                snprintf(why, size, "%.*s", in.size < 400 ? (int)in.size : 400, in.data);
    }
    if (!rejected)
        return 0;
    if (!why[0])
        snprintf(why, size, "%llu profiles were rejected", (unsigned long long)rejected);
    return -EBADMSG;
}
