/*
 * What stands out in a profile (core/report/findings.h), as JSON.
 *
 * Context: any thread.
 */
#ifndef JTOP_HTTP_SERVE_API_API_FINDINGS_H
#define JTOP_HTTP_SERVE_API_API_FINDINGS_H

#include "core/base/text.h"
#include "core/http/serve/api/api_question.h"
#include "core/http/serve/server/route.h"
#include "core/session/session.h"

/* Appends the findings about the question, at second `now` of CLOCK_MONOTONIC. The caller has locked
 * the profile. -ENOMEM. */
int api_findings_write(struct text *out, struct profile *p, const struct session_status *st,
                       const struct jvm *jvm, const struct api_question *q, uint64_t now);

/* "/api/v1/jvms/PID/findings" */
void api_findings(struct serve *s, const struct serve_request *q, pid_t pid,
                  struct serve_answer *a);

#endif
