/* From a handler's answer to the library's. */
#include "core/export/svg_text.h"
#include "core/base/clock.h"
#include "core/http/serve/server/server_gzip.h"
#include "core/http/serve/server/server_state.h"

#include <string.h>

#define STRICT "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
#define PAGE                                                                                       \
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; "     \
    "form-action 'none'"
#define TEXT_TYPE "text/plain; charset=utf-8"
#define PAGE_TYPE "text/html; charset=utf-8"
#define STREAM_BLOCK 32768
#define GZIP_LEAST 1024 /* bytes; below, it is not worth the time */

static const char *const always[][2] = {
    {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Permissions-Policy", "camera=(), geolocation=(), microphone=()"},
};

/* A refusal's text as a page. */
static void make_page(struct serve_answer *a) {
    struct text page = {0};
    text_add(&page, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                    "<title>jtop-prof</title>\n<style>:root { color-scheme: light dark }\n"
                    "body { font: 16px/1.5 system-ui, sans-serif; max-width: 44rem; margin: 8vh "
                    "auto; padding: 0 1rem }\npre { font: inherit; white-space: pre-wrap; "
                    "overflow-wrap: anywhere }</style></head><body><main>\n");
    text_addf(&page, "<h1>%u</h1>\n<pre>", a->status);
    svg_text_add(&page, a->body.data ? a->body.data : "");
    text_add(&page, "</pre>\n<p><a href=\"/\">The JVMs of this machine</a></p>\n"
                    "</main></body></html>\n");
    text_free(&a->body);
    a->body = page;
    a->type = PAGE_TYPE;
    a->policy = PAGE;
}

static bool is_text(const char *type) {
    return strncmp(type, "text/", 5) == 0 || strncmp(type, "application/json", 16) == 0 ||
           strncmp(type, "image/svg+xml", 13) == 0;
}

static bool has_header(const struct serve_answer *a, const char *name) {
    for (int i = 0; i < a->headers; i++)
        if (strcasecmp(a->header[i].name, name) == 0)
            return true;
    return false;
}

static void add_headers(struct MHD_Response *r, const struct serve_answer *a) {
    for (size_t i = 0; i < sizeof always / sizeof always[0]; i++)
        if (!has_header(a, always[i][0]))
            MHD_add_response_header(r, always[i][0], always[i][1]);
    if (!has_header(a, "Cache-Control"))
        MHD_add_response_header(r, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    MHD_add_response_header(r, "Content-Security-Policy", a->policy ? a->policy : STRICT);
    MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, a->type ? a->type : TEXT_TYPE);
    for (int i = 0; i < a->headers; i++)
        MHD_add_response_header(r, a->header[i].name, a->header[i].value);
}

/* ---- without an end ---- */

static void let_sleep(void *who) {
    MHD_suspend_connection(who);
}

static void wake(void *who) {
    MHD_resume_connection(who);
}

static ssize_t read_stream(void *stream, uint64_t at, char *out, size_t max) {
    (void)at;
    ssize_t n = stream_take(stream, out, max, let_sleep);
    return n == STREAM_BROKEN ? MHD_CONTENT_READER_END_WITH_ERROR
           : n < 0            ? MHD_CONTENT_READER_END_OF_STREAM
                              : n;
}

static void leave_stream(void *stream) {
    stream_leave(stream);
}

/* NULL: it is a refusal by now. */
static struct MHD_Response *open_stream(struct call *c) {
    struct serve_answer *a = &c->answer;
    struct stream *stream;
    int r = stream_new(c->server->streams, a, wake, c->connection, &stream);
    a->next = NULL;
    a->end = NULL;
    if (r < 0) {
        serve_refuse(a, 503,
                     "too many follow us already: in a while, or after one of them has left");
        serve_header(a, "Retry-After", "10");
        return NULL;
    }
    struct MHD_Response *response = MHD_create_response_from_callback(
        MHD_SIZE_UNKNOWN, STREAM_BLOCK, read_stream, stream, leave_stream);
    if (!response)
        stream_leave(stream);
    c->streams = response != NULL;
    return response;
}

/* ---- all at once ---- */

static struct MHD_Response *whole(struct call *c) {
    struct serve_answer *a = &c->answer;
    if (a->body.failed) {
        text_free(&a->body);
        serve_refuse(a, 503, "no memory for the answer");
    }
    if (a->refused && c->html)
        make_page(a);
    bool zipped = c->gzip && a->body.len >= GZIP_LEAST && is_text(a->type ? a->type : TEXT_TYPE) &&
                  !has_header(a, "Content-Encoding") && server_gzip_text(&a->body) == 0;
    struct MHD_Response *r =
        MHD_create_response_from_buffer(a->body.len, a->body.data, MHD_RESPMEM_MUST_FREE);
    if (!r)
        return NULL;
    memset(&a->body, 0, sizeof a->body); /* it is the response's */
    if (zipped)
        MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
    MHD_add_response_header(r, MHD_HTTP_HEADER_VARY, "Accept-Encoding, Accept, Cookie");
    return r;
}

enum MHD_Result answer_queue(struct call *c) {
    struct serve_answer *a = &c->answer;
    if (a->next && c->head) { /* nobody will follow it */
        if (a->end)
            a->end(a->arg);
        a->next = NULL;
        a->end = NULL;
    }
    struct MHD_Response *r = a->next ? open_stream(c) : NULL;
    if (!r)
        r = whole(c);
    if (!r)
        return MHD_NO;
    add_headers(r, a);
    peers_note(c->server->o.guard->peers, connection_fd(c->connection),
               c->streams ? PEERS_BUSY : PEERS_SENDING, clock_now_ns());
    enum MHD_Result result = MHD_queue_response(c->connection, a->status ? a->status : 200, r);
    MHD_destroy_response(r);
    return result;
}
