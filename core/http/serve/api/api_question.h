/*
 * What a view is asked for, out of a URL's parameters. Owns its texts, so it outlives the request.
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

/* A second of the samples' clock, or one before the latest there is. */
struct api_second {
    bool given;
    bool back; /* `second` before the latest */
    uint64_t second;
};

struct api_question {
    struct fleet_want want; /* one engine */
    int event;              /* enum event_kind: what is looked at */
    struct api_second from, to;
    char filter[API_FILTER_MAX + 1]; /* "": none */
    uint32_t tid;
    uint64_t virtual_id;
    bool tree, inverted;
    uint32_t rows, nodes; /* at most so many methods and threads; tree nodes */
};

/* Reads the parameters of a view. -EINVAL with a message "rows: …" for a 400. */
int api_question_read(struct api_question *q, struct params *p, struct err *e);
/* The first parameter that nobody knows: -EINVAL with a message. Once all are read. */
int api_question_rest(const struct params *p, struct err *e);

/* Whether both are asked for the same. */
bool api_question_same(const struct api_question *a, const struct api_question *b);

/* The seconds that are meant, both inclusive; everything, which is 0 and 0, is said by false. */
bool api_question_window(const struct api_question *q, uint64_t latest, uint64_t *from,
                         uint64_t *to);
/* As a query, where `latest` is the latest second; its filter is the question's own. */
struct query api_question_query(const struct api_question *q, uint64_t latest);

#endif
