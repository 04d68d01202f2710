#include "core/http/push/sender.h"

#include "core/base/clock.h"
#include "core/http/push/backoff.h"
#include "core/http/push/inbox.h"
#include "core/http/push/protocol/answer.h"
#include "core/http/push/protocol/bearer.h"
#include "core/http/push/protocol/message.h"
#include "core/http/push/protocol/receiver_url.h"
#include "core/http/push/protocol/trouble.h"
#include "core/http/push/spool/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* Belongs to the sender's thread, once it runs. */
struct delivery {
    struct spool *spool;
    struct bearer bearer;
    struct backoff backoff;
    struct trouble receiver, disk;
    uint64_t next_try_ms, try_since_ms, next_save_ms;
    uint64_t lost_before, refused_before; /* values when the receiver's trouble began */
    uint64_t lost_said;
    unsigned doubts; /* tries of the oldest message that were answered with ANSWER_DOUBT */
    bool held_up;    /* the receiver causes a delay: everything that waits goes to the disk */
};

struct sender {
    const struct push_protocol *protocol;
    char protocol_name[64], spool_dir[256];
    struct receiver_url url;
    struct post *post; /* used by the thread only, except for post_wake */
    struct inbox inbox;
    struct delivery d;
    pthread_t thread;
    _Atomic bool closing;
    _Atomic uint64_t deadline_ms; /* valid once closing */
    _Atomic uint64_t rejected;    /* messages that sender_put itself rejected */
    _Atomic uint64_t in_hand;     /* messages put, but not yet in status.waiting */
    pthread_mutex_t lock;         /* protects `status` */
    struct sender_status status;
};

/* The sender's thread: takes messages from the inbox through the spool to the receiver. */

#define IDLE_MS 60000
#define SAVE_AGAIN_MS 5000 /* after the disk refused files */
#define SLOW_MS 2000       /* a try that takes longer may fail: waiting messages are saved */
#define DOUBTS_MAX 4       /* tries, if the protocol wants them after an error status */
#define DOUBTS_MAX_OK 8    /* tries, if the error is inside an answer with a success status */
#define LINE 768

static uint32_t any_number(void) {
    uint32_t n = 0;
    return getrandom(&n, sizeof n, GRND_NONBLOCK) == sizeof n ? n : (uint32_t)clock_now_ms();
}

static struct spool_counts counts_of(struct sender *s) {
    struct spool_counts c;
    spool_counts(s->d.spool, &c);
    return c;
}

static void publish(struct sender *s) {
    struct spool_counts c = counts_of(s);
    pthread_mutex_lock(&s->lock);
    s->status.lost = c.lost;
    s->status.waiting = c.messages;
    s->status.waiting_bytes = c.bytes;
    snprintf(s->status.trouble, sizeof s->status.trouble, "%s",
             s->d.receiver.is ? s->d.receiver.now : s->d.disk.now);
    pthread_mutex_unlock(&s->lock);
}

static void count(struct sender *s, uint64_t *counter, uint64_t n) {
    pthread_mutex_lock(&s->lock);
    *counter += n;
    pthread_mutex_unlock(&s->lock);
}

/* ---- waiting messages ---- */

static void say_lost(struct sender *s) {
    struct spool_counts c = counts_of(s);
    char line[LINE];
    if (c.lost == s->d.lost_said)
        return;
    snprintf(line, sizeof line,
             "too many profiles wait for %.200s: the oldest are dropped to make space (%s)",
             s->url.base, s->spool_dir[0] ? "--spool-size" : "--spool keeps more, on disk");
    trouble_note(&s->d.receiver, clock_now_ms(), "lost", line);
    s->d.lost_said = c.lost;
}

static void save(struct sender *s, uint64_t now) {
    char line[LINE];
    int r = spool_save(s->d.spool);
    if (r == 0) {
        snprintf(line, sizeof line, "spool %s accepts profiles again", s->spool_dir);
        trouble_ends(&s->d.disk, line);
        return;
    }
    s->d.next_save_ms = now + SAVE_AGAIN_MS;
    snprintf(line, sizeof line, "spool %s: %s; profiles wait in memory, up to %u MiB", s->spool_dir,
             strerror(-r), SPOOL_MEMORY >> 20);
    trouble_begins(&s->d.disk, now, "disk", line);
}

/* Moves new messages to the spool. They stay in memory as long as the receiver takes what comes. */
static void keep(struct sender *s, uint64_t now) {
    struct push_message **item;
    uint32_t n = inbox_take(&s->inbox, &item);
    for (uint32_t i = 0; i < n; i++)
        spool_put(s->d.spool, item[i]);
    free(item);
    if (n) {
        publish(s);
        atomic_fetch_sub(&s->in_hand, n);
    }
    if (post_is_under_way(s->post) && now >= s->d.try_since_ms + SLOW_MS)
        s->d.held_up = true;
    if (s->spool_dir[0] && (s->d.held_up || s->d.disk.is) && now >= s->d.next_save_ms &&
        (counts_of(s).unsaved || s->d.disk.is))
        save(s, now);
    say_lost(s);
}

static void say_what_was_there(struct sender *s) {
    struct spool_counts c = counts_of(s);
    char line[LINE];
    if (!c.messages)
        return;
    snprintf(line, sizeof line, "spool %s: %" PRIu64 " profiles of an earlier push are sent first",
             s->spool_dir, c.messages);
    trouble_note(&s->d.disk, clock_now_ms(), "before", line);
}

static void say_what_is_odd(struct sender *s) {
    struct spool_counts c = counts_of(s);
    char line[LINE];
    if (c.broken) {
        snprintf(line, sizeof line, "spool %s: damaged files were removed", s->spool_dir);
        trouble_note(&s->d.disk, clock_now_ms(), "broken", line);
    }
    if (c.aside) {
        snprintf(line, sizeof line,
                 "spool %s: profiles in it are for a protocol other than %s, or from another "
                 "version of jtop-prof; they stay there",
                 s->spool_dir, s->protocol_name);
        trouble_note(&s->d.disk, clock_now_ms(), "aside", line);
    }
}

/* ---- tries ---- */

static void wait_before(struct sender *s, uint64_t now, uint32_t asked_s) {
    s->d.next_try_ms = now + backoff_next(&s->d.backoff, any_number(), asked_s);
    s->d.held_up = true;
    count(s, &s->status.retries, 1);
}

/* The text after a colon changes from try to try (numbers, a library's words), so it is not part of
 * `about`, by which a trouble is recognized. */
static void begin_trouble(struct sender *s, uint64_t now, const char *why) {
    char line[LINE], about[64];
    if (!s->d.receiver.is) {
        s->d.lost_before = counts_of(s).lost;
        s->d.refused_before = s->status.refused;
    }
    snprintf(about, sizeof about, "%.*s", (int)strcspn(why, ":;"), why);
    snprintf(line, sizeof line, "%.200s %s", s->url.base, why);
    trouble_begins(&s->d.receiver, now, about, line);
}

static void end_trouble(struct sender *s, uint64_t waited) {
    struct spool_counts c = counts_of(s);
    char line[LINE], given_up[64] = "";
    uint64_t n = c.lost - s->d.lost_before + s->status.refused - s->d.refused_before;
    if (n)
        snprintf(given_up, sizeof given_up, ", %" PRIu64 " dropped", n);
    snprintf(line, sizeof line, "%.200s accepts profiles again: %" PRIu64 " waited%s", s->url.base,
             waited, given_up);
    trouble_ends(&s->d.receiver, line);
}

static void taken(struct sender *s, uint64_t now, const char *why) {
    const struct push_message *m = spool_head(s->d.spool);
    count(s, &s->status.sent_bytes, m ? m->body.len : 0);
    count(s, &s->status.sent, 1);
    uint64_t waited = counts_of(s).messages;
    spool_pop(s->d.spool);
    s->d.backoff.failures = s->d.doubts = 0;
    s->d.next_try_ms = 0;
    s->d.held_up = false;
    if (s->d.receiver.is && !why[0])
        end_trouble(s, waited);
    if (why[0])
        begin_trouble(s, now, why);
}

static void refused(struct sender *s, uint64_t now, const char *why) {
    begin_trouble(s, now, why);
    count(s, &s->status.refused, 1);
    spool_pop(s->d.spool);
    s->d.doubts = 0;
    s->d.next_try_ms = 0; /* the next one may be accepted */
}

static void take_answer(struct sender *s, const struct post_result *r) {
    struct answer a;
    uint64_t now = clock_now_ms();
    const struct push_message *m = spool_head(s->d.spool);
    answer_judge(r, s->protocol, m ? m->body.len : 0, &a);
    unsigned most = r->status < 300 ? DOUBTS_MAX_OK : DOUBTS_MAX;
    bool doubt = a.kind == ANSWER_DOUBT && ++s->d.doubts < most;
    if (a.kind == ANSWER_TAKEN) {
        taken(s, now, a.why);
    } else if (a.kind == ANSWER_AGAIN || doubt) {
        begin_trouble(s, now, a.why);
        spool_release(s->d.spool);
        wait_before(s, now, r->retry_after_s);
    } else {
        refused(s, now, a.why);
    }
}

/* If the token was corrected, the next try is made at once. */
static void look_at_token(struct sender *s, uint64_t now) {
    struct err e = {0};
    int r = bearer_read(&s->d.bearer, &e);
    if (r < 0)
        trouble_note(&s->d.receiver, now, e.message, e.message);
    if (r > 0 && s->d.receiver.is) {
        s->d.backoff.failures = 0;
        s->d.next_try_ms = 0;
    }
}

static void begin_try(struct sender *s, uint64_t now) {
    char url[RECEIVER_URL_MAX + sizeof(((struct push_message *)0)->path) +
             sizeof(((struct push_message *)0)->query)];
    const struct push_message *m = spool_head(s->d.spool);
    say_what_is_odd(s);
    if (!m)
        return;
    int r = receiver_url_make(&s->url, m->path, m->query, url, sizeof url);
    if (r == 0)
        r = post_begin(s->post, url, s->d.bearer.header, m);
    s->d.try_since_ms = now;
    if (r == 0)
        return;
    begin_trouble(s, now, "cannot be contacted: no memory");
    spool_release(s->d.spool);
    wait_before(s, now, 0);
}

static uint32_t time_to_wait(struct sender *s, uint64_t now, bool closing) {
    uint64_t until = now + IDLE_MS;
    bool waiting = counts_of(s).messages > 0;
    if (closing && !waiting)
        return 0; /* none of what waited could be used */
    if (post_is_under_way(s->post) && s->spool_dir[0] && !s->d.held_up)
        until = s->d.try_since_ms + SLOW_MS;
    if (!post_is_under_way(s->post) && waiting) /* due, but not under way: there was no memory */
        until = s->d.next_try_ms > now ? s->d.next_try_ms : now + BACKOFF_LEAST_MS;
    if (s->d.bearer.path && waiting && until > now + BACKOFF_LEAST_MS)
        until = now + BACKOFF_LEAST_MS;
    if (s->d.disk.is && until > s->d.next_save_ms)
        until = s->d.next_save_ms;
    if (closing && until > atomic_load(&s->deadline_ms))
        until = atomic_load(&s->deadline_ms);
    return until > now ? (uint32_t)(until - now) : 0;
}

/* One round of the thread; false when it is over. */
static bool step(struct sender *s, bool *tried_at_end) {
    struct post_result r;
    uint64_t now = clock_now_ms();
    bool closing = atomic_load(&s->closing);
    keep(s, now);
    bool idle = !post_is_under_way(s->post);
    if (closing && (now >= atomic_load(&s->deadline_ms) || (idle && !counts_of(s).messages)))
        return false;
    if (closing && !*tried_at_end && idle) { /* whatever wait was set before: now or never */
        s->d.next_try_ms = 0;
        *tried_at_end = true;
    }
    if (idle && counts_of(s).messages)
        look_at_token(s, now);
    if (idle && now >= s->d.next_try_ms)
        begin_try(s, now);
    publish(s);
    if (post_step(s->post, time_to_wait(s, now, closing), &r))
        take_answer(s, &r);
    publish(s);
    return true;
}

/* Saves what was not sent to the disk, or reports it as lost. */
static void leave(struct sender *s) {
    char line[LINE];
    post_cancel(s->post);
    spool_release(s->d.spool);
    int r = s->spool_dir[0] ? spool_save(s->d.spool) : 0;
    struct spool_counts c = counts_of(s);
    uint64_t saved = c.messages - c.unsaved;
    if (saved) {
        snprintf(line, sizeof line,
                 "spool %s: %" PRIu64 " profiles are kept there for the next push", s->spool_dir,
                 saved);
        trouble_note(&s->d.disk, clock_now_ms(), "left", line);
    }
    if (c.unsaved) {
        snprintf(line, sizeof line, "%" PRIu64 " profiles were not sent to %.200s and are lost: %s",
                 c.unsaved, s->url.base,
                 r ? strerror(-r) : "--spool DIRECTORY keeps them for the next push");
        trouble_note(&s->d.disk, clock_now_ms(), "unsent", line);
    }
}

/* The thread: runs until `closing`, and then until everything is sent or the deadline is
 * reached. */
static void *delivery_run(void *sender) {
    struct sender *s = sender;
    bool tried_at_end = false;
    say_what_was_there(s);
    while (step(s, &tried_at_end))
        ;
    leave(s);
    return NULL;
}

/* libcurl would find a missing file only when it connects. */
static int check_file(const char *option, const char *path, struct err *e) {
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) : -1;
    if (path && fd < 0)
        return err_set(e, errno, "%s %.200s: %s", option, path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return 0;
}

static int check_secrets(const struct sender_options *o, struct sender *s, struct err *e) {
    s->d.bearer.path = o->token_file;
    if (!o->token_file)
        return 0;
    if (!s->url.tls && !s->url.loopback)
        return err_set(e, EINVAL,
                       "--token-file: a token is sent only over https:// or to this machine, but "
                       "--to is http://%.200s",
                       s->url.host);
    int r = bearer_read(&s->d.bearer, e);
    return r < 0 ? r : 0;
}

static int check(const struct sender_options *o, struct sender *s, struct err *e) {
    int r = receiver_url_parse(o->to, &s->url, e);
    if (r == 0)
        r = check_file("--tls-ca", o->ca, e);
    if (r == 0)
        r = check_file("--tls-cert", o->tls_cert, e);
    if (r == 0)
        r = check_file("--tls-key", o->tls_key, e);
    if (r == 0 && !o->tls_cert != !o->tls_key)
        r = err_set(e, EINVAL, "--tls-cert and --tls-key must be given together");
    if (r == 0)
        r = check_secrets(o, s, e);
    return r;
}

static void choose_protocol(const struct sender_options *o, struct sender *s) {
    s->protocol = o->protocol;
    if (!s->protocol)
        s->protocol = push_protocol_by_url(o->to);
    if (!s->protocol)
        s->protocol = push_protocol_by_name("otlp");
    snprintf(s->protocol_name, sizeof s->protocol_name, "%s",
             s->protocol ? s->protocol->name : "otlp");
}

/* Signals are handled by the main thread. */
static int start_thread(struct sender *s, struct err *e) {
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int r = pthread_create(&s->thread, NULL, delivery_run, s);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return r == 0 ? 0 : err_set(e, r, "cannot start a thread to send profiles: %s", strerror(r));
}

static void discard(struct sender *s) {
    post_free(s->post);
    spool_free(s->d.spool);
    bearer_forget(&s->d.bearer);
    inbox_free(&s->inbox);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

int sender_new(const struct sender_options *o, struct sender **out, struct err *e) {
    *out = NULL;
    struct sender *s = calloc(1, sizeof *s);
    if (!s)
        return err_set(e, ENOMEM, "no memory");
    inbox_init(&s->inbox);
    pthread_mutex_init(&s->lock, NULL);
    choose_protocol(o, s);
    snprintf(s->spool_dir, sizeof s->spool_dir, "%s", o->spool ? o->spool : "");
    s->d.receiver = s->d.disk = (struct trouble){.say = o->say, .arg = o->say_arg};
    struct spool_options spool = {
        .dir = o->spool, .bytes = o->spool_bytes, .protocol = s->protocol_name};
    struct post_options post = {
        .ca = o->ca, .tls_cert = o->tls_cert, .tls_key = o->tls_key, .timeout_ms = o->timeout_ms};
    int r = check(o, s, e);
    if (r == 0)
        r = spool_open(&spool, &s->d.spool, e);
    if (r == 0)
        r = post_new(&post, &s->post, e);
    if (r == 0)
        r = start_thread(s, e);
    if (r != 0) {
        discard(s);
        return r;
    }
    *out = s;
    return 0;
}

int sender_put(struct sender *s, struct push_message *m) {
    int r = -EINVAL;
    if (!m->body.failed && message_is_sound(m)) {
        struct push_message *own = message_take(m);
        atomic_fetch_add(&s->in_hand, 1);
        r = own ? inbox_put(&s->inbox, own) : -ENOMEM;
        if (r != 0)
            atomic_fetch_sub(&s->in_hand, 1);
    }
    if (r != 0)
        atomic_fetch_add(&s->rejected, 1);
    text_free(&m->body);
    post_wake(s->post);
    return r;
}

void sender_status(struct sender *s, struct sender_status *out) {
    uint64_t in_hand = atomic_load(&s->in_hand); /* read first, so that none is missed on its way */
    pthread_mutex_lock(&s->lock);
    *out = s->status;
    pthread_mutex_unlock(&s->lock);
    out->waiting += in_hand;
    out->lost += atomic_load(&s->rejected);
}

void sender_free(struct sender *s, uint32_t patience_ms) {
    if (!s)
        return;
    atomic_store(&s->deadline_ms, clock_now_ms() + patience_ms);
    atomic_store(&s->closing, true);
    post_wake(s->post);
    pthread_join(s->thread, NULL);
    discard(s);
}
