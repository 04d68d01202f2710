#include "core/http/serve/server/login.h"

#include "core/base/clock.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define KNOWN 64
#define RANDOM_BYTES 32
#define HEX (2ul * RANDOM_BYTES)
#define DAY_S 86400
#define SECOND 1000000000ull

struct known {
    char id[HEX + 1]; /* empty: unused */
    uint64_t until;
};

struct login {
    const struct guard_token *token;
    struct peers *peers;
    char name[32]; /* name of the cookie */
    pthread_mutex_t lock;
    struct known known[KNOWN];
};

struct login *login_new(const struct guard_token *token, struct peers *peers, unsigned port) {
    struct login *l = calloc(1, sizeof *l);
    if (!l)
        return NULL;
    l->token = token;
    l->peers = peers;
    snprintf(l->name, sizeof l->name, "jtop-prof-%u", port);
    pthread_mutex_init(&l->lock, NULL);
    return l;
}

void login_free(struct login *l) {
    if (!l)
        return;
    pthread_mutex_destroy(&l->lock);
    explicit_bzero(l->known, sizeof l->known);
    free(l);
}

enum login_verdict login_try(struct login *l, const char *shown, const struct sockaddr *peer) {
    uint64_t now = clock_now_ns();
    if (peer && !peers_may_guess(l->peers, peer, now))
        return LOGIN_TOO_OFTEN;
    if (guard_token_is(l->token, shown))
        return LOGIN_RIGHT;
    if (peer)
        peers_guessed_wrong(l->peers, peer, now);
    return LOGIN_WRONG;
}

/* The entry that expires first, or has expired. */
static struct known *oldest(struct login *l) {
    struct known *k = &l->known[0];
    for (size_t i = 1; i < KNOWN; i++)
        if (l->known[i].until < k->until)
            k = &l->known[i];
    return k;
}

int login_begin(struct login *l, bool secure, char out[LOGIN_COOKIE_MAX]) {
    unsigned char bytes[RANDOM_BYTES];
    char id[HEX + 1];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return -EAGAIN;
    for (size_t i = 0; i < RANDOM_BYTES; i++)
        snprintf(id + 2 * i, 3, "%02x", bytes[i]);
    pthread_mutex_lock(&l->lock);
    struct known *k = oldest(l);
    memcpy(k->id, id, sizeof id);
    k->until = clock_now_ns() + DAY_S * SECOND;
    pthread_mutex_unlock(&l->lock);
    snprintf(out, LOGIN_COOKIE_MAX, "%s=%s; Path=/; Max-Age=%d; HttpOnly; SameSite=Strict%s",
             l->name, id, DAY_S, secure ? "; Secure" : "");
    return 0;
}

static bool is_known(struct login *l, const char *id) {
    uint64_t now = clock_now_ns();
    bool found = false;
    pthread_mutex_lock(&l->lock);
    for (size_t i = 0; i < KNOWN; i++) {
        bool same = guard_same(l->known[i].id, id, HEX);
        found = found || (same && l->known[i].until > now);
    }
    pthread_mutex_unlock(&l->lock);
    return found;
}

bool login_knows(struct login *l, const char *cookies) {
    size_t length = strlen(l->name);
    for (const char *c = cookies; *c;) {
        c += strspn(c, "; ");
        size_t all = strcspn(c, ";");
        if (all == length + 1 + HEX && strncmp(c, l->name, length) == 0 && c[length] == '=' &&
            is_known(l, c + length + 1))
            return true;
        c += all;
    }
    return false;
}
