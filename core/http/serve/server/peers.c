#include "core/http/serve/server/peers.h"
#include "core/http/serve/server/listen.h"

#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define KEPT (2ul * PEERS_CONNECTIONS) /* including connections ended but not closed yet */
#define GUESSERS 256
#define SECOND 1000000000ull
#define SENDING_IN_PEACE (10 * SECOND) /* after this time it may be ended for another one */

struct key {
    unsigned char byte[16];
    bool loopback;
};

struct connection {
    int fd; /* -1: unused */
    bool ended;
    enum peers_state state;
    uint64_t since;
    struct key key;
};

struct guesser {
    struct key key;
    uint32_t wrong; /* minus one per second since `then` */
    uint64_t then;  /* 0: unused */
};

struct peers {
    pthread_mutex_t lock;
    struct connection connection[KEPT];
    struct guesser guesser[GUESSERS];
};

/* What an address counts as. A user with one IPv6 address has 2^64 of them, which count as one. */
static struct key key_of(const struct sockaddr *address) {
    struct key k;
    memset(&k, 0, sizeof k);
    k.loopback = listen_is_loopback(address);
    if (k.loopback)
        return k;
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *in = (const void *)address;
        k.byte[10] = k.byte[11] = 0xff;
        memcpy(k.byte + 12, &in->sin_addr, 4);
    } else if (address->sa_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const void *)address;
        memcpy(k.byte, &in6->sin6_addr, IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr) ? 16 : 8);
    }
    return k;
}

static bool same(const struct key *a, const struct key *b) {
    return a->loopback == b->loopback && memcmp(a->byte, b->byte, sizeof a->byte) == 0;
}

struct peers *peers_new(void) {
    struct peers *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    pthread_mutex_init(&p->lock, NULL);
    for (size_t i = 0; i < KEPT; i++)
        p->connection[i].fd = -1;
    return p;
}

void peers_free(struct peers *p) {
    if (!p)
        return;
    pthread_mutex_destroy(&p->lock);
    free(p);
}

static struct connection *find(struct peers *p, int fd) {
    for (size_t i = 0; i < KEPT; i++)
        if (p->connection[i].fd == fd)
            return &p->connection[i];
    return NULL;
}

static void end(struct connection *c) {
    c->ended = true;
    shutdown(c->fd, SHUT_RDWR);
}

/* The connection with the highest value is ended first; 0: it must not be ended. */
static uint64_t claim(const struct connection *c, uint64_t now) {
    uint64_t age = now > c->since ? now - c->since : 0;
    if (c->state == PEERS_WAITING)
        return age + PEERS_SEND_NS; /* before any that is being answered */
    return c->state == PEERS_SENDING && age > SENDING_IN_PEACE ? age : 0;
}

/* Counts the connections of a key (NULL: all); `*worst` is the one that would be ended first. */
static uint32_t count(struct peers *p, const struct key *k, uint64_t now,
                      struct connection **worst) {
    uint32_t n = 0;
    uint64_t most = 0;
    *worst = NULL;
    for (size_t i = 0; i < KEPT; i++) {
        struct connection *c = &p->connection[i];
        if (c->fd < 0 || c->ended || (k && !same(k, &c->key)))
            continue;
        n++;
        uint64_t it = claim(c, now);
        if (it > most) {
            most = it;
            *worst = c;
        }
    }
    return n;
}

static bool make_room(struct peers *p, const struct key *k, uint32_t limit, uint64_t now) {
    struct connection *worst;
    if (count(p, k, now, &worst) < limit)
        return true;
    if (worst)
        end(worst);
    return worst != NULL;
}

int peers_admit(struct peers *p, int fd, const struct sockaddr *address, uint64_t now) {
    struct key k = key_of(address);
    pthread_mutex_lock(&p->lock);
    /* An earlier connection with this descriptor was closed without a call of peers_forget. */
    struct connection *c = find(p, fd);
    if (c)
        c->fd = -1;
    bool room = (k.loopback || make_room(p, &k, PEERS_EACH, now)) &&
                make_room(p, NULL, PEERS_CONNECTIONS, now);
    c = room ? find(p, -1) : NULL;
    if (c)
        *c = (struct connection){.fd = fd, .state = PEERS_WAITING, .since = now, .key = k};
    pthread_mutex_unlock(&p->lock);
    return c ? 0 : -EUSERS;
}

void peers_note(struct peers *p, int fd, enum peers_state state, uint64_t now) {
    pthread_mutex_lock(&p->lock);
    struct connection *c = find(p, fd);
    if (c) {
        c->state = state;
        c->since = now;
    }
    pthread_mutex_unlock(&p->lock);
}

void peers_forget(struct peers *p, int fd) {
    pthread_mutex_lock(&p->lock);
    struct connection *c = find(p, fd);
    if (c)
        c->fd = -1;
    pthread_mutex_unlock(&p->lock);
}

void peers_sweep(struct peers *p, uint64_t now) {
    pthread_mutex_lock(&p->lock);
    for (size_t i = 0; i < KEPT; i++) {
        struct connection *c = &p->connection[i];
        if (c->fd < 0 || c->ended || now <= c->since || c->state == PEERS_BUSY)
            continue;
        if (now - c->since >= (c->state == PEERS_WAITING ? PEERS_WAIT_NS : PEERS_SEND_NS))
            end(c);
    }
    pthread_mutex_unlock(&p->lock);
}

uint32_t peers_answering(struct peers *p) {
    uint32_t n = 0;
    pthread_mutex_lock(&p->lock);
    for (size_t i = 0; i < KEPT; i++)
        n += p->connection[i].fd >= 0 && !p->connection[i].ended &&
             p->connection[i].state != PEERS_WAITING;
    pthread_mutex_unlock(&p->lock);
    return n;
}

uint32_t peers_count(struct peers *p) {
    struct connection *worst;
    pthread_mutex_lock(&p->lock);
    uint32_t n = count(p, NULL, 0, &worst);
    pthread_mutex_unlock(&p->lock);
    return n;
}

/* The entry of the address, or else the one that was unused for longest, reset. */
static struct guesser *guesser_of(struct peers *p, const struct key *k) {
    struct guesser *oldest = &p->guesser[0];
    for (size_t i = 0; i < GUESSERS; i++) {
        struct guesser *g = &p->guesser[i];
        if (g->then && same(&g->key, k))
            return g;
        if (g->then < oldest->then)
            oldest = g;
    }
    *oldest = (struct guesser){.key = *k};
    return oldest;
}

static void forgive(struct guesser *g, uint64_t now) {
    uint64_t seconds = now > g->then ? (now - g->then) / SECOND : 0;
    g->wrong = seconds < g->wrong ? g->wrong - (uint32_t)seconds : 0;
    g->then = g->wrong ? g->then + seconds * SECOND : now;
}

bool peers_may_guess(struct peers *p, const struct sockaddr *address, uint64_t now) {
    struct key k = key_of(address);
    bool may = true;
    pthread_mutex_lock(&p->lock);
    for (size_t i = 0; i < GUESSERS; i++) {
        struct guesser *g = &p->guesser[i];
        if (g->then && same(&g->key, &k)) {
            forgive(g, now);
            may = g->wrong < PEERS_GUESSES;
        }
    }
    pthread_mutex_unlock(&p->lock);
    return may;
}

void peers_guessed_wrong(struct peers *p, const struct sockaddr *address, uint64_t now) {
    struct key k = key_of(address);
    pthread_mutex_lock(&p->lock);
    struct guesser *g = guesser_of(p, &k);
    forgive(g, now);
    g->wrong++;
    pthread_mutex_unlock(&p->lock);
}
