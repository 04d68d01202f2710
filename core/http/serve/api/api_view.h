/*
 * One answer to a question about a JVM's profile: it is read while the profile is locked, and
 * written afterwards.
 *
 *      session ─ lock ─▶ api_view_take ─ unlock ─▶ api_view_write ─▶ JSON
 *
 * Context: any thread. The session must live as long as the view.
 */
#ifndef JTOP_HTTP_SERVE_API_API_VIEW_H
#define JTOP_HTTP_SERVE_API_API_VIEW_H

#include "core/base/text.h"
#include "core/http/serve/api/api_locks.h"
#include "core/http/serve/api/api_names.h"
#include "core/http/serve/api/api_question.h"
#include "core/session/session.h"

/* Seconds of the samples' clock; all 0: no samples yet. */
struct api_span {
    uint64_t first, oldest; /* of the whole profile; of what is kept by the second */
    uint64_t latest;        /* advances while the JVM runs, even if it has nothing to do */
};

struct api_view {
    const struct api_question *question;
    struct jvm jvm;
    struct session_status status;
    struct api_span span;
    struct snapshot *snapshot;
    struct snapshot *before; /* what is compared with; NULL: nothing */
    struct diff *diff;
    struct api_locks locks;
    struct api_names names;
    struct profile_second *timeline;
    uint64_t timeline_from;
    uint32_t timeline_seconds;
    double unix_zero; /* Unix time of second 0 of the samples' clock */
};

/* The span at second `now` of CLOCK_MONOTONIC. */
struct api_span api_view_span(const struct profile *p, enum session_phase phase, uint64_t now);

/* Limits the query to the stacks with the question's method; a tree begins at its outermost frame.
 * If several methods have this name, it is the one with most weight; if none has, nothing is kept.
 * Called with the profile's lock. -ENOMEM. */
int api_view_narrow(struct query *query, struct profile *p, const struct api_question *q);

/* Takes a view of the session as it is now. -ENOMEM. */
int api_view_take(struct api_view *v, struct session *s, const struct api_question *q);
/* The same for a profile that the caller has locked; the caller sets status and jvm. */
int api_view_read(struct api_view *v, struct profile *p, const struct api_question *q,
                  uint64_t now);
void api_view_free(struct api_view *v);

/* Appends one line of JSON, without a newline. -ENOMEM. */
int api_view_write(struct api_view *v, struct text *out);

#endif
