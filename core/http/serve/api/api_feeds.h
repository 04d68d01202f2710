/*
 * The events that streams send: one text per second for all streams that ask for the same of the
 * same JVM.
 *
 *      stream ─┐
 *      stream ─┼▶ feed (JVM, question) ─▶ fleet user ─▶ session
 *      stream ─┘
 *
 * Context: any thread joins and leaves; only the streams' thread calls api_feed_tell.
 */
#ifndef JTOP_HTTP_SERVE_API_API_FEEDS_H
#define JTOP_HTTP_SERVE_API_API_FEEDS_H

#include "core/http/serve/api/api_question.h"

struct api_feeds; /* all feeds */
struct api_feed;
struct text;

/* NULL: no memory. */
struct api_feeds *api_feeds_new(void);
/* Called after all feeds were left. NULL is fine. */
void api_feeds_free(struct api_feeds *all);

/* Joins the feed of exactly this question while its JVM runs; otherwise makes a new one, which
 * becomes a user of the JVM. `all` NULL: always a new one. 0, or as fleet_enter; -ENOMEM. */
int api_feed_join(struct api_feeds *all, struct fleet *f, pid_t pid, const struct api_question *q,
                  struct api_feed **out, struct err *e);
void api_feed_leave(struct api_feed *feed);

/* The position of a stream. All 0: at the beginning. */
struct api_told {
    uint64_t turn;
};

/* Appends what the stream has not got yet, if there is anything. 1: that was the last. */
int api_feed_tell(struct api_feed *feed, struct api_told *told, struct text *out);

#endif
