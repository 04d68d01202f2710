#include "core/http/serve/server/server_state.h"

#include "core/base/clock.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define WORKERS 12
#define LIBRARY_CONNECTIONS (3 * PEERS_CONNECTIONS) /* with those that end; peers.h has the limit */
#define CONNECTION_MEMORY 40960 /* a request's headers and a piece of its answer */
#define IDLE_S 30               /* nothing is sent or taken for so long */
#define TLS_PRIORITIES "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"
#define SWEEP_MS 500
#define LAST_MS 1000 /* at the end, for answers on their way */
#define TIRED_MS 100 /* no descriptors: the queue of the kernel can wait */

int connection_fd(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

const struct sockaddr *connection_peer(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info ? info->client_addr : NULL;
}

/* The end is told of before the library closes the descriptor. */
static void on_connection(void *server, struct MHD_Connection *connection, void **context,
                          enum MHD_ConnectionNotificationCode what) {
    struct server *s = server;
    struct call_place *place = *context;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        *context = calloc(1, sizeof *place);
        return;
    }
    peers_forget(s->o.guard->peers, connection_fd(connection));
    if (place)
        call_free(place->call);
    free(place);
    *context = NULL;
}

/* The path's letters stay as they came: what they mean is ours to say. */
static size_t leave_as_is(void *arg, struct MHD_Connection *connection, char *text) {
    (void)arg, (void)connection;
    return strlen(text);
}

/* Where there is no room for a connection, that is said as far as it can be. */
static void turn_away(const struct server *s, int fd) {
    static const char busy[] = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\n"
                               "Content-Type: text/plain\r\nContent-Length: 21\r\n"
                               "Connection: close\r\n\r\ntoo many connections\n";
    if (!s->o.tls->cert) {
        ssize_t ignored = send(fd, busy, sizeof busy - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
        (void)ignored;
    }
    close(fd);
}

static void take(struct server *s, int fd, struct sockaddr *address, socklen_t length) {
    if (peers_admit(s->o.guard->peers, fd, address, clock_now_ns()) < 0) {
        turn_away(s, fd);
        return;
    }
    /* Whatever it says, the descriptor is the library's from here on. */
    if (MHD_add_connection(s->daemon, fd, address, length) != MHD_YES)
        peers_forget(s->o.guard->peers, fd);
}

static void *accept_main(void *server) {
    struct server *s = server;
    struct pollfd p[2] = {{.fd = s->o.listen_fd, .events = POLLIN},
                          {.fd = s->end_fd, .events = POLLIN}};
    uint64_t swept = 0;
    while (!(p[1].revents & POLLIN)) {
        uint64_t now = clock_now_ns();
        if (now - swept > SWEEP_MS * 1000000ull) {
            peers_sweep(s->o.guard->peers, now);
            swept = now;
        }
        if (poll(p, 2, SWEEP_MS) <= 0 || !(p[0].revents & POLLIN))
            continue;
        struct sockaddr_storage address;
        socklen_t length = sizeof address;
        int fd = accept4(s->o.listen_fd, (struct sockaddr *)&address, &length,
                         SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd >= 0)
            take(s, fd, (struct sockaddr *)&address, length);
        else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
            poll(&p[1], 1, TIRED_MS);
    }
    return NULL;
}

static struct MHD_Daemon *start_daemon(struct server *s) {
    struct MHD_OptionItem more[5];
    int n = 0;
    const struct tls *tls = s->o.tls;
    if (tls->cert) {
        more[n++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_CERT, 0, tls->cert};
        more[n++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_KEY, 0, tls->key};
        more[n++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_PRIORITIES, 0,
                                            (void *)(uintptr_t)TLS_PRIORITIES};
    }
    if (tls->cert && tls->client_ca)
        more[n++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_TRUST, 0, tls->client_ca};
    more[n] = (struct MHD_OptionItem){MHD_OPTION_END, 0, NULL};
    unsigned flags = MHD_USE_POLL_INTERNAL_THREAD | MHD_USE_ITC | MHD_ALLOW_SUSPEND_RESUME |
                     MHD_USE_NO_LISTEN_SOCKET | (tls->cert ? MHD_USE_TLS : 0);
    return MHD_start_daemon(
        flags, 0, NULL, NULL, call_go_on, s, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)LIBRARY_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_S,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY, MHD_OPTION_URI_LOG_CALLBACK,
        call_begin, s, MHD_OPTION_NOTIFY_COMPLETED, call_end, s, MHD_OPTION_NOTIFY_CONNECTION,
        on_connection, s, MHD_OPTION_UNESCAPE_CALLBACK, leave_as_is, s,
        MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_ARRAY, more, MHD_OPTION_END);
}

int server_new(const struct server_options *o, struct server **out, struct err *e) {
    struct server *s = calloc(1, sizeof *s);
    *out = NULL;
    if (!s)
        return err_set(e, ENOMEM, "no memory for a server");
    s->o = *o;
    s->end_fd = eventfd(0, EFD_CLOEXEC);
    int r = s->end_fd < 0 ? err_set(e, errno, "no eventfd: %s", strerror(errno))
                          : streams_new(&s->streams, e);
    if (r == 0)
        r = workers_new(WORKERS, call_work, &s->workers, e);
    if (r == 0) {
        s->daemon = start_daemon(s);
        if (!s->daemon)
            r = err_set(e, EINVAL, "libmicrohttpd %s cannot be started%s", MHD_get_version(),
                        o->tls->cert ? ": is it built with TLS?" : "");
    }
    if (r == 0) {
        r = -pthread_create(&s->acceptor, NULL, accept_main, s);
        s->accepts = r == 0;
        if (r < 0)
            err_set(e, -r, "cannot start a thread: %s", strerror(-r));
    }
    if (r < 0)
        server_free(s);
    else
        *out = s;
    return r;
}

/* What was answered may still get out, and streams may end as such. */
static void see_off(const struct server *s) {
    for (int ms = 0; ms < LAST_MS && peers_answering(s->o.guard->peers) > 0; ms += 10)
        poll(NULL, 0, 10);
}

void server_free(struct server *s) {
    if (!s)
        return;
    atomic_store(&s->ending, true);
    if (s->accepts) {
        uint64_t one = 1;
        ssize_t ignored = write(s->end_fd, &one, sizeof one);
        (void)ignored;
        pthread_join(s->acceptor, NULL);
    }
    /* No connection is suspended when the library is ended: workers and streams resume theirs, and
     * get no new ones. */
    if (s->workers)
        workers_end(s->workers);
    if (s->streams)
        streams_end(s->streams);
    if (s->accepts)
        see_off(s);
    if (s->daemon)
        MHD_stop_daemon(s->daemon);
    workers_free(s->workers);
    streams_free(s->streams);
    if (s->end_fd >= 0)
        close(s->end_fd);
    free(s);
}
