#include "core/http/serve/serve.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/http/fleet/roster.h"
#include "core/http/serve/api/api_feeds.h"
#include "core/http/serve/api/api_sources.h"
#include "core/http/serve/server/listen.h"
#include "core/http/serve/server/server.h"

#define LINGER_MS 10000
#define HISTORY_S                                                                                  \
    3700 /* seconds: the longest /prof, taken from existing samples; memory limits this, too */
#define LOOK_MS 1000
#define TIDY_MS 10000

/* Everything that serves, in the order in which it is made. */
struct parts {
    struct listen_at at;
    struct guard_token token;
    struct tls tls;
    int listen_fd;
    struct peers *peers;
    struct login *login;
    struct guard guard;
    struct serve serve;
    struct roster *roster; /* NULL: a JVM is profiled when a client requests it */
    struct server *server;
};

static int check_reach(const struct serve_options *o, const struct listen_at *at, struct err *e) {
    if (at->loopback || o->token_file || (o->tls_cert && o->tls_client_ca))
        return 0;
    return err_set(
        e, EPERM,
        "--listen %.100s: all users of other machines could connect: give --token-file FILE "
        "(openssl rand -hex 24 makes a token), or --tls-cert, --tls-key and --tls-ca for "
        "certificates",
        o->listen);
}

/* Checks what can be wrong with the command line, before any JVM is examined. */
static int open_door(const struct serve_options *o, struct parts *p, struct err *e) {
    int r = listen_parse(o->listen ? o->listen : SERVE_LISTEN_DEFAULT, &p->at, e);
    if (r == 0)
        r = check_reach(o, &p->at, e);
    if (r == 0 && o->token_file)
        r = guard_token_read(o->token_file, &p->token, e);
    if (r == 0)
        r = tls_read(o->tls_cert, o->tls_key, o->tls_client_ca, &p->tls, e);
    if (r == 0) {
        p->listen_fd = listen_open(&p->at, e);
        r = p->listen_fd < 0 ? p->listen_fd : 0;
    }
    return r;
}

static int make_guard(struct parts *p, struct err *e) {
    p->peers = peers_new();
    p->login = p->peers ? login_new(&p->token, p->peers, p->at.port) : NULL;
    if (!p->login)
        return err_set(e, ENOMEM, "no memory to serve");
    p->guard = (struct guard){.token = &p->token,
                              .certificates = p->tls.client_ca != NULL,
                              .login = p->login,
                              .peers = p->peers};
    return 0;
}

static int make_fleet(const struct serve_options *o, struct parts *p, struct err *e) {
    struct fleet_options fleet = {.session = o->session, .linger_ms = LINGER_MS};
    fleet.session.engines = 0;
    fleet.session.frugal = fleet.session.frugal || o->all_jvms;
    if (!fleet.session.history_seconds && !o->all_jvms)
        fleet.session.history_seconds = HISTORY_S;
    int r = fleet_new(&fleet, &p->serve.fleet, e);
    if (r < 0)
        return r;
    p->serve.options = o;
    p->serve.login = p->login;
    p->serve.begun_ns = clock_now_ns();
    p->serve.feeds = api_feeds_new();
    p->serve.sources = api_sources_new(o->source_path);
    p->serve.profs = prof_table_new(&p->serve, e);
    if (!p->serve.profs)
        return e && e->code ? -e->code : -ENOMEM;
    if (!o->all_jvms)
        return 0;
    struct roster_options roster = {.fleet = p->serve.fleet,
                                    .want = {.engines = o->session.engines},
                                    .bytes = sizeof(struct roster_jvm)};
    memcpy(roster.want.engine, o->session.engine, sizeof roster.want.engine);
    return roster_new(&roster, &p->roster, e);
}

static void close_all(struct parts *p) {
    server_free(p->server);
    roster_free(p->roster);
    if (p->serve.profs)
        prof_table_free(p->serve.profs);
    api_feeds_free(p->serve.feeds);
    api_sources_free(p->serve.sources);
    if (p->serve.fleet)
        fleet_free(p->serve.fleet);
    login_free(p->login);
    peers_free(p->peers);
    if (p->listen_fd >= 0)
        close(p->listen_fd);
    tls_free(&p->tls);
    explicit_bzero(&p->token, sizeof p->token);
}

/* Handles JVMs that have started, and those that have ended. */
static void look(struct roster *r) {
    uint32_t i = 0;
    roster_look(r);
    for (struct roster_jvm *j; (j = roster_next(r, &i));) {
        struct session_status st;
        session_status(fleet_session(j->user), &st);
        if (st.phase == SESSION_JVM_GONE)
            roster_release(r, j, ROSTER_ENDED);
        else if (st.phase != SESSION_RUNNING)
            roster_release(r, j, ROSTER_FAILED);
    }
}

static void wait_for(int stop_fd, struct parts *p) {
    struct pollfd stop = {.fd = stop_fd, .events = POLLIN};
    do {
        if (p->roster)
            look(p->roster);
        api_sources_tidy(p->serve.sources);
    } while (poll(&stop, 1, p->roster ? LOOK_MS : TIDY_MS) <= 0);
}

int serve_run(const struct serve_options *o, int stop_fd, void (*ready)(void *arg, const char *url),
              void *arg, struct err *e) {
    struct parts p = {.listen_fd = -1};
    char url[256];
    int r = open_door(o, &p, e);
    if (r == 0)
        r = make_guard(&p, e);
    if (r == 0)
        r = make_fleet(o, &p, e);
    if (r == 0) {
        struct server_options server = {
            .serve = &p.serve, .guard = &p.guard, .tls = &p.tls, .listen_fd = p.listen_fd};
        r = server_new(&server, &p.server, e);
    }
    if (r == 0) {
        listen_url(&p.at, p.tls.cert != NULL, url, sizeof url);
        ready(arg, url);
        wait_for(stop_fd, &p);
    }
    close_all(&p);
    return r;
}
