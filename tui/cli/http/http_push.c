#include "core/http/push/push.h"
#include "tui/cli/http/http_parts.h"

#include <stdio.h>

static void say(void *arg, const char *line) {
    (void)arg;
    fprintf(stderr, "jtop-prof: %s\n", line);
}

int http_push(const struct options *o, int stop_fd, struct err *e) {
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
