#include "core/http/push/sender.h"
#include "core/base/clock.h"
#include "core/http/push/protocol/message.h"
#include "core/http/push/sender_state.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* libcurl finds out only when it connects. */
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
                       "--token-file: a token goes only over https:// or to this machine, and "
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
        r = err_set(e, EINVAL, "--tls-cert and --tls-key belong together");
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

/* Signals are the main thread's. */
static int start_thread(struct sender *s, struct err *e) {
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int r = pthread_create(&s->thread, NULL, delivery_run, s);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return r == 0 ? 0 : err_set(e, r, "no thread to send profiles: %s", strerror(r));
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
    uint64_t in_hand = atomic_load(&s->in_hand); /* first: none is overlooked on its way */
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
