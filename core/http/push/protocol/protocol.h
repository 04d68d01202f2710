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
 * How a receiver wants its profiles: one row and one file for each kind of engine.
 *
 *   otlp       OTLP profiles over HTTP, binary protobuf: an OpenTelemetry collector
 *   pyroscope  pprof in a form to /ingest: Grafana Pyroscope
 *   parca      pprof in a WriteRaw message: Parca
 *
 * Context: frontend, any thread; pure but for the profile being locked by the caller.
 */
#ifndef JTOP_HTTP_PUSH_PROTOCOL_PROTOCOL_H
#define JTOP_HTTP_PUSH_PROTOCOL_PROTOCOL_H

#include "core/base/text.h"
#include "core/export/export.h"

#include <stdint.h>

#define PUSH_LABELS_MAX 32

struct push_label {
    char name[64], value[256]; /* name: [a-zA-Z_][a-zA-Z0-9_.]*; value: valid UTF-8, no control */
};

struct push_labels {
    struct push_label
        item[PUSH_LABELS_MAX]; /* sorted by name, each once; "service_name" is there */
    uint32_t count;
};

/* One JVM in one window, of all its events. */
struct push_profile {
    const struct profile *profile; /* locked */
    const struct export_part *part;
    int parts;
    const struct push_labels *labels;
    uint64_t from_ns, to_ns; /* time of day, since 1970; whole seconds */
};

/* What goes out. */
struct push_message {
    char path[64];    /* behind the receiver's URL: "/v1development/profiles" */
    char query[2048]; /* behind its '?', encoded; "": none */
    char type[64];    /* Content-Type */
    struct text body; /* owned; not yet compressed for the transport */
    bool gzip;        /* may go out with Content-Encoding: gzip */
    uint64_t from_ns, to_ns;
    char subject[128]; /* "Main (pid 123)", for messages to people */
};

struct push_protocol {
    const char *name; /* "otlp" */
    const char *path; /* what is put behind a URL that has no path of its own */
    const char *help;
    /* Appends messages (usually one) by calling `put`, which takes over the body; 0 or -errno. */
    int (*make)(const struct push_protocol *p, const struct push_profile *f,
                int (*put)(void *arg, struct push_message *m), void *arg);
    /* Whether an answer with that status and body says that it was not taken in although the status
     * says so (partial success), or is worth trying again. */
    int (*judge)(unsigned status, const char *body, size_t bytes, char *why, size_t size);
};

extern const struct push_protocol push_protocols[]; /* ends with a NULL name */
/* NULL: there is none of that name. */
const struct push_protocol *push_protocol_by_name(const char *name);
/* By a URL's own path ("/ingest", "/v1development/profiles", "WriteRaw"); NULL: it says nothing. */
const struct push_protocol *push_protocol_by_url(const char *url);

#endif
