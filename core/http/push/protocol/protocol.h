/*
 * Files:
 *   answer              what a receiver's answer means for a message: taken, retry, refused
 *   bearer              bearer token from a file, read again when the file changes
 *   label_sources       collecting of a JVM's labels: cgroup, environment, command line
 *   label_texts         parsing of labels from cgroup, environment and command line text
 *   labels              sorted set of label names and values, in both naming schemes
 *   message             checking, compressing and freeing of messages to be sent
 *   post                HTTP POST of one message at a time, with libcurl
 *   protobuf            minimal writer and reader of protobuf fields
 *   protocol            table of the upload protocols: otlp, pyroscope, parca
 *   protocol_otlp       OTLP over HTTP: its messages, and what answers mean
 *   protocol_parca      Parca's WriteRaw over gRPC-Web: its messages and answers
 *   protocol_parts      declarations shared by the protocols' source files
 *   protocol_pyroscope  Grafana Pyroscope's /ingest: its messages and answers
 *   receiver_url        checked URL of the receiver, and the URL of each message
 *   trouble             problems reported once when they begin and once when they end
 *
 * How each kind of receiver wants its profiles: one row of a table and one file per protocol.
 *
 *   otlp       OTLP profiles over HTTP, binary protobuf: an OpenTelemetry collector
 *   pyroscope  pprof as multipart/form-data to /ingest: Grafana Pyroscope
 *   parca      pprof in a WriteRaw message: Parca
 *
 * Context: frontend, any thread; pure, but the caller must hold the lock of the profile.
 */
#ifndef JTOP_HTTP_PUSH_PROTOCOL_PROTOCOL_H
#define JTOP_HTTP_PUSH_PROTOCOL_PROTOCOL_H

#include "core/base/text.h"
#include "core/export/export.h"

#include <stdint.h>

#define PUSH_LABELS_MAX 32

struct push_label {
    char name[64], value[256]; /* name: [a-zA-Z_][a-zA-Z0-9_.]*; value: UTF-8 without controls */
};

struct push_labels {
    struct push_label
        item[PUSH_LABELS_MAX]; /* sorted by name, no duplicates; has a "service_name" */
    uint32_t count;
};

/* The profile of one JVM in one window, with all its events. */
struct push_profile {
    const struct profile *profile; /* locked */
    const struct export_part *part;
    int parts;
    const struct push_labels *labels;
    uint64_t from_ns, to_ns; /* time of day, since 1970; whole seconds */
};

/* A message to be sent. */
struct push_message {
    char path[64];    /* after the receiver's URL: "/v1development/profiles" */
    char query[2048]; /* after the '?', encoded; "": none */
    char type[64];    /* Content-Type */
    struct text body; /* owned; not yet compressed for the transport */
    bool gzip;        /* may be sent with Content-Encoding: gzip */
    uint64_t from_ns, to_ns;
    char subject[128]; /* "Main (pid 123)", for reports to the user */
};

struct push_protocol {
    const char *name; /* "otlp" */
    const char *path; /* appended to a URL that has no path of its own */
    const char *help;
    /* Makes messages (usually one) and passes each to `put`, which takes over the body; 0 or
     * -errno. */
    int (*make)(const struct push_protocol *p, const struct push_profile *f,
                int (*put)(void *arg, struct push_message *m), void *arg);
    /* Reads from an answer's body what its status does not say; the reason goes to `why`. -EAGAIN:
     * a retry is worthwhile. Other -errno: the message was not taken although the status reports it
     * (partial success). 0: neither. */
    int (*judge)(unsigned status, const char *body, size_t bytes, char *why, size_t size);
};

extern const struct push_protocol push_protocols[]; /* ends with a NULL name */
/* NULL: there is no such protocol. */
const struct push_protocol *push_protocol_by_name(const char *name);
/* Chooses by a URL's own path ("/ingest", "/v1development/profiles", "WriteRaw"); NULL: unknown
 * path. */
const struct push_protocol *push_protocol_by_url(const char *url);

#endif
