/*
 * What a JVM and its session are, as JSON: what /api/v1/jvms, /api/v1/jvms/PID and every view have
 * in common.
 *
 * Context: pure, but for api_jvms_reader.
 */
#ifndef JTOP_HTTP_SERVE_API_API_JVMS_H
#define JTOP_HTTP_SERVE_API_API_JVMS_H

#include "core/http/serve/api/json.h"
#include "core/session/session.h"

/* Members of the object that is open. */
void api_jvms_members(struct json *j, const struct jvm *jvm);

/* "jvm": {…} */
void api_jvms_write(struct json *j, const struct jvm *jvm);
/* "status": {…} */
void api_jvms_status(struct json *j, const struct session_status *st);
/* "events": […]: those asked for, and those there are samples of. */
void api_jvms_events(struct json *j, const struct session_status *st);

/* An event as people call it; of one that is made of another, that. */
const char *api_jvms_event_name(const struct session_status *st, int event);

/* The process beside this one that profiles the JVM and shares that; 0: none. Asks a socket. */
pid_t api_jvms_reader(pid_t jvm);

#endif
