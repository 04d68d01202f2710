/* The options of serve and push. */
#include "tui/cli/option/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define EVERY_MS_MAX 3600000

struct given {
    const char *name;
    bool is;
};

static const char *first_of(const struct given *list) {
    while (list->name && !list->is)
        list++;
    return list->name;
}

static const char *first_of_serve(const struct options *o) {
    const struct given list[] = {{"--listen", o->listen != NULL}, {NULL, false}};
    return first_of(list);
}

static const char *first_of_push(const struct options *o) {
    const struct given list[] = {{"--to", o->to != NULL},
                                 {"--protocol", o->protocol != NULL},
                                 {"--every", o->every_ms > 0},
                                 {"--label", o->labels > 0},
                                 {"--spool", o->spool != NULL},
                                 {"--spool-size", o->spool_bytes > 0},
                                 {NULL, false}};
    return first_of(list);
}

static const char *first_of_both(const struct options *o) {
    const struct given list[] = {
        {"--all-jvms", o->all_jvms},         {"--token-file", o->token_file != NULL},
        {"--tls-cert", o->tls_cert != NULL}, {"--tls-key", o->tls_key != NULL},
        {"--tls-ca", o->tls_ca != NULL},     {NULL, false}};
    return first_of(list);
}

/* Returns the first option that is about one profile, its files, or a screen. */
static const char *first_out_of_place(const struct options *o) {
    const struct given list[] = {{"-d", o->duration_ms > 0},
                                 {"-f", o->files > 0},
                                 {"-o", o->formats > 0},
                                 {"--timeout", o->timeout.ms > 0 || o->timeout.of_day},
                                 {"--loop", o->loop.ms > 0 || o->loop.of_day},
                                 {"--from", o->from_ms > 0},
                                 {"--to", o->to_ms > 0},
                                 {"--record", o->session.record != NULL},
                                 {"--jfrsync", o->jfr_sync != NULL},
                                 {"--batch", o->batch},
                                 {"--plain", o->plain},
                                 {NULL, false}};
    return first_of(list);
}

static int check_push(const struct options *o, struct err *e) {
    if (!o->to)
        return err_set(e, EINVAL,
                       "push: where to? Give --to URL, as in --to http://127.0.0.1:4318 for an "
                       "OpenTelemetry collector");
    if (!o->target && !o->all_jvms)
        return err_set(e, EINVAL,
                       "push: which JVM? Give its PID, its name, jps, or --all-jvms for all "
                       "present and future JVMs");
    if (o->target && o->all_jvms)
        return err_set(e, EINVAL, "push: %s or --all-jvms, not both", o->target);
    if (o->every_ms && (o->every_ms % 1000 || o->every_ms > EVERY_MS_MAX))
        return err_set(e, EINVAL, "--every: whole seconds, from 1s to 1h");
    return 0;
}

static int check_serve(const struct options *o, struct err *e) {
    if (o->target)
        return err_set(e, EINVAL,
                       "serve serves every JVM, and the URL selects one: omit %s, and use "
                       "/prof?pid=PID and /live/PID",
                       o->target);
    if (o->events_given && !o->all_jvms)
        return err_set(e, EINVAL,
                       "serve: -e is only for --all-jvms; without it, the URL names the event, as "
                       "in /prof?event=alloc");
    return 0;
}

int options_check_http(const struct options *o, struct err *e) {
    bool http = o->action == ACTION_HTTP, push = http && strcmp(o->word, "push") == 0;
    const char *name = push ? NULL : first_of_push(o);
    if (name)
        return err_set(e, EINVAL, "%s works only with push", name);
    name = http && !push ? NULL : first_of_serve(o);
    if (name)
        return err_set(e, EINVAL, "%s works only with serve", name);
    name = http ? NULL : first_of_both(o);
    if (name)
        return err_set(e, EINVAL, "%s works only with serve and push", name);
    if (!http)
        return 0;
    name = first_out_of_place(o);
    if (name)
        return err_set(e, EINVAL, "%s cannot be used with %s, which runs until it is ended", name,
                       o->word);
    if (!o->tls_cert != !o->tls_key)
        return err_set(e, EINVAL, "--tls-cert and --tls-key must be given together");
    return push ? check_push(o, e) : check_serve(o, e);
}
