#include "core/http/push/protocol/post.h"

#include <curl/curl.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADERS_MAX (64u << 10) /* bytes of an answer's headers */
#define ANSWER_MAX (1u << 20)   /* bytes of an answer's body; a longer one is not read to its end */

struct post {
    CURLM *multi;
    CURL *easy;
    struct curl_slist *headers;
    bool under_way, own_cert;
    size_t header_bytes, body_bytes; /* received so far */
    struct post_result result;       /* while a try is under way */
    char error[CURL_ERROR_SIZE];
};

static void begin_curl(void) {
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

static size_t on_body(char *data, size_t size, size_t count, void *arg) {
    struct post *p = arg;
    size_t bytes = size * count, room = POST_BODY_MAX - p->result.bytes;
    memcpy(p->result.body + p->result.bytes, data, bytes < room ? bytes : room);
    p->result.bytes += bytes < room ? bytes : room;
    p->body_bytes += bytes;
    return p->body_bytes > ANSWER_MAX ? 0 : bytes;
}

static size_t on_header(const char *data, size_t size, size_t count, void *arg) {
    (void)data;
    struct post *p = arg;
    p->header_bytes += size * count;
    return p->header_bytes > HEADERS_MAX ? 0 : size * count;
}

static void set_protocols(CURL *c) {
#if LIBCURL_VERSION_NUM >= 0x075500
    curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
#else
    curl_easy_setopt(c, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
#if LIBCURL_VERSION_NUM >= 0x075700
    curl_easy_setopt(c, CURLOPT_QUICK_EXIT, 1L); /* does not wait for a silent name server */
#endif
}

static void set_files(CURL *c, const struct post_options *o) {
    if (o->ca) {
        curl_easy_setopt(c, CURLOPT_CAINFO, o->ca);
        curl_easy_setopt(c, CURLOPT_CAPATH, NULL);
    }
    if (o->tls_cert)
        curl_easy_setopt(c, CURLOPT_SSLCERT, o->tls_cert);
    if (o->tls_key)
        curl_easy_setopt(c, CURLOPT_SSLKEY, o->tls_key);
}

/* Sets the options that are the same for each message. */
static void set_up(struct post *p, const struct post_options *o) {
    CURL *c = p->easy;
    set_protocols(c);
    set_files(c, o);
    curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(c, CURLOPT_PROXY, "");
    curl_easy_setopt(c, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(c, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(c, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    curl_easy_setopt(c, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(c, CURLOPT_SSL_VERIFYHOST, 2L);
    curl_easy_setopt(c, CURLOPT_TIMEOUT_MS,
                     (long)(o->timeout_ms ? o->timeout_ms : POST_TIMEOUT_MS));
    curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS,
                     (long)(o->timeout_ms ? o->timeout_ms : POST_TIMEOUT_MS));
    curl_easy_setopt(c, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(c, CURLOPT_USERAGENT, "jtop-prof/" JTOP_VERSION);
    curl_easy_setopt(c, CURLOPT_ERRORBUFFER, p->error);
    curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(c, CURLOPT_WRITEDATA, p);
    curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(c, CURLOPT_HEADERDATA, p);
    curl_easy_setopt(c, CURLOPT_POST, 1L);
}

int post_new(const struct post_options *o, struct post **out, struct err *e) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, begin_curl);
    struct post *p = calloc(1, sizeof *p);
    *out = NULL;
    if (p)
        p->multi = curl_multi_init();
    if (p && p->multi)
        p->easy = curl_easy_init();
    if (!p || !p->easy) {
        post_free(p);
        return err_set(e, ENOMEM, "no memory for the connection to the receiver");
    }
    set_up(p, o);
    p->own_cert = o->tls_cert;
    *out = p;
    return 0;
}

static bool add_header(struct post *p, const char *line) {
    struct curl_slist *more = curl_slist_append(p->headers, line);
    p->headers = more ? more : p->headers;
    return more;
}

static int set_headers(struct post *p, const char *authorization, const struct push_message *m) {
    char type[sizeof m->type + 32];
    snprintf(type, sizeof type, "Content-Type: %s", m->type);
    /* "Expect:" alone: does not ask first, which costs a second if the receiver ignores it. */
    bool all = add_header(p, type) && add_header(p, "Expect:") &&
               (!m->gzip || add_header(p, "Content-Encoding: gzip")) &&
               (!authorization[0] || add_header(p, authorization));
    return all ? 0 : -ENOMEM;
}

static void drop_headers(struct post *p) {
    curl_slist_free_all(p->headers);
    p->headers = NULL;
}

int post_begin(struct post *p, const char *url, const char *authorization,
               const struct push_message *m) {
    p->result = (struct post_result){0};
    p->header_bytes = p->body_bytes = 0;
    p->error[0] = '\0';
    int r = set_headers(p, authorization, m);
    curl_easy_setopt(p->easy, CURLOPT_HTTPHEADER, p->headers);
    curl_easy_setopt(p->easy, CURLOPT_POSTFIELDS, m->body.len ? m->body.data : "");
    curl_easy_setopt(p->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)m->body.len);
    if (r == 0 && (curl_easy_setopt(p->easy, CURLOPT_URL, url) != CURLE_OK ||
                   curl_multi_add_handle(p->multi, p->easy) != CURLM_OK))
        r = -ENOMEM;
    p->under_way = r == 0;
    if (r != 0)
        drop_headers(p);
    return r;
}

bool post_is_under_way(const struct post *p) {
    return p->under_way;
}

static void gather(struct post *p, int code, struct post_result *out) {
    long status = 0, os_error = 0;
    curl_off_t after = 0, handshake_us = 0;
    const char *location = NULL;
    curl_easy_getinfo(p->easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(p->easy, CURLINFO_OS_ERRNO, &os_error);
    curl_easy_getinfo(p->easy, CURLINFO_RETRY_AFTER, &after);
    curl_easy_getinfo(p->easy, CURLINFO_REDIRECT_URL, &location);
    curl_easy_getinfo(p->easy, CURLINFO_APPCONNECT_TIME_T, &handshake_us);
    *out = p->result;
    out->curl = code;
    out->status = status >= 200 && status < 1000 ? (unsigned)status : 0;
    out->os_error = (int)os_error;
    out->no_cert = handshake_us > 0 && !p->own_cert;
    out->retry_after_s = after <= 0 ? 0 : after < 1000000 ? (uint32_t)after : 1000000;
    snprintf(out->location, sizeof out->location, "%.255s", location ? location : "");
    snprintf(out->error, sizeof out->error, "%.255s",
             p->error[0] ? p->error : curl_easy_strerror((CURLcode)code));
}

void post_cancel(struct post *p) {
    if (!p->under_way)
        return;
    curl_multi_remove_handle(p->multi, p->easy);
    drop_headers(p);
    p->under_way = false;
}

bool post_step(struct post *p, uint32_t timeout_ms, struct post_result *out) {
    int running = 0, left = 0;
    curl_multi_perform(p->multi, &running);
    if (!p->under_way || running > 0) {
        curl_multi_poll(p->multi, NULL, 0, timeout_ms < 60000 ? (int)timeout_ms : 60000, NULL);
        curl_multi_perform(p->multi, &running);
    }
    CURLMsg *message = curl_multi_info_read(p->multi, &left);
    if (!message || message->msg != CURLMSG_DONE)
        return false;
    gather(p, (int)message->data.result, out);
    post_cancel(p);
    return true;
}

void post_wake(struct post *p) {
    curl_multi_wakeup(p->multi);
}

void post_free(struct post *p) {
    if (!p)
        return;
    post_cancel(p);
    if (p->easy)
        curl_easy_cleanup(p->easy);
    if (p->multi)
        curl_multi_cleanup(p->multi);
    free(p);
}
