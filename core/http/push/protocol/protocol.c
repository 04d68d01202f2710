#include "core/http/push/protocol/protocol.h"

#include "core/http/push/protocol/protocol_parts.h"

#include <stddef.h>
#include <string.h>

const struct push_protocol push_protocols[] = {
    {"otlp", "/v1development/profiles", "OpenTelemetry: OTLP over HTTP, binary protobuf",
     protocol_otlp_make, protocol_otlp_judge},
    {"pyroscope", "/ingest", "Grafana Pyroscope: pprof as multipart/form-data",
     protocol_pyroscope_make, protocol_pyroscope_judge},
    {"parca", "/parca.profilestore.v1alpha1.ProfileStoreService/WriteRaw",
     "Parca: pprof in gRPC-Web's WriteRaw", protocol_parca_make, protocol_parca_judge},
    {0},
};

const struct push_protocol *push_protocol_by_name(const char *name) {
    for (const struct push_protocol *p = push_protocols; p->name; p++)
        if (!strcmp(p->name, name))
            return p;
    return NULL;
}

const struct push_protocol *push_protocol_by_url(const char *url) {
    static const struct {
        const char *end, *name;
    } known[] = {
        {"/ingest", "pyroscope"}, {"/WriteRaw", "parca"}, {"development/profiles", "otlp"}};
    size_t length = strcspn(url, "?#");
    while (length && url[length - 1] == '/')
        length--;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        size_t n = strlen(known[i].end);
        if (length >= n && !strncmp(url + length - n, known[i].end, n))
            return push_protocol_by_name(known[i].name);
    }
    return NULL;
}

void protocol_begin(struct push_message *m, const struct push_protocol *p,
                    const struct push_profile *f) {
    *m = (struct push_message){.from_ns = f->from_ns, .to_ns = f->to_ns};
    strncpy(m->path, p->path, sizeof m->path - 1);
    const char *jvm = f->parts && f->part[0].quality->jvm ? f->part[0].quality->jvm : "";
    strncpy(m->subject, jvm, sizeof m->subject - 1);
}

int protocol_put(struct push_message *m, int (*put)(void *arg, struct push_message *m), void *arg) {
    if (m->body.failed) {
        text_free(&m->body);
        return -ENOMEM;
    }
    return put(arg, m);
}

int pprof_part_add(struct text *out, const struct push_profile *f, const struct export_part *part,
                   const char *type, bool labels) {
    struct export_options o = {.question = part->question, .unlabelled = !labels};
    struct export_quality quality = *part->quality;
    const struct exporter *x = exporter_by_format("pprof", &o);
    if (type)
        quality.event = type;
    return x->write(out, f->profile, part->snapshot, &quality, &o);
}
