/*
 * What tells one JVM's profiles from another's at the receiver: a small sorted set of names and
 * values (struct push_labels, protocol.h).
 *
 * Names come in two spellings, OpenTelemetry's (`k8s.pod.name`) and the short ones of those engines
 * that know no dots (`pod`). The set has the short one of those that are well known, whichever was
 * given; others stay as they are.
 *
 * Context: pure, any thread.
 */
#ifndef JTOP_HTTP_PUSH_PROTOCOL_LABELS_H
#define JTOP_HTTP_PUSH_PROTOCOL_LABELS_H

#include "core/http/push/protocol/protocol.h"

/* A name that has both spellings. */
struct push_label_name {
    const char *name, *otel;
    bool number; /* OpenTelemetry wants it as a number */
};

/* Adds it, or puts it in place of the one of that name; an empty value takes it away. Both come from
 * anywhere: they are made valid, and cut. False: it is not there, since the name has nothing that may
 * be in a name, is reserved ("__…"), or there are too many. */
bool labels_set(struct push_labels *l, const char *name, const char *value);
/* "name=value", as after --label. False also where there is no '='. */
bool labels_set_pair(struct push_labels *l, const char *pair);

/* NULL: there is none. */
const char *labels_get(const struct push_labels *l, const char *name);

/* The name as OpenTelemetry has it; *number: the value should be one. */
const char *label_otel_name(const struct push_label *label, bool *number);
/* Without dots, as Prometheus has them; `out` is as large as push_label.name. Returns out. */
const char *label_plain_name(const struct push_label *label, char *out);
/* Whether an earlier label of the set has the same plain name: then this one is left out. */
bool labels_plain_doubled(const struct push_labels *l, uint32_t i);

#endif
