/*
 * What streams send: once a second one text for all that ask the same of the same JVM.
 *
 *      stream ─┐
 *      stream ─┼▶ feed (JVM, question) ─▶ fleet user ─▶ session
 *      stream ─┘
 *
 * Context: any thread joins and leaves; api_feed_tell is the streams' thread's alone.
 */
#ifndef JTOP_HTTP_SERVE_API_API_FEEDS_H
#define JTOP_HTTP_SERVE_API_API_FEEDS_H

#include "core/http/serve/api/api_question.h"

struct api_feeds; /* all there are */
struct api_feed;
struct text;

/* NULL: no memory. */
struct api_feeds *api_feeds_new(void);
/* Once all are left. NULL is fine. */
void api_feeds_free(struct api_feeds *all);

/* The feed of just this question, so far as its JVM runs; otherwise a new one, for which it
 * becomes a user. `all` NULL: always a new one. 0, or as fleet_enter; -ENOMEM. */
int api_feed_join(struct api_feeds *all, struct fleet *f, pid_t pid, const struct api_question *q,
                  struct api_feed **out, struct err *e);
void api_feed_leave(struct api_feed *feed);

/* Where a stream is. All 0: at its beginning. */
struct api_told {
    uint64_t turn;
};

/* Appends what a stream has not seen yet, if there is anything. 1: that was the last. */
int api_feed_tell(struct api_feed *feed, struct api_told *told, struct text *out);

#endif
