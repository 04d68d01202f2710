#include "core/http/push/protocol/labels.h"

#include "core/base/utf8.h"

#include <stdio.h>
#include <string.h>

/* Ends with a NULL name. */
static const struct push_label_name push_label_names[] = {
    {"container", "k8s.container.name", false},
    {"container_id", "container.id", false},
    {"host", "host.name", false},
    {"jvm_name", "process.runtime.name", false},
    {"jvm_version", "process.runtime.version", false},
    {"namespace", "k8s.namespace.name", false},
    {"node", "k8s.node.name", false},
    {"pid", "process.pid", true},
    {"pod", "k8s.pod.name", false},
    {"pod_uid", "k8s.pod.uid", false},
    {"service_name", "service.name", false},
    {NULL, NULL, false},
};

static bool is_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.';
}

/* False: no character of it may be in a name, or it is reserved. */
static bool clean_name(const char *in, char *out, size_t size) {
    size_t n = 0;
    bool any = false;
    if (*in >= '0' && *in <= '9')
        out[n++] = '_';
    for (; *in && n + 1 < size; in++) {
        any |= is_name(*in) && *in != '_' && *in != '.';
        out[n++] = is_name(*in) ? *in : '_';
    }
    out[n] = '\0';
    if (out[0] == '.')
        out[0] = '_';
    return any && strncmp(out, "__", 2) != 0;
}

static void clean_value(const char *in, char *out, size_t size) {
    snprintf(out, size, "%s", in);
    size_t n = strlen(out);
    /* A character that was cut apart must not become a '?'. */
    if (strlen(in) > n)
        while (n && ((unsigned char)in[n] & 0xc0) == 0x80)
            n--;
    out[n] = '\0';
    utf8_clean(out);
}

static const char *short_name(const char *name) {
    if (!strcmp(name, "service"))
        return "service_name";
    for (const struct push_label_name *k = push_label_names; k->name; k++)
        if (!strcmp(name, k->otel))
            return k->name;
    return name;
}

/* The index of the label, or where it belongs. */
static uint32_t find(const struct push_labels *l, const char *name, bool *there) {
    uint32_t i = 0;
    while (i < l->count && strcmp(l->item[i].name, name) < 0)
        i++;
    *there = i < l->count && !strcmp(l->item[i].name, name);
    return i;
}

static void take_away(struct push_labels *l, uint32_t i) {
    memmove(&l->item[i], &l->item[i + 1], (l->count - i - 1) * sizeof l->item[0]);
    l->count--;
}

bool labels_set(struct push_labels *l, const char *name, const char *value) {
    struct push_label label = {0};
    bool there;
    if (!clean_name(name, label.name, sizeof label.name))
        return false;
    const char *known = short_name(label.name);
    if (known != label.name)
        snprintf(label.name, sizeof label.name, "%s", known);
    clean_value(value, label.value, sizeof label.value);
    uint32_t i = find(l, label.name, &there);
    if (!label.value[0]) {
        if (there)
            take_away(l, i);
        return false;
    }
    if (!there && l->count == PUSH_LABELS_MAX)
        return false;
    if (!there) {
        memmove(&l->item[i + 1], &l->item[i], (l->count - i) * sizeof l->item[0]);
        l->count++;
    }
    l->item[i] = label;
    return true;
}

bool labels_set_pair(struct push_labels *l, const char *pair) {
    const char *equals = strchr(pair, '=');
    char name[sizeof l->item[0].name];
    if (!equals || equals == pair)
        return false;
    snprintf(name, sizeof name, "%.*s", (int)(equals - pair < 63 ? equals - pair : 63), pair);
    return labels_set(l, name, equals + 1);
}

const char *labels_get(const struct push_labels *l, const char *name) {
    bool there;
    uint32_t i = find(l, name, &there);
    return there ? l->item[i].value : NULL;
}

const char *label_otel_name(const struct push_label *label, bool *number) {
    *number = false;
    for (const struct push_label_name *k = push_label_names; k->name; k++)
        if (!strcmp(label->name, k->name)) {
            *number = k->number;
            return k->otel;
        }
    return label->name;
}

const char *label_plain_name(const struct push_label *label, char *out) {
    memcpy(out, label->name, sizeof label->name);
    for (char *c = out; *c; c++)
        if (*c == '.')
            *c = '_';
    return out;
}

bool labels_plain_doubled(const struct push_labels *l, uint32_t i) {
    char mine[sizeof l->item[0].name], other[sizeof mine];
    label_plain_name(&l->item[i], mine);
    for (uint32_t k = 0; k < i; k++)
        if (!strcmp(label_plain_name(&l->item[k], other), mine))
            return true;
    return false;
}
