/*
 * The data for one viewer: frames in a bounded queue in memory. The drain thread adds records and
 * never waits; the sharing thread sends them. A viewer that does not keep up is disconnected.
 *
 *      feed_write ─▶ open frame ─▶ feed_flush ─▶ queue ─▶ feed_send ─▶ socket
 *             └───▶ held back, until feed_begun ───┘
 *
 * Context: as stated at each function. `writer` is the drain thread, `sender` is the
 * sharing thread.
 */
#ifndef JTOP_RECORD_FEED_H
#define JTOP_RECORD_FEED_H

#include "core/profile/table/method_table.h"
#include "core/wire/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FEED_BYTES_MAX (8u << 20)         /* maximum that waits to be sent */
#define FEED_BEGIN_BYTES_MAX (160u << 20) /* the same while names and the past are sent */

struct feed;
struct past;

/* The feed belongs to two threads: the writer and the sender. Each releases it with feed_release.
 * NULL: no memory. */
struct feed *feed_new(bool past);
void feed_release(struct feed *f);

/* Writer. Whether the viewer wants the past, too. */
bool feed_wants_past(const struct feed *f);
/* Writer. Sets the part of the past that is still to be sent; it belongs to the writer. NULL:
 * nothing. */
void feed_set_past(struct feed *f, struct past *p);
struct past *feed_past(const struct feed *f);
/* Writer. While `hold` is true, what is written is sent after everything that is written while it
 * is false. */
void feed_hold(struct feed *f, bool hold);
/* Writer. Writes a record; its header word contains its length. */
void feed_write(struct feed *f, const void *record);
void feed_write_symbol(struct feed *f, uint64_t address, uint32_t kind, const char *name,
                       const char *module);
/* Writer. Queues what was written, so that it is sent. True: there was something. */
bool feed_flush(struct feed *f);
/* Writer. Number of bytes written so far, sent or not. */
uint64_t feed_written(const struct feed *f);
/* Writer. Names and the past are complete. The data that was held back follows them, and from now
 * on the smaller limit is valid. */
void feed_begun(struct feed *f);
/* Any thread. There was not enough memory for everything: treats the viewer as one that did not
 * keep up. */
void feed_fail(struct feed *f);
/* Any thread. Whether nobody reads the feed any more. */
bool feed_closed(struct feed *f);

/* Any thread. Queues a separate frame behind what was flushed. */
void feed_put(struct feed *f, uint32_t kind, const void *data, size_t bytes);

/* Sender. Sends as much as possible without waiting. 0; -EAGAIN: the rest must wait; -ENOBUFS: the
 * viewer does not keep up; -errno. */
int feed_send(struct feed *f, int fd);
bool feed_has_more(struct feed *f);
/* Sender. The viewer wants no more data. */
void feed_close(struct feed *f);

#endif
