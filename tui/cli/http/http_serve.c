/* From a command line to core/http/serve. */
#include "core/http/serve/serve.h"
#include "tui/cli/http/http_parts.h"

#include <stdio.h>

static void say_ready(void *arg, const char *url) {
    const struct serve_options *o = arg;
    fprintf(stderr, "jtop-prof: serving %s%s\n", url,
            o->token_file ? " (to who shows the token)" : "");
}

int http_serve(const struct options *o, int stop_fd, struct err *e) {
    struct serve_options s = {.listen = o->listen,
                              .token_file = o->token_file,
                              .tls_cert = o->tls_cert,
                              .tls_key = o->tls_key,
                              .tls_client_ca = o->tls_ca,
                              .all_jvms = o->all_jvms,
                              .session = o->session};
    return serve_run(&s, stop_fd, say_ready, &s, e);
}
