/*
 * A request to a JVM for a thread dump, in a thread of its own: a JVM at a long safepoint answers
 * late, and the screen must not wait for it. The thread also parses the answer.
 *
 * Context: frontend main thread.
 */
#ifndef JTOP_TUI_SCREEN_STACK_REQUEST_H
#define JTOP_TUI_SCREEN_STACK_REQUEST_H

#include "tui/model/model.h"
#include "tui/model/thread_dump.h"

#include <time.h>

#define STACK_REQUEST_SECONDS 60 /* a JVM that has not answered by then is given up */

struct stack_request;

/* Starts asking this JVM as source->stacks does. NULL: no memory, or no thread. */
struct stack_request *stack_request_start(const struct model_source *source, const struct jvm *j,
                                          bool locks);

bool stack_request_is_done(const struct stack_request *r);

/* Takes the answer once it is there, and frees the request. Sets the dump, which the caller frees,
 * and the time when it came. Returns 0, or -errno with a message. Of a text that is longer than
 * THREAD_DUMP_BYTES the rest is not read. */
int stack_request_take(struct stack_request *r, struct thread_dump *out, time_t *when,
                       struct err *e);

/* Frees the request; NULL is allowed. If there is no answer yet, the connection to the JVM is
 * closed about a second later. */
void stack_request_cancel(struct stack_request *r);

#endif
