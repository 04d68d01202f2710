/*
 * Answers without an end. One thread calls the `next` of each one (serve_answer.next) when it is
 * due; the sender takes the new data in pieces, without waiting. If a client is slow, `next` is not
 * called before all its data was taken.
 *
 * Context: any thread. `wake` is called with the streams' lock held; it must not call back.
 */
#ifndef JTOP_HTTP_SERVE_SERVER_STREAM_H
#define JTOP_HTTP_SERVE_SERVER_STREAM_H

#include "core/base/err.h"
#include "core/http/serve/server/route.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define STREAMS_MAX 64

enum { STREAM_END = -1, STREAM_BROKEN = -2 };

struct streams; /* all streams */
struct stream;

int streams_new(struct streams **out, struct err *e);
/* From now on every stream is at its end; returns when no `next` is running. */
void streams_end(struct streams *all);
/* Called after streams_end, when each stream was left. NULL is fine. */
void streams_free(struct streams *all);

/* Takes over `a`'s next, end and arg: `end` will be called, even if this fails. -EUSERS: too many,
 * -ENOMEM, -ESHUTDOWN. `wake(who)`: there is data to take for a sender that was told to sleep. */
int stream_new(struct streams *all, const struct serve_answer *a, void (*wake)(void *who),
               void *who, struct stream **out);
/* Takes some bytes. 0: nothing now; `sleep(who)` was called, with the lock held, and `wake` will
 * be. STREAM_END: that was all; STREAM_BROKEN: it failed. */
ssize_t stream_take(struct stream *s, char *out, size_t max, void (*sleep)(void *who));
/* The stream has no reader any more. */
void stream_leave(struct stream *s);

#endif
