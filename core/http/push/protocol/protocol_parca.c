/*
 * Parca's WriteRaw as gRPC-Web, which works over HTTP/1.1 and needs no HTTP/2:
 *
 *      body     00, length (4 bytes, big-endian), WriteRawRequest
 *      answer   00, length, WriteRawResponse; 80, length, "grpc-status: 0\r\n…"
 *
 * One series per event. It is a delta, because it has a duration.
 * source: parca/profilestore/v1alpha1/profilestore.proto; grpc/doc/PROTOCOL-WEB.md
 */
#include "core/http/push/protocol/protocol_parts.h"

#include "core/http/push/protocol/labels.h"
#include "core/http/push/protocol/protobuf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define FRAME_HEAD 5
#define FRAME_TRAILER 0x80

enum {
    REQUEST_SERIES = 2,
    REQUEST_NORMALIZED = 3,
    SERIES_LABELS = 1,
    SERIES_SAMPLES = 2,
    LABEL_SET_LABELS = 1,
    LABEL_NAME = 1,
    LABEL_VALUE = 2,
    SAMPLE_RAW_PROFILE = 1,
};

/* https://grpc.io/docs/guides/status-codes */
enum {
    GRPC_OK = 0,
    GRPC_DEADLINE = 4,
    GRPC_EXHAUSTED = 8,
    GRPC_ABORTED = 10,
    GRPC_UNAVAILABLE = 14
};

static const char *name_of(const struct export_quality *q) {
    static const char *const names[][2] = {{"cpu", "process_cpu"},
                                           {"alloc", "memory"},
                                           {"live", "memory"},
                                           {"lock", "mutex"},
                                           {"nativelock", "block"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (!strcmp(names[i][0], q->event))
            return names[i][1];
    return NULL;
}

/* Makes a valid metric name as Prometheus defines it. */
static const char *clean_metric(const char *event, char *out, size_t size) {
    snprintf(out, size, "%s%s", *event >= '0' && *event <= '9' ? "_" : "", event);
    for (char *c = out; *c; c++)
        if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9')))
            *c = '_';
    return out;
}

static void add_label(struct text *set, const char *name, const char *value) {
    struct text label = {0};
    protobuf_add_bytes(&label, LABEL_NAME, name, strlen(name));
    protobuf_add_bytes(&label, LABEL_VALUE, value, strlen(value));
    protobuf_add_bytes(set, LABEL_SET_LABELS, label.data, label.len);
    set->failed |= label.failed;
    text_free(&label);
}

static void add_series(struct text *request, const struct push_profile *f,
                       const struct export_part *part) {
    struct text set = {0}, series = {0}, sample = {0}, pprof = {0};
    char name[64];
    const char *known = name_of(part->quality);
    add_label(&set, "__name__",
              known ? known : clean_metric(part->quality->event, name, sizeof name));
    for (uint32_t i = 0; i < f->labels->count; i++)
        if (!labels_plain_doubled(f->labels, i))
            add_label(&set, label_plain_name(&f->labels->item[i], name), f->labels->item[i].value);
    int r = pprof_part_add(&pprof, f, part, NULL, true);
    protobuf_add_bytes(&sample, SAMPLE_RAW_PROFILE, pprof.data, pprof.len);
    protobuf_add_bytes(&series, SERIES_LABELS, set.data, set.len);
    protobuf_add_bytes(&series, SERIES_SAMPLES, sample.data, sample.len);
    protobuf_add_bytes(request, REQUEST_SERIES, series.data, series.len);
    request->failed |= r < 0 || set.failed || series.failed || sample.failed || pprof.failed;
    text_free(&set);
    text_free(&series);
    text_free(&sample);
    text_free(&pprof);
}

int protocol_parca_make(const struct push_protocol *p, const struct push_profile *f,
                        int (*put)(void *arg, struct push_message *m), void *arg) {
    struct push_message m;
    struct text request = {0};
    protocol_begin(&m, p, f);
    strncpy(m.type, "application/grpc-web+proto", sizeof m.type - 1);
    for (int i = 0; i < f->parts; i++)
        add_series(&request, f, &f->part[i]);
    /* The addresses are not real, so there is nothing to normalize. */
    protobuf_add_number(&request, REQUEST_NORMALIZED, 1);
    char head[FRAME_HEAD] = {0, (char)(request.len >> 24), (char)(request.len >> 16),
                             (char)(request.len >> 8), (char)request.len};
    text_add_n(&m.body, head, sizeof head);
    if (request.data)
        text_add_n(&m.body, request.data, request.len);
    m.body.failed |= request.failed || request.len > UINT32_MAX;
    text_free(&request);
    return protocol_put(&m, put, arg);
}

/* Finds the value of a line in the trailer; "" if there is none. */
static void trailer_value(const char *text, size_t bytes, const char *name, char *out,
                          size_t size) {
    size_t n = strlen(name);
    out[0] = '\0';
    for (size_t at = 0; at < bytes;) {
        const char *line = text + at, *end = memchr(line, '\n', bytes - at);
        size_t length = end ? (size_t)(end - line) : bytes - at;
        at += length + 1;
        if (length <= n || strncasecmp(line, name, n) != 0 || line[n] != ':')
            continue;
        for (n++; n < length && line[n] == ' ';)
            n++;
        while (length > n && line[length - 1] == '\r')
            length--;
        snprintf(out, size, "%.*s", (int)(length - n), line + n);
        return;
    }
}

static int judge_trailer(const char *text, size_t bytes, char *why, size_t size) {
    char status[16], message[256];
    trailer_value(text, bytes, "grpc-status", status, sizeof status);
    trailer_value(text, bytes, "grpc-message", message, sizeof message);
    long code = status[0] ? strtol(status, NULL, 10) : -1;
    if (code == GRPC_OK)
        return 0;
    snprintf(why, size, "gRPC status %s%s%s", status[0] ? status : "missing",
             message[0] ? ": " : "", message);
    return code == GRPC_DEADLINE || code == GRPC_EXHAUSTED || code == GRPC_ABORTED ||
                   code == GRPC_UNAVAILABLE
               ? -EAGAIN
               : -EBADMSG;
}

int protocol_parca_judge(unsigned status, const char *body, size_t bytes, char *why, size_t size) {
    snprintf(why, size, "%s", "");
    if (status / 100 != 2)
        return 0;
    for (size_t at = 0; bytes - at >= FRAME_HEAD;) {
        const unsigned char *head = (const unsigned char *)body + at;
        size_t length =
            (size_t)head[1] << 24 | (size_t)head[2] << 16 | (size_t)head[3] << 8 | (size_t)head[4];
        at += FRAME_HEAD;
        if (length > bytes - at)
            break;
        if (head[0] & FRAME_TRAILER)
            return judge_trailer(body + at, length, why, size);
        at += length;
    }
    snprintf(
        why, size,
        "no gRPC status in the answer: check that this is Parca and that gRPC-Web is not blocked");
    return -EBADMSG;
}
