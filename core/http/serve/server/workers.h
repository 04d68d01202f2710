/*
 * Threads that do jobs, one after another, with a queue of bounded length.
 *
 * Context: any thread.
 */
#ifndef JTOP_HTTP_SERVE_SERVER_WORKERS_H
#define JTOP_HTTP_SERVE_SERVER_WORKERS_H

#include "core/base/err.h"

#include <stdint.h>

#define WORKERS_WAITING 128 /* jobs in the queue */

struct workers;

/* `work` is called for each job, in one of the threads. -EAGAIN, -ENOMEM with a message. */
int workers_new(uint32_t threads, void (*work)(void *job), struct workers **out, struct err *e);
/* 0, -EAGAIN: the queue is full, -ESHUTDOWN: the threads are being ended. */
int workers_give(struct workers *w, void *job);
/* Accepts no more jobs; returns when all accepted jobs are done. */
void workers_end(struct workers *w);
/* After workers_end; NULL is fine. */
void workers_free(struct workers *w);

#endif
