/*
 * The labels that distinguish one JVM's profiles from another's at the receiver: a small sorted set
 * of names and values (struct push_labels, protocol.h).
 *
 * Names have two spellings: OpenTelemetry's (`k8s.pod.name`), and the short ones of receivers that
 * allow no dots (`pod`). The set has the short spelling of well-known names, whichever was given;
 * other names stay as they are.
 *
 * Context: pure, any thread.
 */
#ifndef JTOP_HTTP_PUSH_PROTOCOL_LABELS_H
#define JTOP_HTTP_PUSH_PROTOCOL_LABELS_H

#include "core/http/push/protocol/protocol.h"

/* A name that has both spellings. */
struct push_label_name {
    const char *name, *otel;
    bool number; /* OpenTelemetry wants its value as a number */
};

/* Adds a label, or replaces the one of that name; an empty value removes it. Name and value may
 * come from anywhere: they are made valid, and cut. False: the set has no such label, because it
 * was removed, because the name has no valid character or is reserved ("__…"), or because there are
 * too many labels. */
bool labels_set(struct push_labels *l, const char *name, const char *value);
/* "name=value", as after --label. False also if there is no '='. */
bool labels_set_pair(struct push_labels *l, const char *pair);

/* NULL: no such label. */
const char *labels_get(const struct push_labels *l, const char *name);

/* The name in OpenTelemetry's spelling; *number: its value should be a number. */
const char *label_otel_name(const struct push_label *label, bool *number);
/* The name without dots, as in Prometheus; `out` is as large as push_label.name. Returns out. */
const char *label_plain_name(const struct push_label *label, char *out);
/* Whether an earlier label of the set has the same plain name; then label `i` is left out. */
bool labels_plain_doubled(const struct push_labels *l, uint32_t i);

#endif
