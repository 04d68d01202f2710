/*
 * What a request asks of a view, read from a URL's parameters. It owns its texts, so it outlives
 * the request.
 *
 * Context: any thread.
 */
#ifndef JTOP_HTTP_SERVE_API_API_QUESTION_H
#define JTOP_HTTP_SERVE_API_API_QUESTION_H

#include "core/http/fleet/fleet.h"
#include "core/http/serve/server/params.h"
#include "core/profile/snapshot/snapshot.h"

#define API_FILTER_MAX 256 /* bytes */
#define API_ROWS_MAX 1000
#define API_NODES_MAX 100000

/* A second of the samples' clock, or a number of seconds before the latest one. */
struct api_second {
    bool given;
    bool back; /* `second` counts back from the latest */
    uint64_t second;
};

struct api_question {
    struct fleet_want want; /* one engine */
    int event;              /* enum event_kind: the event that is shown */
    struct api_second from, to;
    bool compare; /* with the seconds before_from to before_to */
    uint64_t before_from, before_to;
    char filter[API_FILTER_MAX + 1]; /* "": none */
    uint32_t tid;
    uint64_t virtual_id;
    char with[PARAMS_VALUE_MAX + 1]; /* a method's name: only stacks with it; "": all */
    bool tree, inverted, sites, locks;
    uint32_t rows, nodes; /* limits: methods and threads; tree nodes */
};

/* Reads the parameters of a view. -EINVAL with a message such as "rows: …" for a 400. */
int api_question_read(struct api_question *q, struct params *p, struct err *e);
/* Refuses the first unknown parameter: -EINVAL with a message. Called after all were read. */
int api_question_rest(const struct params *p, struct err *e);

/* Whether both ask for the same. */
bool api_question_same(const struct api_question *a, const struct api_question *b);

/* The requested seconds, both inclusive. False: no limit was given, so it is everything (0 and
 * `latest`). */
bool api_question_window(const struct api_question *q, uint64_t latest, uint64_t *from,
                         uint64_t *to);
/* The query of the seconds to compare with: rows, and a tree if the question asks for one. */
struct query api_question_before(const struct api_question *q);
/* The question as a query, where `latest` is the latest second; its filter points into the
 * question. */
struct query api_question_query(const struct api_question *q, uint64_t latest);

#endif
