/*
 * Grafana Pyroscope's /ingest: multipart/form-data with a pprof file, and a second file that
 * describes its numbers. Times and labels are in the URL:
 *
 *      name=shop{pod=a,pid=1}&from=1700000000&until=1700000015&format=pprof&…
 *
 * One POST per event. The name of the weight's type tells Pyroscope what kind of profile it is.
 * source: Pyroscope, "Server HTTP API", /ingest
 */
#include "core/http/push/protocol/protocol_parts.h"

#include "core/http/push/protocol/labels.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define BOUNDARY "jtop-prof-7b1c0a5e9d244f06"
#define NS 1000000000u

static const struct {
    const char *event, *type;
} types[] = {{"cpu", "cpu"},
             {"wall", "wall"},
             {"alloc", "alloc_space"},
             {"live", "inuse_space"},
             {"lock", "mutex_duration"},
             {"nativelock", "block_duration"},
             {"nativemem", "native_alloc_space"},
             {"leak", "native_inuse_space"}};

static const char *type_of(const struct export_quality *q) {
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (!strcmp(types[i].event, q->event))
            return types[i].type;
    return q->event;
}

/* Appends a text to a query, with escapes where they are needed; false: no room. */
static bool add_escaped(char *out, size_t size, const char *s) {
    size_t n = strlen(out);
    for (; *s; s++) {
        bool plain = (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') ||
                     (*s >= '0' && *s <= '9') || strchr("-._~", *s);
        if (n + 4 > size)
            return false;
        n += (size_t)snprintf(out + n, size - n, plain ? "%c" : "%%%02X", (unsigned char)*s);
    }
    return true;
}

/* Replaces characters that would end the name they are a part of. */
static const char *without(const char *in, const char *unwanted, char *out, size_t size) {
    snprintf(out, size, "%s", in);
    for (char *c = out; (c = strpbrk(c, unwanted)); c++)
        *c = '_';
    return out;
}

/* Writes name{label=value,…}; a label for which there is no room is left out as a whole. */
static void add_name(char *out, size_t size, const struct push_labels *l) {
    char name[64], value[256];
    const char *service = labels_get(l, "service_name");
    size_t room = size - 128; /* for what follows the name */
    (void)add_escaped(out, room, without(service ? service : "java", "{},= ", value, sizeof value));
    (void)add_escaped(out, room, "{");
    for (uint32_t i = 0, n = 0; i < l->count; i++) {
        size_t before = strlen(out);
        if (!strcmp(l->item[i].name, "service_name") || labels_plain_doubled(l, i))
            continue;
        if (add_escaped(out, room, n ? "," : "") &&
            add_escaped(out, room, label_plain_name(&l->item[i], name)) &&
            add_escaped(out, room, "=") &&
            add_escaped(out, room, without(l->item[i].value, "{},=", value, sizeof value)))
            n++;
        else
            out[before] = '\0';
    }
    (void)add_escaped(out, size, "}");
}

static void add_file(struct text *out, const char *name, const char *file, const char *type) {
    text_addf(out,
              "--" BOUNDARY "\r\nContent-Disposition: form-data; name=\"%s\"; filename=\"%s\"\r\n"
              "Content-Type: %s\r\n\r\n",
              name, file, type);
}

static int make_event(const struct push_protocol *p, const struct push_profile *f,
                      const struct export_part *part, int (*put)(void *arg, struct push_message *m),
                      void *arg) {
    const struct export_quality *q = part->quality;
    const char *type = type_of(q);
    bool time = q->unit && !strcmp(q->unit, "ns"), bytes = q->unit && !strcmp(q->unit, "bytes");
    struct push_message m;
    protocol_begin(&m, p, f);
    strncpy(m.type, "multipart/form-data; boundary=" BOUNDARY, sizeof m.type - 1);
    snprintf(m.query, sizeof m.query, "name=");
    add_name(m.query, sizeof m.query, f->labels);
    size_t n = strlen(m.query);
    uint64_t rate = time && q->interval ? (NS + q->interval / 2) / q->interval : 100;
    snprintf(m.query + n, sizeof m.query - n,
             "&from=%" PRIu64 "&until=%" PRIu64
             "&format=pprof&spyName=jtop-prof&sampleRate=%" PRIu64,
             f->from_ns / NS, f->to_ns / NS, rate ? rate : 1);
    add_file(&m.body, "profile", "profile.pprof", "application/octet-stream");
    int r = pprof_part_add(&m.body, f, part, type, false);
    text_add(&m.body, "\r\n");
    add_file(&m.body, "sample_type_config", "sample_type_config.json", "application/json");
    text_addf(&m.body,
              "{\"samples\":{\"units\":\"samples\",\"aggregation\":\"sum\",\"sampled\":true},"
              "\"%s\":{\"units\":\"%s\",\"display-name\":\"%s\",\"aggregation\":\"sum\"}}\r\n"
              "--" BOUNDARY "--\r\n",
              type,
              time    ? "nanoseconds"
              : bytes ? "bytes"
                      : "count",
              type);
    m.body.failed |= r < 0;
    return protocol_put(&m, put, arg);
}

int protocol_pyroscope_make(const struct push_protocol *p, const struct push_profile *f,
                            int (*put)(void *arg, struct push_message *m), void *arg) {
    int r = 0;
    for (int i = 0; i < f->parts && r == 0; i++)
        r = make_event(p, f, &f->part[i], put, arg);
    return r;
}

int protocol_pyroscope_judge(unsigned status, const char *body, size_t bytes, char *why,
                             size_t size) {
    (void)status, (void)body, (void)bytes;
    snprintf(why, size, "%s", "");
    return 0;
}
