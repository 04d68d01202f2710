/*
 * A JVM and its session as JSON: what /api/v1/jvms, /api/v1/jvms/PID and every view have in common.
 *
 * Context: pure, except for api_jvms_reader.
 */
#ifndef JTOP_HTTP_SERVE_API_API_JVMS_H
#define JTOP_HTTP_SERVE_API_API_JVMS_H

#include "core/http/serve/api/json.h"
#include "core/session/session.h"

/* Writes the members into the open object. */
void api_jvms_members(struct json *j, const struct jvm *jvm);

/* "jvm": {…} */
void api_jvms_write(struct json *j, const struct jvm *jvm);
/* "status": {…} */
void api_jvms_status(struct json *j, const struct session_status *st);
/* "events": […]: those that are requested, and those that have samples or drops. */
void api_jvms_events(struct json *j, const struct session_status *st);

/* The other process that profiles the JVM and shares its profile; 0: none. Asks a socket. */
pid_t api_jvms_reader(pid_t jvm);

#endif
