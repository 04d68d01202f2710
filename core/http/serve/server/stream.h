/*
 * Answers without an end. One thread asks each of them for what is new (serve_answer.next), when it
 * is due, and whoever sends takes it in pieces, without waiting. One whose reader is slow is not
 * asked before what there is was taken.
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

struct streams; /* all of them */
struct stream;

int streams_new(struct streams **out, struct err *e);
/* Each is at its end from now on; returns when none is being asked. */
void streams_end(struct streams *all);
/* After streams_end, when each was left. NULL is fine. */
void streams_free(struct streams *all);

/* Takes over `a`'s next, end and arg: `end` will be called, also where this fails. -EUSERS: too many,
 * -ENOMEM, -ESHUTDOWN. `wake(who)`: there is something to take for who was told to sleep. */
int stream_new(struct streams *all, const struct serve_answer *a, void (*wake)(void *who),
               void *who, struct stream **out);
/* Takes some bytes. 0: nothing now; `sleep(who)` was called, with the lock held, and `wake` will be.
 * STREAM_END: that was all; STREAM_BROKEN: it went wrong. */
ssize_t stream_take(struct stream *s, char *out, size_t max, void (*sleep)(void *who));
/* Nobody reads it any more. */
void stream_leave(struct stream *s);

#endif
