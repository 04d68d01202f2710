/* A view a second, as server-sent events. */
#include "core/http/serve/api/api.h"

#include "core/http/serve/api/api_feeds.h"

#include <stdlib.h>

#define PERIOD_MS 1000

struct follower {
    struct api_feed *feed;
    struct api_told told;
};

static int next(void *arg, struct text *out) {
    struct follower *f = arg;
    return api_feed_tell(f->feed, &f->told, out);
}

static void end(void *arg) {
    struct follower *f = arg;
    api_feed_leave(f->feed);
    free(f);
}

void serve_events(struct serve *s, const struct serve_request *q, struct serve_answer *a) {
    const char *what;
    struct err e = {0};
    struct api_question question;
    struct follower *f = calloc(1, sizeof *f);
    if (!f) {
        serve_refuse(a, 503, "there is no memory for another stream");
        return;
    }
    int r = api_ask(q, &question, &e);
    if (r == 0)
        r = api_feed_join(s->feeds, s->fleet, api_pid(q, &what), &question, &f->feed, &e);
    if (r < 0) {
        serve_refuse_err(a, &e);
        free(f);
        return;
    }
    a->type = "text/event-stream";
    a->next = next;
    a->end = end;
    a->arg = f;
    a->period_ms = PERIOD_MS;
}
