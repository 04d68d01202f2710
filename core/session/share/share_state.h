/*
 * The inside of sharing a session. Two threads know it: the sharing thread (share.c, and whoever is
 * connected: share_guest.c), and a worker it begins for each request (share_worker.c).
 *
 * Context: as the comments in the struct say.
 */
#ifndef JTOP_SESSION_SHARE_STATE_H
#define JTOP_SESSION_SHARE_STATE_H

#include "core/record/feed.h"
#include "core/session/session_state.h"
#include "core/session/share/share_socket.h"

#define SHARE_GUESTS_MAX 24u

enum guest_state { GUEST_NONE, GUEST_SPEAKS, GUEST_WAITS, GUEST_SERVED };

struct guest {
    int fd;
    enum guest_state state;
    uint64_t deadline_ns; /* to have spoken; 0: none */
    bool greeted;
    struct share_header header; /* of the frame that comes in … */
    char *in;                   /* … and its bytes; NULL: the header is not whole */
    size_t have;                /* of either */
    struct feed *feed;          /* NULL: does not look on */
};

struct share {
    struct session *session;
    share_handler *handler;
    void *arg;
    int listen_fd, wake_fd;
    pthread_t thread, worker;
    uint64_t deaf_until_ns; /* whoever comes before waits: there are no descriptors; 0: nobody */
    struct guest guest[SHARE_GUESTS_MAX];
    struct guest *served; /* by the worker; NULL: there is none */
    pthread_mutex_t lock;
    /* under the lock */
    bool served_out;       /* the worker has ended */
    bool quiet, quiet_now; /* no more requests are to be served; none is */
    bool quit;
    pthread_cond_t changed;
};

/* Whoever is connected; the sharing thread. */
void share_guest_dismiss(struct guest *g);
void share_guest_next_frame(struct guest *g); /* waits for one */
bool share_guest_welcome(struct share *h);    /* takes in one who has come; false: nobody has */
void share_guest_turn_away(struct share *h, struct guest *g); /* "ask again": -EAGAIN */
short share_guest_events(struct guest *g);                    /* what poll is to tell of it */
void share_guest_look_after(struct share *h, struct guest *g, short events, uint64_t now);

/* Requests, one after the other; the sharing thread. */
void share_worker_begin(struct share *h); /* of one that waits, where none is served */
void share_worker_end(struct share *h);   /* of one that is served, where it is over */

struct share_exit share_exit_of(int result, const struct err *e);

#endif
