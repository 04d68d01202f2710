/* serve and push inside jtop-prof-http: passes the command line to core/http. */
#include "core/http/push/push.h"
#include "core/http/serve/serve.h"
#include "tui/cli/http/http.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

static void say(void *arg, const char *line) {
    (void)arg;
    fprintf(stderr, "jtop-prof: %s\n", line);
}

static int http_push(const struct options *o, int stop_fd, struct err *e) {
    struct push_options p = {.target = o->target,
                             .all_jvms = o->all_jvms,
                             .every_ms = (uint32_t)o->every_ms,
                             .label = o->label,
                             .labels = (uint32_t)o->labels,
                             .session = o->session,
                             .quiet = o->quiet};
    p.sender =
        (struct sender_options){.to = o->to,
                                .protocol = o->protocol ? push_protocol_by_name(o->protocol) : NULL,
                                .token_file = o->token_file,
                                .ca = o->tls_ca,
                                .tls_cert = o->tls_cert,
                                .tls_key = o->tls_key,
                                .spool = o->spool,
                                .spool_bytes = o->spool_bytes,
                                .say = say};
    return push_run(&p, stop_fd, e);
}

static void say_ready(void *arg, const char *url) {
    const struct serve_options *o = arg;
    fprintf(stderr, "jtop-prof: serving %s%s\n", url,
            o->token_file ? " (to clients with the token)" : "");
}

/* Each of the two runs until `stop_fd` is readable. Returns 0, or -errno with a message and exit
 * code. */
static int http_serve(const struct options *o, int stop_fd, struct err *e) {
    struct serve_options s = {.listen = o->listen,
                              .token_file = o->token_file,
                              .tls_cert = o->tls_cert,
                              .tls_key = o->tls_key,
                              .tls_client_ca = o->tls_ca,
                              .all_jvms = o->all_jvms,
                              .source_path = o->source_path,
                              .session = o->session};
    return serve_run(&s, stop_fd, say_ready, &s, e);
}

/* Returns a descriptor that is readable when a signal asks us to end. Ignored signals stay ignored;
 * threads inherit the mask. */
static int open_stop_fd(struct err *e) {
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        struct sigaction now;
        if (sigaction(ends[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaddset(&set, ends[i]);
    }
    sigprocmask(SIG_BLOCK, &set, NULL);
    int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return fd >= 0 ? fd : err_set(e, errno, "no signalfd: %s", strerror(errno));
}

int http_run(const struct options *o, int argc, char **argv, struct err *e) {
    (void)argc, (void)argv;
    int stop_fd = open_stop_fd(e);
    if (stop_fd < 0)
        return stop_fd;
    int r = strcmp(o->word, "push") == 0 ? http_push(o, stop_fd, e) : http_serve(o, stop_fd, e);
    close(stop_fd);
    return r;
}
