#include "core/http/serve/server/route.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define PID_MOST 4194304 /* the kernel's own limit, PID_MAX_LIMIT */

static serve_handler serve_health;

/* The first route that matches is used. */
static const struct route table[] = {
    {"/", serve_index, "the JVMs of this machine", false, false, false},
    {"/live/", serve_live, "/live/PID: one of them, live", false, false, false},
    {"/prof", serve_prof, "?pid=PID&duration=10&output=flamegraph: a profile", false, false, false},
    {"/prof/", serve_prof, NULL, false, false, false},
    {"/metrics", serve_metrics, "for Prometheus", false, false, false},
    {"/api/v1/", serve_api, "jvms, jvms/PID/view …: the same data, in JSON", false, false, false},
    {"/healthz", serve_health, "whether the server works", true, false, true},
    {"/login", serve_login, "for browsers, if a token is required", true, true, false},
};

/* "/api/v1/jvms/PID/events": a stream. */
static bool is_events(const char *rest) {
    const char *behind;
    return strncmp(rest, "jvms/", 5) == 0 && serve_pid(rest + 5, &behind) > 0 &&
           strcmp(behind, "events") == 0;
}

const struct route *route_find(const char *path, const char **rest) {
    static const struct route events = {"/api/v1/", serve_events, NULL, false, false, false};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const struct route *r = &table[i];
        size_t length = strlen(r->path);
        bool below = length > 1 && r->path[length - 1] == '/';
        if (strncmp(path, r->path, length) != 0 || (!below && path[length]))
            continue;
        *rest = path + length;
        return r->handler == serve_api && is_events(*rest) ? &events : r;
    }
    return NULL;
}

void route_refuse(const char *path, struct serve_answer *a) {
    serve_refuse(a, 404, "nothing is at %.100s. Available paths:\n", path);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i].help)
            text_addf(&a->body, "  %-10s %s\n", table[i].path, table[i].help);
}

static void refuse(struct serve_answer *a, unsigned status, const char *fmt, va_list ap) {
    char line[1024];
    vsnprintf(line, sizeof line, fmt, ap);
    a->status = status;
    a->refused = true;
    a->type = NULL;
    text_clear(&a->body);
    text_add(&a->body, line);
    size_t length = strlen(line);
    if (length == 0 || line[length - 1] != '\n')
        text_add(&a->body, "\n");
}

void serve_refuse(struct serve_answer *a, unsigned status, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    refuse(a, status, fmt, ap);
    va_end(ap);
}

void serve_refuse_err(struct serve_answer *a, const struct err *e) {
    static const struct {
        int code;
        unsigned status;
    } as[] = {{ESRCH, 404},  {ENOENT, 404}, {EACCES, 403}, {EPERM, 403},
              {EBUSY, 409},  {EEXIST, 409}, {EUSERS, 503}, {EAGAIN, 503},
              {ENOMEM, 503}, {EMFILE, 503}, {ENFILE, 503}, {ETIMEDOUT, 504},
              {EINVAL, 400}, {E2BIG, 400},  {ERANGE, 400}, {ENOTSUP, 400}};
    unsigned status = 500;
    for (size_t i = 0; i < sizeof as / sizeof as[0]; i++)
        if (as[i].code == e->code)
            status = as[i].status;
    serve_refuse(a, status, "%s", e->message[0] ? e->message : strerror(e->code));
    if (status == 503)
        serve_header(a, "Retry-After", "5");
}

void serve_header(struct serve_answer *a, const char *name, const char *value) {
    for (const char *c = value; *c; c++)
        if (*c < ' ' || *c > '~')
            return;
    if (a->headers == SERVE_HEADERS_MAX || strlen(name) >= sizeof a->header[0].name ||
        strlen(value) >= sizeof a->header[0].value)
        return;
    snprintf(a->header[a->headers].name, sizeof a->header[0].name, "%s", name);
    snprintf(a->header[a->headers++].value, sizeof a->header[0].value, "%s", value);
}

pid_t serve_pid(const char *piece, const char **rest) {
    pid_t pid = 0;
    const char *c = piece;
    for (; *c >= '0' && *c <= '9'; c++) {
        pid = pid * 10 + (*c - '0');
        if (pid > PID_MOST)
            return 0;
    }
    if (c == piece || *piece == '0' || (*c && *c != '/'))
        return 0;
    *rest = *c ? c + 1 : c;
    return pid;
}

static void serve_health(struct serve *s, const struct serve_request *q, struct serve_answer *a) {
    (void)s, (void)q;
    text_add(&a->body, "ok\n");
}
