#include "core/record/feed.h"

#include "core/wire/record_build.h"
#include "core/wire/share_frame.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define PIECE_BYTES (64u << 10)

struct piece {
    struct piece *next;
    size_t bytes, sent, room;
    uint64_t data[]; /* a frame; its header is first */
};

struct queue {
    struct piece *open; /* belongs to the writer; contains its records */
    /* protected by `lock` */
    struct piece *first, *last;
};

struct feed {
    atomic_int users;
    bool wants_past;
    struct past *past;
    struct queue now, later; /* later: data that is held back */
    struct queue *to;        /* belongs to the writer: the queue it writes to */
    uint64_t written;
    pthread_mutex_t lock;
    /* protected by `lock` */
    size_t bytes, limit; /* of both queues */
    bool overrun, closed;
};

struct feed *feed_new(bool past) {
    struct feed *f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    atomic_init(&f->users, 2);
    pthread_mutex_init(&f->lock, NULL);
    f->wants_past = past;
    f->to = &f->now;
    f->limit = FEED_BEGIN_BYTES_MAX;
    return f;
}

static void drop(struct queue *q) {
    while (q->first) {
        struct piece *p = q->first;
        q->first = p->next;
        free(p);
    }
    q->last = NULL;
}

static void drop_all(struct feed *f) {
    drop(&f->now);
    drop(&f->later);
    f->bytes = 0;
}

void feed_release(struct feed *f) {
    if (!f || atomic_fetch_sub(&f->users, 1) > 1)
        return;
    drop_all(f);
    free(f->now.open);
    free(f->later.open);
    pthread_mutex_destroy(&f->lock);
    free(f);
}

static struct piece *new_piece(size_t room) {
    struct piece *p = malloc(sizeof *p + sizeof(struct share_header) + room);
    if (!p)
        return NULL;
    p->next = NULL;
    p->bytes = sizeof(struct share_header);
    p->sent = 0;
    p->room = sizeof(struct share_header) + room;
    return p;
}

/* Takes over the piece. */
static void push(struct feed *f, struct queue *q, struct piece *p, uint32_t kind) {
    struct share_header h = {.kind = kind,
                             .bytes = (uint32_t)(p->bytes - sizeof(struct share_header))};
    memcpy(p->data, &h, sizeof h);
    pthread_mutex_lock(&f->lock);
    f->overrun |= f->bytes + p->room > f->limit;
    if (f->overrun || f->closed) {
        drop_all(f);
        free(p);
    } else {
        if (q->last)
            q->last->next = p;
        else
            q->first = p;
        q->last = p;
        f->bytes += p->room;
    }
    pthread_mutex_unlock(&f->lock);
}

void feed_fail(struct feed *f) {
    pthread_mutex_lock(&f->lock);
    f->overrun = true;
    pthread_mutex_unlock(&f->lock);
}

bool feed_wants_past(const struct feed *f) {
    return f->wants_past;
}

void feed_set_past(struct feed *f, struct past *p) {
    f->past = p;
}

struct past *feed_past(const struct feed *f) {
    return f->past;
}

void feed_hold(struct feed *f, bool hold) {
    f->to = hold ? &f->later : &f->now;
}

static bool flush(struct feed *f, struct queue *q) {
    struct piece *p = q->open;
    q->open = NULL;
    if (p)
        push(f, q, p, SHARE_RECORDS);
    return p != NULL;
}

static void add(struct piece *p, const void *data, size_t bytes) {
    memcpy((char *)p->data + p->bytes, data, bytes);
    p->bytes += bytes;
}

void feed_write(struct feed *f, const void *record) {
    uint64_t word;
    memcpy(&word, record, sizeof word);
    size_t length = wire_header_length(word);
    struct queue *q = f->to;
    if (q->open && q->open->room - q->open->bytes < length)
        flush(f, q);
    if (!q->open)
        q->open = new_piece(PIECE_BYTES);
    f->written += length;
    if (q->open)
        add(q->open, record, length);
    else
        feed_fail(f);
}

void feed_write_symbol(struct feed *f, uint64_t address, uint32_t kind, const char *name,
                       const char *module) {
    uint64_t record[RECORD_BUILD_BYTES / 8];
    record_build_symbol(record, address, kind, wire_text_of(name), wire_text_of(module));
    feed_write(f, record);
}

bool feed_flush(struct feed *f) {
    return flush(f, &f->now);
}

uint64_t feed_written(const struct feed *f) {
    return f->written;
}

void feed_begun(struct feed *f) {
    flush(f, &f->now);
    flush(f, &f->later);
    f->to = &f->now;
    pthread_mutex_lock(&f->lock);
    if (f->later.first) {
        if (f->now.last)
            f->now.last->next = f->later.first;
        else
            f->now.first = f->later.first;
        f->now.last = f->later.last;
        f->later.first = f->later.last = NULL;
    }
    f->limit = f->bytes + FEED_BYTES_MAX;
    pthread_mutex_unlock(&f->lock);
}

bool feed_closed(struct feed *f) {
    pthread_mutex_lock(&f->lock);
    bool closed = f->closed || f->overrun;
    pthread_mutex_unlock(&f->lock);
    return closed;
}

void feed_put(struct feed *f, uint32_t kind, const void *data, size_t bytes) {
    struct piece *p = new_piece(bytes);
    if (!p) {
        feed_fail(f);
        return;
    }
    add(p, data, bytes);
    push(f, &f->now, p, kind);
}

/* Takes the first unsent frame out of the queue; it belongs to the sender until it is sent. */
static struct piece *take_first(struct feed *f, int *rc) {
    pthread_mutex_lock(&f->lock);
    struct piece *p = f->now.first;
    *rc = f->overrun && !f->closed ? -ENOBUFS : 0;
    if (p && !f->overrun) {
        f->now.first = p->next;
        if (!f->now.first)
            f->now.last = NULL;
    } else {
        p = NULL;
    }
    pthread_mutex_unlock(&f->lock);
    return p;
}

/* Frees a piece that is sent; otherwise puts it back at the head of the queue. */
static void done_with(struct feed *f, struct piece *p) {
    pthread_mutex_lock(&f->lock);
    bool over = p->sent == p->bytes || f->overrun || f->closed;
    if (!over) {
        p->next = f->now.first;
        f->now.first = p;
        if (!f->now.last)
            f->now.last = p;
    } else if (!f->overrun && !f->closed) {
        f->bytes -= p->room;
        /* The data from the beginning has been sent, so the limit is lowered. */
        if (f->limit > FEED_BYTES_MAX && f->limit != FEED_BEGIN_BYTES_MAX)
            f->limit = f->bytes + FEED_BYTES_MAX < f->limit ? f->bytes + FEED_BYTES_MAX : f->limit;
        if (f->limit < FEED_BYTES_MAX)
            f->limit = FEED_BYTES_MAX;
    }
    pthread_mutex_unlock(&f->lock);
    if (over)
        free(p);
}

int feed_send(struct feed *f, int fd) {
    int rc = 0;
    for (struct piece *p; rc == 0 && (p = take_first(f, &rc));) {
        ssize_t n =
            send(fd, (char *)p->data + p->sent, p->bytes - p->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno != EINTR)
            rc = -errno;
        p->sent += n > 0 ? (size_t)n : 0;
        done_with(f, p);
    }
    return rc;
}

bool feed_has_more(struct feed *f) {
    pthread_mutex_lock(&f->lock);
    bool more = f->now.first || (f->overrun && !f->closed);
    pthread_mutex_unlock(&f->lock);
    return more;
}

void feed_close(struct feed *f) {
    pthread_mutex_lock(&f->lock);
    f->closed = true;
    drop_all(f);
    pthread_mutex_unlock(&f->lock);
}
