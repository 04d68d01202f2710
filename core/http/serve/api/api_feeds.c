#include "core/http/serve/api/api_feeds.h"

#include "core/base/clock.h"
#include "core/http/serve/api/api_view.h"
#include "core/http/serve/api/json.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Streams ask once a second, but not all at the same moment: an answer younger than this is used
 * again. */
#define FRESH_NS 700000000u

struct api_feeds {
    pthread_mutex_t lock;
    struct api_feed *first;
    /* Feeds that nobody follows any more. Leaving a JVM that answers slowly takes time, and the
     * thread that ends a stream must not wait; so the leaver does it. */
    pthread_t leaver;
    pthread_cond_t left;
    struct api_feed *leaving;
    bool ending;
};

struct api_feed {
    struct api_feeds *all; /* NULL: not shared */
    struct api_feed *next;
    uint32_t streams;
    bool ended; /* nobody can join it any more */
    pid_t pid;
    struct api_question question;
    struct fleet_user *user;
    /* Used by the streams' thread only: */
    struct text text;         /* the last events */
    uint64_t turn;            /* number of the last events */
    uint64_t made_ns, second; /* when `text` was made; its latest second */
    enum session_phase phase;
};

static void release(struct api_feed *feed) {
    fleet_leave(feed->user);
    text_free(&feed->text);
    free(feed);
}

static void *leaver_main(void *arg) {
    struct api_feeds *all = arg;
    pthread_mutex_lock(&all->lock);
    while (all->leaving || !all->ending) {
        struct api_feed *feed = all->leaving;
        if (!feed) {
            pthread_cond_wait(&all->left, &all->lock);
            continue;
        }
        all->leaving = feed->next;
        pthread_mutex_unlock(&all->lock);
        release(feed);
        pthread_mutex_lock(&all->lock);
    }
    pthread_mutex_unlock(&all->lock);
    return NULL;
}

static void destroy(struct api_feeds *all) {
    pthread_cond_destroy(&all->left);
    pthread_mutex_destroy(&all->lock);
    free(all);
}

struct api_feeds *api_feeds_new(void) {
    struct api_feeds *all = calloc(1, sizeof *all);
    if (!all)
        return NULL;
    pthread_mutex_init(&all->lock, NULL);
    pthread_cond_init(&all->left, NULL);
    if (pthread_create(&all->leaver, NULL, leaver_main, all) == 0)
        return all;
    destroy(all);
    return NULL;
}

void api_feeds_free(struct api_feeds *all) {
    if (!all)
        return;
    pthread_mutex_lock(&all->lock);
    all->ending = true;
    pthread_cond_signal(&all->left);
    pthread_mutex_unlock(&all->lock);
    pthread_join(all->leaver, NULL);
    destroy(all);
}

/* Joining and leaving. */

static struct api_feed *join_one(struct api_feeds *all, pid_t pid, const struct api_question *q) {
    pthread_mutex_lock(&all->lock);
    struct api_feed *feed = all->first;
    while (feed && (feed->ended || feed->pid != pid || !api_question_same(&feed->question, q)))
        feed = feed->next;
    if (feed)
        feed->streams++;
    pthread_mutex_unlock(&all->lock);
    return feed;
}

int api_feed_join(struct api_feeds *all, struct fleet *f, pid_t pid, const struct api_question *q,
                  struct api_feed **out, struct err *e) {
    *out = all ? join_one(all, pid, q) : NULL;
    if (*out)
        return 0;
    struct api_feed *feed = calloc(1, sizeof *feed);
    if (!feed)
        return err_set(e, ENOMEM, "there is no memory for another stream");
    feed->all = all;
    feed->streams = 1;
    feed->pid = pid;
    feed->question = *q;
    int r = fleet_enter(f, pid, &q->want, &feed->user, e);
    if (r < 0) {
        free(feed);
        return r;
    }
    if (all) { /* two equal feeds, made at the same moment, do no harm */
        pthread_mutex_lock(&all->lock);
        feed->next = all->first;
        all->first = feed;
        pthread_mutex_unlock(&all->lock);
    }
    *out = feed;
    return 0;
}

static void unlink_one(struct api_feeds *all, struct api_feed *feed) {
    struct api_feed **at = &all->first;
    while (*at != feed)
        at = &(*at)->next;
    *at = feed->next;
}

void api_feed_leave(struct api_feed *feed) {
    struct api_feeds *all = feed->all;
    if (!all) {
        release(feed);
        return;
    }
    pthread_mutex_lock(&all->lock);
    if (--feed->streams == 0) {
        unlink_one(all, feed);
        feed->next = all->leaving;
        all->leaving = feed;
        pthread_cond_signal(&all->left);
    }
    pthread_mutex_unlock(&all->lock);
}

/* Making and sending the events. */

static bool is_over(enum session_phase phase) {
    return phase == SESSION_JVM_GONE || phase == SESSION_FAILED;
}

static void add_end(struct text *out, const char *event, const char *message) {
    struct json j = {.out = out};
    text_addf(out, "event: %s\ndata: ", event);
    json_begin(&j, NULL, '{');
    json_string(&j, "message", message);
    json_end(&j, '}');
    text_add(out, "\n\n");
}

/* Nothing more will come, and the text has everything. */
static bool is_settled(const struct api_feed *feed, struct session *s) {
    struct session_status st;
    session_status(s, &st);
    if (!feed->turn || st.phase == SESSION_RUNNING || st.phase != feed->phase)
        return false;
    const struct api_span span = api_view_span(session_lock(s), st.phase, 0);
    session_unlock(s);
    return span.latest == feed->second;
}

static int add_view(struct api_feed *feed, struct session *s) {
    struct api_view view;
    struct text *out = &feed->text;
    int r = api_view_take(&view, s, &feed->question);
    if (r < 0)
        return r;
    const char *message = view.status.message;
    feed->phase = view.status.phase;
    feed->second = view.span.latest;
    text_addf(out, "event: view\nid: %llu\ndata: ", (unsigned long long)feed->second);
    r = api_view_write(&view, out);
    text_add(out, "\n\n");
    if (feed->phase == SESSION_JVM_GONE)
        add_end(out, "gone", message[0] ? message : "the JVM has ended");
    else if (feed->phase == SESSION_FAILED)
        add_end(out, "trouble", message[0] ? message : "the profile cannot continue");
    api_view_free(&view);
    return r < 0 || out->failed ? -ENOMEM : 0;
}

/* No stream may join a feed that is over: there may be another JVM with that pid. */
static void close_to_others(struct api_feed *feed) {
    if (!feed->all)
        return;
    pthread_mutex_lock(&feed->all->lock);
    feed->ended = true;
    pthread_mutex_unlock(&feed->all->lock);
}

static void make(struct api_feed *feed) {
    struct session *s = fleet_session(feed->user);
    const uint64_t now = clock_now_ns();
    if (feed->turn && (is_over(feed->phase) || now - feed->made_ns < FRESH_NS))
        return;
    if (is_settled(feed, s))
        return;
    text_clear(&feed->text);
    if (add_view(feed, s) < 0) {
        text_free(&feed->text);
        add_end(&feed->text, "trouble", "there is no memory for another view");
        feed->phase = SESSION_FAILED;
    }
    feed->made_ns = now;
    feed->turn++;
    if (is_over(feed->phase))
        close_to_others(feed);
}

int api_feed_tell(struct api_feed *feed, struct api_told *told, struct text *out) {
    make(feed);
    if (told->turn == feed->turn)
        return 0;
    if (!told->turn)
        text_add(out, "retry: 1000\n\n"); /* ms until a browser connects again */
    told->turn = feed->turn;
    text_add_n(out, feed->text.data ? feed->text.data : "", feed->text.len);
    return is_over(feed->phase);
}
