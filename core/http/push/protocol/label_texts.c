/* Takes labels from the texts about a JVM. */
#include "core/http/push/protocol/label_sources.h"

#include "attach/find/java_args.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ID_DIGITS 64
#define UUID_LENGTH 36

static bool is_hex(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/* Finds "pod" and a UUID; systemd's names have '_' instead of '-' in the UUID. */
static void take_pod(const char *text, struct push_labels *out) {
    for (const char *at = text; (at = strstr(at, "pod")); at++) {
        char uid[UUID_LENGTH + 1];
        int n = 0;
        for (; n < UUID_LENGTH; n++) {
            bool dash = n == 8 || n == 13 || n == 18 || n == 23;
            char c = at[3 + n];
            if (dash ? c != '-' && c != '_' : !is_hex(c))
                break;
            uid[n] = dash ? '-' : c;
        }
        if (n < UUID_LENGTH || is_hex(at[3 + n]))
            continue;
        uid[n] = '\0';
        (void)labels_set(out, "pod_uid", uid);
        return;
    }
}

void label_sources_cgroup(const char *text, struct push_labels *out) {
    if (strstr(text, "kubepods"))
        take_pod(text, out);
    for (const char *at = text; *at;) {
        size_t n = 0;
        while (is_hex(at[n]))
            n++;
        if (n == ID_DIGITS) {
            char id[ID_DIGITS + 1];
            memcpy(id, at, ID_DIGITS);
            id[ID_DIGITS] = '\0';
            (void)labels_set(out, "container_id", id);
            return;
        }
        at += n ? n : 1;
    }
}

/* Decodes in place; what is not an escape stays. */
static void unescape(char *s) {
    char *to = s;
    for (; *s; s++) {
        if (*s == '%' && isxdigit((unsigned char)s[1]) && isxdigit((unsigned char)s[2])) {
            char hex[] = {s[1], s[2], '\0'}, c = (char)strtol(hex, NULL, 16);
            *to++ = c ? c : '?';
            s += 2;
        } else {
            *to++ = *s;
        }
    }
    *to = '\0';
}

static size_t blanks(const char *s) {
    return strspn(s, " \t");
}

void label_sources_attributes(const char *text, struct push_labels *out) {
    while (*text) {
        char pair[1024], name[64];
        size_t n = strcspn(text, ",");
        snprintf(pair, sizeof pair, "%.*s", (int)(n < sizeof pair ? n : sizeof pair - 1), text);
        text += n + (text[n] == ',');
        char *value = strchr(pair, '='), *begin = pair + blanks(pair);
        if (!value || value <= begin)
            continue;
        *value++ = '\0';
        snprintf(name, sizeof name, "%.*s", (int)strcspn(begin, " \t"), begin);
        value += blanks(value);
        for (size_t end = strlen(value); end && (value[end - 1] == ' ' || value[end - 1] == '\t');)
            value[--end] = '\0';
        unescape(value);
        if (*value)
            (void)labels_set(out, name, value);
    }
}

/* The value of "key=value" if the text begins with that key. */
static const char *value_of(const char *text, const char *key) {
    size_t n = strlen(key);
    return !strncmp(text, key, n) && text[n] == '=' && text[n + 1] ? text + n + 1 : NULL;
}

/* The value in the first string of a block that has that key; NULL: none. */
static const char *find(const char *text, size_t bytes, const char *key) {
    for (size_t at = 0; at < bytes; at += strlen(text + at) + 1)
        if (value_of(text + at, key))
            return value_of(text + at, key);
    return NULL;
}

/* Takes variables by which users pass a pod's names, with Kubernetes' downward API. */
static void take_pod_names(const char *text, size_t bytes, struct push_labels *out) {
    static const struct {
        const char *key, *label;
    } named[] = {{"HOSTNAME", "pod"},
                 {"MY_POD_NAME", "pod"},
                 {"K8S_POD_NAME", "pod"},
                 {"POD_NAME", "pod"},
                 {"MY_POD_NAMESPACE", "namespace"},
                 {"K8S_NAMESPACE", "namespace"},
                 {"POD_NAMESPACE", "namespace"},
                 {"POD_UID", "pod_uid"},
                 {"CONTAINER_NAME", "container"},
                 {"K8S_CONTAINER_NAME", "container"},
                 {"MY_NODE_NAME", "node"},
                 {"K8S_NODE_NAME", "node"},
                 {"NODE_NAME", "node"}};
    if (!find(text, bytes, "KUBERNETES_SERVICE_HOST"))
        return;
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
        const char *value = find(text, bytes, named[i].key);
        if (value)
            (void)labels_set(out, named[i].label, value);
    }
}

/* Takes a system property from "-Dkey=value". */
static void take_property(const char *word, struct push_labels *out, bool spring) {
    const char *value;
    if (strncmp(word, "-D", 2) != 0)
        return;
    word += 2;
    if (spring && (value = value_of(word, "spring.application.name")))
        (void)labels_set(out, "service_name", value);
    if (!spring && (value = value_of(word, "otel.resource.attributes")))
        label_sources_attributes(value, out);
    if (!spring && (value = value_of(word, "otel.service.name")))
        (void)labels_set(out, "service_name", value);
}

/* Takes system properties from variables that hold options separated by blanks. */
static void take_tool_options(const char *text, size_t bytes, struct push_labels *out,
                              bool spring) {
    static const char *const keys[] = {"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const char *at = find(text, bytes, keys[i]);
        while (at && *at) {
            char word[1024];
            size_t n = strcspn(at, " \t\n");
            snprintf(word, sizeof word, "%.*s", (int)(n < sizeof word ? n : sizeof word - 1), at);
            take_property(word, out, spring);
            at += n + strspn(at + n, " \t\n");
        }
    }
}

void label_sources_environ(const char *text, size_t bytes, struct push_labels *out) {
    const char *value;
    take_pod_names(text, bytes, out);
    if ((value = find(text, bytes, "SPRING_APPLICATION_NAME")))
        (void)labels_set(out, "service_name", value);
    take_tool_options(text, bytes, out, true);
    if ((value = find(text, bytes, "OTEL_RESOURCE_ATTRIBUTES")))
        label_sources_attributes(value, out);
    if ((value = find(text, bytes, "OTEL_SERVICE_NAME")))
        (void)labels_set(out, "service_name", value);
    take_tool_options(text, bytes, out, false);
}

void label_sources_cmdline(const char *text, size_t bytes, struct push_labels *out) {
    struct java_args args;
    if (!bytes || text[bytes - 1] || !java_args_parse(text, bytes, &args))
        return;
    for (size_t at = 0; at < args.options_len; at += strlen(text + at) + 1)
        take_property(text + at, out, false);
    if (labels_get(out, "service_name"))
        return;
    for (size_t at = 0; at < args.options_len; at += strlen(text + at) + 1)
        take_property(text + at, out, true);
    for (size_t at = 0; at < args.program_len; at += strlen(args.program + at) + 1) {
        const char *value = value_of(args.program + at, "--spring.application.name");
        if (value)
            (void)labels_set(out, "service_name", value);
    }
}
