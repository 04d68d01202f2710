/*
 * What goes to one who looks on: frames in a bounded queue in memory. The drain thread puts records
 * in and never waits; the sharing thread sends what it finds. Who does not keep up is let go.
 *
 *      feed_write ─▶ open frame ─▶ feed_flush ─▶ queue ─▶ feed_send ─▶ socket
 *             └───▶ held back, until feed_begun ───┘
 *
 * Context: as said at each function: `writer` is the drain thread, `sender` the sharing one.
 */
#ifndef JTOP_RECORD_FEED_H
#define JTOP_RECORD_FEED_H

#include "core/profile/table/method_table.h"
#include "core/wire/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FEED_BYTES_MAX (8u << 20)         /* not sent yet */
#define FEED_BEGIN_BYTES_MAX (160u << 20) /* of names and of the past, while they are sent */

struct feed;
struct past;

/* For two: the writer and the sender, each of whom lets go of it by feed_release. NULL: no memory. */
struct feed *feed_new(bool past);
void feed_release(struct feed *f);

/* Writer. Whether the past is wanted as well. */
bool feed_wants_past(const struct feed *f);
/* Writer. What is still being told of the past; the writer's own. NULL: nothing. */
void feed_set_past(struct feed *f, struct past *p);
struct past *feed_past(const struct feed *f);
/* Writer. What is written while this is so comes behind what is written while it is not. */
void feed_hold(struct feed *f, bool hold);
/* Writer. A record whose header word says its length. */
void feed_write(struct feed *f, const void *record);
void feed_write_symbol(struct feed *f, uint64_t address, uint32_t kind, const char *name,
                       const char *module);
/* Writer. What was written is to be sent. True: there is something. */
bool feed_flush(struct feed *f);
/* Writer. Bytes written so far, sent or not. */
uint64_t feed_written(const struct feed *f);
/* Writer. Names and the past are complete: what was held back follows them, and from here on the
 * smaller bound holds. */
void feed_begun(struct feed *f);
/* Any thread. There was no memory for all of it: as if it had not kept up. */
void feed_fail(struct feed *f);
/* Any thread. Nobody reads any more. */
bool feed_closed(struct feed *f);

/* Any thread. A frame of its own, behind what was flushed. */
void feed_put(struct feed *f, uint32_t kind, const void *data, size_t bytes);

/* Sender. As much as goes without waiting. 0; -EAGAIN: the rest has to wait; -ENOBUFS: it does not
 * keep up; -errno. */
int feed_send(struct feed *f, int fd);
bool feed_has_more(struct feed *f);
/* Sender. Nothing more is wanted. */
void feed_close(struct feed *f);

#endif
