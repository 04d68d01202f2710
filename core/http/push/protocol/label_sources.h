/*
 * Where a JVM's labels come from: the JVM itself, its control group, its environment, its command
 * line, and the user, whose labels take precedence.
 *
 *      service_name   --label; -Dotel.service.name; OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES;
 *                     spring.application.name; the main class or jar
 *      pid, host, jvm_version, jvm_name
 *      container_id, pod_uid                 its control group
 *      pod, namespace, container, node       its environment, and its service account's files
 *      whatever is in OTEL_RESOURCE_ATTRIBUTES
 *
 * All of this is the JVM's own word: labels are cleaned and bounded, and files are read in a child,
 * because that may hang.
 * source: OpenTelemetry specification, "Environment variables", "Resource SDK"
 *
 * Context: frontend, any thread.
 */
#ifndef JTOP_HTTP_PUSH_PROTOCOL_LABEL_SOURCES_H
#define JTOP_HTTP_PUSH_PROTOCOL_LABEL_SOURCES_H

#include "attach/find/jvm.h"
#include "core/http/push/protocol/labels.h"

#include <stddef.h>

/* Fills `out`; takes some milliseconds, two seconds at most. `own`: the user's labels, each
 * "name=value". */
void label_sources_read(const struct jvm *j, const char *const *own, uint32_t owns,
                        struct push_labels *out);

/* Parsers of single texts: /proc/PID/cgroup; environ and cmdline, which are strings that each end
 * with a NUL (the text ends with one, too). Of the environment only the known variables are read;
 * of the command line, options before the program's name, and those that Spring takes after it. */
void label_sources_cgroup(const char *text, struct push_labels *out);
void label_sources_environ(const char *text, size_t bytes, struct push_labels *out);
void label_sources_cmdline(const char *text, size_t bytes, struct push_labels *out);
/* "key=value,key=value", values with %XX: OTEL_RESOURCE_ATTRIBUTES. */
void label_sources_attributes(const char *text, struct push_labels *out);

#endif
